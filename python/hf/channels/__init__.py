# SPDX-License-Identifier: GPL-3.0-or-later
"""The simulated channel applied to recordings, and learned from the air."""

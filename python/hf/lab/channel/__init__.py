# SPDX-License-Identifier: GPL-3.0-or-later
"""The simulated channel: checked against closed forms, applied, learned from the air."""

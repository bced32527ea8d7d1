# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of samples: their formats, and the recordings in them."""

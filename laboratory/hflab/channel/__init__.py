# SPDX-License-Identifier: GPL-3.0-or-later
"""The simulated channel against closed forms, and against GNU Radio's."""

# SPDX-License-Identifier: GPL-3.0-or-later
"""Field trials: timed tests between stations, their results, and the report."""

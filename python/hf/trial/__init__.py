# SPDX-License-Identifier: GPL-3.0-or-later
"""Field trials: a timed list of tests between stations, what came of them, and the report."""

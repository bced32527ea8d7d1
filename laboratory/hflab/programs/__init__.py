# SPDX-License-Identifier: GPL-3.0-or-later
"""Measurements with real programs and the TCP of this host's kernel; the demonstration."""

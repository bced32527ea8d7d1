# SPDX-License-Identifier: GPL-3.0-or-later
"""Stations in virtual time: transfers, scenarios, the demonstration."""

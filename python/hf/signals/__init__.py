# SPDX-License-Identifier: GPL-3.0-or-later
"""Octets to samples and samples to octets, without a station."""

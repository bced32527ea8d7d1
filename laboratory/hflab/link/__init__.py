# SPDX-License-Identifier: GPL-3.0-or-later
"""The data link measured: stations on the event simulator and on real waveforms."""

# SPDX-License-Identifier: GPL-3.0-or-later
"""The receiver measured: error rates, acquisition, reported SNR, speed."""

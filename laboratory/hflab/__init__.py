# SPDX-License-Identifier: GPL-3.0-or-later
"""The laboratory of gr-hf measures the station and its parts. The station does not need it."""

# SPDX-License-Identifier: GPL-3.0-or-later
"""The machine that a station runs on: files, network namespaces, event loops, packet filters."""

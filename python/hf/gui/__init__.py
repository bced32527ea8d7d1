# SPDX-License-Identifier: GPL-3.0-or-later
"""Views of running stations: snapshots, a web page, Qt displays, text strips."""

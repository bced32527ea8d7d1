# SPDX-License-Identifier: GPL-3.0-or-later
"""Views of running stations: what there is to see, a page in a browser, a terminal."""

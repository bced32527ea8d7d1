# SPDX-License-Identifier: GPL-3.0-or-later
"""Sphinx: the site of docs/, as make_site.py lays it out."""
project = "gr-hf"
author = "gr-hf developers"
copyright = "gr-hf developers, GPL-3.0-or-later"
extensions = ["myst_parser"]
html_theme = "furo"
html_title = "gr-hf"
html_copy_source = False
html_show_sphinx = False
# Links to headings, as GitHub has them.
myst_heading_anchors = 4
# Indented lines are commands, or what a file holds.
highlight_language = "none"
exclude_patterns = ["site"]
# Reports that benches write are made to stand in a page: their headings begin at the third level.
suppress_warnings = ["myst.header"]

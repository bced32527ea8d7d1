# SPDX-License-Identifier: GPL-3.0-or-later
"""Web pages over HF in the order of their use: text first, then links, then small pictures.

The door (role "near") is a web server on the loopback of the reader. The shore side (role
"shore") fetches pages, keeps what a reader needs, and sends one answer for one request through
HF-PEP. See docs/how-to/web.md; the layout on the air (ours) is in wire.py.
"""

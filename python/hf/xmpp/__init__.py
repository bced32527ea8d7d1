# SPDX-License-Identifier: GPL-3.0-or-later
"""XMPP between servers over STANAG 5066 (XEP-0361, XEP-0365 0.1): a gateway between a chat server
and the nodes of other stations.

    stanza     one stanza as text and as a tree, read with limits
    codec      stanzas as messages of RCOP, compressed or not
    ids        short IDs of stanzas on HF
    policy     rules: which stanzas pass, are left out, are answered here
    rooms      one copy for all occupants of a room
    journal    stanzas on disk, until they have arrived
    exchange   the two flows of stanzas with one far gateway
    carrier    the connection to the SIS server
    gateway    what the others have in common: one for a station
    component  the connection to the chat server (XEP-0114)

Only component and service need slixmpp.
"""

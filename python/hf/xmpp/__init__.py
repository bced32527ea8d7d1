# SPDX-License-Identifier: GPL-3.0-or-later
"""XMPP between servers over STANAG 5066 (XEP-0361, XEP-0365): a gateway between a chat server and
the nodes of other stations.

    stanza     one stanza as text and as a tree, read with limits
    ids        short IDs of stanzas on HF
    policy     rules: which stanzas pass, are left out, are answered here
    rooms      one copy for all occupants of a room
    journal    stanzas on disk, until they have arrived
    flow       the two flows of stanzas with one far gateway: what both versions have in common
    gateway    what the others have in common: one for a station
    component  the connection to the chat server (XEP-0114)

Version rcop (XEP-0365 0.1):

    codec      stanzas as messages of RCOP, compressed or not
    exchange   the two flows by messages
    carrier    the connection to the SIS server

Version slep (XEP-0365 0.3):

    stream_codec     stanzas as one stream
    stream_exchange  the two flows by streams
    streams          the streams through HF-PEP

Only component and service need slixmpp.
"""

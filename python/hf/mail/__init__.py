# SPDX-License-Identifier: GPL-3.0-or-later
"""Mail over HF: a gateway between a mail server and STANAG 5066 Annex F.

A mail goes through these modules, each of which can be read by itself:

    intake    accepts mail by SMTP or LMTP on loopback, and says 250 when the mail is on disk
    spool     keeps mails on disk through kill -9 and a full disk
    policy    which node a domain has, what may pass, when to try again
    hmtp      HMTP (F.5): a whole SMTP session in one block, and its answer
    cftp      CFTP (F.14): a compressed file for each mail
    broadcast batch-SMTP (RFC 2442) by UDOP, for receivers that stay silent
    carrier   what HMTP, CFTP and UDOP share at a SIS server: connection, submission, timers
    seen      what has been accepted within a week, so that second copies are dropped
    delivery  hands received mail to the mail server
    bounce    delivery status notifications (RFC 3464)
    gateway   puts them together
    desk      a running gateway as an operator sees it on the page of the station
"""
from .desk import Desk
from .gateway import Gateway
from .spool import Spool, SpoolError

__all__ = ["Desk", "Gateway", "Spool", "SpoolError"]

# SPDX-License-Identifier: GPL-3.0-or-later
"""SMTP and LMTP server on loopback, for the mail server and the mail programs of this machine."""
import asyncio
from typing import Any, Callable, Dict, List, Optional, Set

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, syntax

from ..system.first_octets import Guard, line_judge
from .hmtp import MAX_RECIPIENTS, Mail, Reply, with_crlf

#: Connections at a time, and seconds without a command until one is closed. Postfix makes up to
#: 20 to one destination.
MAX_CONNECTIONS, IDLE_S = 50, 300.0
#: Commands that a client may send first.
FIRST = {"EHLO", "HELO", "LHLO", "NOOP", "RSET", "QUIT", "HELP"}


class Limited(Guard, SMTP):
    """A connection, of which there is a limited number. A client that greets with LHLO speaks LMTP
    (RFC 2033) from then on, any other client SMTP."""

    lmtp = False

    def __init__(self, connections: Set[SMTP], *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self._connections = connections
        self.guard(line_judge(lambda line: line.partition(" ")[0].upper() in FIRST, b"\n", 1000),
                   lambda: None, {})

    def connection_made(self, transport: Any) -> None:
        """Accept a connection, or refuse it with 421."""
        if len(self._connections) >= MAX_CONNECTIONS:
            transport.write(b"421 4.3.2 too many connections\r\n")
            transport.close()
            self.abort()
            return
        self._connections.add(self)
        super().connection_made(transport)

    def connection_lost(self, error: Optional[Exception]) -> None:
        """Make room for another."""
        if self in self._connections:
            self._connections.discard(self)
            super().connection_lost(error)

    @syntax("LHLO hostname")
    async def smtp_LHLO(self, hostname: str) -> None:
        """Greeting of LMTP."""
        self.lmtp = True
        await super().smtp_EHLO(hostname)

    @syntax("EHLO hostname")
    async def smtp_EHLO(self, hostname: str) -> None:
        """Greeting of SMTP."""
        self.lmtp = False
        await super().smtp_EHLO(hostname)


class Handler:
    """Handler of aiosmtpd.

    accept: takes a mail and returns the reply when it is on disk.
    accept_each: the same with a reply for each recipient, for LMTP.
    """

    def __init__(self, check: Callable[[str, bool], Optional[Reply]],
                 accept: Callable[[Mail], Reply],
                 accept_each: Callable[[Mail], Dict[str, Reply]]) -> None:
        self.check, self.accept, self.accept_each = check, accept, accept_each

    async def handle_EHLO(self, server: Any, session: Any, envelope: Any, hostname: str,
                          responses: List[str]) -> List[str]:
        """Offer PIPELINING to LMTP clients, which RFC 2033 4 demands."""
        session.host_name = hostname
        return [*responses[:-1], *(["250-PIPELINING"] if server.lmtp else []), responses[-1]]

    async def handle_RCPT(self, server: Any, session: Any, envelope: Any, address: str,
                          options: List[str]) -> str:
        """Refuse recipients that no route has."""
        if len(envelope.rcpt_tos) >= MAX_RECIPIENTS:
            return "452 4.5.3 too many recipients"
        refusal = self.check(address, envelope.smtp_utf8)
        if refusal is not None:
            return str(refusal)
        envelope.rcpt_tos.append(address)
        return "250 2.1.5 ok"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        """Take the mail. Writing to disk may wait, so it has a thread of its own."""
        # aiosmtpd calls the sender of a bounce <>.
        sender = "" if envelope.mail_from in (None, "<>") else envelope.mail_from
        mail = Mail(sender, list(dict.fromkeys(envelope.rcpt_tos)),
                    with_crlf(envelope.content), envelope.smtp_utf8)
        loop = asyncio.get_running_loop()
        if not server.lmtp:
            return str(await loop.run_in_executor(None, self.accept, mail))
        replies = await loop.run_in_executor(None, self.accept_each, mail)
        return "\r\n".join(str(replies[r]) for r in envelope.rcpt_tos)


class Intake(Controller):
    """The server, on a thread of its own."""

    def __init__(self, handler: Handler, listen: str, name: str, max_octets: int) -> None:
        host, _, port = listen.rpartition(":")
        self._connections: Set[SMTP] = set()
        super().__init__(handler, host.strip("[]"), int(port), server_hostname=name,
                         ident="hf mail", data_size_limit=max_octets, timeout=IDLE_S,
                         enable_SMTPUTF8=True)

    def factory(self) -> SMTP:
        """A server for a new connection."""
        return Limited(self._connections, self.handler, **self.SMTP_kwargs)

    def bound_port(self) -> int:
        """The port, also if any free one was asked for."""
        assert self.server is not None
        return int(self.server.sockets[0].getsockname()[1])

    def _trigger_server(self) -> None:
        # The controller tries its own port, which is 0 if any free one was asked for.
        self.port = self.bound_port()
        super()._trigger_server()

# SPDX-License-Identifier: GPL-3.0-or-later
"""The connections to the chat server: one component (XEP-0114) for each far domain, with its name.

A stanza from HF leaves the journal when the server has answered a ping that follows it. So it is
not lost if the server ends at this moment.
"""
import asyncio
import itertools
import time
from typing import Any, Callable, Dict, List, Optional, Tuple

from slixmpp import ComponentXMPP

from ..system.loop import Loop
from . import policy, stanza
from .gateway import MAX_PASSING, Gateway

#: Seconds between attempts to reach the server, and until its answer to a ping is late.
RECONNECT_S, ANSWER_S = 2.0, 60.0
#: At the end the server has this time for what it has already taken for the far domain, s.
CLOSE_S = 5.0
#: IDs of pings. No stanza from HF asks with them.
_SYNC = "hf-gateway-sync-"


class Component:
    """One far domain at the chat server. Used on the loop."""

    def __init__(self, domain: str, server: Tuple[str, int], gateway: Gateway,
                 of: Dict[str, "Component"], say: Callable[[str], None]) -> None:
        """of: all components by domain. ejabberd hands what is for one of them to any."""
        self.domain, self._gateway, self._of, self._say = domain, gateway, of, say
        self.is_ready = False
        self._sync_id, self._synced = "", asyncio.Event()
        self._numbers = itertools.count()
        self._wake = asyncio.Event()
        self._failed = False
        self._xmpp = ComponentXMPP(domain, gateway.settings.secret, *server)
        self._xmpp.add_filter("in", self._take)
        self._xmpp.add_event_handler("session_start", self._started)
        self._xmpp.add_event_handler("disconnected", self._ended)
        self._xmpp.add_event_handler("connection_failed", self._ended)
        self._xmpp.add_event_handler("stream_error", lambda s: self._fail(s["condition"]))
        self._tasks = [asyncio.ensure_future(self._connect()),
                       asyncio.ensure_future(self._deliver())]

    async def close(self) -> None:
        """End the connection."""
        for task in self._tasks:
            task.cancel()
        await self._xmpp.disconnect(wait=CLOSE_S)

    def wake(self) -> None:
        """There are stanzas in the journal."""
        self._wake.set()

    def send(self, text: bytes) -> bool:
        """Hand a stanza to the server. False: it is not connected."""
        if not self.is_ready:
            return False
        try:
            s = stanza.read(text, 1 << 30)
            self._xmpp.send_raw(stanza.write(stanza.moved(s, stanza.SERVER, stanza.COMPONENT),
                                             stanza.COMPONENT))
            return True
        except Exception as error:  # slixmpp's own, when the connection has just ended
            self._fail(repr(error))
            return False

    # --- connection -----------------------------------------------------------------------------

    async def _connect(self) -> None:
        while True:
            if not self._xmpp.is_connected():
                self._xmpp.connect()
            await asyncio.sleep(RECONNECT_S)

    def _started(self, _: Any) -> None:
        self.is_ready, self._failed = True, False
        self._say(f"chat server: connected as {self.domain}")
        self._wake.set()

    def _ended(self, why: Any) -> None:
        self.is_ready = False
        self._synced.set()
        self._fail(why or "connection ended")

    def _fail(self, why: Any) -> None:
        if not self._failed:
            self._failed = True
            self._say(f"chat server, component {self.domain}: {why}")

    # --- stanzas --------------------------------------------------------------------------------

    def _take(self, found: Any) -> Optional[Any]:
        """Filter of slixmpp: every stanza ends here, so that slixmpp answers none by itself."""
        s = stanza.moved(found.xml, stanza.COMPONENT, stanza.SERVER)
        if not stanza.kind_of(s):
            return found
        if s.get("id", "").startswith(_SYNC):
            self._of.get(stanza.domain(s.get("to", "")), self).answered(s.get("id", ""))
            return None
        try:
            self._gateway.from_server(s)
        except Exception as error:  # of whatever kind: the others go on
            self._say(f"chat server: stanza for {self.domain} dropped: {error!r}")
        return None

    def answered(self, id_: str) -> None:
        """The server has answered a ping."""
        if id_ == self._sync_id:
            self._sync_id = ""
            self._synced.set()

    async def _deliver(self) -> None:
        after_s = 0.0
        while True:
            await asyncio.sleep(after_s)
            await self._wake.wait()
            self._wake.clear()
            after_s = 0.0
            for id_, text in self._gateway.journal.incoming(self.domain, 0, 1):
                self._wake.set()
                if not (self.send(text) and await self._has_it()):
                    after_s = RECONNECT_S
                    continue
                self._gateway.delivered(self.domain, id_)

    async def _has_it(self) -> bool:
        self._sync_id = f"{_SYNC}{next(self._numbers)}-{time.monotonic_ns()}"
        self._synced.clear()
        ping = stanza.made("iq", {"type": "get", "id": self._sync_id, "from": self.domain,
                                  "to": self._gateway.settings.domains[0]})
        stanza.child(ping, policy.PING, "ping")
        if not self.send(stanza.write(ping)):
            return False
        try:
            await asyncio.wait_for(self._synced.wait(), ANSWER_S)
        except asyncio.TimeoutError:
            self._fail(f"no answer within {ANSWER_S:g} s")
        return self._sync_id == ""


class Components:
    """All far domains. Its functions may be used on any thread but the loop's."""

    def __init__(self, gateway: Gateway, say: Callable[[str], None]) -> None:
        """Raises OSError."""
        self._gateway, self._say = gateway, say
        self._of: Dict[str, Component] = {}
        self._passing = 0
        self._loop = Loop("", "xmpp")
        host, _, port = gateway.settings.server.rpartition(":")
        self._server = host.strip("[]"), int(port)
        gateway.passing, gateway.wake = self._pass, self._wake
        self._loop.do(self._open())

    async def _open(self) -> None:
        settings = self._gateway.settings
        for domain in [d for peer in settings.peer for d in peer.domains]:
            self._of[domain] = Component(domain, self._server, self._gateway, self._of, self._say)

    def close(self) -> None:
        """End the connections, and the thread."""
        self._loop.close(self._end)

    async def _end(self) -> None:
        await asyncio.gather(*(c.close() for c in self._of.values()), return_exceptions=True)

    def connected(self) -> List[str]:
        """Domains whose component is connected."""
        return [domain for domain, c in self._of.items() if c.is_ready]

    def _pass(self, domain: str, text: bytes) -> bool:
        component = self._of.get(domain)
        if component is None or not component.is_ready or self._passing >= MAX_PASSING:
            return False
        self._passing += 1
        self._loop.loop.call_soon_threadsafe(self._hand_over, component, text)
        return True

    def _hand_over(self, component: Component, text: bytes) -> None:
        self._passing -= 1
        component.send(text)

    def _wake(self, domain: str) -> None:
        component = self._of.get(domain)
        if component is not None and not self._loop.loop.is_closed():
            self._loop.loop.call_soon_threadsafe(component.wake)

# SPDX-License-Identifier: GPL-3.0-or-later
"""The gateway of a station: stanzas of the chat server go to HF, and those from HF to the chat
server. It knows nothing of the component protocol."""
from collections import Counter, OrderedDict
import copy
import threading
import time
from typing import Any, Callable, Dict, List, Optional, Tuple, Union

from ..station.xmpp_tables import Xmpp, XmppPeer
from . import ids, policy, rooms, stanza
from .carrier import Carrier
from .exchange import Exchange
from .journal import Journal, JournalError
from .stanza import Element
from .stream_exchange import StreamExchange
from .streams import Streams

#: Answers of far servers that are remembered, and for how long, s.
MAX_CACHED, CACHED_S = 200, 86400.0
#: Questions on their way, from this side.
MAX_ASKED = 1000
#: Presence and answers for the chat server that may wait in memory. More are dropped.
MAX_PASSING = 1000
#: Seconds between looks at what has waited for too long, and commits of what need not be durable.
LOOK_S = 1.0


class Gateway:
    """Any thread may use it.

    passing: takes a domain and a stanza from there that need not be kept on disk. False: the chat
    server is not connected, the stanza is dropped.
    wake: takes a domain for which the journal has stanzas from HF.
    """

    def __init__(self, settings: Xmpp, server: str, window: int, presence: str,
                 say: Callable[[str], None], streams: Optional[Streams] = None,
                 entries: Optional[Dict[str, int]] = None) -> None:
        """server: SIS server. window: octets on their way to a node. presence: for peers with
        the setting auto. streams, entries: for peers with the version slep, and the ports of
        HF-PEP towards them. Raises JournalError."""
        self.settings, self._presence = settings, presence
        self._say = say
        self.journal = Journal(settings.folder, settings.max_messages, settings.max_octets)
        self.passing: Callable[[str, bytes], bool] = lambda domain, text: False
        self.wake: Callable[[str], None] = lambda domain: None
        self.counts: Counter = Counter()
        self._lock = threading.Lock()
        self._cache: "OrderedDict[str, Tuple[float, List[Element]]]" = OrderedDict()
        #: Questions of this side by (who, whom, ID): when the answer is late, and the question.
        self._asked: "OrderedDict[Tuple[str, str, str], Tuple[float, Element]]" = OrderedDict()
        self._peers: Dict[str, XmppPeer] = {d: p for p in settings.peer for d in p.domains}
        self._looked = 0.0
        self.exchanges: List[Union[Exchange, StreamExchange]] = [
            (StreamExchange if p.version == "slep" else Exchange)(
                p, settings.domains, self.journal, window, settings.max_stanza, self._from_hf, say)
            for p in settings.peer]
        messages = [e for e in self.exchanges if isinstance(e, Exchange)]
        self._carriers: List[Union[Carrier, Streams]] = [
            Carrier(settings, sap, [e for e in messages if e.peer.sap == sap], server, self._look,
                    say) for sap in sorted({e.peer.sap for e in messages})]
        if streams is not None:
            streams.use(settings, [e for e in self.exchanges if isinstance(e, StreamExchange)],
                        entries or {}, self._look, say)
            self._carriers.append(streams)
        self._carrier_of = {node: c for c in self._carriers for node in c.nodes}

    def start(self) -> None:
        """Connect to the SIS server, now and whenever it is there."""
        for carrier in self._carriers:
            carrier.start()

    def close(self) -> None:
        """End all threads. Stanzas stay in the journal."""
        for carrier in self._carriers:
            carrier.end()
        self.journal.close()

    # --- from the chat server -------------------------------------------------------------------

    def from_server(self, s: Element) -> None:
        """A stanza for one of the far domains."""
        peer = self._peers.get(stanza.domain(s.get("to", "")))
        if peer is None or stanza.domain(s.get("from", "")) not in self.settings.domains:
            self._count("not_ours")
            self._refuse(s, "item-not-found", "no peer has this domain", "cancel")
            return
        kind = stanza.kind_of(s)
        presence = self._presence if peer.presence == "auto" else peer.presence
        if kind == "presence" and not policy.presence_passes(s, presence):
            self._count("held_back")
        elif kind != "iq" or self._question_passes(s):
            self._send(peer, s)

    def _send(self, peer: XmppPeer, s: Element) -> None:
        made = policy.reduced(copy.deepcopy(s), peer.drop)
        if made is None:
            self._count("held_back")
            return
        if peer.extensions:
            ids.outward(made, self.journal)
        text = stanza.write(made)
        if len(text) > self.settings.max_stanza:
            self._refuse(s, "policy-violation", f"longer than {self.settings.max_stanza} octets",
                         "modify")
            return
        rank = policy.rank(made)
        try:
            self.journal.put(peer.node, rooms.person(made), rank, text, time.time())
            self._carrier_of[peer.node].wake()
        except JournalError as error:
            self._count("no_room")
            if rank < 2:
                self._say(f"to {peer.node}: {stanza.kind_of(s)} refused: {error}")
            self._refuse(s, "resource-constraint", str(error))

    def _question_passes(self, s: Element) -> bool:
        """Whether an IQ goes to HF. Otherwise it has been answered."""
        if policy.query(s) == policy.PING:
            if policy.is_for_domain(s):
                self._pass(s.get("to", ""), policy.answer(s))
            else:
                self._refuse(s, "service-unavailable", "pings do not cross HF", "cancel")
            return False
        if s.get("type") not in ("get", "set"):
            return s.get("type") in ("result", "error")
        cached = policy.cacheable(s)
        with self._lock:
            found = self._cache.get(cached)
            if found is None or time.monotonic() > found[0]:
                key = (s.get("from", ""), s.get("to", ""), s.get("id", ""))
                late = time.monotonic() + self.settings.answer_s
                full = len(self._asked) >= MAX_ASKED
                if not full:
                    self._asked[key] = late, s
        if found is not None and time.monotonic() <= found[0]:
            self._pass(s.get("to", ""), policy.answer(s, found[1]))
            return False
        if full:
            self._refuse(s, "resource-constraint", f"{MAX_ASKED} questions wait for an answer")
        return not full

    def _refuse(self, s: Element, condition: str, text: str, kind: str = "wait") -> None:
        error = stanza.error_for(s, condition, text, kind)
        if error is not None:
            self._pass(stanza.domain(s.get("to", "")), error)

    def _pass(self, domain: str, s: Element) -> None:
        if not self.passing(domain, stanza.write(s)):
            self._count("dropped")

    # --- from HF --------------------------------------------------------------------------------

    def _from_hf(self, s: Element) -> None:
        domain = stanza.domain(s.get("from", ""))
        peer, kind = self._peers[domain], stanza.kind_of(s)
        if peer.extensions:
            ids.inward(s, self.journal)
        parts = rooms.spread(s, self.settings.domains) if peer.extensions else None
        if kind == "message":
            self._take(peer, domain, [s] if parts is None else parts)
        elif parts is not None:
            for part in parts:
                self._pass(domain, part)
        elif kind == "presence" or s.get("type") in ("get", "set") or self._answers(s):
            self._pass(domain, s)
        else:
            self._count("unasked_answers")

    def _take(self, peer: XmppPeer, domain: str, messages: List[Element]) -> None:
        try:
            self.journal.take(domain, *map(stanza.write, messages))
            self.wake(domain)
        except JournalError as error:
            self._say(f"from {peer.node}: message refused: {error}")
            for s in messages:
                answer = stanza.error_for(s, "resource-constraint", "the far gateway is full")
                if answer is not None:
                    self._send(peer, answer)

    def _answers(self, s: Element) -> bool:
        """Whether an IQ answers a question of this side. It is remembered."""
        with self._lock:
            found = self._asked.pop((s.get("to", ""), s.get("from", ""), s.get("id", "")), None)
            if found is None:
                return False
            key = policy.cacheable(found[1])
            if key and s.get("type") == "result":
                self._cache[key] = time.monotonic() + CACHED_S, list(s)
                while len(self._cache) > MAX_CACHED:
                    self._cache.popitem(last=False)
            return True

    def delivered(self, domain: str, id_: int) -> None:
        """The chat server has the stanzas of a domain up to an ID of the journal."""
        self.counts["delivered"] += self.journal.delivered(domain, id_)

    # --- time -----------------------------------------------------------------------------------

    def _look(self) -> None:
        now = time.monotonic()
        if now - self._looked < LOOK_S:
            return
        self._looked = now
        with self._lock:
            late = [key for key, (until, _) in self._asked.items() if now > until]
            questions = [self._asked.pop(key)[1] for key in late]
        for s in questions:
            self._refuse(s, "remote-server-timeout",
                         f"no answer within {self.settings.answer_s:g} s")
        self._expire()
        self.journal.commit()

    def _expire(self) -> None:
        oldest = time.time() - self.settings.expire_hours * 3600
        for exchange, row in [(e, row) for e in self.exchanges
                              for row in self.journal.expired(e.node, oldest)
                              if not e.is_on_the_way(row.number)]:
            s = stanza.read(row.text, 1 << 30)
            ids.inward(s, self.journal)
            notices = []
            for part in rooms.spread(s, exchange.peer.domains) or [s]:
                answer = stanza.error_for(part, "remote-server-timeout", "not delivered over HF "
                                          f"within {self.settings.expire_hours:g} hours")
                if answer is not None:
                    notices.append((stanza.domain(part.get("to", "")), stanza.write(answer)))
            self.journal.expire(row.id, notices)
            self._count("expired")
            self._say(f"to {exchange.node}: a {stanza.kind_of(s)} of {s.get('from')} has expired")
            for domain in {domain for domain, _ in notices}:
                self.wake(domain)

    def _count(self, name: str) -> None:
        with self._lock:
            self.counts[name] += 1

    # --- for people -----------------------------------------------------------------------------

    def status(self) -> Dict[str, Any]:
        """Counts, what waits, and the state of each link, for JSON."""
        nodes = {e.node: {"domains": e.peer.domains, **e.counts,
                          "link": self._carrier_of[e.node].state(e.node),
                          "waiting": self.journal.waiting(e.node)}
                 for e in self.exchanges}
        sizes = self.journal.sizes()
        return {"for_hf": sizes["outgoing"], "for_the_server": sizes["incoming"],
                "counts": dict(self.counts), "nodes": nodes}

# SPDX-License-Identifier: GPL-3.0-or-later
"""What the stations of a net report about themselves, over any SIS server.

Question and report are messages of our console, sent without ARQ. Other makers' stations do not
understand them. A report is JSON, and its reader trusts nothing in it.
"""
from dataclasses import dataclass, field
import json
import math
import random
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from .. import sis
from ..plain_text import plain
from . import console, s5066

#: SAP of a question, which no part of a station binds. A report comes from console.SAP.
SAP = 10
#: All stations.
ALL = "31.255.255.255"
#: Stations in a report, the one heard last first, and characters of a version.
MAX_HEARD, MAX_VERSION = 16, 40
#: Reports that are kept of one question.
MAX_REPORTS = 256
#: Least time between two reports to the same station, s.
PAUSE_S = 30.0
#: Longest spread of the answers, and longest time for an answer, s.
MAX_SPREAD_S, MAX_LIMIT_S = 600, 3600
#: Time between two questions to our own station, which go by no air, s.
OWN_S = 5.0
#: Extra copies of question and report, each in another transmission.
REPEATS = 1


@dataclass
class Report:
    """What a station reports. None: it does not say.

    queue: octets that wait there. links: number of links. heard: SNR in dB and age in seconds of
    the last reception of each station.
    """

    version: Optional[str] = None
    queue: Optional[int] = None
    links: Optional[int] = None
    heard: Dict[str, Tuple[float, float]] = field(default_factory=dict)

    def encode(self, facts: Sequence[str]) -> bytes:
        """As JSON, only these facts: names of the fields."""
        newest = sorted(self.heard.items(), key=lambda h: h[1][1])[:MAX_HEARD]
        whole = {"version": self.version, "queue": self.queue, "links": self.links,
                 "heard": {node: [round(v) for v in values] for node, values in newest}}
        return json.dumps({f: whole[f] for f in facts}, separators=(",", ":")).encode()


def decode(body: bytes) -> Optional[Report]:
    """A report from the air. None if it is malformed."""
    try:
        found = json.loads(body)
        version, heard = found.get("version"), found.get("heard") or {}
        return Report(None if version is None else plain(str(version)[:MAX_VERSION]),
                      _count(found.get("queue")), _count(found.get("links")),
                      {str(s5066.address(node)): (_number(snr), _number(age))
                       for node, (snr, age) in list(heard.items())[:MAX_HEARD]})
    except (ValueError, TypeError, AttributeError, OverflowError, RecursionError):
        return None


def _number(value: Any) -> float:
    if not math.isfinite(value) or abs(value) > 1e9:
        raise ValueError(value)
    return float(value)


def _count(value: Any) -> Optional[int]:
    return None if value is None else max(0, int(_number(value)))


class Reporter:
    """Answers questions of the named stations, and of the programs of its own station."""

    def __init__(self, client: sis.Client, peers: Sequence[str], facts: Sequence[str],
                 own: Callable[[], Report], now: Callable[[], float],
                 draw: Callable[[float, float], float] = random.uniform) -> None:
        """client: bound to console.SAP. peers: addresses of those that are answered. own: the
        report of this station. now: station time, s."""
        self._client, self._peers, self._facts = client, set(peers), facts
        self._own, self._now, self._draw = own, now, draw
        #: Answers by their station, so one for each of peers at most: when, question, limit in s.
        self._due: Dict[str, Tuple[float, Any, int, int]] = {}
        self._answered: Dict[str, float] = {}

    def take(self, p: Any) -> None:
        """Process a primitive, None if there was none, and answer what is due."""
        m = console.decode(p.u_pdu) if isinstance(p, s5066.s_unidata_indication) else None
        if m is not None and m.kind == console.ASK:
            self._asked(p, m)
        now = self._now()
        for source in [s for s, due in self._due.items() if due[0] <= now]:
            _, question, session, limit = self._due.pop(source)
            self._answered[source] = now
            body = self._own().encode(self._facts)
            self._client.send(question.src, console.Message(console.TELL, session, body=body)
                              .encode(), question.src_sap, _mode(), question.priority, limit,
                              timeout=10)

    def _asked(self, p: Any, m: console.Message) -> None:
        source, now = str(p.src), self._now()
        if source == str(p.dst):  # a program of this station: nothing goes on the air
            self._due[source] = now, p, m.session, 0
        elif source in self._peers and source not in self._due and \
                now - self._answered.get(source, -PAUSE_S) >= PAUSE_S:
            self._due[source] = (now + self._draw(0, min(m.sequence, MAX_SPREAD_S)), p, m.session,
                                 min(m.value, MAX_LIMIT_S))


class Question:
    """Asks a group or a station, and collects the reports by station."""

    def __init__(self, client: sis.Client, now: Callable[[], float]) -> None:
        """client: bound to SAP, since a reporter here may have console.SAP. now: station time, s.
        """
        self._client, self._now = client, now
        self._session = random.getrandbits(32)
        #: Address of this station, known from the first answer.
        self.own = ""
        self.reports: Dict[str, Report] = {}

    def ask(self, to: str, spread_s: int, limit_s: int,
            progress: Callable[[], Optional[bool]] = lambda: None) -> None:
        """Ask, and wait limit_s of station time for the answers.

        spread_s: the stations answer at random times within it. progress: called often; True
        ends the wait.
        """
        self._send(to, spread_s, limit_s)
        end, own_at = self._now() + limit_s, -math.inf
        while self._now() < end and not progress():
            self._take(self._client.next(timeout=0.1))
            if self.own and self._now() > own_at + OWN_S:
                own_at = self._now()
                self._send(self.own, 0, limit_s)

    def _send(self, to: str, spread_s: int, limit_s: int) -> None:
        self._client.send(to, console.Message(console.ASK, self._session, spread_s,
                                              limit_s).encode(), console.SAP, _mode(),
                          ttl_s=limit_s, timeout=10)

    def _take(self, p: Any) -> None:
        m = console.decode(p.u_pdu) if isinstance(p, s5066.s_unidata_indication) else None
        if m is None or m.kind != console.TELL or m.session != self._session:
            return
        report = decode(m.body)
        if report is None or len(self.reports) >= MAX_REPORTS:
            return
        self.reports[str(p.src)] = report
        self.own = str(p.dst)

    def rows(self) -> List[Dict[str, Any]]:
        """A row for each other station that answered: node, hears_us and we_hear (SNR and age, or
        None), links, queue, version, heard."""
        reports = dict(self.reports)  # another thread may be collecting
        here = reports.get(self.own, Report())
        return [{"node": node, "hears_us": r.heard.get(self.own), "we_hear": here.heard.get(node),
                 "links": r.links, "queue": r.queue, "version": r.version, "heard": r.heard}
                for node, r in sorted(reports.items()) if node != self.own]


def words(row: Dict[str, Any]) -> List[str]:
    """A row of Question.rows() as texts for a table, under HEADS."""
    def quality(heard: Optional[Tuple[float, float]]) -> str:
        return "-" if heard is None else f"{heard[0]:.0f} dB, {heard[1]:.0f} s ago"
    return [row["node"], quality(row["hears_us"]), quality(row["we_hear"]),
            *("-" if row[f] is None else str(row[f]) for f in ("links", "queue", "version"))]


#: Heads of a table. The queue is in octets.
HEADS = ["station", "hears us", "we hear it", "links", "queue", "version"]


def _mode() -> Any:
    return sis.service("non_arq", retransmissions=REPEATS)

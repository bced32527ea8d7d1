# SPDX-License-Identifier: GPL-3.0-or-later
"""Progress of a data link: how fast data move, how much of the current work is done, and what went
wrong lately. Made from samples of its state and counters."""
from collections import OrderedDict, deque
from typing import Any, Deque, Dict, Iterable, Mapping, Optional, Tuple

from .cost import Cost
from .remaining import Remaining, Transmission

#: Time span of "the last minutes", s of station time, and least distance of two samples.
MINUTES_S, MIN_S = 300.0, 1.0
#: Time span of "now", s. Two long transmissions and their answers fit in.
NOW_S = 60.0
#: Shortest span for a rate, s. Over less, one acknowledgement would decide it.
MIN_SPAN_S = 10.0
#: Samples kept. Three in a row span MIN_S at least, so these span MINUTES_S.
MAX_SAMPLES = 620
#: Peers whose last reception is kept.
MAX_PEERS = 100

#: Counters of a data link that mean trouble when they grow.
TROUBLES = ("u_pdus_refused", "u_pdus_rejected", "u_pdus_expired", "u_pdus_lost",
            "u_pdus_overflowed", "links_failed", "silent_rounds", "tx_damaged", "late_answers")
#: Time, octets that arrived there and here, troubles, acknowledged D_PDUs.
_Sample = Tuple[float, float, float, Dict[str, int], int]


class Progress:
    """Keeps at most MAX_SAMPLES samples of one data link. All times are station time, s."""

    def __init__(self) -> None:
        self._samples: Deque[_Sample] = deque(maxlen=MAX_SAMPLES)
        self._base = 0.0  # octets submitted when nothing waited last
        self._begin: Optional[float] = None  # since when something waits
        self._last_begin = 0.0
        self._received = 0
        self._peer, self._peer_since = "", None  # type: str, Optional[float]
        self._heard: "OrderedDict[str, float]" = OrderedDict()  # when, by peer
        self._rounds = 0  # silent rounds when this peer was heard, or became the peer
        self._last: Dict[str, float] = {}
        self._data = (0.0, 0)  # octets and D_PDUs, for the mean size of a D_PDU
        self._remaining, self._cost = Remaining(), Cost()

    def note(self, link: Mapping[str, Any], stats: Mapping[str, int], late_answers: int = 0,
             spans: Iterable[Mapping[str, Any]] = (), held: float = 0.0) -> None:
        """Take a sample. link: the fields of a data_link_state. stats: the counters of the data
        link. late_answers: of the modem. spans: the last ones on the air, as of StatusWatch.
        held: octets that a client of this program has not submitted yet. A sample sooner than
        MIN_S replaces the last one."""
        now, submitted = float(link["now"]), float(stats.get("u_pdu_octets_submitted", 0))
        waiting = held + self._waiting(link, stats, submitted)
        submitted += held
        self._base = min(self._base, submitted)  # what was held may be given up
        if waiting <= 0:
            self._base, self._begin = submitted, None
        elif self._begin is None:
            self._begin = self._last_begin = now
        received, rounds = int(stats.get("octets_received", 0)), stats.get("silent_rounds", 0)
        self._note_peer(str(link.get("peer") or ""), now, received, int(rounds))
        troubles = {name: int(stats.get(name, 0)) for name in TROUBLES}
        troubles["late_answers"] = late_answers
        queued = min(waiting, held + float(link["queued_octets"]))
        sent = [Transmission(s["mode"], s["begin"], s["end"]) for s in spans if s["kind"] == "tx"]
        self._remaining.note(now, sent, submitted - queued, queued, waiting - queued)
        self._cost.note(now, link, stats, sent, submitted - waiting, waiting - queued,
                        waiting > 0)
        self._last = {"total": submitted - self._base, "waiting": waiting, "queued": queued}
        sample = (now, submitted - waiting, float(stats.get("u_pdu_octets_delivered", 0)),
                  troubles, int(stats.get("d_pdus_acked", 0)))
        if len(self._samples) > 1 and now - self._samples[-2][0] < MIN_S:
            self._samples[-1] = sample
        else:
            self._samples.append(sample)

    def _note_peer(self, peer: str, now: float, received: int, rounds: int) -> None:
        """What was heard belongs to the peer of that moment."""
        if peer != self._peer:
            self._peer, self._peer_since, self._rounds = peer, now, rounds
        if received != self._received:
            self._received, self._rounds = received, rounds
            self._heard[peer] = now
            self._heard.move_to_end(peer)
            if len(self._heard) > MAX_PEERS:
                self._heard.popitem(last=False)
        elif not self._samples:
            self._rounds = rounds

    def _waiting(self, link: Mapping[str, Any], stats: Mapping[str, int], submitted: float
                 ) -> float:
        """Octets that have not arrived yet: not sent, or sent and not acknowledged."""
        queued, unacknowledged = float(link["queued_octets"]), int(link["unacknowledged"])
        sent, acknowledged = submitted - queued, int(stats.get("d_pdus_acked", 0))
        if acknowledged + unacknowledged:
            self._data = (sent, acknowledged + unacknowledged)
        mean = self._data[0] / self._data[1] if self._data[1] else 0.0
        return min(submitted, queued + unacknowledged * mean)

    def take(self) -> Dict[str, Any]:
        """Values for JSON. Empty before the first sample.

        total_octets and done_octets: of the current work, which begins when nothing waits.
        waiting_octets: not arrived yet. air_octets: those of them that were sent and are not
        acknowledged. left_s: time until all have arrived, or None while it is not known. begin:
        since when, or None. out_bps, in_bps: goodput over NOW_S, and out_minutes_bps,
        in_minutes_bps over MINUTES_S (bit/s). in_octets: delivered in NOW_S. Rates are those
        with the present peer. cost: see Cost.take(). last_heard: station time of the last intact
        D_PDU of this peer, or None. peer_since: since when it is the peer, or None. unanswered:
        transmissions to it without an answer since then. troubles: growth of each of TROUBLES
        within MINUTES_S.
        """
        if not self._samples:
            return {}
        total, waiting = self._last["total"], self._last["waiting"]
        out_bps, in_bps, in_octets = self._rates(NOW_S)
        out_minutes, in_minutes, _ = self._rates(MINUTES_S)
        troubles, past = self._samples[-1][3], self._since(MINUTES_S)[3]
        rounds = troubles["silent_rounds"]
        return {"total_octets": round(total), "waiting_octets": round(waiting),
                "air_octets": round(waiting - self._last["queued"]),
                "done_octets": round(max(0.0, total - waiting)), "begin": self._begin,
                "left_s": self._remaining.left() if waiting else None,
                "out_bps": round(out_bps), "in_bps": round(in_bps), "in_octets": round(in_octets),
                "out_minutes_bps": round(out_minutes), "in_minutes_bps": round(in_minutes),
                "cost": self._cost.take(), "last_heard": self._heard.get(self._peer),
                "peer_since": self._peer_since,
                "unanswered": rounds - self._rounds,
                "troubles": {k: v - past[k] for k, v in troubles.items() if v > past[k]}}

    def cost_s(self) -> Dict[str, float]:
        """See Cost.total_s()."""
        return self._cost.total_s()

    def _since(self, span_s: float) -> _Sample:
        """The newest sample that is span_s old, else the oldest one."""
        now, found = self._samples[-1][0], self._samples[0]
        for sample in self._samples:
            if sample[0] > now - span_s:
                break
            found = sample
        return found

    def _rates(self, span_s: float) -> Tuple[float, float, float]:
        """Goodput out and in, bit/s, and octets in, over the last span_s.

        Acknowledgements arrive after transmissions of up to two minutes. So "now" reaches back to
        the acknowledgement before span_s, or to the start of the work. In the other direction it
        leaves out the time before the first delivery."""
        first, last = self._since(span_s), self._samples[-1]
        if self._peer_since is not None and first[0] < self._peer_since:
            first = next(s for s in self._samples if s[0] >= self._peer_since)
        begin = max(first[0], last[0] - span_s)
        begin_out = begin_in = begin
        if span_s <= NOW_S:
            before = min(s[0] for s in self._samples if s[4] == first[4] and
                         s[0] >= (self._peer_since or s[0]))
            begin_out = max(before, self._last_begin)
            same = [s[0] for s in self._samples if s[0] >= begin and s[2] == first[2]]
            begin_in = max(begin, same[-1] - MIN_SPAN_S) if same else begin
        octets_in = max(0.0, last[2] - first[2])
        return (8 * max(0.0, last[1] - first[1]) / max(last[0] - begin_out, MIN_SPAN_S),
                8 * octets_in / max(last[0] - begin_in, MIN_SPAN_S), octets_in)

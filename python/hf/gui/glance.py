# SPDX-License-Identifier: GPL-3.0-or-later
"""What an operator must know of a station, in words. A pure function of its snapshot, for the page
and for hf top."""
from typing import Any, Dict, List, Mapping, Optional

from . import problems
from .words import ago, amount, duration, mode_bps, part, rate

#: Lowest SNR in 3 kHz, dB, for each word for a channel. Orientation: 4539-9600 needs about 21 dB
#: on a steady channel, 2400 bit/s about 10 dB on a fading one.
WORDS = ((20.0, "good"), (12.0, "fair"), (5.0, "poor"), (-1000.0, "very poor"))
#: Blocks that the word is made of, and the age at which it is no news any more, s.
BLOCKS, OLD_S = 5, 300.0
#: A change of the peer is noticed within this time, s.
SEEN_S = 2.0
#: Names of what a TCP port is used for.
PORTS = {80: "web page", 443: "web page", 8080: "web page", 8000: "web page", 25: "mail",
         465: "mail", 587: "mail", 110: "mail", 143: "mail", 993: "mail", 22: "terminal session"}
#: Why a station with something to send does not transmit, by the phase of its data link.
WAITS = {"holding": "waiting for its turn", "waiting for an answer": "waiting for the answer",
         "waiting for the end of another signal":
         "waiting: another signal, which cannot be read, is on the channel",
         "waiting for a channel": "waiting for a channel of ALE"}
#: Less than this share of the other direction's rate counts as acknowledgements, not as data.
SHARE = 0.2

Snapshot = Mapping[str, Any]


def glance(s: Snapshot) -> Dict[str, Any]:
    """The first screen for a station's snapshot. All values are texts, but for these.

    sentence: the state in one sentence. state: transmitting, receiving, waiting, silent or idle,
    as the station is this moment. now: the same in words. me, peer: names, peer is empty if none
    is known. speed, speed_minutes: goodput now and over the last five minutes, each with its
    direction. cost, cost_parts: where the time of sending went, empty if not known.
    channel: a word. channel_numbers: the numbers behind it. waiting, ready: what waits and when it
    will be done. share: part of the work that is done, 0 to 1, or None. share_sent:
    the same, with what was sent and is not acknowledged. problems: a list of what is wrong (what)
    and the remedy (remedy), the worst first.
    """
    link, progress = s.get("link") or {}, s.get("progress") or {}
    work = _work(s, link, progress)
    word, numbers = channel(s)
    found = problems.problems(s)
    waiting, ready = _waiting(s, link, progress)
    cost, cost_parts = cost_in_words(progress.get("cost"))
    total = progress.get("total_octets") or 0
    busy = bool(total and progress["waiting_octets"])
    return {"sentence": _sentence(s, work, word, found), "state": _state(s),
            "now": _now(s) + _ale(s), "me": s["name"], "peer": link.get("peer") or "",
            "speed": _speed(progress.get("out_bps"), progress.get("in_bps"), work),
            "speed_minutes": _speed(progress.get("out_minutes_bps"),
                                    progress.get("in_minutes_bps"), work),
            "cost": cost, "cost_parts": cost_parts,
            "channel": word, "channel_numbers": numbers, "waiting": waiting, "ready": ready,
            "share": round(progress["done_octets"] / total, 3) if busy else None,
            "share_sent": round((progress["done_octets"] + (progress.get("air_octets") or 0)) /
                                total, 3) if busy else None,
            "problems": found}


def channel(s: Snapshot) -> "tuple[str, str]":
    """A word for the channel from the peer, and the numbers behind it."""
    now = clock(s)
    if problems.is_deaf(s.get("radio") or {}):
        return "not known now", "the receiver gives no signal"
    since = _peer_since(s)
    blocks = [b for b in s["blocks"] if b.get("snr_db") is not None and b["at"] >= since][-BLOCKS:]
    if not blocks:
        return "not known yet", "nothing received"
    last = blocks[-1]
    snr = sum(b["snr_db"] for b in blocks) / len(blocks)
    grade = next(k for k, (least, _) in enumerate(WORDS) if snr >= least)
    quality = [b["quality"] for b in blocks if b.get("quality") is not None]
    if quality and sum(quality) / len(quality) < 0.5:
        grade = min(grade + 1, len(WORDS) - 1)
    numbers = f"{snr:.0f} dB"
    if (last.get("doppler_hz") or 0) >= 0.1:
        numbers += f", fading {last['doppler_hz']:.1f} Hz"
    if now - last["at"] > OLD_S:
        return "not known now", f"{numbers} {ago(now - last['at'])}"
    return WORDS[grade][1], numbers


def _peer_since(s: Snapshot) -> float:
    """Station time from which on receptions are the peer's. It is known to be the peer only while
    its first reception is under way."""
    since = (s.get("progress") or {}).get("peer_since")
    if since is None:
        return 0.0
    begins = [span["begin"] for span in s.get("spans") or [] if span["kind"] == "rx" and
              span["begin"] <= since and (span["end"] is None or span["end"] > since - SEEN_S)]
    return float(min([since, *begins[-1:]]))


def clock(s: Snapshot) -> float:
    """Station time, s."""
    part = s.get("modem") or s.get("link") or {}
    return float(part.get("now", 0.0))


def _state(s: Snapshot) -> str:
    link, modem = s.get("link") or {}, s.get("modem") or {}
    phase = link.get("phase", "")
    if link.get("emcon"):
        return "silent"
    if phase == "transmitting" or (not link and modem.get("transmitting")):
        return "transmitting"
    if phase == "receiving" or modem.get("receiving"):
        return "receiving"
    return "waiting" if phase in WAITS else "idle"


def _now(s: Snapshot) -> str:
    link, modem = s.get("link") or {}, s.get("modem") or {}
    state = _state(s)
    if state == "transmitting":
        return "transmitting in " + (link.get("tx_mode") or modem.get("tx_mode") or "?")
    if state == "receiving":
        return "receiving " + (link.get("rx_mode") or modem.get("rx_mode") or "a signal")
    if state == "silent":
        return "listening only: radio silence"
    if state == "waiting":
        left_s = (link.get("phase_ends") or 0.0) - clock(s)
        return WAITS[link["phase"]] + (f", {left_s:.0f} s left" if left_s > 0.5 else "")
    return "listening"


def _ale(s: Snapshot) -> str:
    return f"; ALE {s['ale']['text']}" if s.get("ale") else ""


def _work(s: Snapshot, link: Snapshot, progress: Snapshot) -> str:
    """out, in, both or an empty text: where data move, acknowledgements not counted."""
    waits = (progress.get("waiting_octets") or 0) > 0
    out, back = progress.get("out_bps") or 0, progress.get("in_bps") or 0
    comes = back > SHARE * out and (progress.get("in_octets") or 0) > 0 or \
        (_state(s) == "receiving" and not waits)
    if waits and comes and back > 0:
        return "both"
    if waits:
        return "out"
    return "in" if comes and link.get("peer") else ""


def _kind(s: Snapshot, outwards: bool) -> str:
    """Name of what is transferred: a file of the page, one kind of TCP connection, or data."""
    if outwards and s.get("sending_file"):
        return f"file {s['sending_file']}"
    names = set()
    for c in s.get("connections") or []:
        port = str(c["to"]).rpartition(":")[2]
        if c["state"] in ("open", "opening", "connecting") or c["state"].startswith("half"):
            names.add(PORTS.get(int(port), "data") if port.isdigit() else "data")
    return names.pop() if len(names) == 1 else "data"


def _sentence(s: Snapshot, work: str, word: str, found: List[Dict[str, str]]) -> str:
    link, progress = s.get("link"), s.get("progress") or {}
    if link is None:
        return f"Modem only, for another data link: {_now(s)}."
    peer = link.get("peer") or "another station"
    if any(p["about"] == "radio" for p in found):
        waits = progress.get("waiting_octets") or 0
        return "The radio does not work" + (f": {amount(waits)} for {peer} waiting." if waits else
                                            ".")
    if work in ("out", "both"):
        return _sending(s, work, peer, progress, found) + _channel_words(s, word, found) + "."
    if work == "in":
        got = progress.get("in_octets") or 0
        size = f", {amount(got)} in the last minute" if got else ""
        return f"Receiving {_kind(s, False)} from {peer}{size}" \
            f"{_channel_words(s, word, found)}."
    if link.get("emcon"):
        return "Radio silence: the station only listens."
    if _state(s) == "transmitting":
        return f"Answering {peer}."
    if link.get("phase") not in ("idle", "", None):
        return f"Finishing with {peer}, nothing is waiting."
    if not link.get("peer"):
        return "Idle: listening, no station heard yet."
    heard = progress.get("last_heard")
    if heard is None:
        return f"Idle: listening, {link['peer']} was called and not heard yet."
    return f"Idle: nothing to send. Last heard {link['peer']} {ago(clock(s) - heard)}."


def _sending(s: Snapshot, work: str, peer: str, progress: Snapshot, found: List[Dict[str, str]]
             ) -> str:
    done, total = progress["done_octets"], progress["total_octets"]
    if s["link"].get("emcon"):
        return f"Radio silence: {amount(progress['waiting_octets'])} for {peer} held back"
    if any(p["about"] == "answer" for p in found):
        return f"Calling {peer}, which does not answer: {amount(progress['waiting_octets'])} " \
            "waiting"
    if _calls(s):
        air = progress.get("air_octets") or 0
        return f"Calling {peer}: " + (f"{part(air, total)} on the air" if air else
                                      f"{amount(progress['waiting_octets'])} waiting")
    verb = "Exchanging data with" if work == "both" else f"Sending {_kind(s, True)} to"
    left = _left(progress, s)
    return f"{verb} {peer}, {part(done, total)}{', ' + left + ' left' if left else ''}"


def _calls(s: Snapshot) -> bool:
    """Whether the peer was not heard since the work began, and nothing has arrived there. A group
    never answers."""
    progress, peer = s["progress"], str(s["link"].get("peer") or "")
    begin, heard = progress.get("begin"), progress.get("last_heard")
    group = peer.partition(".")[0].isdigit() and int(peer.partition(".")[0]) >= 16
    return not group and not progress.get("done_octets") and begin is not None and \
        (heard is None or heard < begin)


def _left(progress: Snapshot, s: Snapshot) -> str:
    """The time that is left, or an empty text while it is not known."""
    left_s = progress.get("left_s")
    stuck = any(p["about"] in ("radio", "answer", "silence") for p in problems.problems(s))
    return "" if left_s is None or stuck or _calls(s) else f"about {duration(left_s)}"


def _channel_words(s: Snapshot, word: str, found: List[Dict[str, str]]) -> str:
    if any(p["about"] in ("answer", "silence") for p in found) or word.startswith("not known"):
        return ""
    text = f"; channel is {word}"
    modes = [m for m in (mode_bps(b["mode"]) for b in s["spans"] if b["kind"] == "tx" and
                         (clock(s) if b["end"] is None else b["end"]) - b["begin"] > 3) if m]
    # Short transmissions are calls and acknowledgements, which have modes of their own.
    earlier = [m for m in modes[-6:-1] if m != modes[-1]]
    if s["mode"] != "auto" or not earlier or earlier[-1] == modes[-1]:
        return text
    return f"{text}, rate {'lowered' if earlier[-1] > modes[-1] else 'raised'} to {modes[-1]}"


def _speed(out: Optional[float], back: Optional[float], work: str) -> str:
    """Goodput with its direction. Both directions if data move in both."""
    out, back = out or 0, back or 0
    if out < 1 and back < 1:
        return "nothing"
    sends, comes = out > SHARE * back, back > SHARE * out
    parts = [text for is_so, text in ((sends, "out " + rate(out)), (comes, "in " + rate(back)))
             if is_so]
    return parts[0] if len(parts) == 1 and work != "both" else "; ".join(parts)


def cost_in_words(shares: Optional[Mapping[str, float]]) -> "tuple[str, str]":
    """The share of the time that data had, and the others, the largest first."""
    if shares is None:
        return "", ""
    parts = sorted(((round(100 * share), name) for name, share in shares.items()
                    if name != "data"), key=lambda p: -p[0])
    return (f"{100 * shares['data']:.0f} % data",
            ", ".join(f"{percent} % {name}" for percent, name in parts if percent))


def _waiting(s: Snapshot, link: Snapshot, progress: Snapshot) -> "tuple[str, str]":
    """What waits, and when it will be done."""
    octets = progress.get("waiting_octets") or 0
    flows = sum(int(f["octets"]) for f in s.get("flows") or [])
    air = progress.get("air_octets") or 0
    parts = [amount(octets) + (f" ({amount(air)} sent, not confirmed)" if air else "")] \
        if octets else []
    if flows:
        parts.append(f"{amount(flows)} of IP packets")
    if not parts:
        return "nothing", ""
    left = _left(progress, s) if link else ""
    return " and ".join(parts), f"done in {left}" if left else "time not known yet" if \
        not link.get("emcon") else "held by radio silence"

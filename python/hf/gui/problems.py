# SPDX-License-Identifier: GPL-3.0-or-later
"""What is wrong with a station, and what the operator can do about it. A pure function of its
snapshot."""
from typing import Any, Dict, List, Mapping

from ..station.edge import CLIPPED_DB
from .words import ago

#: Transmissions without an answer that make a problem. One is lost now and then in fading.
UNANSWERED = 2
#: Silence of a receiver that makes a problem, s. A squelch opens later, a switch settles sooner.
DEAF_S = 5.0

#: Counters that tell of lost data within the last five minutes: what, and the remedy.
_LOSSES = (
    ("u_pdus_rejected", "Data were not delivered{}: the other station refused them or did not "
                        "answer",
     "Check that the other station and its program are running, then send them again."),
    ("u_pdus_expired", "Data were not delivered in time, and discarded{}",
     "Send them again when the channel is better."),
    ("u_pdus_refused", "Data from another station were refused{}: they did not prove who sent "
                       "them",
     "See who it is in the table of proofs. Compare the fingerprints of hf auth show by voice."),
    ("u_pdus_lost", "Data were lost when the link was reset{}", "Send them again."),
    ("u_pdus_overflowed", "Data were discarded{}: too much was waiting",
     "Let the program that sends wait until the queue is shorter."))


def problems(s: Mapping[str, Any]) -> List[Dict[str, str]]:
    """The problems, the worst first. Each has keys about (radio, level, answer, silence, data,
    computer), what (one sentence) and remedy (what to do)."""
    # A cause before its effects: no answer comes to a transmission that was cut.
    return _radio(s.get("radio") or {}) + _computer(s) + _link(s) + _data(s)


def _problem(about: str, what: str, remedy: str) -> Dict[str, str]:
    return {"about": about, "what": what, "remedy": remedy}


def is_deaf(radio: Mapping[str, Any]) -> bool:
    """Whether nothing is received: the device is lost, or gives no signal while we do not key."""
    source, key = radio.get("source") or {}, radio.get("key") or {}
    silent = (source.get("silent_s") or 0) > DEAF_S and not key.get("down", False)
    return silent or not (radio.get("capture") or {}).get("open", True)


def _radio(radio: Mapping[str, Any]) -> List[Dict[str, str]]:
    found = []
    for name, does in (("capture", "receives"), ("playback", "transmits")):
        device = radio.get(name) or {}
        if device and not device.get("open", True):
            why = f" ({device['trouble']})" if device.get("trouble") else ""
            found.append(_problem("radio", f"The sound device that {does} is lost{why}.",
                                  "Plug it in again. The station tries it every second."))
    lost = bool(found)
    errors = (radio.get("key") or {}).get("errors") or []
    if errors:
        found.append(_problem("radio", f"Keying the transmitter failed: {errors[-1]}.",
                              "Check the key line or the rig's connection, and [radio.ptt]."))
    if not lost and is_deaf(radio):
        found.append(_problem(
            "radio", "The receiver gives no signal at all, not even noise.",
            "Check that the radio is on, the audio or antenna cable, and the device in [radio]."))
    source = radio.get("source") or {}
    if (source.get("rms_db") or -200) > CLIPPED_DB:
        found.append(_problem(
            "level", "What the receiver gives is too loud, and is cut off.",
            "Turn down the receiver's output, its gain or the input of the sound card, until hf "
            "radio levels says good."))
    return found


def _link(s: Mapping[str, Any]) -> List[Dict[str, str]]:
    link, progress = s.get("link") or {}, s.get("progress") or {}
    waiting = progress.get("waiting_octets") or 0
    troubles = progress.get("troubles") or {}
    if link.get("emcon"):
        return [_problem("silence", "Radio silence is on, and data are waiting.",
                         "End the silence (EMCON) when it is permitted to transmit.")] \
            if waiting else []
    rounds = progress.get("unanswered") or 0
    peer = link.get("peer") or "The other station"
    if rounds >= UNANSWERED and (waiting or troubles.get("silent_rounds")):
        heard = progress.get("last_heard")
        since = "it was never heard" if heard is None else \
            f"last heard {ago(float(link.get('now', 0)) - heard)}"
        then = "The call is repeated by itself." if waiting else "Then send again."
        return [_problem(
            "answer", f"{peer} {'does' if waiting else 'did'} not answer: {rounds} transmissions "
            f"without a reply, {since}.",
            f"Check frequency, antenna and power here, and that the other station is on. {then}")]
    if troubles.get("links_failed") and not link.get("links"):
        return [_problem("answer", f"The link to {peer} was lost.",
                         "Check frequency, antenna and power here, and that the other station is "
                         "on. New data call it again.")]
    return []


def _data(s: Mapping[str, Any]) -> List[Dict[str, str]]:
    troubles = (s.get("progress") or {}).get("troubles") or {}
    found = []
    for name, what, remedy in _LOSSES:
        count = troubles.get(name, 0)
        if count:
            number = f" ({count} U_PDU{'' if count == 1 else 's'} in 5 min)"
            found.append(_problem("data", what.format(number) + ".", remedy))
    return found


def _computer(s: Mapping[str, Any]) -> List[Dict[str, str]]:
    troubles = (s.get("progress") or {}).get("troubles") or {}
    if troubles.get("tx_damaged") or troubles.get("late_answers"):
        return [_problem("computer", "A transmission was cut or started late: the computer is too "
                         "busy (last 5 min).", "Close other programs on this computer.")]
    return []

# SPDX-License-Identifier: GPL-3.0-or-later
"""What an operator must know of an ALE station, for the page, hf top and the trial."""
from typing import Any, Dict, List

#: Words for the states of hf.ale_station.
WORDS = {"scanning": "scanning", "reading": "reading a call",
         "listening": "listening before a call", "sending": "sending a call or sound",
         "answer": "waiting for the answer", "slot": "answering a call",
         "handshake": "answering a call", "linked": "linked"}


def channel_words(channel: int, frequencies_hz: List[float]) -> str:
    """For example "channel 2, 10144.0 kHz"."""
    return f"channel {channel}, {frequencies_hz[channel] / 1e3:.1f} kHz"


def view(state: Any, frequencies_hz: List[float]) -> Dict[str, Any]:
    """The state of hf.ale_station (its ale()) for JSON.

    text: the state in words. channel, frequency_hz, peer: of now; peer is empty without a link.
    links, failures: counts. quality: rows of peer, channel, snr_db and age_s. heard: the same in
    one line for each peer, the best channel first.
    """
    text = WORDS[state.state]
    if state.peer and state.state in ("linked", "sending"):
        text = f"linked with {state.peer}"
    if state.state != "scanning":
        text += f" on {channel_words(state.channel, frequencies_hz)}"
    quality = [{"peer": q.station, "channel": q.channel, "snr_db": round(q.snr_db, 1),
                "age_s": round(q.age_s)} for q in state.quality]
    heard: Dict[str, List[str]] = {}
    for row in sorted(quality, key=lambda q: -q["snr_db"]):
        heard.setdefault(row["peer"], []).append(f"{row['channel']}: {row['snr_db']:.0f} dB")
    return {"text": text, "channel": state.channel, "frequency_hz": frequencies_hz[state.channel],
            "peer": state.peer, "links": state.links, "failures": state.failures,
            "quality": quality,
            "heard": [f"{peer} on {', '.join(rows)}" for peer, rows in sorted(heard.items())]}

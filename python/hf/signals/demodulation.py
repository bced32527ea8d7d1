# SPDX-License-Identifier: GPL-3.0-or-later
"""Recordings to octets, with a report of each transmission."""
from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Tuple

import numpy as np

from .. import hf_python as _hf
from ..recordings import dump, recording

#: Silence fed after the end of the input, s. The receiver treats a lost signal as a fade for
#: 10 s before it ends the transmission.
FLUSH_S = 12.0

#: Channel figures, reported as the mean over the blocks, and their decimal places.
CHANNEL_DIGITS = {"doppler_hz": 2, "delay_spread_ms": 2, "coded_ber": 4}

#: Report of a transmission that has ended:
#: mode;
#: start_s, end_s: seconds of input;
#: freq_offset_hz;
#: snr_db: in the bandwidth, from the mean power over the blocks;
#: octets: their number;
#: sure_octets: those up to the last block at whose end the signal was still there. Later ones may
#: be noise;
#: ended: eom, lost (no end-of-message mark) or preempted (by a new preamble);
#: joined: its preamble was missed, reception began at a block;
#: sideband: "inverted" if the spectrum is mirrored, else there is no such key;
#: reading: of the standard, standard or reversed, as the data show it;
#: doppler_hz: two-sigma spread; delay_spread_ms: two standard deviations; coded_ber: share of
#: coded bits that the decoder corrected. These three are None without a decoded block.
Report = Dict[str, Any]


def mean_ratio_db(ratios: List[float]) -> float:
    """Mean of power ratios given in dB, averaged as powers. Averaging the dB figures reads 2.5 dB
    low when one path fades, and one block in a deep fade spoils it."""
    return float(10 * np.log10(np.mean(10 ** (np.array(ratios) / 10))))


class Reception:
    """Consumes receiver events. Passes octets on at once, and a report when a transmission ends.

    octets: called with each piece of data.
    report: called with each Report.
    Attributes, all counts so far: found: transmissions. complete: those received from preamble
    to end-of-message mark. octets: octets of all transmissions.
    """

    def __init__(self, octets: Callable[[bytes], object] = lambda _: None,
                 report: Callable[[Report], object] = lambda _: None) -> None:
        self._give, self._report = octets, report
        self._current: Optional[Report] = None
        self._snrs: List[float] = []
        self._channel: Dict[str, List[float]] = {}
        self.found = self.complete = 0
        self.octets = 0

    def handle(self, events: Iterable[Dict[str, Any]]) -> None:
        """Process receiver events, in order."""
        for event in events:
            kind = event["type"]
            if kind == "start":
                self._begin(event)
            elif kind == "octets" and self._current is not None:
                self._current["octets"] += len(event["octets"])
                self._current["reading"] = event["reading"]
                self._snrs.append(event["snr_db"])
                for key, values in self._channel.items():
                    if key in event:
                        values.append(event[key])
                self.octets += len(event["octets"])
                self._give(event["octets"])
            elif kind == "end":
                self._end(event["time"], event["reason"], event.get("sure_octets"))

    def finish(self, time_s: float) -> None:
        """End a transmission that was cut off by the end of the input."""
        self._end(time_s, "lost", None)

    def _begin(self, event: Dict[str, Any]) -> None:
        self.found += 1
        self._snrs = []
        self._channel = {key: [] for key in CHANNEL_DIGITS}
        self._current = {
            "mode": event["mode"],
            "start_s": round(event["time"], 4),
            "end_s": None,
            "freq_offset_hz": round(event["freq_offset_hz"], 2),
            "snr_db": round(event["snr_db"], 1),
            "octets": 0,
            "sure_octets": 0,
            "ended": None,
            "joined": event["joined"],
            "reading": "standard",
            **({"sideband": event["sideband"]} if "sideband" in event else {}),
        }

    def _end(self, time_s: float, reason: str, sure: Optional[int]) -> None:
        report, self._current = self._current, None
        if report is None:
            return
        if self._snrs:
            report["snr_db"] = round(mean_ratio_db(self._snrs), 1)
        for key, values in self._channel.items():
            report[key] = (round(sum(values) / len(values), CHANNEL_DIGITS[key])
                           if values else None)
        report["end_s"], report["ended"] = round(time_s, 4), reason
        report["sure_octets"] = report["octets"] if sure is None else sure
        self.complete += reason == "eom" and not report["joined"]
        self._report(report)


@dataclass(frozen=True)
class View:
    """Part of a recording in which to look for transmissions.

    khz: bandwidth of the channel.
    shift_hz: from the subcarrier to the middle of the search.
    inverted: mirror the spectrum about that middle.
    """

    khz: int = 3
    shift_hz: float = 0.0
    inverted: bool = False

    def described(self, event: Dict[str, Any]) -> Dict[str, Any]:
        """An event of the receiver, with its offset from the subcarrier in the recording."""
        described = dict(event)
        if "freq_offset_hz" in event:
            sign = -1 if self.inverted else 1
            described["freq_offset_hz"] = self.shift_hz + sign * event["freq_offset_hz"]
        if self.inverted and event["type"] == "start":
            described["sideband"] = "inverted"
        return described


#: Shift of the second search, Hz. The receiver finds offsets up to 95 Hz, so three searches
#: cover 265 Hz to either side.
SHIFT_HZ = 170.0

#: Offset up to which the second search finds transmissions, Hz.
MAX_OFFSET_HZ = 250.0


def second_search(khz: int) -> List[View]:
    """Views for a recording in which nothing was found: carriers far off, inverted spectra."""
    return [View(khz, shift, inverted) for inverted in (False, True)
            for shift in (0.0, -SHIFT_HZ, SHIFT_HZ) if shift or inverted]


def silence(bandwidth: int = 3) -> np.ndarray:
    """Zeros to feed after the end of the input, for a bandwidth in kHz."""
    return np.zeros(round(FLUSH_S * baseband_rate(bandwidth)), np.complex64)


def baseband_rate(bandwidth: int) -> int:
    """The modem's samples/s in a bandwidth of this many kHz."""
    return _hf.BASEBAND_RATE * bandwidth // 3


def usual_subcarrier(bandwidth: int) -> float:
    """Middle of the channel in audio, Hz. The channel starts at 300 Hz (110C table D-I)."""
    return 300.0 + 500.0 * bandwidth


def hinted_bandwidths(source: recording.Recording) -> List[float]:
    """Bandwidths that a recording suggests, Hz, the surest first.

    Sources: modes in its annotations, frequency edges in its annotations, and for complex samples
    the sample rate.
    """
    hints: List[float] = []
    for annotation in source.annotations:
        try:
            hints.append(float(_hf.mode(str(annotation.get("core:label"))).bandwidth_hz))
        except ValueError:
            pass  # the label is not a mode
    for annotation in source.annotations:
        edges = [annotation.get(f"core:freq_{edge}_edge") for edge in ("lower", "upper")]
        if all(isinstance(edge, (int, float)) for edge in edges):
            hints.append(float(edges[1] - edges[0]))  # type: ignore[operator]
    if source.complex_samples:
        hints.append(3000 * source.rate / _hf.BASEBAND_RATE)
    return list(dict.fromkeys(hints))


def fits(source: recording.Recording, view: View, subcarrier: Optional[float] = None) -> bool:
    """Whether a recording's sample rate and the subcarrier (Hz), if given, allow a view."""
    centre = subcarrier_of(source, view.khz, subcarrier) + view.shift_hz
    if not source.complex_samples and centre < 500 * view.khz:
        return False
    try:
        _hf.audio_to_baseband(source.rate, centre, baseband_rate(view.khz))
    except ValueError:
        return False
    return True


def bandwidths_of(source: recording.Recording, subcarrier: Optional[float] = None) -> List[int]:
    """Bandwidths, kHz, that fit the recording's sample rate and the subcarrier (Hz), if given.
    Those of hinted_bandwidths() come first, then the others from narrow to wide."""
    hints = hinted_bandwidths(source)
    every = sorted({m.bandwidth_hz // 1000 for m in _hf.mode.all()})
    hinted = [khz for hint in hints for khz in every if 1000 * khz == round(hint)]
    # If none fits, return one anyway. Its error message names the problem with the sample rate.
    return [khz for khz in dict.fromkeys(hinted + every)
            if fits(source, View(khz), subcarrier)] or [every[0]]


def subcarrier_of(source: recording.Recording, bandwidth: int, given: Optional[float] = None
                  ) -> float:
    """Middle of the channel in the recording, Hz: the given one, else the usual one. bandwidth:
    kHz."""
    if given is not None:
        return given
    return 0.0 if source.complex_samples else usual_subcarrier(bandwidth)


#: Baseband samples, and for each the share that was erased.
Heard = Tuple[np.ndarray, np.ndarray]


class Baseband:
    """A recording at the modem's sample rate. seconds: duration read so far."""

    def __init__(self, source: recording.Recording, subcarrier: float, bandwidth: int,
                 inverted: bool = False) -> None:
        self._source, self.seconds, self._inverted = source, 0.0, inverted
        self._converter = _hf.audio_to_baseband(source.rate, subcarrier, baseband_rate(bandwidth),
                                                blank_bursts=True)

    def pieces(self) -> Iterator[Heard]:
        """The baseband, in order."""
        samples = 0
        for piece in self._source.pieces():
            samples += len(piece)
            self.seconds = samples / self._source.rate
            yield self._with_erased(self._converter.push(piece))
        yield self._with_erased(self._converter.finish())

    def _with_erased(self, heard: np.ndarray) -> Heard:
        erased = self._converter.erased  # None: nothing was erased
        heard = heard.conj() if self._inverted else heard
        return heard, np.zeros(len(heard), np.float32) if erased is None else erased


def together(*sources: Iterator[Heard]) -> Iterator[List[Heard]]:
    """Pieces of all sources for the same span of time. A source that has ended gives silence."""
    have: List[Heard] = [(np.zeros(0, np.complex64), np.zeros(0, np.float32))] * len(sources)
    ended = [False] * len(sources)
    while True:
        for k, source in enumerate(sources):
            while not ended[k] and not len(have[k][0]):
                piece = next(source, None)
                ended[k] = piece is None
                have[k] = piece or have[k]
        if all(ended):
            return
        n = min(len(h[0]) for h, over in zip(have, ended) if not over)
        yield [(np.zeros(n, np.complex64), np.zeros(n, np.float32)) if over
               else (h[0][:n], h[1][:n]) for h, over in zip(have, ended)]
        have = [(h[0][n:], h[1][n:]) for h in have]


def demodulate(source: recording.Recording, reception: Reception, subcarrier: float = 1800.0,
               zero_interleaver: bool = False, effort: int = 1, view: View = View(),
               dumped: Optional[dump.Dump] = None,
               second: Optional[recording.Recording] = None,
               progress: Callable[[float], object] = lambda _: None,
               join: bool = True) -> float:
    """Demodulate all transmissions of a recording. Returns its duration in seconds.

    subcarrier: centre of the signal, Hz, 0 for complex samples.
    zero_interleaver: treat the serial tone's short interleaver as none. The waveform does not
    distinguish the two.
    effort: 0 to 2, as in hf.receiver.
    view: the part of the recording to look at.
    dumped: receives the intermediate results of the receiver.
    second: recording of another antenna, started at the same time.
    progress: called at times with the share of the recording that was read, 0 to 1.
    join: join transmissions of 5069 whose preamble is not in the recording.

    Raises RecordingError, and ValueError for an impossible bandwidth, rate or subcarrier.
    """
    def take(events: List[Dict[str, Any]]) -> None:
        events = [view.described(event) for event in events]
        reception.handle(events)
        if dumped is not None:
            dumped.handle(events)

    options = {"zero_interleaver": zero_interleaver, "effort": effort, "bandwidth": view.khz,
               "details": dumped is not None, "join": join}
    end = silence(view.khz)
    where = (subcarrier + view.shift_hz, view.khz, view.inverted)
    first = Baseband(source, *where)
    if second is None:
        receiver = _hf.receiver(**options)
        for piece, erased in first.pieces():
            take(receiver.push(piece, erased))
            progress(source.share())
        take(receiver.push(end))
    else:
        both = _hf.diversity_receiver(**options)
        for a, b in together(first.pieces(), Baseband(second, *where).pieces()):
            take(both.push(a[0], b[0], a[1], b[1]))
            progress(source.share())
        take(both.push(end, end))
    seconds = first.seconds
    reception.finish(seconds)
    if dumped is not None:
        dumped.finish()
    return seconds

# SPDX-License-Identifier: GPL-3.0-or-later
"""A transceiver on a sound card."""
import time
from typing import Any, Callable, Dict, List, Optional

from gnuradio import blocks, gr

from .. import hf_python as _hf
from .. import station
from ..station.edge import Edge
from .ear import Ear
from .key import Key
from .rig import Rig, open_rig


#: Delay of the filters of both directions, in samples of the modem: low-pass filters of 139 and
#: 35 taps (lib/radio/channel_filter.h), and those of the resamplers.
_FILTER_SAMPLES = (69 + 4) + (17 + 4)


def _opened(what: str, rate: int, name: str, make: Any) -> gr.basic_block:
    try:
        return make()
    except RuntimeError as error:
        raise RuntimeError(f"{what} = '{name}': the sound system cannot open it with {rate} "
                           f"samples/s ({error}); hf radio list prints the available names"
                           ) from None


def open_capture(rate: int, name: str) -> gr.basic_block:
    """Open a sound device for capture. Raises RuntimeError that names it."""
    return _opened("capture", rate, name, lambda: _hf.audio_source(name, rate))


def open_playback(rate: int, name: str, buffer_s: float, channels: int = 1) -> gr.basic_block:
    """Open a sound device for playback. Raises RuntimeError that names it."""
    return _opened("playback", rate, name,
                   lambda: _hf.audio_sink(name, rate, buffer_s, channels))


class Settled:
    """A total that grows in pieces, reported after it has been constant for PAUSE_S seconds."""

    PAUSE_S = 1.0

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._reported = self._last = 0.0
        self._since = now()

    def grown(self, total: float, now_at_all: bool = True) -> float:
        """Growth since the last report. 0 while the total still grows, or now_at_all is False."""
        if total != self._last:
            self._last, self._since = total, self._now()
        if not now_at_all or self._now() < self._since + self.PAUSE_S:
            return 0.0
        grown, self._reported = total - self._reported, total
        return grown


class Watch:
    """Turns outages and losses of devices into lines for the operator, one for each outage."""

    def __init__(self, rate: float, capture: Any, playback: Any = None,
                 now: Callable[[], float] = time.monotonic) -> None:
        """rate: of both devices, samples/s."""
        self._rate, self._capture, self._playback = rate, capture, playback
        self._away: Dict[str, bool] = {}
        self._outages: Dict[str, int] = {}
        self._lost, self._overruns = Settled(now), Settled(now)
        self._underruns, self._silent_ms = Settled(now), Settled(now)

    def lines(self) -> List[str]:
        """Lines since the last call."""
        said = self._device("capture", self._capture) + self._captured(self._capture.state())
        if self._playback is not None:
            said += self._device("playback", self._playback)
            said += self._played(self._playback.state())
        return said

    def _device(self, name: str, device: Any) -> List[str]:
        state, said = device.state(), []
        if state.outages > self._outages.get(name, 0):
            said.append(f"radio: {name} device lost ({state.trouble}); retry every second")
            self._away[name] = True
        if state.open and self._away.get(name):
            said.append(f"radio: {name} device reopened")
            self._away[name] = False
        self._outages[name] = state.outages
        return said

    def _captured(self, state: Any) -> List[str]:
        said = []
        lost = self._lost.grown(state.lost, state.open)
        if lost:
            said.append(f"radio: lost {self._seconds(lost)} of received samples, treated as "
                        f"erased ({self._seconds(state.lost)} since the start)")
        if overruns := self._overruns.grown(state.overruns):
            said.append(f"radio: the computer was too busy to read received samples, "
                        f"{_times(overruns)}")
        return said

    def _played(self, state: Any) -> List[str]:
        underruns = self._underruns.grown(state.underruns)
        silent_ms = self._silent_ms.grown(state.silent_ms)
        if not underruns and silent_ms < 0.5:
            return []
        line = (f"radio: playback ran empty for {silent_ms:.0f} ms, the computer was too busy "
                f"({_times(state.underruns)}, {state.silent_ms:.0f} ms since the start)")
        if state.added_ms >= 0.5:
            line += (f"; the buffer is now {state.wanted_ms:.0f} ms and answers are "
                     f"{state.added_ms:.0f} ms later, until a minute passes without this")
        return [line]

    def _seconds(self, samples: float) -> str:
        seconds = samples / self._rate
        return f"{1e3 * seconds:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def _times(count: float) -> str:
    return "once" if count == 1 else f"{count:.0f} times"


class AudioRadio(Edge):
    """Source and sink of a station on a sound card: audio_source - from_audio, to_audio -
    audio_sink, and the key.

    Capture and playback are names of ALSA devices. With transmit = false neither playback nor key
    is opened.
    """

    def __init__(self, tb: gr.top_block, r: station.Radio, modem_rate: float = 9600) -> None:
        """Raises RuntimeError if a device cannot be opened, ValueError for a value out of
        range."""
        self._lines: List[str] = []
        self.radio = r
        self._filters_s = _FILTER_SAMPLES / modem_rate
        rate = int(r.audio_rate)
        self.key: Optional[Key] = None
        self.rig: Optional[Rig] = None  #: frequency and mode, if the file asks for them
        #: Block whose port events reports damaged transmissions, or None.
        self.events = None
        self.source = _hf.from_audio(rate, r.subcarrier_hz, modem_rate)
        self.capture: Any = open_capture(rate, r.capture)
        self.playback: Any = None
        tb.connect(self.capture, self.source)
        self._ear = Ear(self.source.state, self._away)
        if not r.transmit:
            self.sink: gr.basic_block = blocks.null_sink(gr.sizeof_gr_complex)
            self._watch = Watch(rate, self.capture)
            self.rig = open_rig(r, None, self._lines.append)
            return
        tone_hz = r.ptt.tone_hz if r.ptt.way == "tone" else 0
        self.sink = self.events = _hf.to_audio(
            rate, r.subcarrier_hz, modem_rate, r.ptt.lead_s, r.ptt.tail_s,
            0, r.buffer_s, r.latency_s, tone_hz)
        playback = self.playback = open_playback(rate, r.playback, r.buffer_s,
                                                 2 if tone_hz else 1)
        tb.connect(self.sink, playback)
        if tone_hz:
            tb.connect((self.sink, 1), (playback, 1))
        tb.msg_connect(playback, "held", self.sink, "held")
        self._watch = Watch(rate, self.capture, playback)
        self.key = Key(r.ptt, lambda: playback.state().taken, self._lines.append,
                       lambda: playback.state().open)
        try:
            self.rig = open_rig(r, self.key, self._lines.append)
        except RuntimeError:
            self.key.close()
            raise
        tb.msg_connect(self.sink, "key", self.key, "key")
        tb.msg_connect(playback, "key", self.key, "key")

    @property
    def turnaround_ms(self) -> Optional[float]:
        """Current delay of devices and filters from the end of a reception to the first sample of
        an answer, without the decoder's delay and the key's lead. None without transmitter."""
        return None if self.playback is None else sum(self.turnaround_parts_ms().values())

    def turnaround_parts_ms(self) -> Dict[str, float]:
        """The known parts of turnaround_ms, by name. Delays of a busy host are not included.
        Needs a transmitter."""
        held_ms, lead_ms = self.playback.state().held_ms, 1e3 * self.radio.ptt.lead_s
        if self.radio.ptt.way != "tone":  # a tone waits in the device with the samples
            held_ms = max(0.0, held_ms - lead_ms)
        return {"capture": float(self.capture.state().waiting_ms),
                "playback beyond lead": float(held_ms), "filters": 1e3 * self._filters_s,
                "latency_s": 1e3 * self.radio.latency_s}

    @property
    def level(self) -> float:
        """Highest peak of the modem's samples."""
        return 10 ** (self.radio.level_db / 20)

    def _away(self) -> bool:
        keyed = self.playback is not None and self.sink.state().keyed
        return keyed or not self.capture.state().open

    def take_lines(self) -> List[str]:
        """Lines for the operator since the last call."""
        said = [self._lines.pop(0) for _ in range(len(self._lines))]
        return self._watch.lines() + self._ear.lines() + said

    def close(self) -> None:
        """Release the key. The flowgraph closes the devices."""
        if self.key is not None:
            self.key.close()

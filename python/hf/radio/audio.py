# SPDX-License-Identifier: GPL-3.0-or-later
"""A transceiver on a sound card."""
from typing import Any, Dict, List, Optional

from gnuradio import blocks, gr

from .. import hf_python as _hf
from .. import station
from .ear import Ear
from .key import Key
from .rig import Rig, open_rig


#: The filters of both ways wait for so many samples of the modem: low-pass filters of 139 and 35
#: taps (lib/radio/channel_filter.h) and those of the resamplers.
_FILTER_SAMPLES = (69 + 4) + (17 + 4)


def _opened(what: str, rate: int, name: str, make: Any) -> gr.basic_block:
    try:
        return make()
    except RuntimeError as error:
        raise RuntimeError(f"{what} = '{name}': the sound system cannot open it with {rate} "
                           f"samples/s ({error}); hf radio list prints the names there are"
                           ) from None


def open_capture(rate: int, name: str) -> gr.basic_block:
    """A sound device to hear with. Raises RuntimeError that names it."""
    return _opened("capture", rate, name, lambda: _hf.audio_source(name, rate))


def open_playback(rate: int, name: str, buffer_s: float, channels: int = 1) -> gr.basic_block:
    """A sound device to speak with. Raises RuntimeError that names it."""
    return _opened("playback", rate, name,
                   lambda: _hf.audio_sink(name, rate, buffer_s, channels))


class Watch:
    """Says what devices have done since it was asked last, in lines for the operator."""

    def __init__(self, capture: Any, playback: Any = None) -> None:
        self._devices = [(d, d.state()) for d in (capture, playback) if d is not None]

    def lines(self) -> List[str]:
        """What happened since the last call."""
        said: List[str] = []
        for k, (device, before) in enumerate(self._devices):
            now = device.state()
            self._devices[k] = (device, now)
            name = "playback" if hasattr(now, "underruns") else "capture"
            if now.outages > before.outages:
                said.append(f"radio: {name} device lost: {now.trouble}")
            if now.open and (not before.open or now.outages > before.outages):
                said.append(f"radio: {name} device opened again")
            if name == "playback" and now.underruns > before.underruns:
                said.append(f"radio: playback ran empty {now.underruns - before.underruns} times, "
                            f"{now.silent_ms - before.silent_ms:.0f} ms of silence (in all "
                            f"{now.underruns} times, {now.silent_ms:.0f} ms): the host is too "
                            f"busy for what it held; it holds {now.wanted_ms:.0f} ms from now on")
            if name == "capture" and now.overruns > before.overruns:
                said.append(f"radio: capture overran {now.overruns - before.overruns} times: the "
                            "host is too busy")
            if name == "capture" and now.open and now.lost > before.lost:
                said.append(f"radio: capture lost {now.lost - before.lost} samples (in all "
                            f"{now.lost}); zeros stand for them")
        return said


class AudioRadio:
    """Source and sink of a station on a sound card: audio_source - from_audio, to_audio -
    audio_sink, and the key.

    Capture and playback are ALSA devices by name; with transmit = false neither playback nor
    key is opened.
    """

    lock_step = False
    over = False  # a sound card has no end

    def __init__(self, tb: gr.top_block, r: station.Radio, modem_rate: float = 9600) -> None:
        """Raises RuntimeError if a device cannot be opened, ValueError for what is out of
        range."""
        self._lines: List[str] = []
        self.radio = r
        self._filters_s = _FILTER_SAMPLES / modem_rate
        rate = int(r.audio_rate)
        self.key: Optional[Key] = None
        self.rig: Optional[Rig] = None  #: its frequency and mode, if the file asks for them
        #: Block whose port events tells of transmissions that suffered; None: there is none.
        self.events: Optional[gr.basic_block] = None
        self.source = _hf.from_audio(rate, r.subcarrier_hz, modem_rate)
        self.capture: Any = open_capture(rate, r.capture)
        self.playback: Any = None
        tb.connect(self.capture, self.source)
        self._ear = Ear(self.source.state, self._away)
        if not r.transmit:
            self.sink: gr.basic_block = blocks.null_sink(gr.sizeof_gr_complex)
            self._watch = Watch(self.capture)
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
        self._watch = Watch(self.capture, playback)
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
        """What devices and filters hold now, without the key's lead: the time from the end of
        a reception to the first sample of an answer, beyond the decoder's delay. None without
        transmitter."""
        return None if self.playback is None else sum(self.turnaround_parts_ms().values())

    def turnaround_parts_ms(self) -> Dict[str, float]:
        """What that time consists of, by name, as far as the radio knows it: what a busy host
        adds is not in it. Only with a transmitter."""
        held_ms, lead_ms = self.playback.state().held_ms, 1e3 * self.radio.ptt.lead_s
        if self.radio.ptt.way != "tone":  # which waits in the device with the samples
            held_ms = max(0.0, held_ms - lead_ms)
        return {"capture": float(self.capture.state().waiting_ms),
                "playback beyond lead": float(held_ms), "filters": 1e3 * self._filters_s,
                "latency_s": 1e3 * self.radio.latency_s}

    @property
    def level(self) -> float:
        """Of the modem: highest peak of its samples."""
        return 10 ** (self.radio.level_db / 20)

    def _away(self) -> bool:
        keyed = self.playback is not None and self.sink.state().keyed
        return keyed or not self.capture.state().open

    def take_lines(self) -> List[str]:
        """What the operator should know, said since the last call."""
        said = [self._lines.pop(0) for _ in range(len(self._lines))]
        return self._watch.lines() + self._ear.lines() + said

    def close(self) -> None:
        """Release the key; the flowgraph closes the devices."""
        if self.key is not None:
            self.key.close()

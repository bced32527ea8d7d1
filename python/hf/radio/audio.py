# SPDX-License-Identifier: GPL-3.0-or-later
"""A transceiver on a sound card."""
import os
from typing import List, Optional

from gnuradio import audio, blocks, gr

from .. import hf_python as _hf
from .. import station
from .key import Key

#: ALSA periods of 10 ms in each direction. gr-audio's own 32 would put 0.3 s between link and
#: air; with 4 the round trip is 14 ms and no sample is lost on a busy machine.
PERIODS = 4
PERIOD_S = 0.01


def open_device(what: str, rate: int, name: str) -> gr.basic_block:
    """A sound device; what: capture or playback. Raises RuntimeError that names it."""
    # Read by gr-audio when a device is opened.
    os.environ.setdefault("GR_CONF_AUDIO_ALSA_NPERIODS", str(PERIODS))
    try:
        return (audio.source if what == "capture" else audio.sink)(rate, name, True)
    except RuntimeError:
        raise RuntimeError(f"{what} = '{name}': the sound system cannot open it with {rate} "
                           "samples/s; hf radio list prints the names there are") from None


class AudioRadio:
    """Source and sink of a station on a sound card: Audio Source - from_audio, to_audio - Audio
    Sink, and the key.

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
        rate = int(r.audio_rate)
        self.key: Optional[Key] = None
        self.source = _hf.from_audio(rate, r.subcarrier_hz, modem_rate)
        tb.connect(open_device("capture", rate, r.capture), self.source)
        if not r.transmit:
            self.sink: gr.basic_block = blocks.null_sink(gr.sizeof_gr_complex)
            return
        buffer_s = PERIODS * PERIOD_S
        self.sink = _hf.to_audio(rate, r.subcarrier_hz, modem_rate, r.ptt.lead_s, r.ptt.tail_s,
                                 0, buffer_s + r.latency_s)
        tb.connect(self.sink, open_device("playback", rate, r.playback))
        sink = self.sink
        self.key = Key(r.ptt, lambda: sink.nitems_written(0), self._lines.append)
        tb.msg_connect(self.sink, "key", self.key, "key")

    @property
    def level(self) -> float:
        """Of the modem: highest peak of its samples."""
        return 10 ** (self.radio.level_db / 20)

    def take_lines(self) -> List[str]:
        """What the operator should know, said since the last call."""
        return [self._lines.pop(0) for _ in range(len(self._lines))]

    def close(self) -> None:
        """Release the key; the flowgraph closes the devices."""
        if self.key is not None:
            self.key.close()

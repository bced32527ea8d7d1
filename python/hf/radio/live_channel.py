# SPDX-License-Identifier: GPL-3.0-or-later
"""The simulated HF channel as a box between sound devices."""
from typing import Any, List, Tuple

from gnuradio import gr

from .. import hf_python as _hf
from . import priority
from .audio import Watch, open_capture, open_playback

#: Buffer of the playback devices, s.
_BUFFER_S = 0.1
#: Sample rate of a 3 kHz channel.
_MODEM_RATE = 9600.0


class LiveChannel:
    """Sends captured audio through an HF channel to a playback device, in real time.

    A context manager. Each direction of a two-way box has its own channel. Raises the program's
    priority, see priority.go_first(). signal_db: mean power of the signal in the captured audio,
    dB of full scale. The channel's SNR refers to it.
    """

    def __init__(self, spec: str, ways: List[Tuple[str, str]], seed: int, signal_db: float,
                 audio_rate: int = 48000, subcarrier_hz: float = 1800.0) -> None:
        """ways: capture and playback device of each direction. Raises ValueError for a wrong
        channel, RuntimeError for a device that cannot be opened."""
        priority.go_first()  # a busy host must not add gaps to the channel
        self.tb = gr.top_block("hf channel")
        self.sources: List[Any] = []
        self._watches: List[Watch] = []
        # A real signal of mean power P is the real part of a baseband of power 2 P.
        power = 2 * 10 ** (signal_db / 10)
        for k, (capture, playback) in enumerate(ways):
            source = _hf.from_audio(audio_rate, subcarrier_hz, _MODEM_RATE)
            sink = _hf.to_audio(audio_rate, subcarrier_hz, _MODEM_RATE,
                                device_buffer_s=_BUFFER_S)
            hears = open_capture(audio_rate, capture)
            speaks = open_playback(audio_rate, playback, _BUFFER_S)
            self.tb.connect(hears, source, _hf.channel(spec, seed + k, power, _MODEM_RATE), sink,
                            speaks)
            self.tb.msg_connect(speaks, "held", sink, "held")
            self.sources.append(source)
            self._watches.append(Watch(audio_rate, hears, speaks))

    def __enter__(self) -> "LiveChannel":
        self.tb.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.tb.stop()
        self.tb.wait()

    def take_lines(self) -> List[str]:
        """Lines for the operator since the last call."""
        return [line for watch in self._watches for line in watch.lines()]

    def levels(self) -> List[Tuple[float, float]]:
        """Peak and mean level of each direction's input over the last second, dB of full
        scale."""
        return [(s.state().peak_db, s.state().rms_db) for s in self.sources]

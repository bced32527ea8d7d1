# SPDX-License-Identifier: GPL-3.0-or-later
"""Modems of others for hf-lab bench league: codec2 by its library, ARDOP by ardopcf. One
that is not installed has no modes."""
import ctypes
import ctypes.util
import functools
import math
from pathlib import Path
import re
import shutil
import socket
import subprocess
import tempfile
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple
import wave

import numpy as np

from gnuradio.hf import hf_python as hf

RATE = hf.BASEBAND_RATE
#: Root mean square of the 16-bit audio at a receiver. The signals are around 1500 Hz, so 300 Hz
#: below the middle of the channel.
AUDIO_RMS = 2000.0


class Sent(NamedTuple):
    """Baseband of a message. power: mean of the signal, without pauses between bursts. air_s:
    duration, pauses included."""

    samples: np.ndarray
    power: float
    air_s: float


class Modem(NamedTuple):
    """A modem. frame: payload octets of a frame, by mode. send: frames with the payloads of a
    message. receive: payloads of the frames with a good CRC among the samples heard; it gets the
    mode and the number of frames, which ours does not use."""

    name: str
    modes: Tuple[str, ...]
    frame: Callable[[str], int]
    send: Callable[[str, Sequence[bytes]], Sent]
    receive: Callable[[str, int, np.ndarray], List[bytes]]


def sent_as_audio(signals: Sequence[np.ndarray], pause_s: float, rate: int) -> Sent:
    """Signals of full scale 32768 with a pause between them, as baseband."""
    pause = np.zeros(round(pause_s * rate), np.float32)
    audio = np.concatenate([part for signal in signals for part in (pause, signal)][1:]) / 32768
    down = hf.audio_to_baseband(rate)
    samples = np.concatenate([down.push(audio), down.finish()])
    signal_s = sum(map(len, signals)) / rate
    power = float(np.sum(np.abs(samples) ** 2)) / (signal_s * RATE)
    return Sent(samples, power, len(audio) / rate)


def heard_as_audio(heard: np.ndarray, rate: int) -> np.ndarray:
    """Baseband as audio of 16 bits, with a second of silence after it."""
    up = hf.baseband_to_audio(rate)
    audio = np.concatenate([up.push(heard), up.finish(), np.zeros(rate, np.float32)])
    level = AUDIO_RMS / math.sqrt(float(np.mean(audio ** 2)))
    return np.clip(audio * level, -32767, 32767).astype(np.int16)


#: Samples/s of codec2.
CODEC2_RATE = 8000
#: Numbers of the modes in freedv_api.h. A library lacks those that are newer than itself.
CODEC2 = {"datac0": 14, "datac1": 10, "datac3": 12, "datac4": 18, "datac13": 19, "datac14": 20}
#: End of the name of a mode that sends every frame as a burst of its own, with a preamble.
SINGLE = "/1"


@functools.lru_cache(maxsize=None)
def _codec2() -> Optional[Any]:
    """libcodec2, or None if it is not installed."""
    name = ctypes.util.find_library("codec2")
    if name is None:
        return None
    library = ctypes.CDLL(name)
    library.freedv_open.restype = ctypes.c_void_p
    library.freedv_gen_crc16.restype = ctypes.c_ushort
    return library


class _Freedv:
    """A modem of codec2 in one of its data modes, until the block ends."""

    def __init__(self, mode: str) -> None:
        self._library: Any = _codec2()
        handle = self._library.freedv_open(CODEC2[mode.replace(SINGLE, "")])
        if not handle:
            raise ValueError(f"libcodec2 has no mode {mode}")
        self._handle = ctypes.c_void_p(handle)

    def __enter__(self) -> "_Freedv":
        return self

    def __exit__(self, *_: Any) -> None:
        self._library.freedv_close(self._handle)

    def call(self, name: str, *arguments: Any) -> int:
        """Call the function freedv_NAME."""
        return int(getattr(self._library, f"freedv_{name}")(self._handle, *arguments))

    def frame(self) -> int:
        """Octets of a frame with its CRC-16."""
        return self.call("get_bits_per_modem_frame") // 8

    def crc(self, payload: bytes) -> bytes:
        """CRC-16 of a payload, two octets."""
        return int(self._library.freedv_gen_crc16(payload, len(payload))).to_bytes(2, "big")

    def burst(self, frames: Sequence[bytes]) -> np.ndarray:
        """Audio of a burst: preamble, frames, postamble."""
        room = (ctypes.c_short * self.call("get_n_tx_modem_samples"))()
        parts = []
        for function, arguments in [("rawdatapreambletx", ()),
                                    *(("rawdatatx", (frame,)) for frame in frames),
                                    ("rawdatapostambletx", ())]:
            count = self.call(function, room, *arguments)
            parts.append(np.array(room[:len(room) if arguments else count], np.float32))
        return np.concatenate(parts)


@functools.lru_cache(maxsize=None)
def _codec2_modes() -> Tuple[str, ...]:
    """Data modes of the installed library, each as one burst and as a burst for each frame."""
    found: List[str] = []
    for mode in CODEC2 if _codec2() is not None else ():
        try:
            with _Freedv(mode):
                found += [mode, mode + SINGLE]
        except ValueError:
            continue
    return tuple(found)


def _codec2_frame(mode: str) -> int:
    with _Freedv(mode) as modem:
        return modem.frame() - 2


def _send_codec2(mode: str, pieces: Sequence[bytes]) -> Sent:
    with _Freedv(mode) as modem:
        padded = [piece.ljust(modem.frame() - 2, b"\0") for piece in pieces]
        frames = [piece + modem.crc(piece) for piece in padded]
        bursts = [[frame] for frame in frames] if mode.endswith(SINGLE) else [frames]
        signals = [modem.burst(burst) for burst in bursts]
        # The pause that freedv_data_raw_tx leaves for the receiver.
        pause_s = 2 * modem.call("get_n_nom_modem_samples") / CODEC2_RATE
    return sent_as_audio(signals, pause_s, CODEC2_RATE)


def _receive_codec2(mode: str, count: int, heard: np.ndarray) -> List[bytes]:
    audio = heard_as_audio(heard, CODEC2_RATE)
    got = []
    with _Freedv(mode) as modem:
        modem.call("set_frames_per_burst", 1 if mode.endswith(SINGLE) else count)
        room = ctypes.create_string_buffer(modem.frame())
        at = 0
        while (wanted := modem.call("nin")) <= len(audio) - at:
            samples = audio[at:at + wanted].tobytes()
            at += wanted
            # A frame with a bad CRC has no octets for the library, and none here.
            if modem.call("rawdatarx", room, samples) == len(room):
                payload = room.raw[:-2]
                got += [payload] if modem.crc(payload) == room.raw[-2:] else []
    return got


def codec2() -> Modem:
    """The data modes of codec2."""
    return Modem("codec2", _codec2_modes(), _codec2_frame, _send_codec2, _receive_codec2)


#: Samples/s of ardopcf, and the pause after a frame, s: without one it misses the next leader.
ARDOP_RATE, ARDOP_PAUSE_S = 12000, 0.2
#: Octets of the data frames of ARDOP for SSB, all carriers together.
ARDOP_FRAMES: Dict[str, int] = {
    "4FSK.200.50S": 16, "4PSK.200.100S": 16, "4PSK.200.100": 64, "8PSK.200.100": 108,
    "16QAM.200.100": 128, "4FSK.500.100S": 32, "4FSK.500.100": 64, "4PSK.500.100": 128,
    "8PSK.500.100": 216, "16QAM.500.100": 256, "4PSK.1000.100": 256, "8PSK.1000.100": 432,
    "16QAM.1000.100": 512, "4PSK.2000.100": 512, "8PSK.2000.100": 864, "16QAM.2000.100": 1024}


def _ardopcf(*arguments: str) -> str:
    """Output of a run of ardopcf."""
    return subprocess.run(["ardopcf", "--nologfile", *arguments], capture_output=True, check=True,
                          timeout=300).stdout.decode("latin-1")


def _free_port() -> str:
    """A TCP port that nobody listens on. ardopcf opens one in each run that makes a signal."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return str(one.getsockname()[1])


def _ardop_signal(frame: str, payload: bytes) -> np.ndarray:
    """Signal of one data frame. Each of its carriers has its own CRC and Reed-Solomon code."""
    with tempfile.TemporaryDirectory() as folder:
        _ardopcf("--logdir", folder, "--writetxwav", "--hostcommands",
                 f"MYCALL N0CALL;DRIVELEVEL 30;TXFRAME {frame} {payload.hex()} 0xFF;CLOSE",
                 _free_port(), "NOSOUND", "NOSOUND")
        path, = Path(folder).glob("*.wav")
        with wave.open(str(path)) as file:
            return np.frombuffer(file.readframes(file.getnframes()), np.int16).astype(np.float32)


def _send_ardop(mode: str, pieces: Sequence[bytes]) -> Sent:
    # Frames alternate between even and odd types, or the receiver would take one for a repeat.
    return sent_as_audio([_ardop_signal(f"{mode}.{'EO'[k % 2]}", piece)
                          for k, piece in enumerate(pieces)], ARDOP_PAUSE_S, ARDOP_RATE)


def _receive_ardop(_mode: str, _count: int, heard: np.ndarray) -> List[bytes]:
    """Payloads of the frames that ardopcf found good. It detects the frame type by itself."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "heard.wav")
        with wave.open(path, "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(ARDOP_RATE)
            file.writeframes(heard_as_audio(heard, ARDOP_RATE).tobytes())
        out = _ardopcf("--decodewav", path, "--hostcommands", "CONSOLELOG 2")
    return [bytes.fromhex(found) for found in
            re.findall(r"bytes of data as hex values:\s+((?:[0-9A-F]{2} ?)+)", out)]


def ardop() -> Modem:
    """ARDOP, if ardopcf is in the PATH."""
    found = shutil.which("ardopcf") is not None
    return Modem("ARDOP", tuple(ARDOP_FRAMES) if found else (), ARDOP_FRAMES.__getitem__,
                 _send_ardop, _receive_ardop)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Available devices, by the names used in [radio]."""
import contextlib
import ctypes
import ctypes.util
from dataclasses import dataclass
import os
import re
import tempfile
from typing import Iterator, List

from .. import hf_python as _hf


@dataclass
class Device:
    """A device. captures, plays: its directions. type: as in [radio]."""

    name: str
    description: str
    captures: bool
    plays: bool
    type: str = "audio"


@contextlib.contextmanager
def lines_of_drivers() -> Iterator[List[str]]:
    """Take what C libraries write to standard error meanwhile: the lines, when the block ends.

    Drivers report each device and server that this machine does not have.
    """
    lines: List[str] = []
    kept = os.dup(2)
    with tempfile.TemporaryFile() as taken:
        os.dup2(taken.fileno(), 2)
        try:
            yield lines
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            taken.seek(0)
            lines += [line for line in taken.read().decode("utf-8", "replace").splitlines()
                      if line.strip()]


def soapy_devices() -> List[Device]:
    """All devices that SoapySDR finds. Some drivers search the network. name: value for args.

    Raises RuntimeError without SoapySDR.
    """
    found = []
    for words in _hf.soapy_source.devices():
        about = words.pop("label", "")
        # The driver first. The other words distinguish devices of one driver.
        rest = [f"{k}={v}" for k, v in sorted(words.items()) if k != "driver"]
        name = ", ".join([f"driver={words.get('driver', '')}", *rest])
        found.append(Device(name, about, True, True, "soapy"))
    return found


#: Descriptions of ALSA plug-ins, which are no devices themselves.
_PLUG_IN = re.compile(r"(Rate Converter )?Plugin\b|Discard all samples")
_OSS = "/dev/dsp"


def _is_device(d: Device) -> bool:
    """Whether an entry of ALSA's list is a card, a sound server or a user's name, not a
    plug-in."""
    return not _PLUG_IN.match(d.description) and (d.name != "oss" or os.path.exists(_OSS))


def has_card(found: List[Device]) -> bool:
    """Whether the list contains a sound card of this machine."""
    return any("CARD=" in d.name for d in found)


def audio_devices() -> List[Device]:
    """Cards, sound servers and names from the user's file, by ALSA name, without plug-ins.

    Raises RuntimeError without ALSA.
    """
    found = ctypes.util.find_library("asound")
    if not found:
        raise RuntimeError("the library libasound is missing (Debian: libasound2)")
    alsa = ctypes.CDLL(found)
    alsa.snd_device_name_get_hint.restype = ctypes.c_void_p
    alsa.snd_device_name_get_hint.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
    hints = ctypes.POINTER(ctypes.c_void_p)()
    if alsa.snd_device_name_hint(-1, b"pcm", ctypes.byref(hints)) < 0:
        raise RuntimeError("ALSA cannot list its devices; is its configuration right?")

    def text(hint: int, what: bytes) -> str:
        value = alsa.snd_device_name_get_hint(hint, what)
        if not value:
            return ""
        said = ctypes.string_at(value).decode("utf-8", "replace")
        ctypes.CDLL(None).free(ctypes.c_void_p(value))
        return said

    devices = []
    for hint in hints:  # ends with a null pointer
        if not hint:
            break
        direction = text(hint, b"IOID")  # empty: both
        devices.append(Device(text(hint, b"NAME"), text(hint, b"DESC").replace("\n", ", "),
                              direction != "Output", direction != "Input"))
    alsa.snd_device_name_free_hint(hints)
    return [d for d in devices if _is_device(d)]

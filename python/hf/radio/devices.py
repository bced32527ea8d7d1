# SPDX-License-Identifier: GPL-3.0-or-later
"""What devices there are, by the names that [radio] takes."""
import ctypes
import ctypes.util
from dataclasses import dataclass
from typing import List

from .. import hf_python as _hf


@dataclass
class Device:
    """A device; captures, plays: what it can do; type: as [radio] has it."""

    name: str
    description: str
    captures: bool
    plays: bool
    type: str = "audio"


def soapy_devices() -> List[Device]:
    """All that SoapySDR finds, some of its drivers on the network; name is what args takes.

    Raises RuntimeError if there is no SoapySDR.
    """
    found = []
    for words in _hf.soapy_source.devices():
        about = words.pop("label", "")
        # The driver first; what tells one device from another of its kind is in the rest.
        rest = [f"{k}={v}" for k, v in sorted(words.items()) if k != "driver"]
        name = ", ".join([f"driver={words.get('driver', '')}", *rest])
        found.append(Device(name, about, True, True, "soapy"))
    return found


def audio_devices() -> List[Device]:
    """All that ALSA knows by name, those of PulseAudio and its own file included.

    Raises RuntimeError if there is no ALSA.
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
    return devices

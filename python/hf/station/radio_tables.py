# SPDX-License-Identifier: GPL-3.0-or-later
"""The tables [radio], [radio.ptt], [radio.sdr] and [radio.rig] of a station file."""
from dataclasses import dataclass, field
import re
from typing import Any, List, Optional, Sequence, Tuple

from .station_tables import StationError, whole_number


@dataclass
class Ptt:
    """How a transmitter is keyed.

    way: none (VOX, or the transmitter keys itself), rigctld, serial, cm108, gpio, command, tone
    (on the second channel of playback), or uhd for a GPIO pin of a USRP that is high while it
    transmits (ATR).
    host, port: of rigctld.
    data: rigctld keys for data (T 3) instead of the microphone (T 1).
    device: a serial port, the hidraw device of a CM108, a GPIO chip (/dev/gpiochip0), or the
    USRP's bank of pins (empty: FP0).
    line: rts or dtr.
    pin: GPIO of the CM108 or the bank, 1 to 8. On a USRP these are bits 0 to 7.
    gpio_line: number on the chip, 0 to 4095.
    tone_hz: 100 to 20000.
    inverted: a low level keys.
    command: a program and its arguments, to which "1" or "0" is added.
    lead_s: from key down to the first sample on the air, 0 to 2.
    tail_s: from the last sample to key up, 0 to 2.
    """

    way: str = "none"
    host: str = "127.0.0.1"
    port: int = whole_number(4532, 1, 65535)
    data: bool = True
    device: str = ""
    line: str = "rts"
    pin: int = whole_number(3, 1, 8)
    gpio_line: int = whole_number(0, 0, 4095)
    tone_hz: float = field(default=1000.0, metadata={"range": (100, 20000)})
    inverted: bool = False
    command: List[str] = field(default_factory=list)
    lead_s: float = field(default=0.05, metadata={"range": (0, 2)})
    tail_s: float = field(default=0.02, metadata={"range": (0, 2)})

    def check(self) -> None:
        """Raise StationError for an unknown way or a missing key."""
        for name, allowed in (("way", ("none", "rigctld", "serial", "cm108", "gpio", "command",
                                       "tone", "uhd")),
                              ("line", ("rts", "dtr"))):
            if getattr(self, name) not in allowed:
                raise StationError(f"ptt {name} = '{getattr(self, name)}': allowed are "
                                   f"{', '.join(allowed)}")
        examples = {"serial": "/dev/ttyUSB0", "cm108": "/dev/hidraw0", "gpio": "/dev/gpiochip0"}
        if self.way in examples and not self.device:
            raise StationError(f"ptt way = '{self.way}' needs device, for example "
                               f'"{examples[self.way]}"')
        if self.way == "command" and not self.command:
            raise StationError("ptt way = 'command' needs command, for example "
                               '["/usr/local/bin/key"]')


@dataclass
class Rig:
    """Frequency and mode of the transceiver. Without this table the rig is neither set nor read.

    Uses the rigctld at host and port of [radio.ptt], also if the way of keying is another.
    Frequency and mode are set at the start and read back. A difference is an error.

    frequency_hz: of the dial, whole Hz. 0: unchanged.
    mode: in hamlib's words (USB, PKTUSB). Empty: unchanged.
    passband_hz: of the mode. 0: its usual one.
    """

    frequency_hz: float = field(default=0.0, metadata={"range": (0, 6e9)})
    mode: str = ""
    passband_hz: int = whole_number(0, 0, 100000)

    def check(self) -> None:
        """Raise StationError for values that no rig understands."""
        if self.frequency_hz != round(self.frequency_hz):
            raise StationError(f"[radio.rig] frequency_hz = {self.frequency_hz}: allowed are "
                               "whole Hz")
        if self.mode and not re.fullmatch("[A-Z0-9-]{1,20}", self.mode):
            raise StationError(f"[radio.rig] mode = {self.mode!r}: allowed are hamlib's words, "
                               "for example USB or PKTUSB")
        if self.passband_hz and not self.mode:
            raise StationError(f"[radio.rig] passband_hz = {self.passband_hz}: needs mode as "
                               "well")

    def text(self) -> str:
        """The settings as text for the user."""
        parts = [f"{self.frequency_hz / 1e6:.6f} MHz" if self.frequency_hz else "", self.mode,
                 f"passband {self.passband_hz} Hz" if self.passband_hz else ""]
        return ", ".join(p for p in parts if p) or "as it is"


def _sdr(default: Any, meaning: str, unit: str = "",
         limits: Optional[Tuple[float, float]] = None) -> Any:
    return field(default=default,
                 metadata={"meaning": meaning, "unit": unit, "range": limits})


@dataclass
class Sdr:
    """An SDR as the radio of a station (type soapy or uhd)."""

    args: str = _sdr("", 'name of the device: "driver=NAME, ..." (soapy), "serial=...", '
                     '"addr=..." or "type=..." (uhd)')
    frequency_hz: float = _sdr(0.0, "middle of the channel on the air, 1800 Hz above the dial of "
                               "an SSB transceiver; must be given", "Hz", (0, 6e9))
    lo_offset_hz: float = _sdr(0.0, "offset of the local oscillator from frequency_hz", "Hz",
                               (-1e8, 1e8))
    sample_rate: float = _sdr(0.0, "of the device, a rate that it supports exactly, at least the "
                              "modem's; 0: five times the modem's", "samples/s", (0, 2e6))
    rx_gain_db: float = _sdr(20.0, "total gain of the receiver", "dB", (-200, 200))
    tx_gain_db: float = _sdr(0.0, "total gain of the transmitter", "dB", (-200, 200))
    rx_antenna: str = _sdr("", "by name; empty: the device's default")
    tx_antenna: str = _sdr("", "by name; empty: the device's default")
    channel: int = _sdr(0, "number of the channel, for a device with several", "", (0, 31))
    clock_source: str = _sdr("", "internal, external, ...; empty: the device's default")
    time_source: str = _sdr("", "internal, external, ...; empty: the device's default")
    latency_s: float = _sdr(0.04, "from a received sample to its counterpart in the transmitted "
                            "stream; the longest time to the modem and back", "s", (0, 2))

    def check(self, kind: str) -> None:
        """Raise StationError for a missing key. kind: soapy or uhd."""
        words = dict(w.split("=", 1) for w in self.args.replace(" ", "").split(",") if "=" in w)
        names = ("driver",) if kind == "soapy" else ("addr", "serial", "type", "name", "resource")
        # Without a name, UHD and most SoapySDR drivers search the whole network.
        if not any(words.get(n) for n in names):
            example = "driver=lime" if kind == "soapy" else "serial=30AD123"
            raise StationError(f"[radio.sdr] args = '{self.args}': allowed is the name of one "
                               f'device, for example "{example}"')
        if not self.frequency_hz:
            raise StationError("[radio.sdr] needs frequency_hz, the middle of the channel")


#: Kinds of radios, as type of [radio] names them; python/hf/radio has a class for each.
RADIO_TYPES = ["audio", "soapy", "uhd", "file"]


#: Share of an SDR's sample rate on either side of its frequency that its filters pass: with many
#: SDRs 80 % of the rate is free of aliases.
_USABLE = 0.4
_HALF_CHANNEL_HZ = 1500


@dataclass
class Radio:
    """The radio of a station, instead of the simulated air.

    type: audio, soapy or uhd for an SDR (see [radio.sdr]), or file to replay a recording.
    capture, playback: ALSA devices by name, empty for the default device.
    audio_rate: samples/s.
    subcarrier_hz: middle of the channel in the audio.
    level_db: highest peak of the transmit audio, dB of full scale, -60 to 0.
    buffer_s: buffer of the playback device, 0.02 to 0.5, the longest stall of a busy host. After
    an underrun it grows by the time that was missing.
    latency_s: delay between the sound card's buffer and the antenna, 0 to 2.
    transmit: false for a station that only receives. It opens neither playback nor key and never
    acknowledges.
    ptt: the key ([radio.ptt]).
    rig: frequency and mode ([radio.rig]).
    recording: a WAV file or SigMF recording. Such a station never transmits.
    paced: replay the recording in real time, otherwise as fast as possible.
    """

    type: str = "audio"
    capture: str = ""
    playback: str = ""
    audio_rate: int = whole_number(48000, 8000, 192000)
    subcarrier_hz: float = field(default=1800.0, metadata={"range": (0, 96000)})
    level_db: float = field(default=-6.0, metadata={"range": (-60, 0)})
    buffer_s: float = field(default=0.1, metadata={"range": (0.02, 0.5)})
    latency_s: float = field(default=0.0, metadata={"range": (0, 2)})
    transmit: bool = True
    ptt: Ptt = field(default_factory=Ptt)
    sdr: Sdr = field(default_factory=Sdr)
    rig: Optional[Rig] = None
    recording: str = ""
    paced: bool = False

    @property
    def is_sdr(self) -> bool:
        """Whether the radio is an SDR, configured in [radio.sdr]."""
        return self.type in ("soapy", "uhd")

    def check(self) -> None:
        """Raise StationError for an unknown type or a missing key."""
        if self.type not in RADIO_TYPES:
            raise StationError(f"radio type = '{self.type}': allowed are "
                               + ", ".join(RADIO_TYPES[:-1]) + f" and {RADIO_TYPES[-1]}")
        if self.is_sdr:
            self.sdr.check(self.type)
        elif self.sdr != Sdr():
            raise StationError(f"[radio.sdr] needs type = 'soapy' or 'uhd', this is "
                               f"'{self.type}'")
        if self.ptt.way == "uhd" and self.type != "uhd":
            raise StationError(f"ptt way = 'uhd' needs radio type = 'uhd', this is '{self.type}'")
        if (self.type == "file") != bool(self.recording):
            raise StationError("radio: type = 'file' and recording belong together")
        self.ptt.check()
        if self.rig is not None:
            if self.type != "audio":
                raise StationError(f"[radio.rig] needs type = 'audio', this is '{self.type}'")
            self.rig.check()

    def check_band(self, dials_hz: Sequence[float]) -> None:
        """Raise StationError if the radio cannot receive all these channels at once."""
        if not self.is_sdr:
            raise StationError("[ale] wide = true needs an SDR ([radio] type = 'soapy' or 'uhd')")
        if not self.sdr.sample_rate:
            raise StationError("[ale] wide = true needs [radio.sdr] sample_rate")
        reach = _USABLE * self.sdr.sample_rate - _HALF_CHANNEL_HZ
        for hz in dials_hz:
            if abs(hz + self.subcarrier_hz - self.sdr.frequency_hz) > reach:
                low, high = (self.sdr.frequency_hz - self.subcarrier_hz + x
                             for x in (-reach, reach))
                raise StationError(f"[ale] wide = true: channel {hz:.0f} Hz is outside of what "
                                   f"the SDR receives at once, {low:.0f} to {high:.0f} Hz")

    def check_bandwidth(self, bandwidth_khz: int) -> None:
        """Raise StationError if the channel does not fit into the audio."""
        least = 500.0 * bandwidth_khz
        most = self.audio_rate / 2 - least
        # Not checked in 3 kHz, where a transceiver's filters are narrower than the channel.
        if self.type == "audio" and bandwidth_khz > 3 and not least <= self.subcarrier_hz <= most:
            allowed = (f"allowed are {least:g} to {most:g}" if least <= most else
                       f"audio_rate = {self.audio_rate} is too low for it")
            raise StationError(f"radio subcarrier_hz = {self.subcarrier_hz:g}, middle of a "
                               f"channel of {bandwidth_khz} kHz: {allowed}")

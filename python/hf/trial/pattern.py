# SPDX-License-Identifier: GPL-3.0-or-later
"""Transmissions of a known pattern that bypass the data link, and their evaluation. Only a known
pattern shows which interleaver blocks have errors, since a modem corrects but does not check."""
import hashlib
import math
import threading
from typing import Any, Callable, Dict, List, Optional

from gnuradio import gr
import numpy as np
import pmt

from .. import hf_python as _hf

_TYPE, _MODE, _LAST, _MOST = (pmt.intern(n) for n in ("type", "mode", "last", "max_octets"))
#: A transmission is the pattern if at most this share of bits is wrong in consecutive blocks of
#: at least _CHANCE_BITS. By chance half are wrong, and 27 % or less once in 1e10 (6.5 sigma).
_CHANCE_BER, _CHANCE_BITS = 0.27, 200


def octets(count: int) -> bytes:
    """The first octets of the pattern, which is like noise and the same at all stations."""
    return hashlib.shake_128(b"hf trial").digest(count)


def size(mode: str, seconds: float) -> "tuple[int, int]":
    """Number of interleaver blocks with data and number of octets (at least 1) for a transmission
    of about this many seconds. The end-of-message mark and the decoder's flush bits take the
    rest."""
    timing = _hf.timing(mode)
    block = timing.block_begin(1) - timing.block_begin(0)
    count = max(1, timing.octets_in(max(1, math.floor(seconds / block))))
    return math.ceil(8 * count / timing.bits_per_block), count


def duration(mode: str, seconds: float) -> float:
    """Time on the air of a transmission as given by size(), with its preamble, s."""
    return float(_hf.timing(mode).duration(size(mode, seconds)[1]))


def _kind(message: Any) -> str:
    kind = pmt.dict_ref(pmt.car(message), _TYPE, pmt.PMT_NIL) if pmt.is_pair(message) \
        else pmt.PMT_NIL
    return pmt.symbol_to_string(kind) if pmt.is_symbol(kind) else ""


class PatternPort(gr.basic_block):
    """Sits between modem and data link, and takes over the modem for a transmission. Set the data
    link to silence (EMCON) meanwhile."""

    def __init__(self) -> None:
        gr.basic_block.__init__(self, name="hf_trial_pattern", in_sig=None, out_sig=None)
        for name, handler in (("modem", self._from_modem), ("link", self._from_link)):
            self.message_port_register_in(pmt.intern(name))
            self.message_port_register_out(pmt.intern(name))
            self.set_msg_handler(pmt.intern(name), handler)
        self._lock = threading.Lock()
        self._mode = ""              # requested, not yet keyed
        self._left: Optional[bytes] = None  # rest of the transmission on the air
        self._data = b""
        self.sent = 0                #: octets that the modem has taken
        self.ended = True            #: whether the last transmission has ended

    def transmit(self, mode: str, count: int) -> None:
        """Send count octets of the pattern as soon as the modem is idle."""
        with self._lock:
            self._mode, self._data = mode, octets(count)
            self.sent, self.ended = 0, False

    def cancel(self) -> None:
        """Cancel a transmission that is not yet keyed."""
        with self._lock:
            if self._left is None:
                self._mode, self.ended = "", True

    def _say(self, **keys: Any) -> Any:
        meta = pmt.make_dict()
        for name, value in keys.items():
            meta = pmt.dict_add(meta, pmt.intern(name), value)
        return meta

    def _from_modem(self, message: Any) -> None:
        kind = _kind(message)
        with self._lock:
            if self._left is not None and kind == "pull":
                most = pmt.to_uint64(pmt.dict_ref(pmt.car(message), _MOST, pmt.from_uint64(0)))
                part, self._left = self._left[:most], self._left[most:]
                self.sent += len(part)
                meta = self._say(type=pmt.intern("tx_octets"),
                                 last=pmt.from_bool(not self._left))
                self.message_port_pub(pmt.intern("modem"), pmt.cons(
                    meta, pmt.init_u8vector(len(part), list(part))))
                return
            if self._left is not None and kind == "tx_end":
                self._left, self.ended = None, True
                return
        self.message_port_pub(pmt.intern("link"), message)

    def _from_link(self, message: Any) -> None:
        if _kind(message) == "tick_done":
            keys_up = pmt.dict_has_key(pmt.car(message), _MODE)
            with self._lock:
                mode = ""
                if self._left is None and self._mode and not keys_up:
                    mode, self._mode, self._left = self._mode, "", self._data
                if mode:
                    message = pmt.cons(self._say(type=pmt.intern("tick_done"),
                                                 mode=pmt.intern(mode)),
                                       pmt.init_u8vector(0, []))
                elif self._left is not None and keys_up:  # the modem is in use
                    message = pmt.cons(self._say(type=pmt.intern("tick_done")),
                                       pmt.init_u8vector(0, []))
        self.message_port_pub(pmt.intern("modem"), message)


class Judge:
    """Compares a reception with the pattern, block by block."""

    def __init__(self, count: int) -> None:
        """count: octets sent."""
        self._expected = np.unpackbits(np.frombuffer(octets(count), np.uint8))
        self._at = 0
        self.blocks: List["tuple[int, int]"] = []  #: bits and bit errors of each

    def take(self, received: bytes) -> None:
        """Process the octets of a block."""
        bits = np.unpackbits(np.frombuffer(received, np.uint8))
        expected = self._expected[self._at:self._at + len(bits)]
        self._at += len(bits)
        if len(expected):
            self.blocks.append((len(expected), int(np.sum(bits[:len(expected)] != expected))))

    def _is_pattern(self) -> bool:
        bits = wrong = 0
        for more, more_wrong in self.blocks:
            bits, wrong = bits + more, wrong + more_wrong
            if bits >= _CHANCE_BITS:
                if wrong <= _CHANCE_BER * bits:
                    return True
                bits = wrong = 0
        return 0 < bits == sum(b for b, _ in self.blocks) and wrong <= _CHANCE_BER * bits

    def outcome(self) -> Dict[str, Optional[int]]:
        """pattern_blocks, bad_blocks, bits, bit_errors. All None if it is not the pattern."""
        if not self._is_pattern():
            return dict.fromkeys(("pattern_blocks", "bad_blocks", "bits", "bit_errors"))
        return {"pattern_blocks": len(self.blocks),
                "bad_blocks": sum(wrong > 0 for _, wrong in self.blocks),
                "bits": sum(bits for bits, _ in self.blocks),
                "bit_errors": sum(wrong for _, wrong in self.blocks)}


class Ear(gr.basic_block):
    """Collects receptions from a modem's status port, with the channel's figures. While a pattern
    is expected, compares receptions with it."""

    def __init__(self) -> None:
        gr.basic_block.__init__(self, name="hf_trial_ear", in_sig=None, out_sig=None)
        #: Called with the columns of each reception, and its start in station time (now).
        self.heard: Callable[[Dict[str, Any]], None] = lambda row: None
        self._now: Optional[Dict[str, Any]] = None
        self._judge: Optional[Judge] = None
        self._values: Dict[str, List[float]] = {}
        #: Octets of the pattern in each mode expected now.
        self.expected: Dict[str, int] = {}
        self.count = 0               #: receptions ended
        self.message_port_register_in(pmt.intern("status"))
        self.set_msg_handler(pmt.intern("status"), self._on_status)

    def _on_status(self, message: Any) -> None:
        kind = _kind(message)
        if not kind.startswith("rx_") and kind != "channel":
            return
        meta = pmt.to_python(pmt.car(message))
        if kind == "rx_start":
            mode = str(meta.get("mode", ""))
            self._now = {"now": meta.get("now", 0) * 1e-9, "mode": mode, "octets": 0,
                         "blocks": 0}
            self._values = {"snr_db": [], "freq_offset_hz": [], "doppler_hz": [],
                            "delay_spread_ms": [], "coded_ber": []}
            # Until a block is decoded only the preamble's figures are known.
            self._first = {name: meta.get(name) for name in ("snr_db", "freq_offset_hz")}
            # A joined reception does not start with the start of the pattern.
            whole = mode in self.expected and not meta.get("joined")
            self._judge = Judge(self.expected[mode]) if whole else None
        elif self._now is not None and kind == "rx_octets":
            received = bytes(pmt.u8vector_elements(pmt.cdr(message)))
            self._now["octets"] += len(received)
            self._now["blocks"] += 1
            self._note(meta, ("snr_db",))
            if self._judge is not None:
                self._judge.take(received)
        elif self._now is not None and kind == "channel":
            self._note(meta, ("freq_offset_hz", "doppler_hz", "delay_spread_ms", "coded_ber"))
        elif self._now is not None and kind == "rx_end":
            self._end(str(meta.get("reason", "")))

    def _note(self, meta: Dict[str, Any], names: "tuple[str, ...]") -> None:
        for name in names:
            value = meta.get(name)
            if value is not None and math.isfinite(value):
                self._values[name].append(float(value))

    def _end(self, reason: str) -> None:
        assert self._now is not None
        row = {**self._now, "reason": reason}
        for name, values in self._values.items():
            found = sum(values) / len(values) if values else self._first.get(name)
            row[name] = None if found is None or not math.isfinite(found) else round(found, 5)
        if self._judge is not None:
            row.update(self._judge.outcome())
        self._now = None
        self.count += 1
        self.heard(row)

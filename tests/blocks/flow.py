# SPDX-License-Identifier: GPL-3.0-or-later
"""Helpers for tests of blocks."""
import time
from typing import Any, Callable, Dict, List, Optional, Tuple

from gnuradio import blocks, gr
import pmt


def wait_for(condition: Callable[[], Any], seconds: float = 20) -> bool:
    """True as soon as the condition is; False when the time is up."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return bool(condition())


def pdu(octets: bytes = b"", **keys: Any) -> Any:
    """A PDU; keys: str become symbols, int uint64, float double, bool bool."""
    meta = pmt.make_dict()
    for key, value in keys.items():
        if isinstance(value, str):
            value = pmt.intern(value)
        elif isinstance(value, bool):
            value = pmt.from_bool(value)
        elif isinstance(value, int):
            value = pmt.from_uint64(value)
        elif isinstance(value, float):
            value = pmt.from_double(value)
        meta = pmt.dict_add(meta, pmt.intern(key), value)
    return pmt.cons(meta, pmt.init_u8vector(len(octets), list(octets)))


def post(block: Any, port: str, message: Any) -> None:
    """Put a message into a port of a block that is no hier block."""
    block.to_basic_block()._post(pmt.intern(port), message)


class Listener:
    """Collects what a port publishes."""

    def __init__(self, top: gr.top_block, block: Any, port: str) -> None:
        self.sink = blocks.message_debug()
        top.msg_connect(block, port, self.sink, "store")

    def count(self) -> int:
        return self.sink.num_messages()

    def messages(self) -> List[Tuple[Dict[str, Any], bytes]]:
        out = []
        for k in range(self.count()):
            message = self.sink.get_message(k)
            out.append((pmt.to_python(pmt.car(message)),
                        bytes(pmt.u8vector_elements(pmt.cdr(message)))))
        return out


class Speaker(gr.basic_block):
    """Publishes the messages that it gets: the way into a hier block."""

    def __init__(self) -> None:
        gr.basic_block.__init__(self, "speaker", [], [])
        self.message_port_register_out(pmt.intern("out"))

    def say(self, message: Any) -> None:
        self.message_port_pub(pmt.intern("out"), message)


def garbage(seed: Optional[int] = None) -> List[Any]:
    """Messages that no port accepts, some of them nearly right."""
    octets = bytes(range(200))
    deep = pmt.PMT_NIL
    for _ in range(200):
        deep = pmt.cons(deep, deep)
    odd = [
        pmt.PMT_NIL, pmt.PMT_T, pmt.PMT_F, pmt.PMT_EOF, pmt.intern("x"), pmt.from_long(-1),
        pmt.from_double(float("nan")), pmt.from_complex(1j), pmt.make_vector(5, pmt.PMT_NIL),
        pmt.init_u8vector(3, [1, 2, 3]), pmt.make_tuple(pmt.from_long(1), pmt.PMT_NIL),
        pmt.make_dict(), pmt.cons(pmt.PMT_NIL, pmt.PMT_NIL), deep,
        pmt.cons(pmt.intern("x"), pmt.init_u8vector(1, [1])),
        pmt.cons(pmt.make_dict(), pmt.init_f32vector(2, [1.0, 2.0])),
        pmt.cons(pmt.make_dict(), pmt.init_u8vector(0, [])),
        pmt.list2(pmt.from_long(1), pmt.from_long(2)),
    ]
    kinds = ["tick", "tick_done", "pull", "tx_octets", "tx_end", "tx_start", "rx_start",
             "rx_octets", "rx_end", "", "nonsense"]
    for kind in kinds:
        odd += [
            pdu(octets, type=kind),
            pdu(octets, type=kind, mode="4539-1S", reason="why"),
            pdu(octets, type=kind, now=-1.5, client="me", air_time="noon"),
            pdu(octets, type=kind, now="never", max_octets=-3.0, last="yes"),
            pdu(b"", type=kind, client=2 ** 63),
        ]
        meta = pmt.dict_add(pmt.make_dict(), pmt.intern("type"), pmt.intern(kind))
        for value in (pmt.from_long(-5), pmt.from_uint64(2 ** 64 - 1), pmt.PMT_NIL, deep):
            odd.append(pmt.cons(pmt.dict_add(meta, pmt.intern("now"), value),
                                pmt.init_u8vector(2, [0x90, 0xEB])))
    return odd

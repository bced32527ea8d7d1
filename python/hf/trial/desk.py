# SPDX-License-Identifier: GPL-3.0-or-later
"""SIS clients inside a station's flowgraph, for tests written as plain sequences. They wait in
station time, which may run faster than the host's clock."""
import math
import threading
from typing import Any, Callable, List, Optional, Union

from gnuradio import gr
import pmt

from .. import sis
from ..hf_python import new_client_id, s5066
from ..sis import console

_TYPE, _NOW, _CLIENT, _STEP = (pmt.intern(n) for n in ("type", "now", "client", "lock_step"))
_TICK, _TICK_DONE = pmt.intern("tick"), pmt.intern("tick_done")
#: Limit of sends between ticks in lock step, since flow control is processed only at a tick.
_SENDS_A_TICK = 4


class Ended(Exception):
    """The flowgraph ends. Raised in a test that waits."""


class TimeOver(Exception):
    """The deadline of a test has passed."""


class Desk(gr.basic_block):
    """Clients of a data link on one port (sis_in_step), and the clock of the test thread.

    One thread at a time is the user of the desk. In lock step, station time stands still while it
    runs, until it waits in sleep() or Client.next(). Primitives for a client go to
    Client.listeners at once, and to the user's Client.next().
    """

    def __init__(self) -> None:
        gr.basic_block.__init__(self, name="hf_trial_desk", in_sig=None, out_sig=None)
        self._port = pmt.intern("sis_in_step")
        self.message_port_register_in(self._port)
        self.message_port_register_out(pmt.intern("sis"))
        self.set_msg_handler(self._port, self._on_message)
        self.clients: List[Client] = []
        #: Called with the station time of each tick, on the thread of the flowgraph.
        self.ticked: Callable[[float], None] = lambda now: None
        self._changed = threading.Condition()
        self._now = 0.0
        self._until = math.inf       # station time that the user waits for
        self._early: Callable[[], bool] = lambda: False  # or condition that it waits for
        self._running = False        # the user runs, in lock step station time waits
        self._ended = False
        self._sends = 0              # since the last tick
        #: Deadline of the current test, station time.
        self.deadline = math.inf
        self.user: Optional[int] = None  #: the user's thread

    def now(self) -> float:
        """Station time, s."""
        return self._now

    def client(self, sap: int) -> "Client":
        """Add a client. Call before the flowgraph starts."""
        self.clients.append(Client(self, sap))
        return self.clients[-1]

    # --- the user's side

    def sleep(self, seconds: float, until: Callable[[], bool] = lambda: False) -> bool:
        """Wait for this many seconds of station time, or until a condition, checked at every tick.
        Returns the condition. Raises TimeOver at the deadline, Ended at the end of the
        flowgraph."""
        return self.sleep_until(self._now + seconds, until)

    def sleep_until(self, station_time: float, until: Callable[[], bool] = lambda: False) -> bool:
        """Like sleep(), until an absolute station time."""
        with self._changed:
            self.user = threading.get_ident()
            if not until() and self._now < station_time:
                self._wait(min(station_time, self.deadline), until)
            if self._ended:
                raise Ended
            if until():
                return True
            if self._now >= self.deadline:
                raise TimeOver
        return False

    def _wait(self, wake: float, early: Callable[[], bool]) -> None:
        self._until, self._early, self._running = wake, early, False
        self._changed.notify_all()
        while not self._running and not self._ended:
            self._changed.wait()

    def waits(self) -> bool:
        """Whether the user waits."""
        with self._changed:
            return self.user is not None and not self._running

    def leave(self) -> None:
        """Release station time. Last call of the user."""
        with self._changed:
            self._until, self._early, self._running = math.inf, lambda: False, False
            self._changed.notify_all()

    def end(self) -> None:
        """Raise Ended in the waiting user. Callable from any thread."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def crowded(self) -> bool:
        """Whether the user should wait for the next tick before it sends more."""
        return self._sends >= _SENDS_A_TICK

    def submit(self, client: int, primitive: Any) -> None:
        """Send a primitive to the data link."""
        self._sends += 1
        meta = pmt.dict_add(pmt.make_dict(), _CLIENT, pmt.from_uint64(client))
        octets = s5066.encode(primitive)
        self.message_port_pub(pmt.intern("sis"),
                              pmt.cons(meta, pmt.init_u8vector(len(octets), list(octets))))

    # --- the data link's side

    def _on_message(self, message: Any) -> None:
        if not pmt.is_pair(message):
            return
        meta = pmt.car(message)
        if pmt.eq(pmt.dict_ref(meta, _TYPE, pmt.PMT_NIL), _TICK):
            self._on_tick(pmt.to_uint64(pmt.dict_ref(meta, _NOW, pmt.PMT_NIL)) * 1e-9,
                          pmt.is_true(pmt.dict_ref(meta, _STEP, pmt.PMT_F)))
        elif pmt.is_u8vector(pmt.cdr(message)):
            number = pmt.dict_ref(meta, _CLIENT, pmt.PMT_NIL)
            for c in self.clients:
                if pmt.is_uint64(number) and c.number == pmt.to_uint64(number):
                    c.take(s5066.decode(bytes(pmt.u8vector_elements(pmt.cdr(message)))))

    def _on_tick(self, now: float, lock_step: bool) -> None:
        for c in self.clients:
            c.bind()
        self.ticked(now)
        with self._changed:
            self._now, self._sends = now, 0
            if not self._running and (now >= self._until or self._early()):
                self._running = True
                self._changed.notify_all()
            while lock_step and self._running and not self._ended:
                self._changed.wait()
        if lock_step:
            done = pmt.dict_add(pmt.make_dict(), _TYPE, _TICK_DONE)
            done = pmt.dict_add(done, _CLIENT, pmt.from_uint64(self.clients[0].number))
            self.message_port_pub(pmt.intern("sis"), pmt.cons(done, pmt.init_u8vector(0, [])))


class Client:
    """Has the interface of sis.Client, but works in station time and binds by itself."""

    def __init__(self, desk: Desk, sap: int) -> None:
        self.desk, self.sap, self.number = desk, sap, new_client_id()
        self.mtu, self.flow_on, self.closed = s5066.MTU, True, False
        #: Called with every primitive, on the thread of the flowgraph.
        self.listeners: List[Callable[[Any], object]] = []
        #: Expiry of data sent from now on, station time.
        self.useless_after = math.inf
        self.refused = ""   #: why the data link has not bound it
        self._asked = False
        self._waiting: List[Any] = []
        self.listening = False  #: whether primitives are queued for next()

    def bind(self) -> None:
        """Request the SAP, once."""
        if self._asked:
            return
        self._asked = True
        request = s5066.s_bind_request()
        request.sap, request.rank, request.service = self.sap, 0, sis.service()
        self.desk.submit(self.number, request)

    def take(self, p: Any) -> None:
        """Process a received primitive."""
        if isinstance(p, s5066.s_keep_alive):
            self.desk.submit(self.number, p)
        elif isinstance(p, s5066.s_data_flow_off):
            self.flow_on = False
        elif isinstance(p, s5066.s_data_flow_on):
            self.flow_on = True
        elif isinstance(p, s5066.s_bind_accepted):
            self.mtu = p.mtu
        elif isinstance(p, (s5066.s_bind_rejected, s5066.s_unbind_indication)):
            self.refused = f"SAP {self.sap}: {sis.reason(p)}"
        elif p is not None:
            for listener in self.listeners:
                listener(p)
            if self.listening:
                self._waiting.append(p)

    def open(self) -> None:
        """Queue primitives for next() from now on, and drop earlier ones. Raises sis.SisError if
        the data link has refused the SAP."""
        if self.refused:
            raise sis.SisError(self.refused)
        self._waiting.clear()
        self.listening = True

    def close(self) -> None:
        """Stop queuing primitives for next()."""
        self.listening = False
        self._waiting.clear()

    def send(self, dst: Union[str, Any], u_pdu: bytes, dst_sap: Optional[int] = None,
             mode: Any = None, priority: int = 0, ttl_s: float = 0, expedited: bool = False,
             timeout: Optional[float] = None) -> bool:
        """See sis.Client. Waits in station time, and only on the user's thread."""
        if not self.flow_on and timeout != 0 and threading.get_ident() == self.desk.user:
            self.desk.sleep(math.inf if timeout is None else timeout, lambda: self.flow_on)
        if not self.flow_on:
            return False
        request = s5066.s_unidata_request()
        request.dst = s5066.address(dst) if isinstance(dst, str) else dst
        request.dst_sap = dst_sap if dst_sap is not None else self.sap
        request.mode = mode if mode is not None else sis.service("default")
        request.priority, request.expedited, request.u_pdu = priority, expedited, u_pdu
        # In steps of 2 s. Leftover data must not disturb the next test for longer.
        left = min(ttl_s or math.inf, self.useless_after - self.desk.now())
        request.ttl = 0 if math.isinf(left) else max(1, min(math.ceil(left / 2), 648000))
        self.desk.submit(self.number, request)
        return True

    def next(self, timeout: Optional[float] = None) -> Any:
        """See sis.Client. Waits in station time."""
        if not self._waiting and (timeout != 0 or self.desk.crowded()):
            self.desk.sleep(math.inf if timeout is None else max(timeout, 0.01),
                            lambda: bool(self._waiting))
        return self._waiting.pop(0) if self._waiting else None


class StationClock(console.Clock):
    """The console's clock, driven by a desk."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk

    def now(self) -> float:
        """Station time, s."""
        return self._desk.now()

    def host(self, seconds: float) -> float:
        """Unchanged, since clients of a desk wait in station time."""
        return seconds

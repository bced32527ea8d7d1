# SPDX-License-Identifier: GPL-3.0-or-later
"""Chat between two Prosody over two stations on emulated air, with stock clients."""
from contextlib import ExitStack
from dataclasses import dataclass
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from types import SimpleNamespace
from typing import Any, Dict, Iterable, Iterator, List, Optional, Tuple, Type

from gnuradio.hf import station
from gnuradio.hf.station import pair
from gnuradio.hf.system import netns
from gnuradio.hf.xmpp import service as xmpp_service
from gnuradio.hf.xmpp.service import XmppService

from . import chat_sizes
from .chat_sizes import ANNA, BERT
from .prosody import SECRET, Prosody, Users

DOMAINS = {"A": "ship.example", "B": "shore.example"}


def _table(name: str, folder: str, port: int, peer: Dict[str, Any], **more: Any
           ) -> station.Xmpp:
    far = DOMAINS[pair.OTHER[name]]
    return station.Xmpp(
        folder=os.path.join(folder, f"gateway-{name}"), server=f"127.0.0.1:{port}",
        secret=SECRET, domains=[DOMAINS[name], f"rooms.{DOMAINS[name]}"],
        peer=[station.XmppPeer(domains=[far, f"rooms.{far}"],
                               node=pair.NODES[pair.OTHER[name]], **peer)],
        **{"retry_s": 0.3, "retry_max_s": 2.0, **more})


class Chat:
    """A context manager. peer: keys of [[xmpp.peer]] at both ends. processes: gateways are
    processes, which kill() ends. kinds: class of the server of each, if not Prosody. more: keys
    of [xmpp]."""

    def __init__(self, setting: pair.Setting, peer: Optional[Dict[str, Any]] = None,
                 processes: bool = False, kinds: Optional[Dict[str, Type[Prosody]]] = None,
                 **more: Any) -> None:
        self._kinds = kinds or {}
        self._setting, self._peer, self._more = setting, peer or {}, more
        self._processes: Optional[Dict[str, subprocess.Popen]] = {} if processes else None
        self._exit = ExitStack()
        self.lines: List[str] = []
        #: Where HF-PEP of each station expects the gateway.
        self._ports: Dict[str, int] = {}
        self.servers: Dict[str, Prosody] = {}
        self.services: Dict[str, XmppService] = {}

    def __enter__(self) -> "Chat":
        try:
            return self._open()
        except BaseException:
            self._exit.close()
            raise

    def __exit__(self, *_: object) -> None:
        self._exit.close()

    def _open(self) -> "Chat":
        # Prosody runs as another user, who must reach its folder.
        self.folder = tempfile.mkdtemp(prefix="hf-chat-")
        self._exit.callback(shutil.rmtree, self.folder, True)
        os.chmod(self.folder, 0o755)
        for name in pair.NAMES:
            far = DOMAINS[pair.OTHER[name]]
            self.servers[name] = self._exit.enter_context(self._kinds.get(name, Prosody)(
                os.path.join(self.folder, f"server-{name}"), DOMAINS[name],
                [far, f"rooms.{far}"], ["anna", "bert"]))
        self.pair = self._exit.enter_context(pair.Pair(self._setting, False, self._describe))
        for name in pair.NAMES:
            self.start(name)
            self._exit.callback(self.stop, name)
        if self._processes is None:
            self.wait(lambda: all(len(s.status()["connected"]) == 2
                                  for s in self.services.values()))
        self.users = Users({ANNA: self.servers["A"].port, BERT: self.servers["B"].port})
        self._exit.callback(self.users.close)
        for user in (ANNA, BERT):
            self.settle(user)
        return self

    def _describe(self, name: str, d: station.Description) -> None:
        d.pep, d.sis_server = None, station.SisServer(port=0)
        d.xmpp = _table(name, self.folder, self.servers[name].component_port, self._peer,
                        **self._more)
        if d.xmpp.peer[0].version == "slep":
            (self._ports[name],) = netns.free_tcp_ports(1)
            xmpp_service.reach(d, {pair.NODES[pair.OTHER[name]]: self._ports[name]})

    def start(self, name: str) -> None:
        """Start a gateway."""
        made, far = self.pair.stations[name], pair.NODES[pair.OTHER[name]]
        ports = {far: self._ports[name]} if self._ports else {}
        if self._processes is not None:
            entry = made.stream_port(far, xmpp_service.NAME, xmpp_service.PORT) if ports else 0
            self._processes[name] = subprocess.Popen(
                [sys.executable, "-m", __name__, json.dumps({
                    "name": name, "folder": self.folder, "sis": made.sis_address(),
                    "server": self.servers[name].component_port, "peer": self._peer,
                    "ports": ports, "entry": entry, "more": self._more})],
                stdin=subprocess.DEVNULL, preexec_fn=netns.ended_with_me)
            return
        service = self.services[name] = XmppService(made.description, ports)
        service.attach(made, lambda line: self.lines.append(f"{name} {line}"))
        service.start()

    def stop(self, name: str) -> None:
        """End a gateway. Its stanzas stay on disk. A process is killed."""
        if self._processes is not None:
            self._processes[name].kill()
            self._processes[name].wait()
        else:
            self.services[name].close()

    def wait(self, condition: Any, timeout: float = 30) -> None:
        """Wait for a condition. Raises RuntimeError with what the gateways have said."""
        end = time.monotonic() + timeout
        while not condition():
            if time.monotonic() > end:
                raise RuntimeError("\n".join(self.lines) or "nothing was said")
            time.sleep(0.05)

    def settle(self, user: str) -> None:
        """Wait until the gateway of a user has written down all that the user has sent."""
        far = DOMAINS["B" if user == ANNA else "A"]
        self.wait(lambda: self.users.reaches(user, far), 120)

    def now(self) -> float:
        """Station time, s."""
        return self.pair.now()


@dataclass
class Row:
    """One line of the table. published, target: None where there is none. unit: s, % or octets."""

    what: str
    measured: Optional[float]
    published: Optional[float]
    target: Optional[float]
    unit: str = "s"

    @property
    def is_missed(self) -> bool:
        """Whether the target was missed."""
        if self.target is None:
            return False
        if self.measured is None:
            return True
        return self.measured < self.target if self.unit == "%" else self.measured > self.target


#: Station time in a second of the host: the programs' own time counts this much more.
SPEED = {75: 4.0, 300: 4.0, 1200: 2.0, 9600: 1.0}
#: Rate, payload, pause, and the published and wanted seconds of the first and of later round
#: trips. Nothing was published at 300 bit/s.
_Wanted = Optional[float]
_TRIPS: List[Tuple[int, int, float, _Wanted, _Wanted, _Wanted, _Wanted]] = [
    (75, 0, 0.0, 125.5, 40.0, 29.5, 18.0), (300, 0, 0.0, None, None, None, None),
    (1200, 0, 0.0, 18.0, 5.0, 11.7, 3.6), (9600, 0, 0.0, 21.1, 4.0, 13.9, 3.0),
    (1200, 2048, 0.0, 52.0, 20.0, 22.6, 18.0), (1200, 0, 5.0, 41.5, None, 48.0, 4.0),
    (1200, 0, 10.0, 38.4, None, 37.8, 4.0)]
#: Rate, messages, and the published and wanted percent.
_THROUGHPUT: List[Tuple[int, int, _Wanted, _Wanted]] = [
    (75, 6, 68.0, 85.0), (300, 15, None, None), (1200, 30, 73.0, 92.0), (9600, 150, 78.0, 92.0)]

#: Lines of the table.
ROWS = 1 + 2 * len(_TRIPS) + len(_THROUGHPUT)


def _setting(rate: int) -> pair.Setting:
    return pair.Setting(mode=f"4539-{rate}S", speed=SPEED[rate], pep_ports=None)


def rows(count: int, version: str) -> Iterator[Row]:
    """The lines of the table. count: later round trips of each."""
    peer = {"version": version}
    yield Row("octets of a message beyond its text", chat_sizes.overhead(version=version), 30.0,
              30.0, "octets")
    for rate, payload, pause_s, first, first_wanted, later, later_wanted in _TRIPS:
        times = round_trips(rate, payload, pause_s, count, peer)
        what = f"{rate} bit/s, payload {payload} octets, pause {pause_s:g} s: "
        yield Row(what + "first round trip", times[0], first, first_wanted)
        yield Row(what + "later", sum(times[1:]) / count, later, later_wanted)
    for rate, messages, published, wanted in _THROUGHPUT:
        yield Row(f"{rate} bit/s, {messages} messages of 1024 octets one way: use of the rate",
                  throughput(rate, 1024, messages, peer), published, wanted, "%")


def table(found: Iterable[Row]) -> str:
    """Markdown."""
    def cell(value: Optional[float], unit: str) -> str:
        return "" if value is None else f"{value:.1f} {unit}"

    lines = ["| what | measured | published | target | |", "|---|---|---|---|---|"]
    return "\n".join(lines + [
        f"| {r.what} | {cell(r.measured, r.unit)} | {cell(r.published, r.unit)} "
        f"| {cell(r.target, r.unit)} | {'missed' if r.is_missed else ''} |" for r in found])


def round_trips(rate: int, payload: int = 0, pause_s: float = 0.0, count: int = 10,
                peer: Optional[Dict[str, Any]] = None) -> List[float]:
    """Seconds of station time from a message of Anna's client until it has the answer, which
    Bert's client writes at once. pause_s: between an answer and the next message."""
    times = []
    with Chat(_setting(rate), peer) as chat:
        users = chat.users
        noise = random.Random(1)

        def text() -> str:  # new each time, or the stream would refer to the last one
            return noise.randbytes((payload + 1) // 2).hex()[:payload] or "-"

        users.on_message(BERT, lambda m: m.reply(text()).send())
        for k in range(count + 1):
            begin = chat.now()
            users.write(ANNA, BERT, text())
            if not users.wait(lambda: len(users.bodies(ANNA)) > k, 600):
                raise RuntimeError("\n".join(chat.lines))
            times.append(chat.now() - begin)
            time.sleep(pause_s / SPEED[rate])
    return times


def throughput(rate: int, payload: int, count: int, peer: Optional[Dict[str, Any]] = None
               ) -> float:
    """Percent of the rate that hexadecimal text has, one way. Such text has 4 bits in an octet,
    and counts as 51 % of its octets, as in the published table."""
    with Chat(_setting(rate), peer) as chat:
        users = chat.users
        users.write(ANNA, BERT, "-")
        users.wait(lambda: len(users.bodies(BERT)) == 1, 600)
        begin = chat.now()
        for k in range(count):
            users.write(ANNA, BERT, random.Random(k).randbytes(payload // 2).hex())
        if not users.wait(lambda: len(users.bodies(BERT)) == count + 1, 600):
            raise RuntimeError("\n".join(chat.lines))
        return 100 * 0.51 * 8 * payload * count / rate / (chat.now() - begin)


#: Part of the time that the link is down in bad_link().
DOWN_SHARE = 0.3
#: bad_link() ends when no message has arrived for this time, s of station time. Four calls without
#: an answer take 33 s, and the next ones are later.
PATIENCE_S = 1200.0
#: Messages that are written in bad_link() while a gateway or a server of Bert's side is down.
DOWN_MESSAGES = 5


@dataclass
class Bad:
    """Messages over a bad link: how many, ends by a kill, of them once, and whether in order.

    again: messages that came twice since Bert's gateway or server was killed between the work of
    the server and its answer to the ping. XEP-0114 has no acknowledgement that would prevent it.
    twice: all others that came twice.
    """

    messages: int
    kills: int
    down_share: float
    once: int
    lost: int
    again: int
    twice: int
    in_order: bool


def bad_link(messages: int, kills: int, seed: int = 1, peer: Optional[Dict[str, Any]] = None
             ) -> Bad:
    """Messages of Anna to Bert at 9600 bit/s while the link is down for DOWN_SHARE of the time,
    and in turn a gateway or a server of either side is killed and started again.

    What Anna's client sends while her server or gateway is down is no message of HF. Neither is
    what is in a socket on that side when its reader is killed: XEP-0114 and stock clients have no
    acknowledgement. So on her side the kill waits until the gateway has written down the last
    message, and the next message until the gateway answers."""
    draw, over, downs = random.Random(seed), threading.Event(), []  # type: Any, Any, List[float]
    setting = pair.Setting(mode="4539-9600S", speed=20.0, pep_ports=None)

    def disturb() -> None:
        # In station time: on a busy host it is slower than the speed of the setting.
        outages, next_ = random.Random(seed), 0.0
        while not over.wait(0.01):
            if chat.now() >= next_:
                downs.append(outages.uniform(3, 15))
                chat.pair.air.disturb(downs[-1])
                next_ = chat.now() + downs[-1] / DOWN_SHARE

    with Chat(setting, peer, processes=True) as chat:
        users, begin = chat.users, chat.now()
        threading.Thread(target=disturb, daemon=True).start()
        down: Optional[Tuple[int, str, bool]] = None
        killed: List[float] = []  # when Bert's gateway or server was
        for k in range(messages):
            users.write(ANNA, BERT, f"{k}")
            time.sleep(draw.uniform(0, 0.2))
            if down is not None and k >= down[0]:
                _start(chat, *down[1:])
                down = None
            if k * kills // messages != (k + 1) * kills // messages:
                down = _kill(chat, k, draw.choice(pair.NAMES), draw.random() < 0.5)
                killed += [time.monotonic()] if down is not None else []
        if down is not None:
            _start(chat, *down[1:])
        down_share = sum(downs) / (chat.now() - begin)
        got, until = users.bodies(BERT), chat.now() + PATIENCE_S
        while len(set(got)) < messages and chat.now() < until:
            if users.wait(lambda: len(users.bodies(BERT)) > len(got), 1):
                got, until = users.bodies(BERT), chat.now() + PATIENCE_S
        over.set()
        again = _handed_over_again([(at, m["body"]) for at, to, m in users.received
                                    if to == BERT and m["type"] != "error"], killed)
    once = sum(got.count(f"{k}") == 1 for k in range(messages))
    lost = sum(f"{k}" not in got for k in range(messages))
    return Bad(messages, kills, down_share, once, lost, again, messages - once - lost - again,
               got == sorted(got, key=int))


def _handed_over_again(received: List[Tuple[float, str]], killed: List[float]) -> int:
    """Messages whose second copy came right after the first, with a kill of Bert's gateway or
    server after the message before them and before the second copy."""
    begins = [0.0] + [at for at, _ in received]
    return sum(received[k][1] == received[k + 1][1] and
               any(begins[k] <= at <= received[k + 1][0] for at in killed)
               for k in range(len(received) - 1))


def _kill(chat: Chat, k: int, name: str, gateway: bool) -> Optional[Tuple[int, str, bool]]:
    """Kill a gateway or a server after message k. Returns after which message it has to be
    started. On Anna's side that has been done."""
    if name == "A":
        chat.settle(ANNA)
    if gateway:
        chat.stop(name)
    else:
        chat.servers[name].stop()
    if name == "B":
        return k + DOWN_MESSAGES, name, gateway
    _start(chat, name, gateway)
    chat.settle(ANNA)
    return None


def _start(chat: Chat, name: str, gateway: bool) -> None:
    """Start a gateway or a server again."""
    if gateway:
        chat.start(name)
    else:
        chat.servers[name].start()
        chat.users.again(ANNA if name == "A" else BERT)


def _run(words: str) -> None:
    """A gateway as a process."""
    of = json.loads(words)
    d = station.Description(address=pair.NODES[of["name"]], mode="4539-9600S")
    d.xmpp = _table(of["name"], of["folder"], of["server"], of["peer"], **of["more"])
    d.xmpp.check()
    service = XmppService(d, of["ports"])
    service.attach(SimpleNamespace(  # type: ignore[arg-type]
        sis_address=lambda: of["sis"], stream_port=lambda *_: of["entry"]), print)
    service.start()
    while True:
        time.sleep(1)


if __name__ == "__main__":
    _run(sys.argv[1])

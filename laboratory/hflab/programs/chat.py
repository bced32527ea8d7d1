# SPDX-License-Identifier: GPL-3.0-or-later
"""Chat between two Prosody over two stations on emulated air, with stock clients."""
from contextlib import ExitStack
from dataclasses import dataclass
import os
import random
import shutil
import tempfile
import time
from typing import Any, Dict, Iterable, Iterator, List, Optional

from gnuradio.hf import station
from gnuradio.hf.station import pair
from gnuradio.hf.xmpp import codec, ids
from gnuradio.hf.xmpp.service import XmppService

from .prosody import SECRET, Prosody, Users

DOMAINS = {"A": "ship.example", "B": "shore.example"}
ANNA, BERT = "anna@ship.example", "bert@shore.example"


class Chat:
    """A context manager. peer: keys of [[xmpp.peer]] at both ends. more: keys of [xmpp]."""

    def __init__(self, setting: pair.Setting, peer: Optional[Dict[str, Any]] = None,
                 **more: Any) -> None:
        self._setting, self._peer, self._more = setting, peer or {}, more
        self._exit = ExitStack()
        self.lines: List[str] = []
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
            self.servers[name] = self._exit.enter_context(Prosody(
                os.path.join(self.folder, f"prosody-{name}"), DOMAINS[name],
                [far, f"rooms.{far}"], ["anna", "bert"]))
        self.pair = self._exit.enter_context(pair.Pair(self._setting, False, self._describe))
        for name in pair.NAMES:
            self.start(name)
            self._exit.callback(self.stop, name)
        self.wait(lambda: all(len(s.status()["connected"]) == 2 for s in self.services.values()))
        self.users = Users({ANNA: self.servers["A"].port, BERT: self.servers["B"].port})
        self._exit.callback(self.users.close)
        return self

    def _describe(self, name: str, d: station.Description) -> None:
        far = DOMAINS[pair.OTHER[name]]
        d.pep, d.sis_server = None, station.SisServer(port=0)
        d.xmpp = station.Xmpp(
            folder=os.path.join(self.folder, f"gateway-{name}"),
            server=f"127.0.0.1:{self.servers[name].component_port}", secret=SECRET,
            domains=[DOMAINS[name], f"rooms.{DOMAINS[name]}"],
            peer=[station.XmppPeer(domains=[far, f"rooms.{far}"],
                                   node=pair.NODES[pair.OTHER[name]], **self._peer)],
            **{"retry_s": 0.3, "retry_max_s": 2.0, **self._more})

    def start(self, name: str) -> None:
        """Start a gateway."""
        made = self.pair.stations[name]
        service = self.services[name] = XmppService(made.description)
        service.attach(made, lambda line: self.lines.append(f"{name} {line}"))
        service.start()

    def stop(self, name: str) -> None:
        """End a gateway. Its stanzas stay on disk."""
        self.services[name].close()

    def wait(self, condition: Any, timeout: float = 30) -> None:
        """Wait for a condition. Raises RuntimeError with what the gateways have said."""
        end = time.monotonic() + timeout
        while not condition():
            if time.monotonic() > end:
                raise RuntimeError("\n".join(self.lines) or "nothing was said")
            time.sleep(0.05)

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
SPEED = {75: 10.0, 1200: 2.0, 9600: 1.0}
#: Rate, payload, pause, and the published and wanted seconds of the first and of later round
#: trips.
_TRIPS = [(75, 0, 0.0, 125.5, 40.0, 29.5, 18.0), (1200, 0, 0.0, 18.0, 5.0, 11.7, 3.6),
          (9600, 0, 0.0, 21.1, 4.0, 13.9, 3.0), (1200, 2048, 0.0, 52.0, 20.0, 22.6, 18.0),
          (1200, 0, 5.0, 41.5, None, 48.0, 4.0), (1200, 0, 10.0, 38.4, None, 37.8, 4.0)]
#: Rate, messages, and the published and wanted percent.
_THROUGHPUT = [(75, 6, 68.0, 85.0), (1200, 30, 73.0, 92.0), (9600, 150, 78.0, 92.0)]

#: Lines of the table.
ROWS = 1 + 2 * len(_TRIPS) + len(_THROUGHPUT)


def _setting(rate: int) -> pair.Setting:
    return pair.Setting(mode=f"4539-{rate}S", speed=SPEED[rate], pep_ports=None)


def rows(count: int) -> Iterator[Row]:
    """The lines of the table. count: later round trips of each."""
    yield Row("octets of a message beyond its text", overhead(), 30.0, 30.0, "octets")
    for rate, payload, pause_s, first, first_wanted, later, later_wanted in _TRIPS:
        times = round_trips(rate, payload, pause_s, count)
        what = f"{rate} bit/s, payload {payload} octets, pause {pause_s:g} s: "
        yield Row(what + "first round trip", times[0], first, first_wanted)
        yield Row(what + "later", sum(times[1:]) / count, later, later_wanted)
    for rate, messages, published, wanted in _THROUGHPUT:
        yield Row(f"{rate} bit/s, {messages} messages of 1024 octets one way: use of the rate",
                  throughput(rate, 1024, messages), published, wanted, "%")


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


def overhead(count: int = 100) -> float:
    """Mean octets of the U_PDU of a message of one letter, with the ID that slixmpp makes, without
    that letter. The first message is left out."""
    packer, sizes = codec.Packer(0, True), []
    for k in range(count + 1):
        id_ = ids.shorter(random.Random(k).randbytes(16).hex())
        sizes.append(sum(map(len, packer.pack(
            k, f'<message from="{ANNA}/test" to="{BERT}" type="chat" xml:lang="en" id="{id_}">'
               "<body>x</body></message>".encode(), 2048))) - 1)
    return sum(sizes[1:]) / count

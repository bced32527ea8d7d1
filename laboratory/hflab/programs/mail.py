# SPDX-License-Identifier: GPL-3.0-or-later
"""Mail through two gateways: the time and the turns of a short mail between two Postfix, and many
mails over a link that is down for part of the time, with gateways that are killed."""
from contextlib import ExitStack, contextmanager
import os
import random
import signal
import subprocess
import tempfile
import threading
import time
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional
import smtplib

from aiosmtpd.controller import Controller

from gnuradio.hf import mail as gateways
from gnuradio.hf import station
from gnuradio.hf.station import pair
from gnuradio.hf.system import netns
from . import kernel, postfix

DOMAINS = {"A": "ship.example", "B": "shore.example"}
SENDER = "anna@ship.example"
TO = ["bert@shore.example", "carl@shore.example"]
#: Octets of the short mail with its header (from the client), and its target.
SHORT_OCTETS, TARGET_S, TARGET_TURNS = 370, 4.0, {"hmtp": 1, "cftp": 2}


def text_of(number: int, octets: int = SHORT_OCTETS) -> bytes:
    """A mail with this many octets."""
    head = (f"Message-ID: <{number}@ship.example>\r\nDate: Wed, 25 Nov 2026 07:00:00 +0000\r\n"
            f"From: <{SENDER}>\r\nTo: <{TO[0]}>, <{TO[1]}>\r\nSubject: Position {number}\r\n\r\n"
            ).encode()
    line = b"At noon we were at 54 12 N 007 54 E, course 270, speed 9 kn, wind W 5.\r\n"
    body = (line * (octets // len(line) + 1))[:max(octets - len(head) - 2, 0)]
    return head + body.rstrip(b"\r\n").ljust(len(body), b".") + b"\r\n"


def settings(folder: str, name: str, deliver: str, protocol: str, **more: Any) -> station.Mail:
    """The table [mail] of one side, listening on a free port."""
    other = pair.OTHER[name]
    made = station.Mail(spool=os.path.join(folder, f"spool-{name}"), deliver=deliver,
                        listen=f"127.0.0.1:{netns.free_tcp_ports(1)[0]}", domains=[DOMAINS[name]],
                        route=[station.MailRoute(DOMAINS[other], pair.NODES[other], protocol)],
                        **more)
    made.check()
    return made


def with_sis_server(_: str, d: station.Description) -> None:
    """Settings that the stations of a pair need for gateways."""
    d.pep, d.sis_server = None, station.SisServer(port=0)


# --- a short mail, Postfix to Postfix -----------------------------------------------------------

class Short(NamedTuple):
    """delivered_s: from the start of its submission to the near Postfix until the far Postfix has
    delivered it to both recipients. settled_s: until the near gateway knows. turns: transmissions
    of the far station until then, each of which answers one of ours. in_all: transmissions of
    both stations until all is quiet."""

    protocol: str
    channel: str
    first: bool
    octets: int
    delivered_s: float
    settled_s: float
    turns: int
    in_all: int
    octets_on_air: int
    equal: bool


class Two(NamedTuple):
    """Two stations, each with a Postfix and a gateway. lines: their log."""

    stations: pair.Pair
    servers: Dict[str, postfix.Postfix]
    near: gateways.Gateway
    lines: List[str]


@contextmanager
def two_postfix(protocol: str, setting: pair.Setting, **more: Any) -> Iterator[Two]:
    """Two Postfix with a link between them. more: keys of the tables [mail]. Raises
    RuntimeError."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="hf-mail-"))
        os.chmod(folder, 0o755)
        stations = stack.enter_context(pair.Pair(setting, False, with_sis_server))
        servers: Dict[str, postfix.Postfix] = {}
        made: Dict[str, gateways.Gateway] = {}
        lines: List[str] = []
        for name in pair.NAMES:
            table = settings(folder, name, "127.0.0.1:1", protocol, **more)
            servers[name] = stack.enter_context(postfix.Postfix(
                os.path.join(folder, f"postfix-{name}"), DOMAINS[name],
                {DOMAINS[pair.OTHER[name]]: table.listen}))
            table.deliver = f"127.0.0.1:{servers[name].port}"
            sis_port = stations.stations[name].sis_server.port()
            made[name] = gateways.Gateway(table, pair.NODES[name], f"127.0.0.1:{sis_port}",
                                          lines.append)
            made[name].start()
            stack.callback(made[name].close)
        yield Two(stations, servers, made["A"], lines)


def short_mails(protocol: str, channel: Optional[str] = "awgn snr=30", count: int = 3,
                mode: str = "4539-9600S", speed: float = 1.0) -> List[Short]:
    """Short mails, one after the other, the first without a link. channel: None for emulated
    modems. Raises RuntimeError."""
    setting = pair.Setting(mode=mode, emulated=channel is None, channel=channel or "clear",
                           speed=speed, pep_ports=None)
    with two_postfix(protocol, setting) as two:
        return [_short(number, protocol, channel or "emulated", *two) for number in range(count)]


def _short(number: int, protocol: str, channel: str, stations: pair.Pair,
           servers: Dict[str, postfix.Postfix], near: gateways.Gateway, lines: List[str]) -> Short:
    links = [s.data_link for s in stations.stations.values()]

    def transmissions() -> int:
        return sum(link.stats()["transmissions"] for link in links)

    before, octets_before = transmissions(), stations.octets_over_hf()
    answers_before = links[1].stats()["transmissions"]
    there, sent = len(servers["B"].mails()), near.counts["sent"]
    data = text_of(number)
    for server in servers.values():
        wait_for_greeting(server.port)
    begin = stations.now()
    with smtplib.SMTP("127.0.0.1", servers["A"].port, "client", 20) as client:
        client.sendmail(SENDER, TO, data)
    delivered = settled = 0.0
    end = time.monotonic() + 60
    turns = 0
    while not delivered or not settled:
        if not delivered and len(servers["B"].mails()) >= there + len(TO):
            delivered = stations.now()
        if not settled and near.counts["sent"] > sent:
            settled = stations.now()
            turns = links[1].stats()["transmissions"] - answers_before
        if time.monotonic() > end:
            raise RuntimeError("a mail did not arrive:\n" + "\n".join(lines[-20:])
                               + servers["A"].log() + servers["B"].log())
        time.sleep(0.005)
    kernel.rest(stations, 5)
    paths = servers["B"].mails()[there:]
    return Short(protocol, channel, number == 0, len(data), delivered - begin, settled - begin,
                 turns, transmissions() - before, stations.octets_over_hf() - octets_before,
                 all(_body_equal(path, data) for path in paths))


def wait_for_greeting(port: int) -> None:
    """Postfix starts a process for its first connection, which must not count."""
    for _ in range(100):
        try:
            with smtplib.SMTP("127.0.0.1", port, "client", 5):
                return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError("Postfix does not answer")


def _body_equal(path: str, data: bytes) -> bool:
    """Whether a delivered mail ends with the whole mail that was sent. Relays put lines before
    it; a mailbox has LF at the ends of lines."""
    with open(path, "rb") as file:
        return file.read().endswith(data.replace(b"\r\n", b"\n"))


# --- many mails over a bad link, with gateways that are killed ----------------------------------

class Sink:
    """A mail server that counts copies. key: subject and recipient."""

    def __init__(self) -> None:
        self.copies: Dict[str, int] = {}
        self.altered = 0
        self.wanted: Dict[str, bytes] = {}
        self._lock = threading.Lock()

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        """Count a mail."""
        data = envelope.content
        number = data.partition(b"Message-ID: <")[2].partition(b"@")[0].decode()
        with self._lock:
            self.altered += not data.endswith(self.wanted.get(number, b"?"))
            for recipient in envelope.rcpt_tos:
                key = f"{number} {recipient}"
                self.copies[key] = self.copies.get(key, 0) + 1
        return "250 2.0.0 ok"


class Bad(NamedTuple):
    """mails: sent, with two recipients each. Numbers of mails for one recipient."""

    protocol: str
    mails: int
    kills: int
    down_share: float
    once: int
    lost: int
    twice: int
    altered: int
    refused: int
    time_s: float


#: Station time that outages and the link between them last, s: 30 % down.
_UP_S, _DOWN_S = (40.0, 240.0), (17.0, 103.0)


class _Gateways:
    """The gateways of both sides as processes of their own, which can be killed."""

    def __init__(self, folder: str, stations: pair.Pair, tables: Dict[str, station.Mail]) -> None:
        self.folder, self.tables, self.kills = folder, tables, 0
        self._servers = {n: s.sis_server.port() for n, s in stations.stations.items()}
        self._processes: Dict[str, subprocess.Popen] = {}
        for name in pair.NAMES:
            self._write(name)
            self.start(name)

    def _write(self, name: str) -> None:
        t = self.tables[name]
        values = {k: getattr(t, k) for k in ("spool", "listen", "deliver", "retry_s",
                                             "retry_max_s", "answer_s")}
        text = f'address = "{pair.NODES[name]}"\n[sis_server]\n[mail]\n'
        text += "".join(f"{k} = {v!r}\n" if not isinstance(v, str) else f'{k} = "{v}"\n'
                        for k, v in values.items())
        text += f'domains = ["{t.domains[0]}"]\n[[mail.route]]\n'
        r = t.route[0]
        text += f'domain = "{r.domain}"\nnode = "{r.node}"\nprotocol = "{r.protocol}"\n'
        with open(os.path.join(self.folder, f"{name}.toml"), "w", encoding="utf-8") as file:
            file.write(text)

    def start(self, name: str) -> None:
        """Start one side, and go on without waiting for it."""
        with open(os.path.join(self.folder, f"{name}.log"), "ab") as log:
            self._processes[name] = subprocess.Popen(
                [*kernel.HF, "mail", "run", os.path.join(self.folder, f"{name}.toml"),
                 "--server", f"127.0.0.1:{self._servers[name]}"], stdin=subprocess.DEVNULL,
                stderr=log, preexec_fn=netns.ended_with_me)

    def kill(self, name: str) -> None:
        """kill -9, and start again."""
        process = self._processes[name]
        if process.poll() is not None:
            raise RuntimeError(f"gateway {name} has ended by itself: {self.log(name)}")
        process.send_signal(signal.SIGKILL)
        process.wait()
        self.kills += 1
        self.start(name)

    def log(self, name: str) -> str:
        """The end of the log of one side."""
        with open(os.path.join(self.folder, f"{name}.log"), encoding="utf-8") as file:
            return file.read()[-1500:]

    def close(self) -> None:
        """End both."""
        for process in self._processes.values():
            process.kill()
            process.wait()


def bad_link(protocol: str = "hmtp", mails: int = 200, kills: int = 20, seed: int = 1,
             speed: float = 30.0, keep: str = "",
             progress: Callable[[float], None] = lambda share: None) -> Bad:
    """Mails over emulated modems at 9600 bit/s whose link is down 30 % of the time, while the
    gateways are killed at random moments. keep: folder for logs and spools; empty: none is kept.
    Raises RuntimeError if mails are still missing when nothing has arrived for a long time."""
    draw = random.Random(seed)
    sink = Sink()
    with ExitStack() as stack:
        folder = keep or stack.enter_context(tempfile.TemporaryDirectory(prefix="hf-mail-"))
        server = Controller(sink, "127.0.0.1", netns.free_tcp_ports(1)[0])
        server.start()
        stack.callback(server.stop)
        setting = pair.Setting(mode="4539-9600S", speed=speed, pep_ports=None, seed=seed)
        stations = stack.enter_context(pair.Pair(setting, False, with_sis_server))
        tables = {name: settings(folder, name, f"127.0.0.1:{server.port}", protocol,
                                 retry_s=0.5, retry_max_s=5.0, answer_s=120.0 / speed * 10)
                  for name in pair.NAMES}
        sides = _Gateways(folder, stations, tables)
        stack.callback(sides.close)
        return _run(protocol, mails, kills, draw, stations, sides, sink, progress)


def _run(protocol: str, mails: int, kills: int, draw: random.Random, stations: pair.Pair,
         sides: _Gateways, sink: Sink, progress: Callable[[float], None]) -> Bad:
    port = int(sides.tables["A"].listen.rpartition(":")[2])
    begin = stations.now()
    next_change, down_s, refused = begin, 0.0, 0
    waiting = list(range(mails))
    # Kills are spread over the submission of the mails, so that all of them matter.
    moments = sorted(draw.sample(range(1, mails), min(kills, mails - 1)))
    last_progress, arrived = time.monotonic(), 0
    while len(sink.copies) < len(TO) * mails:
        now = stations.now()
        if now >= next_change:
            down, up = draw.uniform(*_DOWN_S), draw.uniform(*_UP_S)
            stations.air.disturb(down)
            down_s += down
            next_change = now + down + up
        if moments and mails - len(waiting) >= moments[0]:
            moments.pop(0)
            time.sleep(draw.uniform(0, 0.5))
            sides.kill(draw.choice(pair.NAMES))
        if waiting and _submit(port, waiting[0], draw, sink):
            waiting.pop(0)
        elif waiting:
            refused += 1
        if len(sink.copies) > arrived:
            last_progress, arrived = time.monotonic(), len(sink.copies)
            progress(arrived / (len(TO) * mails))
        if time.monotonic() - last_progress > 120:
            break  # missing mails count as lost
        time.sleep(draw.uniform(0, 0.2))
    time.sleep(3.0)  # second copies would arrive now
    time_s = stations.now() - begin
    once = sum(n == 1 for n in sink.copies.values())
    return Bad(protocol, mails, sides.kills, min(down_s / time_s, 1.0), once,
               len(TO) * mails - len(sink.copies), len(sink.copies) - once, sink.altered,
               refused, time_s)


def _submit(port: int, number: int, draw: random.Random, sink: Sink) -> bool:
    """Submit a mail as a mail server would: again until it has 250 for it."""
    data = text_of(number, draw.randrange(300, 3000))
    data = sink.wanted.setdefault(str(number), data)
    try:
        with smtplib.SMTP("127.0.0.1", port, "client", 10) as client:
            client.sendmail(SENDER, TO, data)
            return True
    except (OSError, smtplib.SMTPException):
        time.sleep(0.1)
        return False


# --- report -------------------------------------------------------------------------------------

def short_table(rows: List[Short]) -> str:
    """Markdown of short mails, each beside its target."""
    lines = [f"A mail of {SHORT_OCTETS} octets for two recipients, Postfix to Postfix, 9600 "
             "bit/s. Delivered: to both mailboxes of the far Postfix. Settled: the near gateway "
             "knows it.", "",
             "| protocol | channel | link | delivered | target | settled | turns | target | "
             "transmissions in all | octets on the air | equal |",
             "|---|---|---|---|---|---|---|---|---|---|---|"]
    for r in rows:
        lines.append(f"| {r.protocol} | {r.channel} | {'made first' if r.first else 'exists'} | "
                     f"{r.delivered_s:.1f} s | {TARGET_S:g} s | {r.settled_s:.1f} s | {r.turns} | "
                     f"{TARGET_TURNS[r.protocol]} | {r.in_all} | {r.octets_on_air} | "
                     f"{'yes' if r.equal else 'NO'} |")
    return "\n".join(lines)


def bad_table(rows: List[Bad]) -> str:
    """Markdown of mails over a bad link, beside the target."""
    lines = ["Mails of 300 to 3000 octets for two recipients each, emulated modems at 9600 bit/s.",
             "", "| protocol | mails | link down | gateways killed | delivered once | target | "
             "lost | twice | altered | refused by a killed gateway | station time |",
             "|---|---|---|---|---|---|---|---|---|---|---|"]
    for r in rows:
        lines.append(f"| {r.protocol} | {r.mails} x {len(TO)} | {100 * r.down_share:.0f} % | "
                     f"{r.kills} | {r.once} | {len(TO) * r.mails} | {r.lost} | {r.twice} | "
                     f"{r.altered} | {r.refused} | {r.time_s:.0f} s |")
    return "\n".join(lines)

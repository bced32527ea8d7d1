# SPDX-License-Identifier: GPL-3.0-or-later
"""hf console: ping, throughput, broadcast, monitor and responder over any SIS server."""
from contextlib import contextmanager
from dataclasses import dataclass
import json
import re
import signal
import sys
from typing import Any, Callable, Iterable, Iterator, List, Optional

import click
from rich.console import Console as Terminal
from rich.live import Live
from rich.table import Table

from .. import sis
from ..options import option
from ..plain_text import plain
from ..sis import console, net as nets
from ..system import output
from . import fail
from ._options import options
from ._output import checked
from ._server import NODE, check_server


#: Columns of --csv files.
PING_COLUMNS = ["sequence", "sent_s", "round_trip_s", "failure"]
THROUGHPUT_COLUMNS = ["time_s", "octets_out", "octets_in"]


@click.group()
def command() -> None:
    """Test a STANAG 5066 network as one of its clients.

    Every command binds a SAP of a node through its SIS server, ours or another maker's. ping and
    throughput need `hf console respond` at the far node.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)


@dataclass(frozen=True)
class Here:
    """The SAP and the server of the local console."""

    sap: int = option(console.SAP, "SAP to bind.", least=0, most=15)
    clock_speed: float = option(1.0, "Speed of the stations on a simulated air, as a multiple of "
                                     "real time.", least=0.01, most=1000)
    server: str = option("127.0.0.1:5066", "SIS server of the station to use, ours or another "
                         "maker's.", metavar="HOST[:PORT]", parse=check_server)

    @contextmanager
    def session(self) -> Iterator[sis.Client]:
        """A bound client. Its errors become errors of the command."""
        try:
            with sis.Client(self.server) as client:
                client.bind(self.sap, 0, sis.service())
                click.echo(f"bound SAP {self.sap} at {self.server}, MTU {client.mtu}", err=True)
                yield client
        except sis.SisError as error:
            raise fail(str(error)) from None


@dataclass(frozen=True)
class There:
    """The far console."""

    node: str = option("", "Far node.", flag="--to", kind=NODE, required=True)
    to_sap: Optional[int] = option(None, "Far SAP.  [default: that of --sap]", least=0, most=15)
    priority: int = option(0, "Priority of the data sent.", least=0, most=15)
    non_arq: bool = option(False, "Send without acknowledgements.")

    def connect(self, client: sis.Client, here: Here) -> console.Console:
        """A console connected to the far console."""
        return console.Console(client, self.node, here.sap if self.to_sap is None else self.to_sap,
                               sis.service("non_arq" if self.non_arq else "arq"), self.priority,
                               console.Clock(here.clock_speed))


@dataclass(frozen=True)
class Results:
    """Files for the values and the summary."""

    csv_path: Optional[str] = option(None, "Write all values to a CSV file.", flag="--csv",
                                     kind=click.Path(dir_okay=False))
    report: Optional[str] = option(None, "Write the summary to a file as well.",
                                   kind=click.Path(dir_okay=False))
    force: bool = option(False, "Replace files that hf has not written.")

    def check(self, columns: List[str], picture: Optional[str] = None) -> None:
        """Check output files before a measurement that may take hours."""
        with checked():
            output.check_all([p for p in (self.csv_path, self.report, picture) if p], force=True)
            if self.csv_path:
                output.check(self.csv_path, force=self.force,
                             first_line=output.first_line(columns))
            if self.report:
                output.check(self.report, force=self.force or _is_report(self.report))
            if picture:
                output.check_picture(picture, force=self.force)

    def write(self, lines: List[str], columns: List[str], rows: Iterable[List[Any]]) -> None:
        """Write the summary to stdout and to its file, and the values to theirs."""
        text = "\n".join(lines) + "\n"
        sys.stdout.write(text)
        if self.report:
            with output.replacing_text(self.report) as file:
                file.write(text)
        if self.csv_path:
            output.write_csv(self.csv_path, columns, rows)


def _is_report(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return re.match(rb"ping \d+: |\d+ octets submitted, ", file.readline(200)) is not None
    except OSError:
        return False


@contextmanager
def display(make: Callable[[], Table], otherwise: Callable[[], None] = lambda: None
            ) -> Iterator[Callable[[], None]]:
    """A live table on a terminal. Gives a function to call after changes, which is otherwise()
    without a terminal."""
    terminal = Terminal(stderr=True)
    if not terminal.is_terminal:
        yield otherwise
        return
    with Live(console=terminal, get_renderable=make, refresh_per_second=5):
        yield lambda: None


def size_of(size: int) -> int:
    """The U_PDU size, checked to have room for the console's header."""
    if not console.HEADER.size <= size <= 4096:
        raise click.UsageError(f"--size {size}: allowed are {console.HEADER.size} to 4096")
    return size


@command.command()
@options(Here, "here")
@options(There, "there")
@options(Results, "results")
@click.option("--count", default=5, show_default=True, type=click.IntRange(1, 100000))
@click.option("--interval", default=30.0, show_default=True, type=click.FloatRange(0),
              help="Time from one ping to the next, s.")
@click.option("--immediate", is_flag=True, help="Send the next ping right after an answer.")
@click.option("--size", default=64, show_default=True, help="Octets of a U_PDU, 22 to 4096.")
@click.option("--timeout", default=120.0, show_default=True, type=click.FloatRange(0.1),
              help="Time after which an answer counts as lost, s.")
def ping(here: Here, there: There, results: Results, count: int, interval: float,
         immediate: bool, size: int, timeout: float) -> None:
    """Measure round-trip times to a far console. Ctrl-C ends early with the summary."""
    size = size_of(size)
    results.check(PING_COLUMNS)
    with here.session() as client:
        con = there.connect(client, here)

        def table() -> Table:
            t = Table(title=f"ping {there.node}, {size} octets", title_justify="left")
            for column in ("sequence", "sent", "round trip"):
                t.add_column(column, justify="right")
            for p in con.pings[-20:]:
                t.add_row(str(p.sequence), f"{p.sent:.1f} s", p.result())
            return t

        said: List[str] = []

        def say() -> None:
            while len(said) < len(con.pings) and con.pings[len(said)].over:
                p = con.pings[len(said)]
                said.append(f"ping {p.sequence}: {p.result()}")
                click.echo(said[-1], err=True)

        try:
            with display(table, say) as progress:
                con.ping(count, interval, size, timeout, immediate, progress)
        except KeyboardInterrupt:
            for p in con.pings:
                if not p.over:
                    p.failure = "interrupted"
    results.write([f"ping {p.sequence}: {p.result()}" for p in con.pings] +
                  console.ping_lines(there.node, con.pings), PING_COLUMNS,
                  ([p.sequence, round(p.sent, 3), "" if p.rtt is None else round(p.rtt, 3),
                    p.failure] for p in con.pings))
    if all(p.rtt is None for p in con.pings):
        raise fail("no answer")


@command.command()
@options(Here, "here")
@options(There, "there")
@options(Results, "results")
@click.option("--octets", default=50000, show_default=True, type=click.IntRange(1, 10**9))
@click.option("--size", default=2042, show_default=True, help="Octets of a U_PDU, 22 to 4096.")
@click.option("--send-only", is_flag=True,
              help="Without confirmation. The far console reports how much arrived.")
@click.option("--two-way", default=0, metavar="OCTETS", type=click.IntRange(0, 10**9),
              help="Octets that the far console sends at the same time.")
@click.option("--timeout", default=600.0, show_default=True, type=click.FloatRange(0.1),
              help="Give up after this time without progress, s.")
@click.option("--plot", "plot_path", type=click.Path(dir_okay=False), metavar="FILE.png",
              help="Draw goodput over time.")
def throughput(here: Here, there: There, results: Results, octets: int, size: int,
               send_only: bool, two_way: int, timeout: float, plot_path: Optional[str]) -> None:
    """Measure goodput to a far node and back. Ctrl-C ends early with the summary."""
    size = size_of(size)
    results.check(THROUGHPUT_COLUMNS, plot_path)
    acknowledged = not (send_only or there.non_arq)
    with here.session() as client:
        con = there.connect(client, here)

        def table() -> Table:
            r = con.throughput_result
            t = Table(title=f"throughput to {there.node}", title_justify="left")
            for column in ("time", "submitted", "confirmed", "received here", "out", "in"):
                t.add_column(column, justify="right")
            t.add_row(f"{r.seconds:.1f} s", str(r.submitted), str(r.confirmed),
                      str(r.received), f"{r.out_bps():.0f} bit/s", f"{r.in_bps():.0f} bit/s")
            return t

        said = [0.0]

        def say() -> None:
            r = con.throughput_result
            if r.seconds >= said[0] + 10:
                said[0] = r.seconds
                click.echo(f"{r.seconds:.0f} s: {r.submitted} octets submitted, {r.confirmed} "
                           f"confirmed, {r.received} received here", err=True)

        try:
            with display(table, say) as progress:
                con.throughput(octets, size, acknowledged, two_way, timeout, progress)
        except KeyboardInterrupt:
            click.echo("interrupted; results until now:", err=True)
        r = con.throughput_result
    lines = [f"{r.submitted} octets submitted, {r.confirmed} confirmed, {r.rejected} rejected "
             f"in {r.seconds:.1f} s"]
    if r.far_octets is not None:
        lines.append(f"{r.far_octets} octets received there in {r.far_seconds:.1f} s")
    steady = r.steady_bps()
    lines.append(f"out {r.out_bps():.0f} bit/s" + (
        "" if steady is None else f", {steady:.0f} bit/s after the first confirmation"))
    if two_way:
        lines.append(f"{r.received} of {two_way} octets received here, in {r.in_bps():.0f} bit/s")
    results.write(lines, THROUGHPUT_COLUMNS,
                  ([round(s.time, 3), s.octets_out, s.octets_in] for s in r.samples))
    if plot_path:
        from ..pictures import throughput as drawing
        drawing.draw(plot_path, f"throughput to {there.node}, U_PDUs of {size} octets",
                     r.samples)
    arrived = r.confirmed if acknowledged else (r.far_octets or 0)
    if (arrived < octets and not there.non_arq) or arrived == 0 or r.received < two_way:
        raise fail("not everything arrived")


@command.command()
@options(Here, "here")
@click.option("--to", "node", default="31.255.255.255", show_default=True, type=NODE,
              help="Group or node.")
@click.option("--count", default=1, show_default=True, type=click.IntRange(1, 100000))
@click.option("--interval", default=30.0, show_default=True, type=click.FloatRange(0))
@click.option("--size", default=200, show_default=True, help="Octets of a U_PDU, 22 to 4096.")
@click.option("--repeats", default=1, show_default=True, type=click.IntRange(0, 15),
              help="Extra copies of each U_PDU.")
def broadcast(here: Here, node: str, count: int, interval: float, size: int, repeats: int
              ) -> None:
    """Send U_PDUs to all nodes or to a group. monitor and respond show them."""
    size = size_of(size)
    with here.session() as client:
        con = console.Console(client, node, here.sap, sis.service("non_arq"),
                              clock=console.Clock(here.clock_speed))
        sent = con.broadcast(count, interval, size, repeats)
    print(f"{sent} U_PDUs of {size} octets submitted to {node}")


@command.command()
@options(Here, "here")
@click.option("--duration", default=None, type=click.FloatRange(0),
              help="End after this time, s.  [default: at Ctrl-C]")
@click.option("--count", default=None, type=click.IntRange(1),
              help="End after this number of primitives.")
def monitor(here: Here, duration: Optional[float], count: Optional[int]) -> None:
    """Print all primitives that the node sends to a SAP."""
    clock = console.Clock(here.clock_speed)
    with here.session() as client:
        try:
            shown = 0
            while (duration is None or clock.now() < duration) and \
                    (count is None or shown < count):
                p = client.next(timeout=0.1)
                if p is not None:
                    shown += 1
                    print(f"{clock.now():9.2f} {plain(console.describe(p))}", flush=True)
        except KeyboardInterrupt:
            pass


@command.command()
@options(Here, "here")
@click.option("--duration", default=None, type=click.FloatRange(0),
              help="End after this time, s.  [default: at Ctrl-C]")
def respond(here: Here, duration: Optional[float]) -> None:
    """Answer the pings and measurements of far consoles."""
    clock = console.Clock(here.clock_speed)
    with here.session() as client:
        responder = console.Responder(client, clock)

        def table() -> Table:
            t = Table(title=f"{responder.pings} pings answered", title_justify="left")
            for column in ("from", "session", "U_PDUs", "octets", "seconds", "bit/s"):
                t.add_column(column, justify="right")
            for (source, number), h in list(responder.sessions.items())[-20:]:
                seconds = h.last - h.first
                t.add_row(source, f"{number:08x}", str(h.u_pdus), str(h.octets),
                          f"{seconds:.1f}", f"{8 * h.octets / max(seconds, 1e-9):.0f}")
            return t

        try:
            with display(table) as progress:
                responder.run(duration, progress)
        except KeyboardInterrupt:
            pass
        finally:
            responder.close()
    print(f"{responder.pings} pings answered")
    for (source, number), h in responder.sessions.items():
        print(f"{source} session {number:08x}: {h.u_pdus} U_PDUs, {h.octets} octets in "
              f"{h.last - h.first:.1f} s")


@dataclass(frozen=True)
class NetHere(Here):
    """The local end of a question to the net."""

    sap: int = option(nets.SAP, "SAP to bind.", least=0, most=15)


@command.command()
@options(NetHere, "here")
@click.option("--to", "node", default=nets.ALL, show_default=True, type=NODE,
              help="Group or node.")
@click.option("--spread", default=60, show_default=True,
              type=click.IntRange(0, nets.MAX_SPREAD_S),
              help="The stations answer at random times within it, s.")
@click.option("--limit", default=180, show_default=True, type=click.IntRange(1, nets.MAX_LIMIT_S),
              help="Time for all answers, s.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with all that the stations "
                                                      "have heard.")
def net(here: NetHere, node: str, spread: int, limit: int, as_json: bool) -> None:
    """Ask the stations of a net how they hear each other, and what they do. Those answer whose
    file names this station in [net]. Ctrl-C ends early with the table."""
    clock = console.Clock(here.clock_speed)
    with here.session() as client:
        question = nets.Question(client, clock.now)

        def table() -> Table:
            t = Table(title=f"answers: {len(question.rows())}", title_justify="left")
            for head in nets.HEADS:
                t.add_column(head)
            for row in question.rows():
                t.add_row(*nets.words(row))
            return t

        try:
            with display(table) as progress:
                question.ask(node, spread, limit, progress)
        except KeyboardInterrupt:
            pass
    if as_json:
        print(json.dumps(question.rows()))
    else:
        Terminal(width=None if sys.stdout.isatty() else 80).print(table())
    if not question.rows():
        raise fail("no answer")

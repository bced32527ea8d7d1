# SPDX-License-Identifier: GPL-3.0-or-later
"""hf top: shows running stations in a terminal."""
import contextlib
import json
import os
import select
import sys
import termios
import tty
from typing import Any, Dict, Iterator, List
import urllib.error
import urllib.request

import click
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from ..gui import strip
from . import fail

#: Log lines shown for each station.
LINES = 6
#: Time span of the strip, s, and period of updates, s.
SPAN_S, EVERY_S = 120.0, 0.5
_STRIP = "on the air, two minutes  "


def fetch(port: int) -> Dict[str, Any]:
    """The state of the stations from their web page. Raises OSError or ValueError."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(f"http://127.0.0.1:{port}/api/state", timeout=5) as answer:
        return json.load(answer)


def shown(value: Any, unit: str, digits: int = 1) -> str:
    """A number with its unit, or a dash."""
    return "-" if value is None else f"{value:.{digits}f} {unit}"


def oldest(queues: List[Dict[str, Any]]) -> str:
    """Age and priority of the oldest waiting data."""
    if not queues:
        return "-"
    q = max(queues, key=lambda q: float(q["oldest_s"]))
    return f"{q['oldest_s']:.0f} s, priority {q['priority']}"


def waiting(flows: List[Dict[str, Any]]) -> str:
    """Octets and flows that wait in the IP client."""
    octets = sum(int(f["octets"]) for f in flows)
    return f"{octets} octets, {len(flows)} flow{'s' if len(flows) != 1 else ''}"


def legend(marks: str, keys: bool) -> Text:
    """Meaning of the strip's marks. keys: also the key that quits."""
    meanings = zip(marks, ("transmits", "receives", "silent"))
    text = "   ".join(f"{mark} {meaning}" for mark, meaning in meanings)
    return Text(text + ("   q: quit" if keys else ""), style="dim")


def picture(state: Dict[str, Any], utf8: bool, width: int = 80, keys: bool = False) -> Group:
    """The display of all stations, at most width columns wide. keys: name the key that quits."""
    marks = "█▓·" if utf8 else "#=."
    columns = max(1, width - 1 - len(_STRIP))
    parts: List[Any] = [Text(state["about"], style="dim"), legend(marks, keys)]
    for s in state["stations"]:
        link, modem = s.get("link", {}), s.get("modem", {})
        last = s["blocks"][-1] if s["blocks"] else {}
        now = modem.get("now", link.get("now", 0.0))
        head = Text(f"{s['name']}  ", style="bold")
        head.append(f"{link.get('phase', '').replace('_', ' ')}"
                    f"{', EMCON' if link.get('emcon') else ''}  {now:.0f} s", style="default")
        table = Table.grid(padding=(0, 2, 0, 0))
        for name, value, name2, value2 in (
                ("peer", link.get("peer") or "none yet", "to send",
                 f"{link.get('queued_octets', 0)} octets"),
                ("transmits in", link.get("tx_mode") or s["mode"], "unacknowledged",
                 str(link.get("unacknowledged", 0))),
                ("reason", link.get("tx_reason", ""), "oldest",
                 oldest(link.get("queues", []))),
                ("receives in", link.get("rx_mode") or "-", "SNR",
                 shown(last.get("snr_db"), "dB")),
                ("Doppler spread", shown(last.get("doppler_hz"), "Hz", 2), "delay spread",
                 shown(last.get("delay_spread_ms"), "ms", 2))):
            table.add_row(Text(name, style="dim"), value, Text(name2, style="dim"), value2)
        if "connections" in s or "flows" in s:
            count = len(s.get("connections", [])) + s.get("connections_left_out", 0)
            table.add_row(Text("TCP connections", style="dim"), str(count),
                          Text("in IP client", style="dim"), waiting(s.get("flows", [])))
        rig = s.get("radio", {}).get("rig")
        if rig:
            table.add_row(Text("rig", style="dim"), f"{rig['frequency_hz'] / 1e6:.6f} MHz",
                          Text("in mode", style="dim"), rig["mode"])
        parts += [Text(""), head, table,
                  Text(_STRIP + strip.strip(s["spans"], now, columns, SPAN_S / columns, marks))]
        parts += [Text(line[:width - 1], style="dim", no_wrap=True) for line in s["log"][-LINES:]]
    return Group(*parts)


@contextlib.contextmanager
def keys_at_once() -> Iterator[bool]:
    """Read keys without waiting for Enter. Gives False if standard input is no terminal."""
    if not sys.stdin.isatty():
        yield False
        return
    before = termios.tcgetattr(sys.stdin)
    tty.setcbreak(sys.stdin)
    try:
        yield True
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def quits(keys: bool) -> bool:
    """Wait for the next update. Returns True if the user pressed q meanwhile."""
    ready, _, _ = select.select([sys.stdin] if keys else [], [], [], EVERY_S)
    pressed = os.read(sys.stdin.fileno(), 64) if ready else b"-"
    return not pressed or b"q" in pressed.lower()


@click.command(short_help="Running stations in a terminal.")
@click.argument("port", type=click.IntRange(1, 65535))
@click.option("--once", is_flag=True, help="Print once, without colours.")
def command(port: int, once: bool) -> None:
    """Show the stations of an hf run --web PORT in this terminal, until q or Ctrl-C.

    The second line explains the marks of the strip.
    """
    console = Console(width=None if sys.stdout.isatty() else 80)
    utf8 = (sys.stdout.encoding or "").lower().startswith("utf")
    try:
        state = fetch(port)
        if once or not sys.stdout.isatty():
            console.print(picture(state, utf8, console.width))
            return
        with keys_at_once() as keys, \
                Live(console=console, auto_refresh=False, screen=True) as live:
            live.update(picture(state, utf8, console.width, keys), refresh=True)
            while not quits(keys):
                live.update(picture(fetch(port), utf8, console.width, keys), refresh=True)
    except KeyboardInterrupt:
        pass
    except (OSError, ValueError) as error:
        why = getattr(error, "reason", error)
        raise fail(f"no page of hf run at 127.0.0.1:{port}: {why}; start one with hf run ... "
                   f"--web {port}") from None

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
from ..plain_text import plain_within
from . import fail

#: Log lines shown for a single station.
LINES = 6
#: Peers of ALE shown for each station.
MAX_HEARD = 3
#: Time span of the strip, s, and period of updates, s.
SPAN_S, EVERY_S = 120.0, 0.5
_STRIP = "on the air, two minutes  "
#: Direction at this moment, by the state of a station.
ARROWS = {"transmitting": "→", "receiving": "←", "waiting": "…", "silent": "-", "idle": "-"}
PLAIN_ARROWS = {"transmitting": "->", "receiving": "<-", "waiting": "..", "silent": "-",
                "idle": "-"}


def fetch(port: int) -> Dict[str, Any]:
    """The state of the stations from their web page. Raises OSError or ValueError."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(f"http://127.0.0.1:{port}/api/state", timeout=5) as answer:
        return plain_within(json.load(answer))


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
        now = s.get("modem", s.get("link", {})).get("now", 0.0)
        parts += [Text(""), *station(s, s["glance"], utf8),
                  Text(_STRIP + strip.strip(s["spans"], now, columns, SPAN_S / columns, marks))]
        parts += [Text(line[:width - 1], style="dim", no_wrap=True)
                  for line in s["log"][-log_lines(len(state["stations"])):]]
    return Group(*parts)


def log_lines(stations: int) -> int:
    """Log lines for each station, so that two stations fit into 24 lines."""
    return LINES if stations == 1 else 1


def station(s: Dict[str, Any], g: Dict[str, Any], utf8: bool) -> List[Any]:
    """What the page says of a station, in the same words and order: the sentence, problems,
    direction, speed, channel and queue. Then the modes, for the engineer."""
    arrow = (ARROWS if utf8 else PLAIN_ARROWS)[g["state"]]
    parts: List[Any] = [Text(f"Station {g['me']}: ", style="bold").append(
        g["sentence"], style="default")]
    parts += [Text(f"{p['what']} {p['remedy']}", style="bold red") for p in g["problems"]]
    table = Table.grid(padding=(0, 2, 0, 0))
    link = s.get("link", {})
    rows = [(f"{g['me']} {arrow} {g['peer'] or 'nobody yet'}", g["now"]),
            ("speed now", g["speed"]), ("last 5 minutes", g["speed_minutes"]),
            *([("time went to", f"{g['cost']} ({g['cost_parts']})")] if g["cost"] else []),
            ("channel", f"{g['channel']} ({g['channel_numbers']})"),
            ("waiting", ", ".join(filter(None, (g["waiting"], g["ready"]))))]
    if link:
        rows.append(("transmits in", f"{link['tx_mode'] or s['mode']}, {link['tx_reason']}"))
    rows += [("ALE has heard", line) for line in s.get("ale", {}).get("heard", [])[:MAX_HEARD]]
    rows += [(f"proofs of {p['peer']}", f"{p['last']} (proved {p['proved']}, not proved "
              f"{p['not_proved']}, refused {p['refused']})") for p in link.get("proofs", [])]
    rig = s.get("radio", {}).get("rig")
    if rig:
        rows.append(("rig", rig["text"]))
    for name, value in rows:
        table.add_row(Text(name, style="dim"), value)
    return [*parts, table]


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

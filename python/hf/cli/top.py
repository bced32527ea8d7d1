# SPDX-License-Identifier: GPL-3.0-or-later
"""hf top: running stations in a terminal."""
import json
import sys
import time
from typing import Any, Dict, List
import urllib.error
import urllib.request

import click
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from ..gui import strip
from . import fail

#: Lines of the log that are shown of each station.
LINES = 6


def fetch(port: int) -> Dict[str, Any]:
    """The state that a page has. Raises OSError or ValueError."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(f"http://127.0.0.1:{port}/api/state", timeout=5) as answer:
        return json.load(answer)


def shown(value: Any, unit: str, digits: int = 1) -> str:
    """A number with its unit, or a dash."""
    return "-" if value is None else f"{value:.{digits}f} {unit}"


def oldest(queues: List[Dict[str, Any]]) -> str:
    """For how long something has been waiting, and with which priority."""
    if not queues:
        return "-"
    q = max(queues, key=lambda q: float(q["oldest_s"]))
    return f"{q['oldest_s']:.0f} s, priority {q['priority']}"


def waiting(flows: List[Dict[str, Any]]) -> str:
    """What the flows of the IP client hold back for the data link."""
    octets = sum(int(f["octets"]) for f in flows)
    return f"{octets} octets, {len(flows)} flow{'s' if len(flows) != 1 else ''}"


def picture(state: Dict[str, Any], utf8: bool) -> Group:
    """All stations, at most 80 columns wide."""
    parts: List[Any] = [Text(state["about"], style="dim")]
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
                ("because", link.get("tx_reason", ""), "oldest",
                 oldest(link.get("queues", []))),
                ("hears", link.get("rx_mode") or "-", "SNR", shown(last.get("snr_db"), "dB")),
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
                  Text("on the air, two minutes  " + strip.strip(
                      s["spans"], now, 48, 2.5, "█▓·" if utf8 else "#=."))]
        parts += [Text(line[:79], style="dim", no_wrap=True) for line in s["log"][-LINES:]]
    return Group(*parts)


@click.command(short_help="Running stations in a terminal.")
@click.argument("port", type=click.IntRange(1, 65535))
@click.option("--once", is_flag=True, help="Once, and without colours.")
def command(port: int, once: bool) -> None:
    """Show the stations of an hf run --web PORT in this terminal, until Ctrl-C.

    In the strip a station transmits (full), receives (half) or is silent (dots).
    """
    console = Console(width=None if sys.stdout.isatty() else 80)
    utf8 = (sys.stdout.encoding or "").lower().startswith("utf")
    try:
        state = fetch(port)
        if once or not sys.stdout.isatty():
            console.print(picture(state, utf8))
            return
        with Live(console=console, auto_refresh=False, screen=True) as live:
            while True:
                live.update(picture(fetch(port), utf8), refresh=True)
                time.sleep(0.5)
    except KeyboardInterrupt:
        pass
    except (OSError, ValueError) as error:
        why = getattr(error, "reason", error)
        raise fail(f"no page of hf run at 127.0.0.1:{port}: {why}; hf run ... --web {port} makes "
                   "one") from None

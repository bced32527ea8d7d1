# SPDX-License-Identifier: GPL-3.0-or-later
"""hf sim: stations over an emulated or a real modem, in virtual time."""
import json
import sys
import time
from typing import Any, Dict, Tuple

import click
from rich.console import Console
from rich.table import Table

from .. import hf_python as hf
from . import fail


def parse_settings(texts: Tuple[str, ...]) -> Dict[str, float]:
    """NAME=VALUE pairs of data link settings."""
    settings = {}
    for text in texts:
        name, _, value = text.partition("=")
        try:
            settings[name] = float(value)
        except ValueError:
            raise click.UsageError(f"--set {text!r}: allowed is NAME=NUMBER") from None
    return settings


def run_real(mode: str, octets: int, u_pdu_octets: int, arq: bool, channel: str, seed: int,
             settings: Dict[str, float], limit_s: float, log: bool) -> Dict[str, Any]:
    """The same exchange over real waveforms, sample by sample, in lock step."""
    from gnuradio import gr
    from .. import station, watch
    nodes = ["1.2.0.1", "1.2.0.2"]
    tb = gr.top_block("hf sim")
    air = hf.air(2, channel, seed, 0.0, hf.mode(hf.fastest_mode(mode)).mean_power, limit_s)
    stations, clients, logs = [], [], []
    for k in range(2):
        d = station.Description(nodes[k], mode, data_link={"seed": 2 * seed + k, **settings})
        s = station.Station(tb, d, air.source(k), air.sink(k))
        client = hf.traffic(nodes[1 - k], octets if k == 0 else 0, u_pdu_octets, arq=arq)
        s.add_client(tb, client)
        lines = watch.LogWatch("AB"[k] + " ")
        tb.msg_connect(s.data_link, "log", lines, "log")
        stations.append(s)
        clients.append(client)
        logs.append(lines)
    tb.start()
    try:
        while air.now() < limit_s:
            time.sleep(0.02)
            sender, receiver = clients[0].state(), clients[1].state()
            finished = sender.octets_confirmed + sender.octets_rejected if arq \
                else receiver.octets_received
            if finished >= octets:
                break
    finally:
        air.end()
        tb.stop()
        tb.wait()
    if log:
        for line in sorted(line for watch_ in logs for line in watch_.lines()):
            print(line, file=sys.stderr)
    sender, receiver = clients[0].state(), clients[1].state()
    stats = stations[0].data_link.stats()
    return {"complete": receiver.octets_received >= octets and sender.octets_rejected == 0,
            "octets_delivered": receiver.octets_received,
            "octets_altered": receiver.octets_damaged,
            "u_pdus_rejected": stats["u_pdus_rejected"],
            "time_s": receiver.last_received,
            "end_s": air.now(),
            "transmissions": stats["transmissions"],
            "d_pdus_sent": stats["sent_0"] + stats["sent_2"],
            "d_pdus_repeated": stats["d_pdus_repeated"],
            "silent_rounds": stats["silent_rounds"],
            "tx_time_s": stats["tx_time_ms"] / 1000}


@click.command()
@click.option("--mode", default="4539-9600S", show_default=True,
              help="Mode of the data, or auto, auto:600..4800: as the channel allows.")
@click.option("--ack-mode", default="auto", show_default=True,
              help="Mode of acknowledgements: a mode, same or auto. Not with --real.")
@click.option("--octets", default=100000, show_default=True,
              type=click.IntRange(1, 10**9), help="To move from A to B.")
@click.option("--u-pdu", default=2042, show_default=True, type=click.IntRange(8, 2048),
              help="Octets of one U_PDU.")
@click.option("--non-arq", is_flag=True, help="Without acknowledgements.")
@click.option("--real", is_flag=True,
              help="Real waveforms over the simulated air instead of the emulated modem.")
@click.option("--channel", default="awgn snr=30", show_default=True,
              help="Of --real, as in hf.channel.")
@click.option("--ber", default=0.0, show_default=True, help="Bit errors, emulated modem.")
@click.option("--loss", default=0.0, show_default=True,
              help="Transmissions not heard, emulated modem.")
@click.option("--seed", default=1, show_default=True)
@click.option("--set", "settings", multiple=True, metavar="NAME=NUMBER",
              help="A setting of the data link; see hf info --settings.")
@click.option("--limit", default=86400.0, show_default=True, help="Give up after so many seconds.")
@click.option("--log", is_flag=True, help="Say on stderr what happens.")
@click.option("--json", "as_json", is_flag=True, help="The result as JSON on stdout.")
def command(mode: str, ack_mode: str, octets: int, u_pdu: int, non_arq: bool, real: bool,
            channel: str, ber: float, loss: float, seed: int, settings: Tuple[str, ...],
            limit: float, log: bool, as_json: bool) -> None:
    """Move octets from one station to another and say how long it took.

    With the emulated modem the engines run in virtual time, with the exact times of preambles
    and interleaver blocks: hours of HF time in seconds. With --real every sample is made and
    received. Both give the same result within the delay of the radios.
    """
    wall = time.monotonic()
    chosen = parse_settings(settings)
    try:
        bits = hf.mode(hf.fastest_mode(mode)).rate_bps
        if real:
            result = run_real(mode, octets, u_pdu, not non_arq, channel, seed, chosen, limit, log)
        else:
            out = (lambda t, s: print(f"{t:9.2f} {s}", file=sys.stderr)) if log else None
            result = hf.simulate(mode, octets, u_pdu, not non_arq, ack_mode, ber, loss, seed,
                                 chosen, limit, out)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    wall = time.monotonic() - wall
    result["goodput_bps"] = 8 * result["octets_delivered"] / max(result["time_s"], 1e-9)
    result["utilisation"] = result["goodput_bps"] / bits
    result["times_real_time"] = result["end_s"] / max(wall, 1e-9)
    if as_json:
        print(json.dumps(result))
    else:
        table = Table(title=f"{octets} octets, {mode}", show_header=False)
        for name, value in result.items():
            shown = f"{value:.3f}" if isinstance(value, float) else str(value)
            table.add_row(name, shown)
        Console().print(table)
    if not result["complete"] or result["octets_altered"]:
        raise fail("not everything was delivered")

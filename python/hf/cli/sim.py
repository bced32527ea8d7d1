# SPDX-License-Identifier: GPL-3.0-or-later
"""hf sim: stations over an emulated or a real modem, in virtual time."""
import csv
import json
import os
import sys
import time
from typing import Any, Dict, List, Optional, Tuple

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


def _row(run: Any, flow: Any) -> Dict[str, Any]:
    return {"run": run.name, "kind": flow.kind, "from": flow.from_, "to": flow.to,
            "u_pdus_offered": flow.u_pdus_offered, "u_pdus_delivered": flow.u_pdus_delivered,
            "octets_delivered": flow.octets_delivered,
            "goodput_bps": round(flow.goodput_bps, 1),
            "utilisation": round(flow.goodput_bps / run.rate_bps, 4),
            "first_time_s": round(flow.times[0], 3) if flow.times else "",
            "mean_time_s": round(sum(flow.times) / len(flow.times), 3) if flow.times else "",
            "longest_time_s": round(max(flow.times), 3) if flow.times else "",
            "unanswered": flow.unanswered, "rejected": flow.rejected,
            "repeated": flow.repeated, "altered": flow.altered, "last_s": round(flow.last_s, 3)}


def _plain(thing: Any) -> Dict[str, Any]:
    return {k: getattr(thing, k) for k in dir(thing) if not k.startswith("_")}


def _write_csv(path: str, rows: List[Dict[str, Any]]) -> None:
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]) if rows else ["run"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _picture_name(path: str, name: str, many: bool) -> str:
    if not many:
        return path
    stem, ending = os.path.splitext(path)
    return f"{stem}-{name.replace(' ', '-').replace('/', '-')}{ending}"


def run_scenario(path: str, scale: float, log: bool, as_json: bool, folder: Optional[str],
                 picture: Optional[str], window: Optional[Tuple[float, float]]) -> None:
    """Every run of a scenario file; raises a ClickException if something was missed."""
    from .. import scenarios, timeline
    try:
        runs = scenarios.load(path, scale)
    except scenarios.ScenarioError as error:
        raise click.UsageError(str(error)) from None
    flows: List[Dict[str, Any]] = []
    stations: List[Dict[str, Any]] = []
    transmissions: List[Dict[str, Any]] = []
    missed = []
    table = Table(title=runs[0].tables.get("title", path))
    for column in ("run", "flow", "delivered", "bit/s", "of the rate", "first, mean time"):
        table.add_column(column, justify="left" if column in ("run", "flow") else "right")
    simulated = wall = 0.0
    for run in runs:
        run.scenario.record = bool(picture or folder)
        run.scenario.log = log
        begin = time.monotonic()
        result = run.scenario.run()
        wall += max(time.monotonic() - begin, 1e-9)
        simulated += result.end_s
        for line in result.log:
            print(line, file=sys.stderr)
        for f in result.flows:
            row = _row(run, f)
            flows.append(row)
            times = f"{row['first_time_s']:.2f}, {row['mean_time_s']:.2f} s" if f.times else ""
            table.add_row(run.name, f"{f.kind} {f.from_} to {f.to}",
                          f"{f.u_pdus_delivered} of {f.u_pdus_offered * f.receivers}",
                          f"{f.goodput_bps:.0f}", f"{100 * row['utilisation']:.1f} %", times)
        stations += [{"run": run.name, **_plain(s)} for s in result.stations]
        names = [s.name for s in result.stations]
        transmissions += [{"run": run.name, **_plain(t), "station": names[t.station]}
                          for t in result.transmissions]
        missed += [f"{run.name}: {text}" if run.name else text
                   for text in scenarios.misses(run, result)]
        if picture:
            title = " - ".join(t for t in (run.tables.get("title", path), run.name) if t)
            timeline.draw(_picture_name(picture, run.name, len(runs) > 1), title,
                          run.scenario, result, window)
    if folder:
        os.makedirs(folder, exist_ok=True)
        for name, rows in (("flows", flows), ("stations", stations),
                           ("transmissions", transmissions)):
            _write_csv(os.path.join(folder, f"{name}.csv"), rows)
    if as_json:
        print(json.dumps({"flows": flows, "stations": stations, "missed": missed,
                          "simulated_s": simulated, "times_real_time": simulated / wall}))
    else:
        Console().print(table)
        click.echo(f"{simulated:.0f} s of station time in {wall:.1f} s: "
                   f"{simulated / wall:.0f} times real time", err=True)
    if missed:
        raise fail("; ".join(missed))


@click.command()
@click.argument("scenario", required=False, type=click.Path(dir_okay=False))
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
@click.option("--csv", "folder", type=click.Path(file_okay=False), metavar="FOLDER",
              help="With a scenario: flows, stations and transmissions as CSV.")
@click.option("--timeline", "picture", type=click.Path(dir_okay=False), metavar="PICTURE",
              help="With a scenario: who transmits when, as PNG, SVG or PDF.")
@click.option("--window", type=(float, float), metavar="FROM TO",
              help="With --timeline: only these seconds.")
@click.option("--scale", type=click.FloatRange(0.0001, 1000), default=1.0, show_default=True,
              help="With a scenario: share of its durations, octets and counts.")
@click.pass_context
def command(ctx: click.Context, scenario: Optional[str], mode: str, ack_mode: str,
            octets: int, u_pdu: int, non_arq: bool, real: bool, channel: str, ber: float,
            loss: float, seed: int, settings: Tuple[str, ...], limit: float, log: bool,
            as_json: bool, folder: Optional[str], picture: Optional[str],
            window: Optional[Tuple[float, float]], scale: float) -> None:
    """Run a SCENARIO (TOML), or move octets from one station to another.

    \b
    hf sim examples/scenarios/faults.toml --timeline faults.png --csv results
    hf sim --mode 4539-1200S --octets 1000000

    With the emulated modem the engines run in virtual time, with the exact times of preambles
    and interleaver blocks: hours of HF time in seconds. With --real every sample is made and
    received. Both give the same result within the delay of the radios.
    """
    with_scenario = {"log", "as_json", "folder", "picture", "window", "scale", "scenario"}
    without = {"folder", "picture", "window", "scale"}
    for name in ctx.params:
        given = ctx.get_parameter_source(name) != click.core.ParameterSource.DEFAULT
        if given and name not in with_scenario and scenario:
            raise click.UsageError(f"'{name}' does not go with a scenario: write it there")
        if given and name in without and not scenario:
            raise click.UsageError(f"'{name}' needs a scenario file")
    if scenario:
        run_scenario(scenario, scale, log, as_json, folder, picture, window)
        return
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

# SPDX-License-Identifier: GPL-3.0-or-later
"""hf sim: stations over an emulated or a real modem, in virtual time."""
import json
import os
import sys
import time
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Tuple

import click
from rich.console import Console
from rich.table import Table

from .. import hf_python as hf
from .. import machine, output
from . import fail
from ._output import checked, force_option
from ._progress import Progress


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


def in_bandwidth(mode: str, bandwidth: Optional[str]) -> str:
    """The mode, with auto limited to a bandwidth in kHz. Raises ValueError for a mode of another
    bandwidth."""
    if bandwidth is None:
        return mode
    found: str = hf.in_bandwidth(mode, int(bandwidth))
    khz = hf.mode(hf.fastest_mode(found)).bandwidth_hz // 1000
    if khz != int(bandwidth):
        raise ValueError(f"--bandwidth {bandwidth}: mode {mode} needs {khz} kHz; use another "
                         "bandwidth or auto")
    return found


#: Units by the suffix of a name.
UNITS = {"_s": "s", "_bps": "bit/s", "_ms": "ms", "_db": "dB"}


def _said(name: str, value: Any) -> Tuple[str, str]:
    """Name and value of a result as text, with unit."""
    if isinstance(value, bool):
        return name, "yes" if value else "no"
    if name == "utilisation":
        return "utilisation of the data rate", f"{100 * value:.1f} %"
    ending = next((e for e in UNITS if name.endswith(e)), "")
    words = name[:len(name) - len(ending)].replace("_", " ").replace("d pdus", "D_PDUs")
    words = words.replace("u pdus", "U_PDUs")
    number = f"{value:.{0 if ending == '_bps' else 1 if value > 1000 else 3}f}" \
        if isinstance(value, float) else str(value)
    return words, f"{number} {UNITS.get(ending, '')}".rstrip()


TABLES = ("flows", "stations", "transmissions")


class Outputs(NamedTuple):
    """Requested outputs of a scenario, besides its table."""

    log: bool
    as_json: bool
    folder: Optional[str]
    fates: Optional[str]
    picture: Optional[str]
    window: Optional[Tuple[float, float]]
    force: bool


def _write_csv(path: str, rows: List[Dict[str, Any]]) -> None:
    columns = list(rows[0]) if rows else ["run"]
    output.write_csv(path, columns, ([row[c] for c in columns] for row in rows))


def _check_outputs(path: str, names: List[str], wanted: Outputs) -> None:
    inputs = [path]
    with checked():
        tables = []
        if wanted.folder:
            output.make_folder(wanted.folder)
            tables = [os.path.join(wanted.folder, f"{table}.csv") for table in TABLES]
        for where in tables + ([wanted.fates] if wanted.fates else []):
            # The first column is always run. The others may change with the version.
            output.check(where, inputs, wanted.force or output.begins(where, "run"))
        for name in names if wanted.picture else []:
            output.check_picture(_picture_name(wanted.picture, name, len(names) > 1), inputs,
                                 wanted.force)


def _picture_name(path: str, name: str, many: bool) -> str:
    if not many:
        return path
    stem, ending = os.path.splitext(path)
    return f"{stem}-{name.replace(' ', '-').replace('/', '-')}{ending}"


def _one(run: Any, wanted: Outputs, progress: Callable[[float], None]) -> Any:
    run.scenario.record = bool(wanted.picture or wanted.folder)
    run.scenario.fates = bool(wanted.fates)
    run.scenario.log = wanted.log
    return run.scenario.run(progress)


def _timed(runs: List[Any], wanted: Outputs, name: str) -> Iterator[Tuple[Any, Any, float]]:
    """Each run, its result and its host time, s."""
    with Progress(name, len(runs)) as progress:
        for number, run in enumerate(runs):
            progress.at(number, run.name)
            begin = time.monotonic()
            result = _one(run, wanted, lambda share, done=number: progress.at(done + share))
            yield run, result, max(time.monotonic() - begin, 1e-9)


def run_scenario(path: str, scale: float, wanted: Outputs) -> None:
    """Every run of a scenario file; raises a ClickException if something was missed."""
    from ..lab.link import scenarios
    from ..lab.pictures import timeline
    try:
        runs = scenarios.load(path, scale)
    except scenarios.ScenarioError as error:
        raise click.UsageError(str(error)) from None
    _check_outputs(path, [run.name for run in runs], wanted)
    flows: List[Dict[str, Any]] = []
    stations: List[Dict[str, Any]] = []
    transmissions: List[Dict[str, Any]] = []
    fates: List[List[Any]] = []
    missed = []
    table = Table(title=runs[0].tables.get("title", path))
    for column in ("run", "flow", "delivered", "bit/s", "of the rate", "first, mean time"):
        table.add_column(column, justify="left" if column in ("run", "flow") else "right")
    simulated = wall = 0.0
    for run, result, seconds in _timed(runs, wanted, path):
        wall += seconds
        simulated += result.end_s
        for line in result.log:
            print(line, file=sys.stderr)
        for f in result.flows:
            row = scenarios.flow_row(run, f)
            flows.append(row)
            times = f"{row['first_time_s']:.2f}, {row['mean_time_s']:.2f} s" if f.times else ""
            table.add_row(run.name, f"{f.kind} {f.from_} to {f.to}",
                          f"{f.u_pdus_delivered} of {f.u_pdus_offered * f.receivers}",
                          f"{f.goodput_bps:.0f}", f"{100 * row['utilisation']:.1f} %", times)
        stations += [{"run": run.name, **scenarios.fields(s)} for s in result.stations]
        names = [s.name for s in result.stations]
        transmissions += [{"run": run.name, **scenarios.fields(t), "station": names[t.station]}
                          for t in result.transmissions]
        missed += [f"{run.name}: {text}" if run.name else text
                   for text in scenarios.misses(run, result)]
        fates += scenarios.fate_rows(run, result)
        if wanted.picture:
            title = " - ".join(t for t in (run.tables.get("title", path), run.name) if t)
            timeline.draw(_picture_name(wanted.picture, run.name, len(runs) > 1), title,
                          run.scenario, result, wanted.window)
    if wanted.folder:
        for name, rows in zip(TABLES, (flows, stations, transmissions)):
            _write_csv(os.path.join(wanted.folder, f"{name}.csv"), rows)
    if wanted.fates:
        output.write_csv(wanted.fates, scenarios.FATE_COLUMNS, fates)
    if wanted.as_json:
        print(json.dumps({"flows": flows, "stations": stations, "missed": missed,
                          "simulated_s": simulated, "times_real_time": simulated / wall}))
    else:
        Console().print(table)
        click.echo(f"{simulated:.0f} s of station time in {wall:.1f} s: "
                   f"{simulated / wall:.0f} times real time", err=True)
    if missed:
        raise fail("; ".join(missed))


#: Options that a transfer through HF-PEP does not use.
WITHOUT_PEP = {"u_pdu", "non_arq", "snr", "limit", "log"}


def through_pep(mode: str, octets: int, ack_mode: str, channel: Optional[str], effort: int,
                ber: float, loss: float, seed: int, settings: Dict[str, float]) -> Dict[str, Any]:
    """One connection; channel: None with emulated modems. Raises ValueError."""
    from ..lab.link import papers
    result: Dict[str, Any] = hf.simulate_tcp(
        mode, papers.noise(octets, seed), ber=ber, loss=loss, seed=seed, ack_mode=ack_mode,
        settings=settings, channel=channel, effort=effort)
    return result


@click.command()
@click.argument("scenario", required=False, type=click.Path(dir_okay=False))
@click.option("--mode", default="4539-9600S", show_default=True,
              help="Mode of the data. auto, auto:600..4800 or auto:48k adapts it to the channel.")
@click.option("--bandwidth", type=click.Choice([str(khz) for khz in machine.BANDWIDTHS_KHZ]),
              help="Bandwidth of auto, kHz.  [default: that of the mode]")
@click.option("--ack-mode", default="auto", show_default=True,
              help="Mode of acknowledgements: a mode, same or auto.")
@click.option("--octets", default=100000, show_default=True,
              type=click.IntRange(1, 10**9), help="Octets to send from A to B.")
@click.option("--u-pdu", default=2042, show_default=True, type=click.IntRange(8, 2048),
              help="Octets of one U_PDU.")
@click.option("--non-arq", is_flag=True, help="Send without acknowledgements.")
@click.option("--real", is_flag=True,
              help="Real waveforms over the simulated air instead of the emulated modem.")
@click.option("--pep", is_flag=True,
              help="Send over one TCP connection through HF-PEP: connect, send, confirm, close.")
@click.option("--channel", default="awgn snr=30", show_default=True,
              help="With --real: channel, as in hf.channel.")
@click.option("--effort", default=1, show_default=True, type=click.IntRange(0, 2),
              help="With --real: effort of the receivers. 0 is fastest.")
@click.option("--ber", default=0.0, show_default=True, help="Emulated modem: bit error rate.")
@click.option("--snr", type=float, metavar="DB",
              help="Emulated modem: SNR in the mode's bandwidth, dB. Uses block error rates "
              "measured without fading.")
@click.option("--loss", default=0.0, show_default=True,
              help="Emulated modem: share of lost transmissions.")
@click.option("--seed", default=1, show_default=True)
@click.option("--set", "settings", multiple=True, metavar="NAME=NUMBER",
              help="A setting of the data link, see hf info --settings.")
@click.option("--limit", default=86400.0, show_default=True,
              help="Give up after this station time, s.")
@click.option("--log", is_flag=True, help="Print a log on stderr.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.option("--csv", "folder", type=click.Path(file_okay=False), metavar="FOLDER",
              help="Scenario: write flows, stations and transmissions as CSV.")
@click.option("--fates", type=click.Path(dir_okay=False), metavar="FILE",
              help="Scenario: write a CSV file with the times at which each U_PDU was submitted, "
              "delivered, confirmed or rejected.")
@click.option("--timeline", "picture", type=click.Path(dir_okay=False), metavar="PICTURE",
              help="Scenario: draw all transmissions over time, as PNG, SVG or PDF.")
@click.option("--window", type=(float, float), metavar="FROM TO",
              help="With --timeline: only these seconds.")
@click.option("--scale", type=click.FloatRange(0.0001, 1000), default=1.0, show_default=True,
              help="Scenario: multiply its durations, octets and counts.")
@force_option
@click.pass_context
def command(ctx: click.Context, scenario: Optional[str], mode: str, bandwidth: Optional[str],
            ack_mode: str, octets: int, u_pdu: int, non_arq: bool, real: bool, pep: bool,
            channel: str, effort: int, ber: float, snr: Optional[float], loss: float,
            seed: int, settings: Tuple[str, ...], limit: float, log: bool, as_json: bool,
            folder: Optional[str], fates: Optional[str], picture: Optional[str],
            window: Optional[Tuple[float, float]], scale: float, force: bool) -> None:
    """Run a SCENARIO (TOML), or send octets from one station to another.

    \b
    hf sim examples/scenarios/faults.toml --timeline faults.png --csv results
    hf sim --mode 4539-1200S --octets 1000000

    With the emulated modem the engines run in virtual time, with the exact times of preambles
    and interleaver blocks. Hours of HF time take seconds. With --real every sample is modulated
    and received. Both give the same result within the delay of the radios. With --pep the octets
    go over a TCP connection through HF-PEP and are compared at the far end. Times count from its
    SYN.
    """
    without = {"folder", "fates", "picture", "window", "scale", "force"}
    with_scenario = {"log", "as_json", "scenario", *without}
    for name in ctx.params:
        given = ctx.get_parameter_source(name) != click.core.ParameterSource.DEFAULT
        if given and name not in with_scenario and scenario:
            raise click.UsageError(f"'{name}' cannot be used with a scenario: set it there")
        if given and name in without and not scenario:
            raise click.UsageError(f"'{name}' needs a scenario file")
        if given and name in WITHOUT_PEP and pep:
            raise click.UsageError(f"'{name}' cannot be used with --pep")
    if scenario:
        run_scenario(scenario, scale,
                     Outputs(log, as_json, folder, fates, picture, window, force))
        return
    wall = time.monotonic()
    chosen = parse_settings(settings)
    try:
        mode = in_bandwidth(mode, bandwidth)
        bits = hf.mode(hf.fastest_mode(mode)).rate_bps
        out = (lambda t, s: print(f"{t:9.2f} {s}", file=sys.stderr)) if log else None
        with Progress(f"{octets} octets, {mode}") as progress:
            if pep:
                result = through_pep(mode, octets, ack_mode, channel if real else None, effort,
                                     ber, loss, seed, chosen)
            elif real:
                result = hf.simulate_real(mode, octets, u_pdu, not non_arq, ack_mode, channel,
                                          seed, chosen, limit, effort, out,
                                          progress=progress.share)
            else:
                result = hf.simulate(mode, octets, u_pdu, not non_arq, ack_mode, ber, loss, seed,
                                     chosen, limit, out, snr, progress.share)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    wall = time.monotonic() - wall
    if not pep:
        result["goodput_bps"] = 8 * result["octets_delivered"] / max(result["time_s"], 1e-9)
    else:
        result["goodput_bps"] = 8 * octets / result["total_s"] if result["complete"] else 0.0
    result["utilisation"] = result["goodput_bps"] / bits
    result["times_real_time"] = result["end_s"] / max(wall, 1e-9)
    if as_json:
        print(json.dumps(result))
    else:
        table = Table(title=f"{octets} octets, {mode}", show_header=False)
        for name, value in result.items():
            table.add_row(*_said(name, value))
        Console().print(table)
    if not result["complete"] or result.get("octets_altered"):
        raise fail("not everything was delivered")

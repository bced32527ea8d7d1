# SPDX-License-Identifier: GPL-3.0-or-later
"""hf sim: stations over an emulated or a real modem, in virtual time."""
from dataclasses import dataclass
import json
import os
import random
import sys
import time
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

import click
from rich.console import Console
from rich.table import Table

from .. import hf_python as hf
from ..options import option
from ..simulation import simulator
from ..system import machine, output
from . import fail
from ._options import options
from ._output import checked
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


@dataclass(frozen=True)
class Transfer:
    """A transfer of octets from one station to another."""

    mode: str = option("4539-9600S", "Mode of the data. auto, auto:600..4800, "
                                     "auto:4539, auto:5069 or auto:48k adapts it to the channel.")
    bandwidth: Optional[int] = option(None, "Bandwidth of auto, kHz.  [default: that of the mode]",
                                      choices=machine.BANDWIDTHS_KHZ)
    ack_mode: str = option("auto", "Mode of acknowledgements: a mode, same or auto.")
    octets: int = option(100000, "Octets to send from A to B.", least=1, most=10**9)
    u_pdu: int = option(2042, "Octets of one U_PDU.", least=8, most=2048)
    non_arq: bool = option(False, "Send without acknowledgements.")
    real: bool = option(False, "Real waveforms over the simulated air instead of the emulated "
                        "modem.")
    pep: bool = option(False, "Send over one TCP connection through HF-PEP: connect, send, "
                              "confirm, close.")
    channel: str = option("awgn snr=30", "With --real: channel, as in hf.channel.")
    effort: int = option(1, "With --real: effort of the receivers. 0 is fastest.", least=0,
                         most=2)
    ber: float = option(0.0, "Emulated modem: bit error rate.")
    snr: Optional[float] = option(None, "Emulated modem: SNR in the mode's bandwidth, dB. Uses "
                                        "block error rates measured without fading.", metavar="DB")
    loss: float = option(0.0, "Emulated modem: share of lost transmissions.")
    seed: int = option(1, "Seed of all random numbers.")
    settings: Tuple[str, ...] = option((), "A setting of the data link, see hf info --settings.",
                                       flag="--set", metavar="NAME=NUMBER")
    limit: float = option(86400.0, "Give up after this station time, s.")

    def chosen_mode(self) -> str:
        """The mode, with auto limited to the bandwidth. Raises ValueError for a mode of another
        bandwidth."""
        if self.bandwidth is None:
            return self.mode
        found: str = hf.in_bandwidth(self.mode, self.bandwidth)
        khz = hf.mode(hf.fastest_mode(found)).bandwidth_hz // 1000
        if khz != self.bandwidth:
            raise ValueError(f"--bandwidth {self.bandwidth}: mode {self.mode} needs {khz} "
                             "kHz; use another bandwidth or auto")
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


@dataclass(frozen=True)
class Outputs:
    """Outputs besides the table."""

    log: bool = option(False, "Print a log on stderr.")
    as_json: bool = option(False, "Print the result as JSON.", flag="--json")
    folder: Optional[str] = option(None, "Scenario: write flows, stations and transmissions as "
                                         "CSV.", flag="--csv", metavar="FOLDER",
                                   kind=click.Path(file_okay=False))
    fates: Optional[str] = option(None, "Scenario: write a CSV file with the times at which each "
                                        "U_PDU was submitted, delivered, confirmed or rejected.",
                                  metavar="FILE", kind=click.Path(dir_okay=False))
    picture: Optional[str] = option(None, "Scenario: draw all transmissions over time, as PNG, "
                                          "SVG or PDF.", flag="--timeline", metavar="PICTURE",
                                    kind=click.Path(dir_okay=False))
    window: Optional[Tuple[float, float]] = option(None, "With --timeline: only these seconds.",
                                                   metavar="FROM TO", kind=(float, float))
    scale: float = option(1.0, "Scenario: multiply its durations, octets and counts.",
                          least=0.0001, most=1000)
    force: bool = option(False, "Replace files that hf has not written.")


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


def run_scenario(path: str, wanted: Outputs) -> None:
    """Run a scenario file. Raises a ClickException if an expectation was missed."""
    from ..simulation import scenarios
    from ..pictures import timeline
    try:
        runs = scenarios.load(path, wanted.scale)
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


def simulate(t: Transfer, mode: str, log: bool, progress: Callable[[float], None]
             ) -> Dict[str, Any]:
    """Run the transfer in virtual time. Raises ValueError."""
    settings = parse_settings(t.settings)
    out = (lambda time_s, line: print(f"{time_s:9.2f} {line}", file=sys.stderr)) if log else None
    result: Dict[str, Any]
    if t.pep:
        result = simulator.simulate_tcp(
            mode, random.Random(t.seed).randbytes(t.octets), ber=t.ber, loss=t.loss, seed=t.seed,
            ack_mode=t.ack_mode, settings=settings, channel=t.channel if t.real else None,
            effort=t.effort)
    elif t.real:
        result = simulator.simulate_real(mode, t.octets, t.u_pdu, not t.non_arq, t.ack_mode,
                                         t.channel, t.seed, settings, t.limit, t.effort, out,
                                         progress=progress)
    else:
        result = simulator.simulate(mode, t.octets, t.u_pdu, not t.non_arq, t.ack_mode, t.ber,
                                    t.loss, t.seed, settings, t.limit, out, t.snr, progress)
    return result


def _check_options(ctx: click.Context, scenario: Optional[str], pep: bool) -> None:
    """Refuse options that exclude each other."""
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


@click.command()
@click.argument("scenario", required=False, type=click.Path(dir_okay=False))
@options(Transfer, "transfer")
@options(Outputs, "wanted")
@click.pass_context
def command(ctx: click.Context, scenario: Optional[str], transfer: Transfer, wanted: Outputs
            ) -> None:
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
    _check_options(ctx, scenario, transfer.pep)
    if scenario:
        run_scenario(scenario, wanted)
        return
    wall = time.monotonic()
    octets = transfer.octets
    try:
        mode = transfer.chosen_mode()
        bits = hf.mode(hf.fastest_mode(mode)).rate_bps
        with Progress(f"{octets} octets, {mode}") as progress:
            result = simulate(transfer, mode, wanted.log, progress.share)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    wall = time.monotonic() - wall
    if not transfer.pep:
        result["goodput_bps"] = 8 * result["octets_delivered"] / max(result["time_s"], 1e-9)
    else:
        result["goodput_bps"] = 8 * octets / result["total_s"] if result["complete"] else 0.0
    result["utilisation"] = result["goodput_bps"] / bits
    result["times_real_time"] = result["end_s"] / max(wall, 1e-9)
    if wanted.as_json:
        print(json.dumps(result))
    else:
        table = Table(title=f"{octets} octets, {mode}", show_header=False)
        for name, value in result.items():
            table.add_row(*_said(name, value))
        Console().print(table)
    if not result["complete"] or result.get("octets_altered"):
        raise fail("not everything was delivered")

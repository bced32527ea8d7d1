# SPDX-License-Identifier: GPL-3.0-or-later
"""hf info: versions, modes and capabilities of this machine."""
import json
from typing import Any, Dict, List, Optional

import click

from ..station import settings
from ..system import machine


def _print_modes(table: List[Dict[str, Any]]) -> None:
    width = max(len(row["mode"]) for row in table)
    click.echo(f"{'mode':{width}s}   bit/s  interleaver  preamble s   block s  block octets  "
               "shortest s  receivable  AWGN dB  Poor dB  measured with")
    for row in table:
        click.echo(("{mode:%ds} {rate_bps:7d}  {interleaver:11s} {preamble_s:11.3f} "
                    "{block_s:9.3f} {block_octets:13g} {shortest_s:11.3f}  " % width
                    ).format(**row)
                   + f"{'yes' if row['receivable'] else 'no':10s} {_db(row['awgn_db']):>8s} "
                     f"{_db(row['poor_db']):>8s}  {row['measured_with'] or '-'}")
    click.echo("AWGN, Poor: lowest SNR in the mode's bandwidth with at most one block of ten "
               "lost,\nmeasured with the mode of the last column (hf-lab bench curves)",
               err=True)


def _db(value: Optional[float]) -> str:
    return "-" if value is None else f"{value:.1f}"


def _modes(bandwidth_khz: Optional[int]) -> List[Dict[str, Any]]:
    """The modes with the SNR that each needs."""
    from ..simulation import block_errors
    curves = block_errors.read()
    table = machine.modes(bandwidth_khz)
    for row in table:
        found = {c: block_errors.threshold(row["mode"], c, curves) for c in ("awgn", "poor")}
        for channel, t in found.items():
            row[f"{channel}_db"] = None if t is None else t.snr_db
        row["measured_with"] = next((t.source for t in found.values() if t is not None), None)
    return table


def _print_settings(wanted: str, as_markdown: bool, as_json: bool) -> None:
    parts = {k: p for k, p in settings.PARTS.items() if wanted in ("all", k)}
    if as_json:
        click.echo(json.dumps({key: [
            {"name": s.name, "default": s.value, "least": s.least, "most": s.most,
             "whole": s.whole, "unit": s.unit, "meaning": s.meaning}
            for s in part.block.describe_settings()] for key, part in parts.items()}, indent=2))
    elif as_markdown:
        click.echo(settings.markdown())
    else:
        for key, part in parts.items():
            click.echo(f"{part.name}, {part.table} in a station file"
                       + (", --set of hf sim" if key == "data-link" else "") + ":\n")
            click.echo(settings.text(part) + "\n")


@click.command(short_help="Versions, modes and abilities of this machine.")
@click.option("--modes", "only_modes", is_flag=True,
              help="List all modes with times of preamble, interleaver block and shortest "
                   "transmission, and the measured SNR that each needs.")
@click.option("--bandwidth", "bandwidth_khz", metavar="KHZ",
              type=click.Choice([str(khz) for khz in machine.BANDWIDTHS_KHZ]),
              help="With --modes: only those of this bandwidth, kHz.")
@click.option("--settings", "part", is_flag=False, flag_value="all", metavar="[PART]",
              type=click.Choice(["all", *settings.PARTS]),
              help="List settings of a station with default, unit, allowed values and meaning. "
              f"PART: {', '.join(settings.PARTS)}.")
@click.option("--markdown", "as_markdown", is_flag=True,
              help="With --settings: as Markdown, like docs/settings.md.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as one JSON object.")
def command(only_modes: bool, bandwidth_khz: Optional[str], part: Optional[str],
            as_markdown: bool, as_json: bool) -> None:
    """Show versions, abilities of this machine, the modes (--modes) and settings (--settings)."""
    if part is None and as_markdown:
        raise click.UsageError("--markdown needs --settings")
    if bandwidth_khz is not None and not only_modes:
        raise click.UsageError("--bandwidth needs --modes")
    wanted = None if bandwidth_khz is None else int(bandwidth_khz)
    if part is not None:
        _print_settings(part, as_markdown, as_json)
        return
    if as_json:
        report: Dict[str, Any] = {"modes": _modes(wanted)}
        if not only_modes:
            report["versions"] = machine.versions()
            report["capabilities"] = {
                name: {"available": why is None, "for": purpose, "why_not": why}
                for name, purpose, why in machine.capabilities()}
        click.echo(json.dumps(report, indent=2))
        return
    if only_modes:
        _print_modes(_modes(wanted))
        return
    for name, text in machine.versions().items():
        click.echo(f"{name:14s} {text}")
    click.echo()
    for name, purpose, why in machine.capabilities():
        click.echo(f"{name:11s} {'yes' if why is None else 'no':4s} {purpose}"
                   + (f": {why}" if why else ""))
    click.echo(f"\n{len(machine.modes())} modes: hf info --modes")
    click.echo("settings of a station: hf info --settings")

# SPDX-License-Identifier: GPL-3.0-or-later
"""hf info: versions, modes and what this machine can do."""
import json
import os
import platform
import shutil
import subprocess
from typing import Any, Dict, List, Optional, Tuple

import click

from .. import hf_python as _hf
from .. import netns, version


def _first_line(*command: str) -> str:
    """What a program says first; empty if it cannot be run."""
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.SubprocessError):
        return ""
    lines = (result.stdout or result.stderr).strip().splitlines()
    return lines[0].strip() if result.returncode == 0 and lines else ""


def versions() -> Dict[str, str]:
    """Name and version of what matters to a report of trouble."""
    from gnuradio import gr
    return {
        "gr-hf": version.__version__,
        "GNU Radio": gr.version(),
        "VOLK machine": _first_line("volk-config-info", "--machine") or "unknown",
        "Python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "processors": str(os.cpu_count()),
    }


def modes() -> List[Dict[str, Any]]:
    """All modes with their times in seconds."""
    table = []
    for mode in _hf.mode.all():
        timing = _hf.timing(mode)
        table.append({
            "mode": str(mode),
            "rate_bps": mode.rate_bps,
            "interleaver": mode.interleaver,
            "preamble_s": timing.preamble_symbols / 2400,
            "block_s": timing.block_symbols / 2400,
            "block_octets": timing.bits_per_block / 8,
            "shortest_s": timing.duration(0),
        })
    return table


def _tun() -> Optional[str]:
    if not os.path.exists("/dev/net/tun"):
        return "/dev/net/tun does not exist"
    try:
        os.close(os.open("/dev/net/tun", os.O_RDWR))
    except OSError as error:
        return f"/dev/net/tun: {error.strerror}"
    # The kernel's answer to a request for a device needs CAP_NET_ADMIN.
    for line in open("/proc/self/status", encoding="ascii", errors="replace"):
        if line.startswith("CapEff:") and not int(line.split()[1], 16) >> 12 & 1:
            return "no CAP_NET_ADMIN (run as root)"
    return None


def _nft() -> Optional[str]:
    if shutil.which("nft") is None:
        return "the program nft is missing (package nftables)"
    result = subprocess.run(["nft", "list", "tables"], capture_output=True, text=True)
    if result.returncode != 0:
        return result.stderr.strip().splitlines()[0] if result.stderr.strip() else "nft refused"
    return None


def _program(name: str) -> Optional[str]:
    return None if shutil.which(name) else f"the program {name} is missing (package {name})"


def capabilities() -> List[Tuple[str, str, Optional[str]]]:
    """Name, what it is for, and why it cannot be had here (None: it can)."""
    return [
        ("tun", "IP client (TUN devices)", _tun()),
        ("namespaces", "several stations with IP on one machine", netns.why_not()),
        ("nft", "transparent TCP proxy", _nft()),
        ("tshark", "checks of captures", _program("tshark")),
        ("curl", "demo and tests of HF-PEP", _program("curl")),
    ]


def _print_modes(table: List[Dict[str, Any]]) -> None:
    click.echo("mode           bit/s  interleaver  preamble s   block s  block octets  "
               "shortest s")
    for row in table:
        click.echo("{mode:13s} {rate_bps:6d}  {interleaver:11s} {preamble_s:11.3f} "
                   "{block_s:9.3f} {block_octets:13g} {shortest_s:11.3f}".format(**row))


@click.command(short_help="Versions, modes and what this machine can do.")
@click.option("--modes", "only_modes", is_flag=True,
              help="All modes: times of preamble, interleaver block and shortest transmission.")
@click.option("--json", "as_json", is_flag=True, help="Everything as one JSON object.")
def command(only_modes: bool, as_json: bool) -> None:
    """Show versions, what this machine can do, and the modes (--modes)."""
    if as_json:
        report: Dict[str, Any] = {"modes": modes()}
        if not only_modes:
            report["versions"] = versions()
            report["capabilities"] = {
                name: {"available": why is None, "for": purpose, "why_not": why}
                for name, purpose, why in capabilities()}
        click.echo(json.dumps(report, indent=2))
        return
    if only_modes:
        _print_modes(modes())
        return
    for name, text in versions().items():
        click.echo(f"{name:14s} {text}")
    click.echo()
    for name, purpose, why in capabilities():
        click.echo(f"{name:11s} {'yes' if why is None else 'no':4s} {purpose}"
                   + (f": {why}" if why else ""))
    click.echo(f"\n{len(modes())} modes: hf info --modes")

# SPDX-License-Identifier: GPL-3.0-or-later
"""Versions, modes, and the capabilities of this machine."""
import os
import platform
import shutil
import subprocess
from typing import Any, Dict, List, Optional, Tuple

from .. import hf_python as _hf
from .. import version
from . import netns


def _first_line(*command: str) -> str:
    """First line of a program's output. Empty if it cannot be run."""
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.SubprocessError):
        return ""
    lines = (result.stdout or result.stderr).strip().splitlines()
    return lines[0].strip() if result.returncode == 0 and lines else ""


#: Bandwidths of all modes.
BANDWIDTHS_KHZ = sorted({m.bandwidth_hz // 1000 for m in _hf.mode.all()})


def versions() -> Dict[str, str]:
    """Names and versions that a bug report needs."""
    from gnuradio import gr
    return {
        "gr-hf": version.__version__,
        "commit": version.__commit__ or "unknown",
        "GNU Radio": gr.version(),
        "VOLK machine": _first_line("volk-config-info", "--machine") or "unknown",
        "Python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "processors": str(os.cpu_count()),
    }


def modes(bandwidth_khz: Optional[int] = None) -> List[Dict[str, Any]]:
    """All modes, or those of one bandwidth, with their times in seconds."""
    table = []
    for mode in _hf.mode.all():
        if bandwidth_khz is not None and mode.bandwidth_hz != 1000 * bandwidth_khz:
            continue
        timing = _hf.timing(mode)
        table.append({
            "mode": str(mode),
            "bandwidth_khz": mode.bandwidth_hz // 1000,
            "rate_bps": mode.rate_bps,
            "interleaver": mode.interleaver,
            "preamble_s": timing.preamble_symbols / timing.symbol_rate_bd,
            "block_s": timing.block_symbols / timing.symbol_rate_bd,
            "block_octets": timing.bits_per_block / 8,
            "shortest_s": timing.duration(0),
            "receivable": mode.receivable,
        })
    return table


def _tun() -> Optional[str]:
    if not os.path.exists("/dev/net/tun"):
        return "/dev/net/tun does not exist"
    try:
        os.close(os.open("/dev/net/tun", os.O_RDWR))
    except OSError as error:
        return f"/dev/net/tun: {error.strerror}"
    # Creating a device needs CAP_NET_ADMIN.
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
    """Name, purpose, and why it is not available here (None: it is)."""
    return [
        ("tun", "IP client (TUN devices)", _tun()),
        ("namespaces", "several stations with IP on one machine", netns.why_not()),
        ("nft", "transparent TCP proxy", _nft()),
        ("tshark", "checks of captures", _program("tshark")),
        ("curl", "demo and tests of HF-PEP", _program("curl")),
    ]

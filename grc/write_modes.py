#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Updates the lists of modes in the Companion's blocks from the registry of waveforms:
build/run python3 grc/write_modes.py. Entries before the modes (auto, same) stay.

The lists have every mode of 4539 and of our own robust family, and of 5069 the modes with the
short interleaver and the usual code in every bandwidth. A user may type any other mode."""
import pathlib
import textwrap
from typing import List, Tuple

import yaml

from gnuradio import hf

FOLDER = pathlib.Path(__file__).parent
#: Block and parameter.
LISTS = [("hf_tx", "mode"), ("hf_data_link", "mode"), ("hf_data_link", "ack_mode"),
         ("hf_modem_server", "mode"), ("hf_modem_client", "mode")]
WORDS = {"N": "uncoded", "Z": "no interleaver", "US": "ultra short", "VS": "very short",
         "S": "short", "M": "medium", "L": "long", "VL": "very long", "V": "voice"}


def offered() -> List["hf.mode"]:
    """Modes in the lists."""
    return [m for m in hf.mode.all() if str(m).startswith(("4539", "grhf")) or
            (m.interleaver == "S" and m.constraint_length == 7)]


def label(m: "hf.mode") -> str:
    """A mode as a person reads it."""
    t = hf.timing(m)
    symbol_rate = 2400 * m.bandwidth_hz // 3000
    words = WORDS[m.interleaver]
    if m.interleaver not in "NZ":
        words += f" ({t.block_symbols / symbol_rate:.2g} s)"
    wide = f" in {m.bandwidth_hz // 1000} kHz" if str(m).startswith("5069") else ""
    ours = ", our own waveform" if str(m).startswith("grhf") else ""
    return f"{m.rate_bps} bit/s{wide}, {words}{ours}"


def written(key: str, values: List[str]) -> str:
    """A list in YAML, in lines of 100."""
    indent = " " * (len(key) + 7)
    quoted = [f"'{v}'" if any(c in v for c in ",: ") else v for v in values]
    # Do not break lines inside an entry.
    text = ", ".join(q.replace(" ", "\0") for q in quoted)
    lines = textwrap.fill(text, 100, initial_indent=f"    {key}: [", subsequent_indent=indent,
                          break_long_words=False, break_on_hyphens=False)
    return lines.replace("\0", " ") + "]\n"


def rewrite(text: str, parameter: str) -> str:
    """The description of a block with an updated list."""
    (p,) = [p for p in yaml.safe_load(text)["parameters"] if p["id"] == parameter]
    more: List[Tuple[str, str]] = [
        (o, n) for o, n in zip(p["options"], p["option_labels"])
        if not o.startswith(("4539", "5069", "grhf"))]
    modes = offered()
    begin = text.index(f"-   id: {parameter}\n")
    first = text.index("    options: [", begin)
    last = text.index("]\n", text.index("    option_labels: [", first)) + 2
    return (text[:first] + written("options", [o for o, _ in more] + [str(m) for m in modes])
            + written("option_labels", [n for _, n in more] + [label(m) for m in modes])
            + text[last:])


if __name__ == "__main__":
    for block, parameter in LISTS:
        path = FOLDER / f"{block}.block.yml"
        path.write_text(rewrite(path.read_text(), parameter))

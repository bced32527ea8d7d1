# SPDX-License-Identifier: GPL-3.0-or-later
"""What DEFLATE of SLEP streams gains through HF-PEP, by kind of content."""
import importlib
import json
import pydoc
from typing import Dict, List, NamedTuple
import zlib

import numpy as np

from .. import hf_python as hf

MODE = "4539-1200S"
SIZE = 50_000


class Row(NamedTuple):
    """Seconds from the SYN to the last octet, without and with compression."""

    kind: str
    octets: int
    plain_s: float
    compressed_s: float

    @property
    def factor(self) -> float:
        """Goodput with compression by goodput without."""
        return self.plain_s / self.compressed_s


def contents() -> Dict[str, bytes]:
    """Text as this machine has it: pages and manuals of Python's library, and noise."""
    page = pydoc.HTMLDoc()
    html = "".join(page.page(name, page.document(importlib.import_module(name)))
                   for name in ("argparse", "csv", "textwrap"))
    text = "".join(pydoc.plain(pydoc.render_doc(importlib.import_module(name)))
                   for name in ("argparse", "csv", "textwrap"))
    rng = np.random.default_rng(1)
    records = [{"station": f"1.2.0.{k}", "time": 1700000000 + 37 * k,
                "frequency_khz": int(rng.integers(2000, 30000)),
                "snr_db": round(float(rng.normal(15, 6)), 1), "mode": "4539-9600S",
                "octets": int(rng.integers(100, 90000))} for k in range(1000)]
    kinds = {"HTML": html.encode(), "plain text": text.encode(),
             "JSON": json.dumps(records).encode()}
    kinds["already compressed"] = zlib.compress(html.encode() + text.encode(), 9)
    kinds["noise"] = rng.bytes(SIZE)
    return {kind: data[:SIZE] for kind, data in kinds.items()}


def measure(kind: str, data: bytes) -> Row:
    """One kind, on the event simulator."""
    times: List[float] = []
    for compress in (False, True):
        result = hf.simulate_tcp(MODE, data, compress=compress)
        if not result["complete"]:
            raise RuntimeError(f"{kind}: the transfer did not complete")
        times.append(result["total_s"])
    return Row(kind, len(data), *times)


def table(rows: List[Row]) -> str:
    """The rows as a Markdown table."""
    lines = ["| content | octets | plain | compressed | goodput |", "|---|---|---|---|---|"]
    lines += [f"| {r.kind} | {r.octets} | {r.plain_s:.1f} s | {r.compressed_s:.1f} s | "
              f"x {r.factor:.2f} |" for r in rows]
    return "\n".join(lines)

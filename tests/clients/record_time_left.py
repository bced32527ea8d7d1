# SPDX-License-Identifier: GPL-3.0-or-later
"""Records how far a file transfer between two stations is, once a second, for test_time_left.py:
build/run python3 tests/clients/record_time_left.py tests/clients/time_left.json.gz"""
import gzip
import json
import sys

from transfers import transfer

#: Mode, octets of the file, bit error rate. Each needs two transmissions at least.
CASES = (("4539-2400L", 60000, 0), ("4539-4800L", 60000, 0), ("4539-9600L", 150000, 0),
         ("4539-600L", 20000, 0), ("auto", 60000, 0), ("auto", 150000, 0),
         ("4539-1200L", 20000, 0), ("4539-300S", 5000, 0), ("4539-2400S", 40000, 1e-4),
         ("4539-9600S", 100000, 1e-4), ("4539-4800S", 90000, 5e-4), ("auto", 100000, 1e-4),
         ("4539-3200S", 30000, 0), ("4539-6400M", 120000, 0), ("4539-75L", 1500, 0),
         ("4539-150S", 2500, 0), ("5069-12k-12800L", 120000, 0), ("5069-24k-51200M", 500000, 0),
         ("4539-8000VL", 150000, 2e-4), ("4539-2400L", 30000, 1e-3))
SPEED = 30


def record(mode, octets, ber):
    """Samples of one transfer, and the transmissions of its sender."""
    rows, spans = [], {}

    def sample(link, stats, late_answers=0, last=(), held=0.0):
        rows.append([round(link["now"], 2), link["queued_octets"], link["unacknowledged"],
                     stats["u_pdu_octets_submitted"], stats["d_pdus_acked"]])
        spans.update({s["begin"]: [s["mode"], round(s["begin"], 2), s["end"] and
                                   round(s["end"], 2)] for s in last if s["kind"] == "tx"})

    for both, view in transfer(mode, octets, ber, SPEED):
        view.progress.note = sample
        if not rows or both.now() - rows[-1][0] >= 1:
            view.sample()
    return {"mode": mode, "octets": octets, "ber": ber, "rows": rows,
            "spans": [spans[begin] for begin in sorted(spans)]}


if __name__ == "__main__":
    with gzip.open(sys.argv[1], "wt") as file:
        for case in CASES:
            json.dump(record(*case), file)
            file.write("\n")
            print(*case, file=sys.stderr)

# SPDX-License-Identifier: GPL-3.0-or-later
"""The time left, in transfers that record_time_left.py has recorded."""
import gzip
import json
import pathlib

from gnuradio.hf.gui import progress
import pytest

with gzip.open(pathlib.Path(__file__).with_name("time_left.json.gz"), "rt") as recorded:
    CASES = [json.loads(line) for line in recorded]


def follow(case):
    """Time, time left, true time left and progress of each sample, until all is confirmed."""
    p, found = progress.Progress(), []
    for now, queued, unacknowledged, submitted, acked in case["rows"]:
        p.note({"now": now, "queued_octets": queued, "unacknowledged": unacknowledged},
               {"u_pdu_octets_submitted": submitted, "d_pdus_acked": acked}, 0,
               [{"kind": "tx", "mode": mode, "begin": begin,
                 "end": end if end and end <= now else None}
                for mode, begin, end in case["spans"] if begin <= now])
        found.append((now, p.take()))
    over = max(now for now, seen in found if seen["waiting_octets"])
    return [(now, seen["left_s"], over - now, seen) for now, seen in found if now < over]


def after_the_first(case):
    """The samples after the first transmission that was acknowledged."""
    samples = follow(case)
    return samples[next(k for k, s in enumerate(samples) if s[3]["done_octets"]):]


def test_there_are_twenty_transfers():
    assert len(CASES) == 20
    assert all(sum(end is not None for _, _, end in c["spans"]) >= 2 for c in CASES)


def test_the_first_estimate_is_right():
    """Short of it: 75 bit/s, where an answer lasts as long as our data, and a first transmission
    that was lost nearly whole."""
    wrong = {}
    for case in CASES:
        _, left, true, _ = after_the_first(case)[0]
        if abs(left - true) > 0.25 * true:
            wrong[case["mode"], case["octets"]] = round(left), round(true)
    assert len(wrong) <= 2, wrong
    assert all(true / 2.6 < left < 2.6 * true for left, true in wrong.values()), wrong


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c['mode']}-{c['octets']}-{c['ber']:g}")
def test_the_estimate_never_runs_away(case):
    """It was wrong by up to 150 times: the speed of the last minute falls while we transmit."""
    for now, left, true, seen in after_the_first(case):
        assert left is not None and 0 <= left < 2 * true + 60, (now, left, true)
        assert seen["air_octets"] + seen["done_octets"] <= seen["total_octets"] + 1
    # What is on the air counts before it is acknowledged.
    assert any(seen["air_octets"] > 0 and not seen["done_octets"] for *_, seen in follow(case))


def test_a_call_says_nothing_of_the_rate_of_data():
    """In automatic mode the first transmission is a call at a low rate."""
    case = next(c for c in CASES if c["mode"] == "auto" and c["octets"] == 150000)
    called = case["spans"][0]
    assert called[0] == "4539-600S"
    for now, left, true, _ in follow(case):
        assert left is None or now > called[2] and left < 1.5 * true + 15

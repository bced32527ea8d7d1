# SPDX-License-Identifier: GPL-3.0-or-later
"""What hf-lab bench mail measures, in short. Takes half a minute."""
from hflab.programs import bulk_mail
from hflab.programs import mail as measure
from hflab.programs import postfix
import pytest


@pytest.mark.skipif(postfix.why_not() is not None, reason=str(postfix.why_not()))
@pytest.mark.parametrize("protocol", ["hmtp", "cftp"])
def test_postfix_to_postfix(protocol):
    row, = measure.short_mails(protocol, channel=None, count=1, speed=4.0)
    assert row.octets == 370 and row.equal and row.turns >= 1


def test_few_mails_over_a_bad_link_with_killed_gateways():
    row = measure.bad_link("hmtp", mails=6, kills=2, seed=3, speed=60.0)
    assert (row.once, row.lost, row.twice, row.altered, row.kills) == (12, 0, 0, 0, 2)


@pytest.mark.skipif(postfix.why_not() is not None, reason=str(postfix.why_not()))
@pytest.mark.parametrize("protocol, mails, octets", [
    ("hmtp", 12, 2000), ("cftp", 12, 2000), ("hmtp", 1, 100000)])
def test_mails_in_bulk_all_arrive_and_are_counted(protocol, mails, octets):
    row = bulk_mail.run(protocol, 9600, mails, octets)
    assert row.octets == mails * octets and 0 < row.over_hf < 2 * row.octets
    assert row.use() == pytest.approx(100 * 8 * row.octets / 9600 / row.time_s)
    assert 10 < row.use() < 130
    text = bulk_mail.table([row])
    assert f"| {protocol} | 9600 | {mails} | {row.octets} |" in text
    assert ("missed" in text) == (row.use() < 93)

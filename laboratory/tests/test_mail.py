# SPDX-License-Identifier: GPL-3.0-or-later
"""What hf-lab bench mail measures, in short. Takes half a minute."""
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

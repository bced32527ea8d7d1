# SPDX-License-Identifier: GPL-3.0-or-later
"""Mail from a mail server through two gateways and two stations to another mail server."""
import smtplib

import mail_pair
import pytest


def submit(gateway, sender, recipients, data):
    with smtplib.SMTP("127.0.0.1", gateway.intake.bound_port(), "test", 20) as client:
        return client.sendmail(sender, recipients, data, ["BODY=8BITMIME"])


@pytest.mark.parametrize("protocol", ["hmtp", "cftp"])
def test_mail_arrives_octet_for_octet(tmp_path, protocol):
    with mail_pair.Stations(tmp_path) as stations:
        for name in "AB":
            stations.start(name, stations.settings(name, protocol))
        sent = mail_pair.text()
        refused = submit(stations.gateways["A"], "anna@ship.example",
                         ["bert@shore.example", "carl@shore.example"], sent)
        assert not refused
        stations.sinks["B"].wait(1)
        sender, recipients, data = stations.sinks["B"].mails[0]
        assert sender == "anna@ship.example"
        assert recipients == ["bert@shore.example", "carl@shore.example"]
        assert mail_pair.without_trace(data) == sent
        stations.wait(lambda: stations.gateways["A"].counts["sent"] == 1)
        assert not stations.gateways["A"].spool.entries("out")

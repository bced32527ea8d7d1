# SPDX-License-Identifier: GPL-3.0-or-later
"""Mail between two gateways while a third station speaks with the address of one of them."""
import contextlib
import smtplib
import time

from gnuradio import gr, hf
from gnuradio.hf import mail, station
from gnuradio.hf.station import auth, pair
import mail_pair
import pytest

MAILS = 4


class Net:
    """Stations A and B, and C with the address of victim, on one emulated air. Without keys
    nobody proves anything; with keys C has none."""

    def __init__(self, folder, victim, keys):
        self.folder, self.victim, self.lines = folder, victim, []
        self.air = hf.emulated_air(3, 0.0, seed=5, speed=60)
        self.tb = gr.top_block()
        self.stations, self.sinks, self.gateways = {}, {}, {}
        self.exit = contextlib.ExitStack()
        for k, name in enumerate("ABC"):
            self.stations[name] = station.Station(
                self.tb, self._described(k, name, keys), emulated_modem=self.air.modem(k))

    def _described(self, k, name, keys):
        d = station.Description(address=self._node(name), mode="4539-9600S",
                                data_link={"seed": 10 + k})
        d.sis_server = station.SisServer(port=0)
        if keys and name != "C":
            d.auth = station.Auth(key=str(keys), state=str(self.folder / f"{name}.state"))
        return d

    def _role(self, name):
        return self.victim if name == "C" else name

    def _node(self, name):
        return pair.NODES[self._role(name)]

    def __enter__(self):
        self.tb.start()
        self.exit.callback(lambda: (self.tb.stop(), self.tb.wait()))
        return self

    def __exit__(self, *_):
        self.exit.close()

    def start(self, name):
        sink = self.sinks[name] = mail_pair.Sink()
        self.exit.callback(sink.close)
        role = self._role(name)
        other = pair.OTHER[role]
        settings = station.Mail(
            spool=str(self.folder / name), listen="127.0.0.1:0", deliver=sink.address,
            domains=[mail_pair.DOMAINS[role]], retry_s=0.2, retry_max_s=1.0, answer_s=10.0,
            route=[station.MailRoute(mail_pair.DOMAINS[other], pair.NODES[other], "hmtp")])
        settings.check()
        gateway = mail.Gateway(settings, self._node(name),
                               f"127.0.0.1:{self.stations[name].sis_server.port()}",
                               lambda line: self.lines.append(f"{name} {line}"))
        gateway.start()
        self.exit.callback(gateway.close)
        self.gateways[name] = gateway

    def submit(self, name, number, body):
        sender, to = "anna@ship.example", "bert@shore.example"
        with smtplib.SMTP("127.0.0.1", self.gateways[name].intake.bound_port(), "test", 20) as s:
            s.sendmail(sender, [to], mail_pair.text(number, body, sender, to))

    def wait(self, condition, limit_s=90):
        end = time.monotonic() + limit_s
        while not condition():
            assert time.monotonic() < end, "\n".join(self.lines)
            time.sleep(0.02)


@pytest.fixture
def keys(tmp_path):
    path = tmp_path / "net.key"
    auth.save(str(path), auth.KeyFile.new())
    return path


def bodies(sink):
    return sorted(mail_pair.without_trace(data).partition(b"\r\n\r\n")[2]
                  for _, _, data in sink.mails)


def test_with_keys_mails_of_an_impostor_of_the_sender_do_not_arrive(tmp_path, keys):
    genuine = [b"genuine %d\r\n" % k for k in range(MAILS)]
    with Net(tmp_path, "A", keys) as net:
        for name in "ABC":
            net.start(name)
        for k, body in enumerate(genuine):
            net.submit("C", 100 + k, b"forged\r\n")
            net.submit("A", k, body)
        net.wait(lambda: net.gateways["A"].counts["sent"] == MAILS)
        assert bodies(net.sinks["B"]) == genuine
        assert net.gateways["C"].counts["sent"] == 0
        assert len(net.gateways["C"].spool.entries("out")) == MAILS


def test_without_keys_they_do(tmp_path):
    with Net(tmp_path, "A", None) as net:
        for name in "BC":
            net.start(name)
        net.submit("C", 100, b"forged\r\n")
        net.sinks["B"].wait(1, 90)
        assert bodies(net.sinks["B"]) == [b"forged\r\n"]


@pytest.mark.parametrize("proved", [True, False])
def test_with_keys_no_mail_is_lost_to_an_impostor_of_the_receiver(tmp_path, keys, proved):
    """C answers for B, which does not hear: link, acknowledgements, and the far gateway. It may
    read the mail, since nothing is secret on the air; A must not believe that B has it."""
    with Net(tmp_path, "B", keys if proved else None) as net:
        for name in "AC":
            net.start(name)
        net.submit("A", 1, b"for bert\r\n")
        if not proved:
            net.wait(lambda: net.gateways["A"].counts["sent"] == 1)
            assert bodies(net.sinks["C"]) == [b"for bert\r\n"]
            return
        net.wait(lambda: net.stations["C"].data_link.stats()["octets_sent"] > 0)
        begun = net.stations["A"].modem.state().now
        net.wait(lambda: net.stations["A"].modem.state().now > begun + 300)
        assert net.gateways["A"].counts["sent"] == 0
        assert len(net.gateways["A"].spool.entries("out")) == 1

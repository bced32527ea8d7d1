# SPDX-License-Identifier: GPL-3.0-or-later
"""Two mail gateways at two stations on emulated air, each with a mail server of aiosmtpd."""
import contextlib
import threading
import time

from aiosmtpd.controller import Controller
from gnuradio.hf import mail, station
from gnuradio.hf.station import pair

DOMAINS = {"A": "ship.example", "B": "shore.example"}
#: Lines that begin with dots, and octets over 127.
BODY = b"Two lines,\r\n.one with a dot,\r\n..one with two, and \xe4\xf6\xfc.\r\n"


def text(number=1, body=BODY, sender="anna@ship.example", to="bert@shore.example"):
    return (f"From: <{sender}>\r\nTo: <{to}>\r\nSubject: mail {number}\r\n"
            f"Message-ID: <{number}@ship.example>\r\nDate: Wed, 25 Nov 2026 07:00:00 +0000\r\n"
            f"\r\n").encode() + body


class Sink:
    """A mail server that keeps what it gets. refuse: replies by recipient."""

    def __init__(self):
        self.mails, self.refuse, self.arrived = [], {}, threading.Condition()
        self._server = Controller(self, "127.0.0.1", 0, decode_data=False)
        self._server._trigger_server = self._trigger
        self._server.start()

    def _trigger(self):
        self._server.port = self._server.server.sockets[0].getsockname()[1]
        type(self._server)._trigger_server(self._server)

    @property
    def address(self):
        return f"127.0.0.1:{self._server.port}"

    async def handle_RCPT(self, server, session, envelope, address, options):
        if address in self.refuse:
            return self.refuse[address]
        envelope.rcpt_tos.append(address)
        return "250 ok"

    async def handle_DATA(self, server, session, envelope):
        with self.arrived:
            self.mails.append((envelope.mail_from, list(envelope.rcpt_tos), envelope.content))
            self.arrived.notify_all()
        return "250 ok"

    def wait(self, count, timeout=60):
        with self.arrived:
            assert self.arrived.wait_for(lambda: len(self.mails) >= count, timeout), \
                f"{len(self.mails)} of {count} mails"

    def close(self):
        self._server.stop()


class Stations:
    """The two stations, without gateways."""

    def __init__(self, folder, speed=30, **setting):
        self.folder, self.sinks, self.gateways, self.lines = folder, {}, {}, []
        self._exit = contextlib.ExitStack()
        self._setting = pair.Setting(speed=speed, pep_ports=None, **setting)

    def __enter__(self):
        def describe(name, d):
            d.pep, d.sis_server = None, station.SisServer(port=0)

        self.pair = self._exit.enter_context(pair.Pair(self._setting, False, describe))
        for name in pair.NAMES:
            self.sinks[name] = Sink()
            self._exit.callback(self.sinks[name].close)
        return self

    def __exit__(self, *_):
        for gateway in self.gateways.values():
            gateway.close()
        self._exit.close()

    def settings(self, name, protocol="hmtp", **more):
        other = pair.OTHER[name]
        made = station.Mail(
            spool=str(self.folder / name), listen="127.0.0.1:0",
            domains=[DOMAINS[name]],
            route=[station.MailRoute(DOMAINS[other], pair.NODES[other], protocol)],
            **{"deliver": self.sinks[name].address, "retry_s": 0.2, "retry_max_s": 1.0,
               "answer_s": 10.0, **more})
        made.check()
        return made

    def server(self, name):
        return f"127.0.0.1:{self.pair.stations[name].sis_server.port()}"

    def wait(self, condition, timeout=60):
        end = time.monotonic() + timeout
        while not condition():
            assert time.monotonic() < end, "\n".join(self.lines)
            time.sleep(0.02)

    def start(self, name, settings):
        gateway = mail.Gateway(settings, pair.NODES[name], self.server(name),
                               lambda line: self.lines.append(f"{time.monotonic():.2f} {name} "
                                                              f"{line}"))
        gateway.start()
        self.gateways[name] = gateway
        return gateway


def without_trace(data):
    """A mail without the Received line that the far gateway has added."""
    first, gap, rest = data.partition(b"\r\n\t")
    assert first.startswith(b"Received: from [1.2.0."), data
    line, gap, rest = rest.partition(b"\r\n\t")
    date, gap, rest = rest.partition(b"\r\n")
    return rest

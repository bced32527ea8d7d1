# SPDX-License-Identifier: GPL-3.0-or-later
"""Many mails at once between two Postfix: how much of the bit rate they use."""
import base64
from contextlib import contextmanager
import random
import smtplib
import time
from typing import Callable, Iterator, List, NamedTuple

from gnuradio.hf.mail import carrier
from gnuradio.hf.station import pair

from . import mail

#: Bit rates, bit/s, with the speed of the clocks on emulated modems and the target, percent.
#: The speed keeps a run short and leaves Postfix, which runs in real time, its part.
RATES = {75: (300.0, 85.0), 300: (100.0, 90.0), 1200: (30.0, 93.0), 9600: (4.0, 93.0)}
#: Mails of a run, and octets of each.
LOADS = ((10, 100000), (200, 2000))
#: Station time after which a run fails: as a multiple of the mails' own time on the air, and at
#: least, s.
_PATIENCE, _MIN_PATIENCE_S = 3.0, 3600.0


class Bulk(NamedTuple):
    """octets: of all mails with their headers. over_hf: of U_PDUs that the far node delivered.
    time_s: from the first submission until all are in the far mailboxes. target: percent."""

    protocol: str
    bit_rate: int
    mails: int
    octets: int
    over_hf: int
    time_s: float
    target: float

    def use(self) -> float:
        """Share of the bit rate that mails have, percent. More than 100 where they are
        compressed."""
        return 800 * self.octets / (self.bit_rate * self.time_s)

    def load(self) -> float:
        """The same of what the gateways sent, after compression and with their protocol."""
        return 800 * self.over_hf / (self.bit_rate * self.time_s)


def picture(number: int, octets: int, draw: random.Random) -> bytes:
    """A mail of this size, whose body is random octets in base64, as a picture is."""
    head = (f"Message-ID: <{number}@ship.example>\r\nDate: Wed, 25 Nov 2026 07:00:00 +0000\r\n"
            f"From: <{mail.SENDER}>\r\nTo: <{mail.TO[0]}>\r\nSubject: Picture {number}\r\n"
            "Content-Transfer-Encoding: base64\r\n\r\n").encode()
    body = base64.encodebytes(draw.randbytes(octets)).replace(b"\n", b"\r\n")
    return head + body[:octets - len(head) - 2].rstrip(b"\r\n") + b"\r\n"


@contextmanager
def _batches_of(seconds: float) -> Iterator[None]:
    usual, carrier.BATCH_S = carrier.BATCH_S, seconds
    try:
        yield
    finally:
        carrier.BATCH_S = usual


def run(protocol: str, bit_rate: int, mails: int, octets: int, seed: int = 1,
        progress: Callable[[float], None] = lambda share: None) -> Bulk:
    """Mails over emulated modems without errors. By default gateways hold mails of more than
    100 kB; here they do not. Raises RuntimeError if they do not arrive."""
    speed, target = RATES[bit_rate]
    mode = f"4539-{bit_rate}S"
    setting = pair.Setting(mode=mode, speed=speed, pep_ports=None, seed=seed)
    draw = random.Random(seed)
    patience_s = max(_MIN_PATIENCE_S, _PATIENCE * 8 * mails * octets / bit_rate)
    # The clock of the gateways is that of the host.
    with _batches_of(carrier.BATCH_S / speed), \
            mail.two_postfix(protocol, setting, answer_s=900.0, hold_octets=1 << 20) as two:
        stations, server = two.stations, two.servers["B"]
        far = stations.stations["B"].data_link
        for each in two.servers.values():
            mail.wait_for_greeting(each.port)
        data = [picture(k, octets, draw) for k in range(mails)]
        begin = last = stations.now()
        with smtplib.SMTP("127.0.0.1", two.servers["A"].port, "client", 60) as client:
            for each in data:
                client.sendmail(mail.SENDER, mail.TO[:1], each)
        there = 0
        while there < mails:
            now, before = stations.now(), there
            there = len(server.mails())
            if there > before:
                last = now
                progress(there / mails)
            if now - begin > patience_s:
                raise RuntimeError(f"{there} of {mails} mails have arrived:\n"
                                   + "\n".join(two.lines[-20:]) + server.log())
            time.sleep(0.01)
        return Bulk(protocol, bit_rate, mails, sum(map(len, data)),
                    far.stats()["u_pdu_octets_delivered"], last - begin, target)


def table(rows: List[Bulk]) -> str:
    """Markdown, each beside its target."""
    lines = ["Mails with a picture each, submitted at once, Postfix to Postfix, emulated modems "
             "without errors, short interleaver. Use: octets of the mails, so more than 100 % "
             "where they are compressed. Load: what the gateways sent.", "",
             "| protocol | bit/s | mails | octets | station time | use | target | load |",
             "|---|---|---|---|---|---|---|---|"]
    for r in rows:
        missed = "" if r.use() >= r.target else " **missed**"
        lines.append(f"| {r.protocol} | {r.bit_rate} | {r.mails} | {r.octets} | {r.time_s:.0f} s "
                     f"| {r.use():.1f} %{missed} | {r.target:g} % | {r.load():.1f} % |")
    return "\n".join(lines)

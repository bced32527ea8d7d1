# SPDX-License-Identifier: GPL-3.0-or-later
"""A file that crosses two stations on emulated air, for tests and records of what a display shows
meanwhile."""
import random
import tempfile
import threading

from gnuradio.hf import sis, station
from gnuradio.hf.gui import snapshot
from gnuradio.hf.sis import files, s5066
from gnuradio.hf.station import pair
from gnuradio.hf.system import netns


def transfer(mode, octets, ber, speed=30):
    """Gives the pair of stations and the view of the sender, several times in a second of station
    time while the file is under way, and once when it has arrived."""
    ports = dict(zip("AB", netns.free_tcp_ports(2)))
    views = []

    def describe(name, description):
        description.pep = None
        description.sis_server = station.SisServer(port=ports[name])

    def made(both):
        views.append(snapshot.StationView(both.tb, both.stations["A"]))

    setting = pair.Setting(mode=mode, ber=ber, speed=speed, pep_ports=None)
    with tempfile.TemporaryDirectory() as folder, \
            pair.Pair(setting, False, describe, made) as both, \
            sis.Client(f"127.0.0.1:{ports['A']}") as near, \
            sis.Client(f"127.0.0.1:{ports['B']}") as far:
        for client in (near, far):
            client.bind(s5066.SAP_RCOP, 0, sis.service("arq"))
        receiver = files.Receiver(far, folder)
        sending = threading.Thread(target=files.send, args=(
            near, "1.2.0.2", "x", random.Random(1).randbytes(octets)))
        sending.start()
        while sending.is_alive():
            receiver.take(far.next(0.2 / speed))
            yield both, views[0]
        yield both, views[0]

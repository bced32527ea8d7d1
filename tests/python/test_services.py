# SPDX-License-Identifier: GPL-3.0-or-later
"""Services of a station: the guide's section "A service" by a sham, and every pair in one file."""
import itertools
import socket
import sys
import threading
import time
from types import ModuleType

from gnuradio import gr
import pytest

from gnuradio import hf
from gnuradio.hf import station
from gnuradio.hf.station import pair, running, service

NAME, PORT = "sham.internal", 8599


class Sham(service.Service):
    """Answers each connection with its station's address. With a peer it can ask there."""

    def __init__(self, d):
        self.address, self.peer = d.address, d.sham["peer"]
        self.entry, self.steps = 0, []
        self._server = socket.create_server(("127.0.0.1", 0))
        d.serve(NAME, PORT, self._server.getsockname()[1], d.sham["nodes"])
        d.stream_to(self.peer, NAME, PORT)
        threading.Thread(target=self._answer, daemon=True).start()

    def _answer(self):
        try:
            while True:
                client, _ = self._server.accept()
                with client:
                    client.sendall(self.address.encode())
        except OSError:
            return

    def attach(self, s, say):
        self.entry = s.stream_port(self.peer, NAME, PORT)

    def start(self):
        self.steps.append("start")

    def details(self):
        return [f"sham: asks {self.peer}"]

    def attached(self):
        return [service.Attached("sham", self.peer, "idle")]

    def close(self):
        self.steps.append("close")
        self._server.close()

    def ask(self):
        """What the peer's sham answers; empty if it may not be asked."""
        with socket.create_connection(("127.0.0.1", self.entry), timeout=60) as s:
            return s.recv(100).decode()


@pytest.fixture
def sham(monkeypatch):
    """One file and one line in SERVICES."""
    module = ModuleType("sham_service")
    module.Sham = Sham
    monkeypatch.setitem(sys.modules, "sham_service", module)
    monkeypatch.setattr(service, "SERVICES",
                        service.SERVICES + [("sham", "sham_service", "Sham", "nothing")])
    monkeypatch.setattr(station.Description, "sham", None, raising=False)


def test_a_sham_reaches_its_peer_over_hf(sham):
    made = {}

    def describe(name, d):
        other = pair.NODES["B" if name == "A" else "A"]
        # B lets nobody in but a third node, A everybody.
        d.sham = {"peer": other, "nodes": [] if name == "A" else ["1.2.0.9"]}
        made[name] = service.Services([d])

    with pair.Pair(pair.Setting(mode="4539-9600S", speed=20.0), False, describe) as both:
        try:
            shams = {}
            for name, services in made.items():
                services.attach([both.stations[name]], lambda line: None)
                services.start()
                shams[name] = services._of[0][1]
            assert shams["B"].ask() == pair.NODES["A"]
            with pytest.raises(ConnectionError):
                assert shams["A"].ask() != "", "reset, since B lets it not in"
                raise AssertionError("it was let in")
            assert made["A"].attached(pair.NODES["A"]) == [("sham", pair.NODES["B"], "idle")]
            assert made["A"].attached(pair.NODES["B"]) == []
            assert made["A"].details(pair.NODES["A"]) == [f"sham: asks {pair.NODES['B']}"]
        finally:
            for services in made.values():
                services.close()
    assert shams["A"].steps == ["start", "close"]


def table_of(kind, port, folder):
    """A table of a station file, and how many listeners of HF-PEP it needs."""
    return {
        "host": (f"""[host]
            ardop_port = {port}
            vara_port = 0
            agwpe_port = 0
            kiss_port = 0
            [host.calls]
            OWN = "1.2.0.1"
            FAR = "1.2.0.2"
            FURTHER = "1.2.0.3"
            """, 2),
        "web": (f"""[web]
            node = "1.2.0.2"
            listen = "127.0.0.1:{port + 4}"
            folder = "{folder}/web"
            """, 1),
        "mail": (f"""[mail]
            spool = "{folder}/spool"
            listen = "127.0.0.1:{port + 5}"
            domains = ["ship.example"]
            deliver = "127.0.0.1:9"
            [[mail.route]]
            domain = "shore.example"
            node = "1.2.0.2"
            """, 0),
        "xmpp": (f"""[xmpp]
            folder = "{folder}/chat"
            secret = "a long word"
            server = "127.0.0.1:9"
            domains = ["ship.example"]
            [[xmpp.peer]]
            domains = ["shore.example"]
            node = "1.2.0.2"
            """, 0),
        "pep": (f"""[pep]
            listen = ["127.0.0.1:{port + 6}=10.0.0.1:80"]
            routes = ["0.0.0.0/0=1.2.0.2"]
            """, 1),
    }[kind]


def free_ports(count):
    """The first of some free ports in a row."""
    for first in range(20000, 30000, count):
        sockets = [socket.socket() for _ in range(count)]
        try:
            for k, s in enumerate(sockets):
                s.bind(("127.0.0.1", first + k))
            return first
        except OSError:
            continue
        finally:
            for s in sockets:
                s.close()
    raise OSError("no free ports")


@pytest.mark.parametrize("kinds", list(itertools.combinations(
    ("host", "web", "mail", "xmpp", "pep"), 2)))
def test_every_pair_in_one_station(kinds, tmp_path):
    if "xmpp" in kinds:
        pytest.importorskip("slixmpp", reason="slixmpp is missing (Debian: python3-slixmpp)")
    port = free_ports(7)
    tables = [table_of(kind, port, tmp_path) for kind in kinds]
    d = station.parse('address = "1.2.0.1"\nmode = "4539-9600S"\n'
                      + "[sis_server]\nport = 0\n" + "".join(text for text, _ in tables))
    services = service.Services([d])
    try:
        tb = gr.top_block()
        s = made_station(tb, d)
        services.attach([s], lambda line: None)
        ports = s.pep.ports() if s.pep else []
        assert len(ports) == sum(count for _, count in tables)
        doors = {}
        for _, made in services._of:
            if hasattr(made, "engine"):
                doors.update({f"host {node}": at for node, at in made.engine.doors.items()})
            if getattr(made, "door", None):
                doors["web"] = made.door.pep_port
        if "pep" in kinds:
            doors["pep"] = port + 6
        assert sorted(doors.values()) == sorted(ports), "each has its own listeners"
        if "host" in kinds:
            assert {"host 1.2.0.2", "host 1.2.0.3"} <= set(doors)
        lines = running.details(s, services)
        for kind, word in (("host", "host ports on"), ("web", "web door: http://"),
                           ("mail", "mail: SMTP on"), ("xmpp", "chat: ship.example here"),
                           ("pep", "HF-PEP: listens on")):
            if kind in kinds:
                assert any(word in line for line in lines), (kind, lines)
        services.start()
        if "mail" in kinds:
            assert list(services.desks()) == ["1.2.0.1"]
    finally:
        begin = time.monotonic()
        services.close()
        services.close()
    # The data link does not run, so it answers no bind, for which a client waits 10 s.
    assert time.monotonic() - begin < 8


def made_station(tb, d):
    """The station on a simulated air, which is not started."""
    air = hf.air(2, "clear", 1, 1.0, 0.2)
    made = station.Station(tb, d, air.source(0), air.sink(0))
    made.air = air  # kept, or Python deletes it
    return made


def test_a_library_that_is_missing_is_named(monkeypatch):
    monkeypatch.setattr(service, "SERVICES", [("web", "not_there", "Web", "python3-nothing")])
    d = station.parse('address = "1.2.0.1"\n[web]\nnode = "1.2.0.2"\n')
    with pytest.raises(RuntimeError, match=r"\[web\] needs the library not_there \(Debian: "
                                           r"python3-nothing\)"):
        service.Services([d])

# SPDX-License-Identifier: GPL-3.0-or-later
"""hf.sis_server and hf.sis_client: many clients, slow, hostile and absent ones."""
import random
import socket
import time

from gnuradio import gr, hf
from gnuradio.hf import sis, station
from gnuradio.hf.sis import s5066
import pytest


class OneStation:
    """A station that hears nobody: clients talk to each other through their own node."""

    def __init__(self, port=0, **server):
        self.tb = gr.top_block()
        self.air = hf.air(2, "clear", 1, 50.0)
        d = station.Description("1.2.0.1", sis_server=station.SisServer(port=port, **server))
        self.station = station.Station(self.tb, d, self.air.source(0), self.air.sink(0))
        # Air is shared by at least two; the other place stays silent.
        self.tb.connect(self.air.source(1), self.air.sink(1))

    def __enter__(self):
        self.tb.start()
        self.server = f"127.0.0.1:{self.station.sis_server.port()}"
        return self

    def __exit__(self, *_):
        self.air.end()
        self.tb.stop()
        self.tb.wait()

    def raw(self):
        return socket.create_connection(sis.parse_server(self.server), 5)

    def stats(self):
        return self.station.sis_server.stats()


def until(condition, limit=10.0):
    deadline = time.monotonic() + limit
    while not condition():
        assert time.monotonic() < deadline, "did not happen in time"
        time.sleep(0.01)


def exchange(one, a, b, count=3):
    """U_PDUs from a to b through their node, confirmed."""
    for k in range(count):
        a.send("1.2.0.1", bytes([k]) * 100, b.sap, sis.service("arq", "node"))
        got = b.next(timeout=10)
        assert isinstance(got, s5066.s_unidata_indication) and got.u_pdu == bytes([k]) * 100
        assert (str(got.src), got.src_sap) == ("1.2.0.1", a.sap)
        assert isinstance(a.next(timeout=10), s5066.s_unidata_request_confirm)


def test_sixteen_clients_one_sap_each():
    with OneStation() as one:
        clients = [sis.Client(one.server) for _ in range(16)]
        for sap, c in enumerate(clients):
            assert c.bind(sap) == s5066.MTU
        for k in range(0, 16, 5):
            exchange(one, clients[k], clients[(k + 7) % 16])
        assert one.stats()["clients"] == 16
        with pytest.raises(sis.SisError):  # all places are taken by bound clients
            sis.Client(one.server).bind(3)
        assert one.stats()["refused"] == 1
        for c in clients:
            c.close()
        until(lambda: one.stats()["clients"] == 0)


def test_sap_is_free_when_its_client_has_gone():
    with OneStation() as one:
        for _ in range(3):
            first = sis.Client(one.server)
            first.bind(5)
            with sis.Client(one.server) as second, pytest.raises(sis.SisError, match="in use"):
                second.bind(5)
            first._socket.shutdown(socket.SHUT_RDWR)  # without unbinding
            until(lambda: one.stats()["clients"] == 0)


def test_idle_connections_do_not_keep_others_out():
    with OneStation(max_clients=5) as one:
        with sis.Client(one.server) as bound, sis.Client(one.server) as other:
            bound.bind(1)
            other.bind(2)
            idle = [one.raw() for _ in range(20)]
            exchange(one, bound, other)
            with sis.Client(one.server) as third:
                third.bind(3)
                exchange(one, bound, third)
            for s in idle:
                s.close()


def test_garbage_harms_nobody():
    rng = random.Random(1)
    with OneStation() as one:
        with sis.Client(one.server) as a, sis.Client(one.server) as b:
            a.bind(1)
            b.bind(2)
            good = s5066.encode(s5066.s_unbind_request())
            for k in range(60):
                with one.raw() as s:
                    if k % 3 == 0:
                        octets = rng.randbytes(rng.randrange(20000))
                    elif k % 3 == 1:  # well framed, anything inside
                        octets = b"".join(
                            b"\x90\xeb\x00" + len(body).to_bytes(2, "big") + body for body in
                            (rng.randbytes(rng.randrange(1, 60)) for _ in range(200)))
                    else:
                        octets = good[:rng.randrange(1, 6)] * 50
                    try:
                        s.sendall(octets)
                    except OSError:
                        pass
            exchange(one, a, b, 10)
        until(lambda: one.stats()["clients"] == 0)


@pytest.mark.parametrize("octets", [b"\x90\xeb\x07" + b"x" * 100,
                                    b"\x90\xeb\x00\x00\x00" + b"x" * 100, bytes(100)])
def test_noise_is_disconnected(octets):
    with OneStation() as one, one.raw() as s:
        s.settimeout(5)
        try:
            for _ in range(20):
                s.sendall(octets * 200)
            assert s.recv(100) == b""
        except ConnectionError:
            pass


def test_client_that_does_not_read_is_disconnected_alone():
    with OneStation() as one:
        with sis.Client(one.server) as a, sis.Client(one.server) as b:
            a.bind(1)
            b.bind(2)
            bind = s5066.s_bind_request()
            bind.sap, bind.service = 3, sis.service("arq")
            deaf = one.raw()
            deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            deaf.sendall(s5066.encode(bind))
            until(lambda: one.stats()["clients"] == 3)
            for k in range(20000):
                a.send("1.2.0.1", bytes(2048), 3, sis.service("arq"))
                if k % 50 == 0 and one.stats()["clients"] == 2:
                    break
            until(lambda: one.stats()["clients"] == 2)
            exchange(one, a, b)
            deaf.close()


def test_client_that_ignores_flow_control_is_held_back():
    with OneStation() as one:
        with sis.Client(one.server) as a, sis.Client(one.server) as b:
            a.bind(1)
            b.bind(2)
            bind, data = s5066.s_bind_request(), s5066.s_unidata_request()
            bind.sap, bind.service = 4, sis.service("arq")
            # To a node that is not there: what the data link takes stays in its queue.
            data.dst, data.u_pdu = s5066.address("1.2.0.9"), bytes(2048)
            with one.raw() as flood:
                flood.settimeout(1.0)
                flood.sendall(s5066.encode(bind))
                sent = 0
                with pytest.raises(socket.timeout):
                    for _ in range(50000):
                        sent += flood.send(s5066.encode(data) * 10)
                assert sent < 20_000_000
                assert one.station.data_link.stats()["u_pdus_overflowed"] == 0
                until(lambda: not a.flow_on)
                # Others cannot send either, but can be reached, and are not harmed.
                assert not a.send("1.2.0.1", b"x", 2, timeout=0.1)
                with sis.Client(one.server) as c:
                    c.bind(7)


def test_wrong_arguments_are_named():
    for arguments, named in (({"address": "nowhere"}, "nowhere"), ({"port": 65536}, "65536"),
                             ({"max_clients": 4}, "4"), ({"max_out": 10}, "10")):
        with pytest.raises(ValueError, match=named):
            hf.sis_server(**arguments)
    for arguments, named in (({"host": ""}, "host"), ({"port": 0}, "0")):
        with pytest.raises(ValueError, match=named):
            hf.sis_client(**arguments)


def test_port_that_is_taken_is_said():
    with OneStation() as one:
        port = one.station.sis_server.port()
        with pytest.raises(RuntimeError, match=str(port)):
            hf.sis_server(port=port)


class Remote:
    """A flowgraph with a client block whose data link is elsewhere."""

    def __init__(self, server, client):
        self.tb = gr.top_block()
        self.link = hf.sis_client(*sis.parse_server(server))
        self.client = client
        self.tb.msg_connect(client, "sis", self.link, "sis")
        self.tb.msg_connect(self.link, "sis", client, "sis")

    def __enter__(self):
        self.tb.start()
        return self

    def __exit__(self, *_):
        self.tb.stop()
        self.tb.wait()


def test_client_blocks_use_a_server():
    with OneStation() as one:
        receiver = Remote(one.server, hf.traffic("1.2.0.1", 0, 1000, 12))
        with receiver:
            until(lambda: receiver.client.state().bound)
            # Through the node, to the other client's SAP.
            with sis.Client(one.server) as c:
                c.bind(11)
                for k in range(100):
                    c.send("1.2.0.1", (k * 8).to_bytes(8, "big"), 12, sis.service("arq"))
                until(lambda: receiver.client.state().octets_received == 800)
        until(lambda: one.stats()["clients"] == 0)


def test_client_block_comes_back_after_the_server():
    """The server is absent at first, comes, goes and comes again."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    client = hf.traffic("1.2.0.1", 0, 1000, 12)
    with Remote(f"127.0.0.1:{port}", client) as remote:
        until(lambda: remote.link.stats()["failed"] >= 1)
        for _ in range(2):
            with OneStation(port=port):
                until(lambda: client.state().bound, 15)
            until(lambda: not client.state().bound)
        assert remote.link.stats()["lost"] == 2

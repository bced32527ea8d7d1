# SPDX-License-Identifier: GPL-3.0-or-later
"""hf.sis_server and hf.sis_client: many clients, slow, hostile and absent ones."""
import random
import socket
import subprocess
import threading
import time

from gnuradio import gr, hf
from gnuradio.hf import sis, station
from gnuradio.hf.sis import orderwire
from gnuradio.hf.sis import s5066
import pytest


class OneStation:
    """A station that hears nobody: clients talk to each other through their own node."""

    def __init__(self, port=0, parts=None, **server):
        self.tb = gr.top_block()
        self.air = hf.air(2, "clear", 1, 50.0)
        d = station.Description("1.2.0.1", sis_server=station.SisServer(port=port, **server),
                                **(parts or {}))
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
        with sis.Client(one.server) as late:  # any SAP may be asked for; all SAPs are taken
            with pytest.raises(sis.SisError, match="in use"):
                late.bind(3)
            assert one.stats()["clients"] == 17  # it was answered, so the server has read it
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


def bind_request(sap, rank=0):
    request = s5066.s_bind_request()
    request.sap, request.rank, request.service = sap, rank, sis.service("arq")
    return s5066.encode(request)


def read_primitives(s, kind, deframer, seen):
    """Reads until a primitive of a kind has arrived. All that arrived are appended to seen."""
    s.settimeout(10)
    while True:
        octets = deframer.next()
        if octets is None:
            more = s.recv(65536)
            assert more, "disconnected"
            deframer.push(more)
            continue
        seen.append(s5066.decode(octets))
        if isinstance(seen[-1], kind):
            return seen[-1]


def test_client_that_answers_every_keep_alive_is_answered_once():
    """It answers answers too, as the standard literally demands."""
    keep = s5066.encode(s5066.s_keep_alive())
    with OneStation() as one, one.raw() as s:
        deframer, seen = s5066.deframer(), []
        s.sendall(bind_request(3) + keep)
        read_primitives(s, s5066.s_keep_alive, deframer, seen)
        data = s5066.s_unidata_request()
        data.dst, data.dst_sap = s5066.address("1.2.0.1"), 3
        for _ in range(20):
            # The server's answers arrive before this U_PDU of the client to itself.
            s.sendall(keep * 10 + s5066.encode(data))
            read_primitives(s, s5066.s_unidata_indication, deframer, seen)
        assert sum(isinstance(p, s5066.s_keep_alive) for p in seen) == 1


def test_size_with_exchanged_octets_ends_the_connection():
    octets = bytearray(bind_request(3))
    octets[3], octets[4] = octets[4], octets[3]
    with OneStation() as one, one.raw() as s:
        s.settimeout(10)
        s.sendall(octets)
        assert s.recv(100) == b""
        until(lambda: one.stats()["clients"] == 0)


def bound_client(one, sap, limit=10.0):
    """A client that tries again while a flood takes its place before it has bound: the oldest
    connection that is not bound gives way, and the flood may be faster than this program."""
    deadline = time.monotonic() + limit
    while True:
        client = sis.Client(one.server)
        try:
            client.bind(sap)
            return client
        except sis.SisError:
            client.close()
            assert time.monotonic() < deadline, "kept out"


def test_flood_of_connections_keeps_nobody_out():
    with OneStation() as one:
        stop = threading.Event()
        flooded = [0]

        def flood():
            held = []
            while not stop.is_set():
                try:
                    held.append(one.raw())
                    flooded[0] += 1
                except OSError:
                    pass
                if len(held) > 300:
                    held.pop(0).close()
            for s in held:
                s.close()

        with sis.Client(one.server) as bound:
            bound.bind(0)
            thread = threading.Thread(target=flood)
            thread.start()
            try:
                until(lambda: flooded[0] > 100)
                for k in range(30):
                    with bound_client(one, 1 + k % 15) as c:
                        exchange(one, bound, c, 1)
            finally:
                stop.set()
                thread.join()
            assert flooded[0] > 300


def test_higher_rank_displaces_though_all_places_are_taken():
    with OneStation() as one:
        low = [sis.Client(one.server) for _ in range(16)]
        for sap, c in enumerate(low):
            c.bind(sap, rank=1 if sap == 7 else 2)
        with sis.Client(one.server) as equal, pytest.raises(sis.SisError, match="in use"):
            equal.bind(7, rank=1)
        with sis.Client(one.server) as manager:
            manager.bind(7, rank=15)
            with pytest.raises(sis.SisError, match="higher rank"):
                low[7].next(timeout=10)
            exchange(one, manager, low[3])
        for c in low:
            c.close()


def test_higher_rank_displaces_where_fewer_may_be_bound():
    with OneStation(max_clients=5) as one:
        low = [sis.Client(one.server) for _ in range(5)]
        for sap, c in enumerate(low):
            c.bind(sap, rank=sap)
        with sis.Client(one.server) as c:
            with pytest.raises(sis.SisError, match="resources"):
                c.bind(9, rank=0)
            with pytest.raises(sis.SisError, match="in use"):
                c.bind(3, rank=9)  # displaces nobody
            c.bind(9, rank=1)
            with pytest.raises(sis.SisError, match="higher rank"):
                low[0].next(timeout=10)
            exchange(one, c, low[4])
        for c in low:
            c.close()


def test_ranks_by_address():
    with OneStation(ranks=["127.0.0.1=3", "127.0.0.4/30=0"]) as one:
        with sis.Client(one.server) as c:
            with pytest.raises(sis.SisError, match="resources"):
                c.bind(1, rank=4)
            c.bind(1, rank=3)
        for source, rank, allowed in (("127.0.0.5", 0, True), ("127.0.0.5", 1, False)):
            with socket.create_connection(sis.parse_server(one.server), 10, (source, 0)) as s:
                s.sendall(bind_request(2, rank))
                kind = s5066.s_bind_accepted if allowed else s5066.s_bind_rejected
                read_primitives(s, kind, s5066.deframer(), [])
        with socket.create_connection(sis.parse_server(one.server), 10, ("127.0.0.9", 0)) as s:
            try:
                assert s.recv(1) == b""  # no entry fits
            except ConnectionError:
                pass
        assert one.stats()["refused"] == 3


def test_rank_15_only_from_this_machine_by_default():
    with OneStation() as one, sis.Client(one.server) as c:
        c.bind(0, rank=15)
        exchange(one, c, c, 1)


def test_time_to_die_by_the_computers_clock(tmp_path):
    capture = tmp_path / "d_pdu.pcap"
    mark = b"WITH A TIME TO DIE"
    parts = station.parse(f'''
        address = "1.2.0.1"
        [data_link]
        send_ttd = 1
        system_utc = 1
        [capture]
        d_pdu = "{capture}"
        ''')
    with OneStation(parts={"data_link": parts.data_link, "capture": parts.capture}) as one:
        with sis.Client(one.server) as c:
            c.bind(3)
            sent = time.time()
            c.send("1.2.0.2", mark, 3, sis.service("arq"), ttl_s=600)
            until(lambda: one.station.data_link.stats()["sent_0"] > 0)
    # S_PDU: type and priority, SAPs, flags and day, seconds in halves, then the U_PDU.
    octets = capture.read_bytes()
    at = octets.index(mark)
    assert octets[at - 3] & 0x40
    assert octets[at - 3] & 15 == time.gmtime(sent + 600).tm_yday % 16
    # The station runs ahead of the clock, at fifty times real time.
    late = (2 * int.from_bytes(octets[at - 2:at], "big") - (sent + 600)) % 86400
    assert late < 600 or late > 86400 - 10


def test_time_to_die_needs_the_time():
    with pytest.raises(ValueError, match="system_utc"):
        hf.data_link("1.2.0.1", settings={"send_ttd": 1})


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
                # The others can still send and be reached.
                exchange(one, a, b)
                assert a.flow_on and b.flow_on
                with sis.Client(one.server) as c:
                    c.bind(7)
                    assert c.send("1.2.0.9", b"x", 2, timeout=1) and c.flow_on


class TwoStations:
    """Two stations over a simulated air, in this process."""

    def __init__(self, mode):
        self.tb = gr.top_block()
        self.air = hf.air(2, "clear", 1, 50.0)
        self.stations = [
            station.Station(self.tb, station.Description(
                f"1.2.0.{k + 1}", mode=mode, sis_server=station.SisServer(port=0)),
                self.air.source(k), self.air.sink(k)) for k in range(2)]

    def __enter__(self):
        self.tb.start()
        self.servers = [f"127.0.0.1:{s.sis_server.port()}" for s in self.stations]
        return self

    def __exit__(self, *_):
        self.air.end()
        self.tb.stop()
        self.tb.wait()

    def transmissions(self):
        return self.stations[0].data_link.stats()["transmissions"]


def test_message_does_not_wait_for_what_another_client_has_queued():
    """hf chat beside hf console throughput, as users run them."""
    with TwoStations("4539-2400S") as two, \
            sis.Client(two.servers[1]) as far, sis.Client(two.servers[1]) as sink:
        far.bind(orderwire.SAP)
        sink.bind(9)
        bulk = subprocess.Popen(["hf", "console", "throughput", "--to", "1.2.0.2", "--sap", "9",
                                 "--server", two.servers[0], "--octets", "10000000",
                                 "--send-only"], stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)
        try:
            # More than one longest transmission waits.
            until(lambda: two.stations[0].data_link.state().queued_octets > 40000, 60)
            for k in range(3):
                before = two.transmissions()
                said = subprocess.run(["hf", "chat", "--to", "1.2.0.2", "--server",
                                       two.servers[0]], input=f"message {k}\n", text=True,
                                      capture_output=True, timeout=120)
                assert said.returncode == 0, said.stderr
                got = far.next(timeout=60)
                assert got.u_pdu == f"message {k}\r\n".encode()
                # One may pass while hf chat starts: the air runs faster than the clock. The
                # present one carries it, and the next one at the latest. Confirmed it is at the
                # end of that.
                assert two.transmissions() - before <= 3
            assert bulk.poll() is None
        finally:
            bulk.terminate()
            bulk.wait(20)


def test_wrong_arguments_are_named():
    for arguments, named in (({"address": "nowhere"}, "nowhere"), ({"port": 65536}, "65536"),
                             ({"max_clients": 4}, "4"), ({"max_out": 10}, "10"),
                             ({"ranks": ["127.0.0.1=16"]}, "127.0.0.1=16"),
                             ({"ranks": ["127.0.0.1"]}, "PREFIX=RANK"),
                             ({"ranks": ["nowhere=1"]}, "nowhere")):
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

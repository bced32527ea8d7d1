# SPDX-License-Identifier: GPL-3.0-or-later
"""The host ports over two stations on emulated air."""
import asyncio
import random
import socket
import struct

import pytest

from gnuradio.hf.host import agwpe, ax25
from gnuradio.hf.station import pair
from gnuradio.hf.system import first_octets
import sessions
from sessions import Program


@pytest.fixture(scope="module")
def stations():
    with sessions.Stations(pair.Setting(speed=40, pep_ports=None)) as both:
        yield both


async def attached(stations, side, ardop, call=None):
    program = Program(ardop, call or sessions.CALL_OF[side])
    await program.attach(stations.ports[side] + (0 if ardop else 2))
    return program


@pytest.mark.parametrize("caller, called", [(True, True), (True, False), (False, True),
                                            (False, False)])
def test_data_arrive_before_the_end(stations, caller, called):
    async def run():
        a = await attached(stations, "A", caller)
        b = await attached(stations, "B", called)
        out = random.Random(4).randbytes(5000)
        try:
            a.connect(b.call)
            assert await a.wait(a.connected) and await b.wait(b.connected)
            a.send(out)
            b.send(b"welcome")
            assert await a.wait(lambda: bytes(a.data) == b"welcome")
            a.say("DISCONNECT")
            assert await b.wait(b.over) and await a.wait(a.over)
            assert bytes(b.data) == out
            if called:
                assert b.lines.index("TARGET LA1BBB") < b.lines.index("CONNECTED LA1AAA 2000")
            else:
                assert "CONNECTED LA1AAA LA1BBB 2300" in b.lines
            if caller:
                assert a.lines[-1] == "NEWSTATE DISC" and "BUFFER 0" in a.lines
        finally:
            a.kill()
            b.kill()

    asyncio.run(run())


def test_a_call_that_nobody_takes_fails(stations):
    async def run():
        a = await attached(stations, "A", True)
        try:
            a.connect("LA1BBB")
            assert await a.wait(lambda: "NEWSTATE DISC" in a.lines)
            assert any("no program listens there" in line for line in a.lines)
            a.connect("LA9XYZ")
            assert await a.wait(lambda: any("FAULT LA9XYZ" in line for line in a.lines))
            a.say("MYCALL LA9XYZ")
            assert await a.wait(lambda: any("FAULT MYCALL" in line for line in a.lines))
        finally:
            a.kill()

    asyncio.run(run())


def test_one_program_at_a_time(stations):
    async def run():
        a = await attached(stations, "A", False)
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", stations.ports["A"] + 2)
            writer.write(b"VERSION\r")
            assert await asyncio.wait_for(reader.read(), 10) == b""
            writer.close()
            (there,) = stations.hosts["A"].attached()
            assert there.service == "VARA" and sessions.CALL_OF["A"] in there.who
            assert there.state in ("attached", "listens")
        finally:
            a.kill()

    asyncio.run(run())


@pytest.mark.parametrize("ardop", [True, False])
def test_a_killed_program_can_come_back_at_once(stations, ardop):
    async def run():
        for _ in range(10):
            a = await attached(stations, "A", ardop)
            a.kill()

    asyncio.run(run())


@pytest.mark.parametrize("ardop", [True, False])
def test_garbage_leaves_the_port_usable(stations, ardop):
    async def run():
        r = random.Random(5)
        words = ["MYCALL", "LISTEN", "ARQCALL", "CONNECT", "DISCONNECT", "ABORT", "ARQBW", "BW500",
                 "TRUE", "ON", "LA1AAA", "LA1BBB", "1", "FECSEND", "CQFRAME", "BUFFER", "\x00",
                 "STATE", "x" * 300, "LA1BBB 5", "\xff"]
        a = await attached(stations, "A", ardop)
        try:
            for _ in range(300):
                a.say(" ".join(r.choices(words[:18] + words[19:20], k=r.randrange(1, 4))))
            count = len(a.lines)
            assert await a.wait(lambda: len(a.lines) > count)
            a.say("ABORT")
            a.say("VERSION")
            assert await a.wait(lambda: a.lines[-1].startswith("VERSION gr-hf"))
        finally:
            a.kill()
        a = await attached(stations, "A", ardop)
        a.kill()

    asyncio.run(run())


def frame_from(sock):
    head = b""
    while len(head) < 36:
        head += sock.recv(36 - len(head))
    data = b""
    while len(data) < struct.unpack("<I", head[28:32])[0]:
        data += sock.recv(65536)
    return chr(head[4]), head[8:18].rstrip(b"\0").decode(), data


def test_agwpe_connects_sends_and_ends(stations):
    with socket.create_connection(("127.0.0.1", stations.ports["A"] + 4), 20) as a, \
            socket.create_connection(("127.0.0.1", stations.ports["B"] + 4), 20) as b:
        for sock, call in ((a, "LA1AAA"), (b, "LA1BBB-2")):
            sock.settimeout(20)
            sock.sendall(agwpe.encode(agwpe.Frame("X", call, "")))
            assert frame_from(sock) == ("X", call, b"\x01")
        b.sendall(agwpe.encode(agwpe.Frame("X", "LA9XYZ", "")))
        assert frame_from(b) == ("X", "LA9XYZ", b"\x00")
        a.sendall(agwpe.encode(agwpe.Frame("C", "LA1AAA", "LA1BBB-2")))
        kind, who, text = frame_from(b)
        assert (kind, who) == ("C", "LA1AAA") and text.startswith(b"*** CONNECTED To Station")
        kind, who, text = frame_from(a)
        assert (kind, who) == ("C", "LA1BBB-2") and text.startswith(b"*** CONNECTED With")
        (there,) = stations.hosts["B"].attached()
        assert there == ("AGWPE", f"127.0.0.1:{b.getsockname()[1]} LA1BBB-2",
                         "in a session with LA1AAA")
        a.sendall(agwpe.encode(agwpe.Frame("D", "LA1AAA", "LA1BBB-2", b"hello", 0, 0xF0)))
        a.sendall(agwpe.encode(agwpe.Frame("Y", "LA1AAA", "LA1BBB-2")))
        assert frame_from(a)[2] == b"\x01\0\0\0"
        assert frame_from(b) == ("D", "LA1AAA", b"hello")
        a.sendall(agwpe.encode(agwpe.Frame("d", "LA1AAA", "LA1BBB-2")))
        assert frame_from(b)[0] == "d" and frame_from(a)[0] == "d"


def test_agwpe_with_the_suffix_0(stations):
    """Programs write it, and expect it in answers."""
    with socket.create_connection(("127.0.0.1", stations.ports["A"] + 4), 20) as a, \
            socket.create_connection(("127.0.0.1", stations.ports["B"] + 4), 20) as b:
        for sock, call in ((a, "la1aaa-0"), (b, "LA1BBB-0")):
            sock.settimeout(20)
            sock.sendall(agwpe.encode(agwpe.Frame("X", call, "")))
            assert frame_from(sock) == ("X", call, b"\x01")
        a.sendall(agwpe.encode(agwpe.Frame("C", "la1aaa-0", "LA1BBB-0")))
        assert frame_from(b)[:2] == ("C", "LA1AAA")
        assert frame_from(a)[:2] == ("C", "LA1BBB-0")
        a.sendall(agwpe.encode(agwpe.Frame("D", "la1aaa-0", "LA1BBB-0", b"hello", 0, 0xF0)))
        assert frame_from(b) == ("D", "LA1AAA", b"hello")
        b.sendall(agwpe.encode(agwpe.Frame("D", "LA1BBB-0", "LA1AAA", b"there", 0, 0xF0)))
        assert frame_from(a) == ("D", "LA1BBB-0", b"there")
        a.sendall(agwpe.encode(agwpe.Frame("d", "la1aaa-0", "LA1BBB-0")))
        assert frame_from(b)[0] == "d" and frame_from(a)[:2] == ("d", "LA1BBB-0")


def test_kiss_confirms_frames_in_ackmode_and_sends_only_own_call_signs(stations):
    def ui(call, text):
        return ax25.encode(ax25.Ui(call, "APRS", [], 0xF0, text))

    with socket.create_connection(("127.0.0.1", stations.ports["A"] + 5), 20) as a, \
            socket.create_connection(("127.0.0.1", stations.ports["A"] + 4), 20) as agw, \
            socket.create_connection(("127.0.0.1", stations.ports["B"] + 5), 20) as b:
        for sock in (a, b):
            sock.settimeout(30)
        foreign = ui("N0CALL", b"foreign")
        a.sendall(ax25.kiss(foreign))
        agw.sendall(agwpe.encode(agwpe.Frame("K", "", "", b"\0" + foreign)) +
                    agwpe.encode(agwpe.Frame("M", "N0CALL", "APRS", b"foreign")))
        a.sendall(ax25.kiss(b"\x12\xc0" + ui("LA1AAA", b"own"), b"\x0c"))
        assert a.recv(100) == ax25.kiss(b"\x12\xc0", b"\x0c")
        assert b.recv(1000) == ax25.kiss(ui("LA1AAA", b"own"))


def test_vara_hosts_are_answered_as_their_modem_does(stations):
    """What Winlink Express, BPQ32 and Pat send first."""
    with socket.create_connection(("127.0.0.1", stations.ports["A"] + 2), 20) as a:
        a.settimeout(20)
        lines = a.makefile("rb")

        def answer():
            text = b""
            while not text.endswith(b"\r"):
                text += lines.read(1)
            return text.decode().strip()

        for command in ("PUBLIC OFF", "CWID OFF", "COMPRESSION ON", "COMPRESSION OFF",
                        "COMPRESSION TEXT", "COMPRESSION FILES", "BW500", "BW2300", "BW2750",
                        "P2P SESSION", "WINLINK SESSION", "CHAT ON", "RETRIES 10", "LISTEN OFF"):
            a.sendall(command.encode() + b"\r")
            assert answer() == "OK", command
        a.sendall(b"COMPRESSION MAYBE\r")
        assert answer() == "WRONG"


def test_a_program_whose_machine_has_vanished_frees_its_place():
    """The system asks after a silence, and gives up within two minutes."""
    found = []

    async def run():
        async def connected(reader, writer):
            del reader
            found.append(writer.get_extra_info("socket"))

        server = first_octets.Server(connected, lambda octets: None, lambda: None, eager=True)
        await server.open("127.0.0.1", 0)
        _, writer = await asyncio.open_connection(*server._server.sockets[0].getsockname())
        while not found:
            await asyncio.sleep(0.01)
        options = [found[0].getsockopt(socket.IPPROTO_TCP, option) for option in
                   (socket.TCP_KEEPIDLE, socket.TCP_KEEPINTVL, socket.TCP_KEEPCNT)]
        assert found[0].getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        assert options[0] + options[1] * options[2] <= 120
        assert found[0].getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) <= 120_000
        writer.close()
        server.close()

    asyncio.run(run())


def test_ui_frames_go_from_kiss_and_agwpe_to_all(stations):
    ui = ax25.encode(ax25.Ui("LA1AAA", "APRS", [], 0xF0, b"hello"))
    with socket.create_connection(("127.0.0.1", stations.ports["A"] + 5), 20) as a, \
            socket.create_connection(("127.0.0.1", stations.ports["B"] + 5), 20) as b, \
            socket.create_connection(("127.0.0.1", stations.ports["B"] + 4), 20) as monitor:
        monitor.sendall(agwpe.encode(agwpe.Frame("m", "", "")) +
                        agwpe.encode(agwpe.Frame("R", "", "")))
        assert frame_from(monitor)[0] == "R"
        for sock in (a, b, monitor):
            sock.settimeout(30)
        a.sendall(b"\xc0\x01\x32\xc0" + ax25.kiss(ui))
        assert b.recv(1000) == ax25.kiss(ui)
        kind, who, text = frame_from(monitor)
        assert (kind, who) == ("U", "LA1AAA") and b"hello" in text


def test_fec_data_of_an_ardop_host_reach_the_others(stations):
    async def run():
        a = await attached(stations, "A", True)
        reader, writer = await asyncio.open_connection("127.0.0.1", stations.ports["B"])
        writer.write(b"INITIALIZE\r")
        assert await asyncio.wait_for(reader.readuntil(b"\r"), 30) == b"INITIALIZE\r"
        more, other = await asyncio.open_connection("127.0.0.1", stations.ports["B"] + 1)
        try:
            a.send(b"to all")
            assert await a.wait(lambda: "BUFFER 6" in a.lines)
            a.say("FECSEND TRUE")
            assert await asyncio.wait_for(more.readexactly(11), 30) == b"\x00\x09FECto all"
        finally:
            a.kill()
            writer.close()
            other.close()

    asyncio.run(run())


def test_sessions_that_end_in_every_way():
    result = sessions.trial(sessions.Options(sessions=6, first=1))
    assert sessions.good(result), sessions.report(result)
    assert sum(result.ends.values()) == 6

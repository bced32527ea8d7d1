# SPDX-License-Identifier: GPL-3.0-or-later
"""No web page in the operator's browser keys a transmitter or changes a state at any port.

HF_BROWSER_INPUTS: connections at each port, 1000 by default.
"""
import asyncio
import contextlib
import os
import socket

import browsers
from gnuradio.hf.host.agwpe import AgwpePort
from gnuradio.hf.host.ardop import ArdopPort
from gnuradio.hf.host.engine import Engine
from gnuradio.hf.host.kiss import KissPort
from gnuradio.hf.host.vara import VaraPort
from gnuradio.hf.station import pair
from gnuradio.hf.system import first_octets
import sessions
from gnuradio.hf.mail import hmtp, intake
from gnuradio.hf.sis import s5066
import pytest

COUNT = int(os.environ.get("HF_BROWSER_INPUTS", "1000"))


class Transport(asyncio.Transport):
    """A connection in memory."""

    def __init__(self):
        super().__init__({"socket": socket.socket(), "peername": ("127.0.0.1", 1)})
        self.closed, self.written = False, b""

    def write(self, data):
        self.written += data

    def close(self):
        self.closed = True
        self.get_extra_info("socket").close()

    abort = close

    def is_closing(self):
        return self.closed

    def get_write_buffer_size(self):
        return 0

    def set_write_buffer_limits(self, high=None, low=None):
        pass

    def pause_reading(self):
        pass

    def resume_reading(self):
        pass


class Calls(Engine):
    """An engine that counts calls."""

    def __init__(self):
        super().__init__({"LA1AAA": "1.2.0.1", "LA1BBB": "1.2.0.2"}, "1.2.0.1", self._line)
        self.acts, self.lines = [], []

    def _line(self, text):
        self.lines.append(text)

    async def call(self, user, caller, called):
        self.acts.append((caller, called))
        await asyncio.Event().wait()


async def connect(factory, pieces):
    """Everything of a connection, until the port has read it. Returns the transport."""
    made, transport = factory(), Transport()
    made.connection_made(transport)
    for piece in pieces:
        if transport.closed:
            break
        made.data_received(piece)
        await asyncio.sleep(0)
    for _ in range(4):
        await asyncio.sleep(0)
    refused = transport.closed
    transport.close()
    made.connection_lost(None)
    for _ in range(4):
        await asyncio.sleep(0)
    return refused


async def attached(port, first):
    """A program at the command port, which stays."""
    made, transport = port.command_server.protocol(), Transport()
    made.connection_made(transport)
    made.data_received(first)
    while not transport.written:
        await asyncio.sleep(0)
    return made


def state_of(port):
    """What a page must not change."""
    return (port.calls, port.listening, port.session, port._call, port._command, port._data,
            bytes(getattr(port, "_queue", b"")), getattr(port, "_values", None))


#: Ports with two sockets, whether a program is attached, and which of the sockets the page opens.
LINES = [(kind, with_program, data) for kind in (ArdopPort, VaraPort)
         for with_program in (False, True) for data in (False, True)]


@pytest.mark.parametrize("kind, with_program, data", LINES)
def test_no_page_does_anything_at_a_port_with_two_sockets(kind, with_program, data):
    async def run():
        engine = Calls()
        port = kind(engine, engine.acts.append)
        program = await attached(port, b"MYCALL LA1AAA\r") if with_program else None
        before = state_of(port)
        server = port.data_server if data else port.command_server
        for k, pieces in enumerate(browsers.connections(1, COUNT)):
            refused = await connect(server.protocol, pieces)
            assert refused or not pieces, pieces
            assert state_of(port) == before and not engine.acts, (k, pieces)
        assert len(engine.lines) == 1  # one line of the log for all of them
        if program is not None:
            program.connection_lost(None)

    asyncio.run(run())


def test_no_page_transmits_at_the_ports_with_one_socket():
    async def run():
        for kind in (AgwpePort, KissPort):
            engine = Calls()
            port = kind(engine, engine.acts.append)
            for pieces in browsers.connections(2, COUNT):
                assert await connect(port.server.protocol, pieces) or not pieces, pieces
                assert not engine.acts and not port._programs, pieces
            if kind is AgwpePort:
                assert not port.listens("LA1AAA")

    asyncio.run(run())


def test_no_page_opens_a_session():
    async def run():
        engine = Calls()
        for pieces in browsers.connections(3, COUNT // 5):
            reader = asyncio.StreamReader()
            for piece in pieces:
                reader.feed_data(piece)
            reader.feed_eof()
            transport = Transport()
            protocol = asyncio.StreamReaderProtocol(reader)
            protocol.connection_made(transport)
            await engine.arrived(reader, asyncio.StreamWriter(
                transport, protocol, reader, asyncio.get_running_loop()))
            assert not engine.sessions and transport.closed

    asyncio.run(run())


def test_no_page_sends_a_mail():
    async def run():
        taken = []

        def accept(mail):
            taken.append(mail)
            return hmtp.Reply(250, "ok")

        made = intake.Intake(intake.Handler(lambda address: None, accept, None), "127.0.0.1:0",
                             "ship.example", 10000)
        for pieces in browsers.connections(4, COUNT // 5):
            assert await connect(made.factory, pieces) or not pieces, pieces
        assert not taken

    asyncio.run(run())


def test_no_page_reaches_a_sis_server():
    for pieces in browsers.connections(5, COUNT):
        deframer = s5066.deframer()
        for piece in pieces:
            deframer.push(piece)
            assert deframer.next() is None, pieces
        assert deframer.foreign() or not pieces, pieces


def test_what_programs_send_first_is_taken():
    async def run():
        engine = Calls()
        vara, ardop = VaraPort(engine, engine.acts.append), ArdopPort(engine, engine.acts.append)
        for port, first in (
                (vara, b"\r\nVERSION\r\n"), (vara, b"bw500\r"), (vara, b"P2P SESSION\r"),
                (ardop, b"INITIALIZE\r"), (ardop, b"state\r"), (ardop, b"ARQBW\r")):
            program = await attached(port, first)
            program.connection_lost(None)
            while port._command is not None:
                await asyncio.sleep(0)
        kiss, agwpe = KissPort(engine, engine.acts.append), AgwpePort(engine, engine.acts.append)
        for port, name in ((kiss, "kiss"), (agwpe, "agwpe")):
            for unit in browsers.UNITS[name]:
                count = len(engine.acts)
                made = port.server.protocol()
                made.connection_made(Transport())
                for octet in unit:
                    made.data_received(bytes([octet]))
                while len(engine.acts) == count:
                    await asyncio.sleep(0)
                made.connection_lost(None)

    asyncio.run(asyncio.wait_for(run(), 20))


def test_a_connection_that_sends_nothing_does_not_hold_a_port():
    async def run():
        engine = Calls()
        port = VaraPort(engine, engine.acts.append)
        idle = []
        for _ in range(2 * first_octets.MAX_WAITING):
            made, transport = port.command_server.protocol(), Transport()
            made.connection_made(transport)
            idle.append(transport)
        held = port.data_server.protocol()
        held.connection_made(Transport())
        assert sum(not t.closed for t in idle) == first_octets.MAX_WAITING
        data = port.data_server.protocol()
        data.connection_made(Transport())
        await asyncio.sleep(0)
        await attached(port, b"MYCALL LA1AAA\r")
        await attached(port, b"LISTEN ON\r") if port._command is None else None
        assert port.calls == ["LA1AAA"]
        assert port._data.transport is data._guarded
        port.command_server.close()
        assert all(t.closed for t in idle)

    asyncio.run(asyncio.wait_for(run(), 20))


@pytest.mark.parametrize("octets, expected", [
    (b"POST / HTTP/1.1\r\n", True), (b"CQFRAME /x HTTP/1.1", True), (b"OPTIONS * HTTP/1.1", True),
    (b"GET http://a/ HTTP/1.1", True), (b"CONNECT a:1 HTTP/1.1", True), (b"\x16\x03\x01", True),
    (b"\0\x03\0\x10\x21\x12\xa4\x42", True), (b"\0\x1c\0\x01\0\x10\x21\x12\xa4\x42", True),
    (b"CONNECT LA1AAA LA1BBB\r", False), (b"MYCALL LA1AAA\r", False), (b"EHLO x.y\r\n", False),
    (b"\xc0\0", False), (b"", False)])
def test_browsers_are_told_by_their_first_octets(octets, expected):
    assert first_octets.from_browser(octets) is expected


# --- real sockets -------------------------------------------------------------------------------

def closed_without_a_word(port, pieces):
    """Whether a port ends a connection."""
    with socket.create_connection(("127.0.0.1", port), 20) as sock:
        sock.settimeout(20)
        with contextlib.suppress(ConnectionError):
            for piece in pieces:
                sock.sendall(piece)
            while sock.recv(4096):
                pass
        return True


def test_the_ports_of_a_station_close_what_a_browser_sends():
    with sessions.Stations(pair.Setting(speed=40, pep_ports=None)) as both:
        base = both.ports["A"]
        server = both.pair.stations["A"]
        ports = [*range(base, base + 6), server.sis_server.port()]
        for k, pieces in enumerate(browsers.connections(6, 60)):
            if pieces:
                assert closed_without_a_word(ports[k % len(ports)], pieces)
        assert server.data_link.stats()["transmissions"] == 0

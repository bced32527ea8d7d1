# SPDX-License-Identifier: GPL-3.0-or-later
"""The host ports without a station: their answers line by line, their limits, and sessions between
two engines whose streams meet on the loopback."""
import asyncio
import contextlib
import queue
import struct
import threading
import types

from gnuradio.hf import station
from gnuradio.hf.host import (agwpe, ardop, ax25, engine, frames, greeting, kiss, lines, ports,
                              session, vara)
from gnuradio.hf.host.greeting import Answer
from gnuradio.hf.sis import s5066
from gnuradio.hf.system import netns
import pytest

CALLS = {"LA1AAA": "1.2.0.1", "LA1AAA-7": "1.2.0.1", "LA1BBB": "1.2.0.2"}
UNKNOWN = "is no call sign of this station, which has LA1AAA, LA1AAA-7"


class Writer:
    """The socket of a program in memory."""

    def __init__(self, waiting=0):
        self.octets, self.closed, self.aborted = b"", False, False
        self.transport = types.SimpleNamespace(get_write_buffer_size=lambda: waiting,
                                               abort=lambda: setattr(self, "aborted", True))

    def write(self, octets):
        self.octets += octets

    def close(self):
        self.closed = True

    async def drain(self):
        pass

    def get_extra_info(self, name):
        return ("127.0.0.1", 9) if name == "peername" else types.SimpleNamespace(fileno=lambda: -1)

    def taken(self):
        octets, self.octets = self.octets, b""
        return octets


def side(number=1, kinds=(ardop.ArdopPort,)):
    """The engine of station 1 or 2, its ports, what it says and what it broadcasts."""
    said, sent = [], []
    made = engine.Engine(dict(CALLS), f"1.2.0.{number}", said.append)
    ports = [kind(made, sent.append) for kind in kinds]
    for port in ports:
        if isinstance(port, lines.LinePort):
            port._command, port._data = Writer(), Writer()
            port.reset()
    return types.SimpleNamespace(engine=made, ports=ports, said=said, sent=sent)


def check_lines(port, exchanges):
    for command, answers in exchanges:
        port.line(command)
        got = [line.decode() for line in port._command.taken().split(b"\r")[:-1]]
        assert got == answers, command


ARDOP = [
    ("STATE", ["STATE DISC"]), ("CODEC", ["CODEC TRUE"]), ("codec true", ["CODEC now TRUE"]),
    ("MYCALL", ["MYCALL"]), ("ARQCALL LA1BBB 5", ["FAULT MYCALL not set"]),
    ("MYCALL la1aaa", ["MYCALL now LA1AAA"]), ("MYCALL", ["MYCALL LA1AAA"]), ("MYAUX", ["MYAUX"]),
    ("MYCALL LA1BBB", [f"FAULT MYCALL: LA1BBB {UNKNOWN}"]),
    ("MYAUX la1aaa-7, ", ["MYAUX now LA1AAA-7"]), ("MYAUX", ["MYAUX LA1AAA-7"]),
    ("LISTEN", ["LISTEN FALSE"]), ("LISTEN true", ["LISTEN now TRUE"]),
    ("LISTEN x", ["FAULT SYNTAX ERR: LISTEN x"]), ("LISTEN", ["LISTEN TRUE"]),
    ("LISTEN FALSE", ["LISTEN now FALSE"]), ("LISTEN", ["LISTEN FALSE"]),
    ("arqbw", ["ARQBW 2000MAX"]), ("ARQBW 500max", ["ARQBW now 500MAX"]),
    ("ARQBW", ["ARQBW 500MAX"]), ("ARQBW 300MAX", ["FAULT SYNTAX ERR: ARQBW 300MAX"]),
    ("GRIDSQUARE", ["GRIDSQUARE"]), ("SQUELCH 6", ["SQUELCH now 6"]),
    ("FSKONLY 1", ["FAULT SYNTAX ERR: FSKONLY 1"]), ("FSKONLY true", ["FSKONLY now TRUE"]),
    ("CWID onoff", ["CWID now ONOFF"]), ("ping x", ["PING"]),
    ("X y", ["FAULT CMD X NOT RECOGNIZED"]),
    ("ARQCALL LA1BBB", ["FAULT SYNTAX ERR: ARQCALL LA1BBB"]),
    ("ARQCALL LA1BBB x", ["FAULT SYNTAX ERR: ARQCALL LA1BBB x"]),
    ("ARQCALL LA1AAA 5", ["FAULT LA1AAA is this station itself"]),
    ("ARQCALL LA9XYZ 5", ["FAULT LA9XYZ is not in the table [host.calls]"]),
    ("DISCONNECT", ["DISCONNECT IGNORED", "NEWSTATE DISC"]), ("ABORT", ["ABORT"]), ("DD", ["DD"]),
    ("BUFFER", ["BUFFER 0"]), ("DATATOSEND", ["DATATOSEND 0"]),
    ("DATATOSEND 0", ["PURGEBUFFER", "BUFFER 0"]), ("FECSEND x", ["FAULT SYNTAX ERR: FECSEND x"]),
    ("FECSEND TRUE", ["FECSEND now TRUE"])]


def test_answers_of_the_ardop_port():
    async def run():
        one = side()
        (port,) = one.ports
        check_lines(port, ARDOP)
        port.idle_data(b"x" * ardop.FEC_MAX)
        port.idle_data(b"y")
        assert port._command.taken().decode() == (
            f"BUFFER {ardop.FEC_MAX}\rFAULT more than {ardop.FEC_MAX} octets wait\r")
        check_lines(port, [("FECSEND FALSE", ["FECSEND now FALSE"]),
                           ("DATATOSEND", [f"DATATOSEND {ardop.FEC_MAX}"]),
                           ("FECSEND true", ["FECSEND now TRUE", "NEWSTATE FECSEND", "BUFFER 0",
                                             "NEWSTATE DISC"]), ("BUFFER", ["BUFFER 0"])])
        assert one.sent == [b"x" * ardop.FEC_MAX]
        port.idle_data(b"z")
        check_lines(port, [("PURGEBUFFER", ["BUFFER 1", "PURGEBUFFER", "BUFFER 0"])])
        port.heard(b"d" * (ardop.BLOCK_MAX + 1))
        assert port._data.taken() == b"\x03\xebFEC" + b"d" * 1000 + b"\x00\x04FECd"
        port.reset()
        check_lines(port, ARDOP[3:5] + [("ARQBW", ["ARQBW 2000MAX"])])

    asyncio.run(run())


VARA = [
    ("BW500", ["OK"]), ("BW600", ["WRONG"]), ("chat on", ["OK"]), ("CHAT", ["WRONG"]),
    ("RETRIES 12", ["OK"]), ("RETRIES 1234", ["WRONG"]), ("P2P SESSION", ["OK"]),
    ("MYCALL", ["WRONG"]), ("MYCALL LA1BBB", ["WRONG"]),
    ("CONNECT LA1AAA LA1BBB", ["OK", "DISCONNECTED"]),
    ("MYCALL" + 5 * " LA1AAA", ["OK"] + 5 * ["REGISTERED LA1AAA"]),
    ("MYCALL" + 6 * " LA1AAA", ["WRONG"]), ("MYCALL la1aaa", ["OK", "REGISTERED LA1AAA"]),
    ("LISTEN x", ["WRONG"]), ("LISTEN cq", ["OK"]), ("CONNECT LA1AAA", ["WRONG"]),
    ("CONNECT LA1AAA-7 LA1BBB", ["OK", "DISCONNECTED"]),
    ("CONNECT LA1AAA LA1AAA", ["OK", "DISCONNECTED"]), ("DISCONNECT", ["OK", "DISCONNECTED"]),
    ("ABORT", ["OK", "DISCONNECTED"]), ("CQFRAME", ["WRONG"]), ("CQFRAME LA1BBB", ["WRONG"]),
    ("CQFRAME LA1AAA", ["OK"]), ("CQFRAME LA1AAA 500", ["OK"])]


def test_answers_of_the_vara_port():
    async def run():
        one = side(kinds=[vara.VaraPort])
        (port,) = one.ports
        check_lines(port, VARA)
        assert port.listening and one.sent == [b"CQFRAME LA1AAA 2300", b"CQFRAME LA1AAA 500"]
        check_lines(port, [("LISTEN OFF", ["OK"])])
        assert not port.listening and port._bandwidth == "500"
        for data, told in ((b"CQFRAME la1bbb 500", b"CQFRAME LA1BBB 500\r"), (b"CQFRAME A 5", b""),
                           (b"CQFRAME 1234 5", b""), (b"XCQFRAME LA1BBB 5", b"")):
            port.heard(data)
            assert port._command.taken() == told
        assert port.framed("ARQ", b"x") == b"x" and port.data_begins(b"x") is False
        assert port.knows("bw500") and port.knows("mycall x") and not port.knows("GET / HTTP/1.1")
        port.reset()
        assert port._bandwidth == "2300" and not port.calls

    asyncio.run(run())


def test_a_program_that_reads_nothing_is_dropped():
    async def run():
        (port,) = side().ports
        for waiting, dropped in ((lines.UNREAD_MAX, False), (lines.UNREAD_MAX + 1, True)):
            port._command = Writer(waiting)
            port.tell("x")
            assert port._command.aborted == dropped
        program = agwpe._Program(None, Writer(agwpe.UNREAD_MAX))
        program.tell(agwpe.Frame("X", "", ""))
        assert program.writer.octets and not program.writer.aborted
        program.writer = Writer(agwpe.UNREAD_MAX + 1)
        program.tell(agwpe.Frame("X", "", ""))
        assert program.writer.aborted and not program.writer.octets
        modem = kiss.KissPort(side().engine, None)
        modem._programs = [Writer(kiss.UNREAD_MAX), Writer(kiss.UNREAD_MAX + 1)]
        modem.heard(b"x")
        assert [w.aborted for w in modem._programs] == [False, True]
        assert [w.octets for w in modem._programs] == [b"\xc0\0x\xc0", b""]

    asyncio.run(run())


# --- AGWPE and KISS -----------------------------------------------------------------------------

def frames_of(octets):
    found = []
    while octets:
        port, kind, pid, source, to, length = agwpe.HEADER.unpack_from(octets)
        end = agwpe.HEADER.size + length
        found.append((chr(kind), source.split(b"\0")[0].decode(), to.split(b"\0")[0].decode(),
                      octets[agwpe.HEADER.size:end]))
        octets = octets[end:]
    return found


def program_at(port):
    made = agwpe._Program(port, Writer())
    port._programs.add(made)
    return made


def test_answers_of_the_agwpe_port():
    async def run():
        one = side(kinds=[agwpe.AgwpePort])
        (port,) = one.ports
        first, second = program_at(port), program_at(port)

        async def ask(program, kind, source="", to="", data=b""):
            await program.take(agwpe.Frame(kind, source, to, data))
            return frames_of(program.writer.taken())

        assert await ask(first, "R") == [("R", "", "", struct.pack("<HHHH", 2005, 0, 127, 0))]
        assert await ask(first, "G") == [("G", "", "", b"1;Port1 HF data link;\0")]
        assert await ask(first, "g") == [("g", "", "", b"\3\0\0\0\0\0\x7f\0\0\0\0\0")]
        assert await ask(first, "X", "LA1BBB") == [("X", "LA1BBB", "", b"\0")]
        assert await ask(first, "X", "la1aaa") == [("X", "la1aaa", "", b"\1")]
        assert await ask(first, "X", "LA1AAA") == [("X", "LA1AAA", "", b"\1")]
        assert await ask(second, "X", "LA1AAA") == [("X", "LA1AAA", "", b"\0")]
        assert port.listens("LA1AAA") and not port.free("LA1AAA") and port.free("LA1AAA-7")
        assert port.attached() and ("127.0.0.1:9 LA1AAA", "attached") in port.attached()
        assert port.offer("LA1BBB", "LA1AAA") is first and port.offer("LA1BBB", "LA9X") is None
        assert await ask(first, "x", "LA1AAA") == [] and port.free("LA1AAA")
        (end,) = await ask(first, "C", "LA1AAA-0", "LA1AAA")
        assert end[:3] == ("d", "LA1AAA", "LA1AAA-0") and b"is this station itself" in end[3]
        (end,) = await ask(first, "d", "LA1AAA", "LA1BBB")
        assert end[0] == "d" and end[3].endswith(b": no session\r\0")
        for _ in range(2):
            assert await ask(first, "D", "LA1AAA", "LA1BBB", b"x") == []
        assert sum("data were dropped" in line for line in one.said) == 1
        assert await ask(first, "Y", "LA1AAA", "LA1BBB") == [("Y", "LA1AAA", "LA1BBB", bytes(4))]
        assert await ask(first, "y") == [("y", "", "", bytes(4))]
        # Frames to all.
        await ask(first, "M", "LA1AAA", "aprs", b"hi")
        via = b"\2" + b"WIDE1-1\0\0\0" + b"LA1BBB\0\0\0\0"
        await ask(first, "V", "LA1AAA", "APRS", via + b"hi")
        heard = [ax25.decode(frame) for frame in one.sent]
        assert heard == [ax25.Ui("LA1AAA", "APRS", [], 0xF0, b"hi"),
                         ax25.Ui("LA1AAA", "APRS", ["WIDE1-1", "LA1BBB"], 0xF0, b"hi")]
        await ask(first, "V", "LA1AAA", "APRS", via)
        await ask(first, "K", data=b"\0" + one.sent[0])
        assert one.sent[3] == one.sent[0] and len(one.sent) == 4
        dropped = len(one.said)
        for kind, source, data in (("V", "LA1AAA", via[:-1]), ("V", "LA1AAA", b"\x09" + bytes(99)),
                                   ("M", "LA1BBB", b"hi"), ("K", "", b"\0\1"),
                                   ("K", "", b"\0" + ax25.encode(heard[0]._replace(
                                       source="LA1BBB")))):
            await ask(first, kind, source, "APRS", data)
        assert len(one.sent) == 4 and len(one.said) == dropped + 5
        assert await ask(first, "V", "LA1AAA", "APRS", b"\x08" + bytes(80)) == []
        port.heard(one.sent[1])
        assert first.writer.taken() == b""
        await ask(first, "m")
        port.heard(one.sent[1])
        ((kind, source, to, text),) = frames_of(first.writer.taken())
        assert (kind, source, to) == ("U", "LA1AAA", "APRS") and text.endswith(b"]\rhi\r\0")
        assert b"Via WIDE1-1,LA1BBB <UI pid=F0 Len=2 >" in text
        await ask(first, "m")
        await ask(first, "k")
        port.heard(one.sent[1])
        assert frames_of(first.writer.taken()) == [("K", "LA1AAA", "APRS", b"\0" + one.sent[1])]
        port.heard(b"\1\2")
        await ask(first, "k")
        port.heard(one.sent[1])
        assert first.writer.taken() == b""

    asyncio.run(run())


@pytest.mark.parametrize("octets, good", [
    (bytes(36)[:4] + b"R" + bytes(31), True), (b"\2\0\0\0R" + bytes(31), True),
    (b"\0\1\0\0R" + bytes(31), False), (b"\0\0\0\0R\1" + bytes(30), False),
    (b"\0\0\0\0R\0\1\1" + bytes(28), False), (b"\0\0\0\0Z" + bytes(31), False),
    (b"\0\0\0\0R" + bytes(30), None), (b"\0\0\0\0R\0\0\0\xc3" + bytes(27), False),
    (b"\0\0\0\0D" + bytes(23) + struct.pack("<I", agwpe.DATA_MAX) + bytes(4), True),
    (b"\0\0\0\0D" + bytes(23) + struct.pack("<I", agwpe.DATA_MAX + 1) + bytes(4), False)])
def test_what_a_connection_to_the_agwpe_port_begins_with(octets, good):
    assert agwpe.begins(octets) is good


def test_the_kiss_port_takes_our_own_ui_frames_and_says_why_not():
    async def run():
        one = side(kinds=[kiss.KissPort])
        (port,) = one.ports
        ours = ax25.encode(ax25.Ui("LA1AAA", "APRS", [], 0xF0, b"hi"))
        reader, writer = asyncio.StreamReader(limit=4 * ax25.FRAME_MAX), Writer()
        theirs = ax25.encode(ax25.Ui("LA1BBB", "APRS", [], 0xF0, b"hi"))
        reader.feed_data(ax25.kiss(ours) + ax25.kiss(ours, b"\x0c\x12\x34") + ax25.kiss(theirs)
                         + ax25.kiss(b"\1\2") + ax25.kiss(theirs) + ax25.kiss(b"x", b"\1"))
        reader.feed_eof()
        await port._program(reader, writer)
        assert one.sent == [ours, ours] and writer.octets == b"\xc0\x0c\x12\x34\xc0"
        assert one.said == ["host: KISS port: a frame was dropped: " + why
                            for why in (f"LA1BBB {UNKNOWN}", "allowed are UI frames")]
        assert writer.closed and not port._programs
        port._said = {str(k) for k in range(kiss.SAID_MAX - 1)}
        for suffix in (1, 2):
            port._take(ax25.encode(ax25.Ui(f"LA1BBB-{suffix}", "APRS", [], 0xF0, b"")))
        assert len(one.said) == 3 and len(port._said) == kiss.SAID_MAX
        port._programs = {Writer() for _ in range(kiss.PROGRAMS_MAX)}
        await port._program(reader, last := Writer())
        assert last.closed and last not in port._programs

    asyncio.run(run())


@pytest.mark.parametrize("octets", range(ax25.FRAME_MAX - 1, ax25.FRAME_MAX + 2))
def test_ax25_frames_have_a_longest(octets):
    head = ax25.encode(ax25.Ui("LA1AAA-15", "APRS", ["WIDE1-1"] * 8, 0xF0, b""))
    found = ax25.decode(head + bytes(octets - len(head)))
    assert (found is not None) == (octets <= ax25.FRAME_MAX == 1096)
    if found:
        assert (found.source, len(found.via)) == ("LA1AAA-15", 8)
    assert ax25.decode(ax25.encode(ax25.Ui("LA1AAA", "APRS", ["WIDE1-1"] * 9, 0xF0, b""))) is None
    for bad in ("LA1AAA-16", "LA1AAAA", "L-1-1"):
        with pytest.raises(ValueError):
            ax25.encode(ax25.Ui(bad, "APRS", [], 0xF0, b""))


# --- sessions -----------------------------------------------------------------------------------

async def until(condition):
    end = asyncio.get_running_loop().time() + 10
    while not condition():
        assert asyncio.get_running_loop().time() < end, "too late"
        await asyncio.sleep(0.005)


@contextlib.asynccontextmanager
async def both(kinds=(ardop.ArdopPort, vara.VaraPort, agwpe.AgwpePort), listens=True):
    """Two sides whose streams meet on the loopback. The ARDOP port of the second one listens."""
    sides = [side(number, kinds) for number in (1, 2)]
    servers = []
    for k in (0, 1):
        server = await asyncio.start_server(sides[k].engine.arrived, "127.0.0.1", 0)
        servers.append(server)
        sides[1 - k].engine.doors[f"1.2.0.{k + 1}"] = server.sockets[0].getsockname()[1]
        sides[k].ports[0].calls = [("LA1AAA", "LA1BBB")[k]]
    sides[1].ports[0].listening = listens
    try:
        yield sides
    finally:
        for one in sides:
            one.engine.close()
        await until(lambda: not any(one.engine.sessions for one in sides))
        for server in servers:
            server.close()


def test_a_session_has_its_reports_and_its_data():
    async def run():
        async with both() as (a, b):
            near, far = a.ports[0], b.ports[0]
            near.line("ARQCALL LA1BBB 5")
            assert near.calling and near.attached()[0][1] == "calls"
            near.line("ARQCALL LA1BBB 5")
            await until(lambda: near.session and far.session)
            told = near._command.taken().decode().split("\r")
            assert told[:5] == ["ARQCALL LA1BBB 5", "NEWSTATE ISS", "FAULT Not from state ISS",
                                "CONNECTED LA1BBB 2000", ""]
            assert far._command.taken().decode().split("\r")[:4] == [
                "PENDING", "TARGET LA1BBB", "NEWSTATE IRS", "CONNECTED LA1AAA 2000"]
            assert near.attached() == [("127.0.0.1:9 LA1AAA", "in a session with LA1BBB")]
            near.line("ARQCALL LA1BBB 5")
            assert near._command.taken() == b"FAULT Not from state ISS\r"
            assert far.offer("LA1AAA", "LA1BBB") is None
            far.session.send(b"hello")
            await until(lambda: near._data.octets)
            assert near._data.taken() == b"\x00\x08ARQhello"
            assert (near.session.received, far.session.sent) == (5, 5)
            # Another call finds it busy, and none comes out of it.
            program = program_at(a.ports[2])
            await program.take(agwpe.Frame("C", "LA1AAA-0", "LA1BBB"))
            await until(lambda: program.writer.octets)
            ((kind, source, to, text),) = frames_of(program.writer.taken())
            assert (kind, source, to) == ("d", "LA1BBB", "LA1AAA-0")
            assert b"the far program is in another session" in text
            near._data = None
            near.line("DISCONNECT")
            await until(lambda: not near.session and not far.session)
            assert near._command.taken().decode().split("\r")[:4] == [
                "DISCONNECT NOW TRUE", "BUFFER 0", "DISCONNECTED", "NEWSTATE DISC"]
            assert a.said[-1] == ("host: LA1AAA and LA1BBB: disconnected, 0 octets sent, "
                                  "5 received")

    asyncio.run(run())


@pytest.mark.parametrize("how, why", [("ABORT", "aborted"), ("DD", "aborted")])
def test_an_abort_is_reported_at_both_ends(how, why):
    async def run():
        async with both() as (a, b):
            near, far = a.ports[0], b.ports[0]
            near.line("ARQCALL LA1BBB 5")
            await until(lambda: near.session and far.session)
            near._command.taken(), far._command.taken()
            near.line(how)
            await until(lambda: not near.session and not far.session)
            assert near._command.taken().decode() == (
                f"{how}\rSTATUS {why}\rBUFFER 0\rDISCONNECTED\rNEWSTATE DISC\r")
            assert b"STATUS the far station or the link has ended" in far._command.taken()
            near.line("ARQCALL LA1BBB 5")
            near.line(how)
            await until(lambda: not near.calling)
            assert near._command.taken().decode().endswith(
                "STATUS CONNECT TO LA1BBB FAILED! aborted\rNEWSTATE DISC\r")

    asyncio.run(run())


@pytest.mark.parametrize("change, words", [
    (lambda b: setattr(b.ports[0], "listening", False), "no program listens there"),
    (lambda b: setattr(b.ports[0], "_data", None), "no program listens there"),
    (lambda b: setattr(b.ports[0], "calls", ["LA1BBB-7"]), "no program listens there"),
    (lambda b: b.engine.table.pop("LA1AAA"), "our call sign is not known there"),
    (lambda b: b.engine.sessions.update(
        session.Session(types.SimpleNamespace(ended=lambda *_: None), "A", str(k), False)
        for k in range(engine.SESSIONS_MAX)), "the far program is in another session")])
def test_a_refusal_says_why(change, words):
    async def run():
        async with both() as (a, b):
            change(b)
            with pytest.raises(session.Refused, match=words):
                await a.engine.call(a.ports[0], "LA1AAA", "LA1BBB")
            assert not a.engine.sessions
            assert b.said[-1].startswith("host: LA1BBB called by LA1AAA: refused, ")
            b.engine.sessions.clear()

    asyncio.run(run())


def test_limits_of_calls(monkeypatch):
    async def run():
        async with both() as (a, b):
            near = a.engine
            for caller, called, words in (("LA1BBB", "LA1BBB", "no call sign of this"),
                                          ("LA1AAA", "LA9XYZ", "not in the table"),
                                          ("LA1AAA", "LA1AAA-7", "this station itself")):
                with pytest.raises(ValueError, match=words):
                    await near.call(None, caller, called)
            near.sessions = set(range(engine.SESSIONS_MAX))
            with pytest.raises(session.Refused, match="64 sessions are open"):
                await near.call(None, "LA1AAA", "LA1BBB")
            near.sessions = set(range(engine.SESSIONS_MAX - 1))
            made = await near.call(a.ports[0], "LA1AAA", "LA1BBB")
            assert made in near.sessions and made.far == "LA1BBB" and not made.incoming
            made.abort()
            await until(lambda: made not in near.sessions)
            near.sessions = set()
            near.doors["1.2.0.2"] = 1
            for _ in range(2):
                with pytest.raises(session.Refused, match="LA1BBB cannot be reached"):
                    await near.call(None, "LA1AAA", "LA1BBB")
                near.doors.pop("1.2.0.2", None)
            assert not near.sessions
            monkeypatch.setattr(engine, "CALL_S", 0.01)
            silent = await asyncio.start_server(lambda r, w: None, "127.0.0.1", 0)
            near.doors["1.2.0.2"] = silent.sockets[0].getsockname()[1]
            with pytest.raises(session.Refused, match="has not answered within 0.01 s"):
                await near.call(None, "LA1AAA", "LA1BBB")
            assert not near.sessions
            silent.close()

    asyncio.run(run())


def test_sessions_of_the_agwpe_port():
    async def run():
        async with both() as (a, b):
            near, far = program_at(a.ports[2]), program_at(b.ports[2])
            b.ports[0].listening = False
            await far.take(agwpe.Frame("X", "LA1BBB-0", ""))
            far.writer.taken()
            await near.take(agwpe.Frame("C", "LA1AAA-0", "la1bbb"))
            assert near.state() == "calls" and near.has("LA1AAA", "LA1BBB")
            await until(lambda: near._sessions and far._sessions)
            assert frames_of(near.writer.taken()) == [
                ("C", "la1bbb", "LA1AAA-0", b"*** CONNECTED With la1bbb\r\0")]
            assert frames_of(far.writer.taken()) == [
                ("C", "LA1AAA", "LA1BBB-0", b"*** CONNECTED To Station LA1AAA\r\0")]
            assert near.state() == "in a session with LA1BBB" and not near._calling
            assert b.ports[2].offer("LA1AAA", "LA1BBB") is None
            await near.take(agwpe.Frame("C", "LA1AAA", "LA1BBB"))
            assert b"LA1AAA has a session with LA1BBB" in near.writer.taken()
            near._written["LA1AAA", "LA1BBB"] = "LA1AAA-0", "la1bbb"
            data = b"x" * (agwpe.BLOCK_MAX + 1)
            await near.take(agwpe.Frame("D", "LA1AAA", "LA1BBB", data))
            await near.take(agwpe.Frame("D", "LA1BBB", "LA1AAA", b"y"))  # in the order of the call
            await until(lambda: sum(len(f[3]) for f in frames_of(far.writer.octets)) == 1002)
            assert {f[:3] for f in frames_of(far.writer.octets)} == {("D", "LA1AAA", "LA1BBB-0")}
            assert max(len(f[3]) for f in frames_of(far.writer.taken())) == agwpe.BLOCK_MAX
            for count in (2, 0):
                await near.take(agwpe.Frame("Y", "LA1AAA", "LA1BBB"))
                assert frames_of(near.writer.taken())[0][3] == struct.pack("<I", count)
            await near.take(agwpe.Frame("g", "", ""))
            assert frames_of(near.writer.taken())[0][3][7] == 1
            for stuck in (0, 5):
                near._sessions["LA1AAA", "LA1BBB"].octets_waiting = lambda stuck=stuck: stuck
                for kind in "Yy":
                    await near.take(agwpe.Frame(kind, "LA1AAA", "LA1BBB"))
                    (answer,) = frames_of(near.writer.taken())
                    assert answer[3] == struct.pack("<I", stuck // 5)
            await near.take(agwpe.Frame("d", "LA1AAA", "LA1BBB"))
            await until(lambda: not near._sessions and not far._sessions)
            for program, ends in ((near, ("la1bbb", "LA1AAA-0")), (far, ("LA1AAA", "LA1BBB-0"))):
                ((kind, *names, text),) = frames_of(program.writer.taken())
                assert (kind, *names) == ("d", *ends)
                assert text.decode() == (f"*** DISCONNECTED From Station {ends[0]}: "
                                         "disconnected\r\0")
            # A call is aborted by the same frame, and a program that goes ends its sessions.
            await near.take(agwpe.Frame("C", "LA1AAA", "LA1BBB"))
            await near.take(agwpe.Frame("d", "LA1AAA", "LA1BBB"))
            await until(lambda: near.writer.octets)
            assert b"LA1BBB: aborted" in near.writer.taken() and not near._calling
            await near.take(agwpe.Frame("C", "LA1AAA", "LA1BBB"))
            await until(lambda: near._sessions and far._sessions)
            near.lost()
            await until(lambda: not a.engine.sessions and not far._sessions)
            assert b"the far station or the link" in far.writer.taken()

    asyncio.run(run())


def test_a_lost_program_ends_its_session_and_its_call():
    async def run():
        async with both() as (a, b):
            near, far = a.ports[0], b.ports[0]
            near.line("ARQCALL LA1BBB 5")
            await until(lambda: near.session and far.session)
            near._lost()
            assert near.session is None and b"STATUS the program has gone" in near._command.octets
            await until(lambda: not far.session and not a.engine.sessions)
            near.line("ARQCALL LA1BBB 5")
            near._lost()
            await until(lambda: not near.calling)
            assert not a.engine.sessions

    asyncio.run(run())


def test_a_place_may_become_free_in_time(monkeypatch):
    async def run():
        looks = []

        def free():
            looks.append(1)
            return len(looks) > 3

        assert await lines._soon(free) and len(looks) >= 4
        monkeypatch.setattr(lines, "HANDOVER_S", 0.03)
        assert not await lines._soon(lambda: False)

    asyncio.run(asyncio.wait_for(run(), 10))


@pytest.mark.parametrize("command", ["ABORT", "DISCONNECT"])
def test_a_program_hears_once_that_its_vara_session_has_ended(command):
    async def run():
        async with both() as (a, b):
            near, far = a.ports[1], b.ports[0]
            near.calls = ["LA1AAA"]
            near.line("CONNECT LA1AAA LA1BBB")
            await until(lambda: near.session and far.session)
            near._data = None
            near.line("CONNECT LA1AAA LA1BBB")  # no second one
            near.line("CQFRAME LA1AAA")
            near.line(command)
            await until(lambda: not near.session and not far.session)
            assert near._command.taken().decode() == (
                "OK\rCONNECTED LA1AAA LA1BBB 2300\rWRONG\rWRONG\rOK\rDISCONNECTED\r")

    asyncio.run(run())


def test_a_stream_that_nobody_waits_for_is_reset(monkeypatch):
    async def run():
        ended = []
        monkeypatch.setattr(session, "close", lambda writer, reset: ended.append((writer, reset)))
        done, failed, cancelled = (asyncio.get_running_loop().create_future() for _ in range(3))
        done.set_result(("reader", "writer", 0))
        failed.set_exception(OSError())
        cancelled.cancel()
        for opening in (done, failed, cancelled):
            engine._discard(opening)
        assert ended == [("writer", True)]

    asyncio.run(run())


@pytest.mark.parametrize("at_rest, unread, waiting, looks", [
    (True, [0], 0, 1),  # nothing is on its way
    (True, [5, 5, 5, 0], 0, 4),  # the data that the program has written before
    (False, [0], 0, 3),  # half a block: its rest has PART_S
    (False, [0, 0, 5, 0], 0, 6),  # and again after each part
    (False, [0], 9, 9)])  # and while HF-PEP takes no data
def test_a_session_ends_after_the_data_of_its_program(monkeypatch, at_rest, unread, waiting,
                                                      looks):
    """Each look at the socket takes one second of the clock. Rests of two seconds end it."""
    async def run():
        (port,) = side().ports
        port._at_rest, clock, seen = at_rest, [0.0], []

        def look(writer):
            assert writer is port._data
            return unread[min(len(seen) - 1, len(unread) - 1)]

        async def sleep(_):
            seen.append(clock[0])
            clock[0] += 1

        monkeypatch.setattr(lines, "_unread", look)
        monkeypatch.setattr(lines, "PART_S", 2.5)
        monkeypatch.setattr(lines, "time", types.SimpleNamespace(monotonic=lambda: clock[0]))
        monkeypatch.setattr(lines, "asyncio", types.SimpleNamespace(sleep=sleep))
        ended = []
        made = types.SimpleNamespace(
            open=True, disconnect=lambda: ended.append(len(seen)),
            octets_waiting=lambda: waiting if len(seen) <= 6 else 0)
        await port._flush(made)
        assert ended == [looks]

    asyncio.run(run())


def test_the_sockets_of_a_program(monkeypatch):
    async def run():
        one = side()
        (port,) = one.ports
        port._command = port._data = None
        monkeypatch.setattr(lines, "HANDOVER_S", 0.02)
        for at in netns.free_tcp_ports(20):
            with contextlib.suppress(OSError):  # the next one is for data
                await port.open("127.0.0.1", at)
                break
            port.command_server.close()
        reader, writer = await asyncio.open_connection("127.0.0.1", at)
        writer.write(b"STATE\r\r\r state \r")
        for _ in range(2):
            assert await reader.readuntil(b"\r") == b"STATE DISC\r"
        _, data = await asyncio.open_connection("127.0.0.1", at + 1)
        data.write(b"\0\0\0\1h\0\1i")
        assert [await reader.readuntil(b"\r") for _ in "hi"] == [b"BUFFER 1\r", b"BUFFER 2\r"]
        assert port._queue == b"hi" and port._at_rest
        data.write(b"\0")
        other, second = await asyncio.open_connection("127.0.0.1", at)
        second.write(b"STATE\r")
        assert await other.read() == b""
        assert one.said == ["host: ARDOP port: refused a second program"]
        writer.write(b"X" * (lines.LINE_MAX - 1) + b"\r")
        assert (await reader.readuntil(b"\r")).startswith(b"FAULT CMD XXX")
        data.write(b"\2x")
        await until(lambda: not port._at_rest)  # half a block
        writer.write(b"X" * lines.LINE_MAX + b"\r")
        assert await reader.read() == b""
        await until(lambda: port._command is None and port._data is None)
        assert port._at_rest
        # A data socket without a program is closed after a while, or for the next one.
        monkeypatch.setattr(lines, "EARLY_S", 0.05)
        port._had_session = True
        waiting, early = await asyncio.open_connection("127.0.0.1", at + 1)
        early.write(b"\0\5")
        assert await asyncio.wait_for(waiting.read(), 10) == b""
        for stream in (writer, data, second, early):
            stream.close()
        port.close()

    asyncio.run(run())


def test_the_ports_extend_their_station():
    table = "".join(f'LA1{c * 3} = "1.2.0.{k}"\n' for k, c in enumerate("ABC", 1))
    d = station.parse('address = "1.2.0.1"\n[host]\nardop_port = 0\nvara_port = 0\n'
                      f'agwpe_port = 0\nkiss_port = 0\n[host.calls]\n{table}')
    made = ports.HostPorts(d)
    try:
        at = made._server.sockets[0].getsockname()[1]
        names = [f"{node}.hf.internal" for node in ("1.2.0.2", "1.2.0.3")]
        assert d.pep.listen == [f"127.0.0.1:0={name}:8510" for name in names]
        assert d.pep.routes == [f"{name}={name[:7]}" for name in names]
        assert d.pep.allow == [f"hf.internal:8510=127.0.0.1:{at}"]
        assert d.pep.rule[0] == {"port": 8510, "outage_s": 300} and d.sis_server.port == 0
        assert list(made.details()) == ["host ports on 127.0.0.1: none; call signs LA1AAA"]
        assert list(made.attached()) == []
        said, kinds = [], frames.Kind
        made._say = said.append
        for sender, dropped in ((None, 1), (False, 1), (True, 0)):
            made._frames = None if sender is None else types.SimpleNamespace(
                send=lambda kind, data, sent=sender: sent, close=lambda: None)
            made._broadcast(kinds.AX25, b"x")
            assert len(said) == dropped
            said.clear()
        heard = queue.Queue()
        made._hear = {kinds.TEXT: [lambda data: heard.put((1, data))],
                      kinds.AX25: 2 * [lambda data: heard.put((2, data))]}
        made._heard(kinds.TEXT, b"t")
        made._heard(kinds.AX25, b"a")
        assert [heard.get(timeout=10) for _ in range(3)] == [(1, b"t"), (2, b"a"), (2, b"a")]
    finally:
        made.close()


def test_frames_have_a_client_of_their_own(monkeypatch):
    calls, heard, ended = queue.Queue(), queue.Queue(), threading.Event()
    arrived = [s5066.s_unidata_indication() for _ in range(3)]
    for primitive, octets in zip(arrived, (b"\1", b"\x09x", b"\1x")):
        primitive.u_pdu = octets

    class Client(contextlib.nullcontext):
        def bind(self, sap, service):
            calls.put((sap, service.mode))

        def next(self, timeout):
            return arrived.pop(0) if arrived else ended.wait(timeout) and None

        def send(self, node, octets, mode, ttl_s, timeout):
            calls.put((node, octets, mode.mode, ttl_s))
            return True

        def close(self):
            ended.set()

        def __enter__(self):
            return self

    monkeypatch.setattr(frames.sis, "Client", Client)
    made = frames.Frames("server", lambda *frame: heard.put(frame), calls.put)
    none = s5066.transmission_mode.non_arq
    try:
        assert calls.get(timeout=10) == (15, none)
        assert heard.get(timeout=10) == (frames.Kind.AX25, b"x") and heard.empty()
        assert made.send(frames.Kind.CQ, b"y")
        assert calls.get(timeout=10) == ("31.255.255.255", b"\3y", none, 120.0)
    finally:
        made.close()
    assert calls.empty()


def test_the_longest_greeting_is_read():
    calls = greeting.Greeting("LA1AAA-123", "LA1BBB-123")
    octets = bytes([1]) + b"".join(bytes([10]) + call.encode() for call in calls)
    assert len(octets) == greeting.LONGEST == greeting.length(octets)
    assert greeting.length(octets[:1] + b"\x0a" + octets[2:12] + b"\xff") == greeting.LONGEST


def test_every_refusal_has_its_octet():
    assert [int(a) for a in Answer] == [0, 1, 2, 3, 4]
    assert set(engine._WORDS) == set(Answer) - {Answer.ACCEPTED}

# SPDX-License-Identifier: GPL-3.0-or-later
"""Sessions of the host ports between two engines whose streams meet on the loopback."""
import asyncio
import contextlib
import queue
import struct
import threading
import types

from gnuradio.hf import station
from gnuradio.hf.host import (agwpe, ardop, engine, frames, greeting, lines, ports, session,
                              vara)
from gnuradio.hf.host.greeting import Answer
from gnuradio.hf.sis import s5066
from gnuradio.hf.system import netns
import pytest

from sides import frames_of, program_at, side


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
        def bind(self, sap, service, end):
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

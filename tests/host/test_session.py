# SPDX-License-Identifier: GPL-3.0-or-later
"""Sessions and frames by themselves, on socket pairs."""
import asyncio
import socket

from gnuradio.hf.host import frames, greeting, session
from gnuradio.hf.host.engine import GREETING_MAX, Engine
from gnuradio.hf.sis import s5066
import pytest


class User:
    """Takes data when it is told."""

    def __init__(self):
        self.go = asyncio.Event()
        self.taken, self.ends = [], []

    async def deliver(self, _, data):
        await self.go.wait()
        self.taken.append(data)

    def ended(self, _, why):
        self.ends.append(why)


@pytest.mark.parametrize("turns", range(8))
def test_an_abort_at_any_moment_of_a_delivery_ends_the_session(turns):
    """turns: of the event loop between the end of the delivery and the abort. Before Python 3.12
    asyncio.wait_for() loses a cancellation that comes together with its result."""
    async def run():
        ours, far = socket.socketpair()
        reader, writer = await asyncio.open_connection(sock=ours)
        user = User()
        made = session.Session(user, "LA1AAA", "LA1BBB", incoming=False)
        made.begin(reader, writer)
        far.send(b"data")
        await asyncio.sleep(0.05)
        assert made.received == 4 and not user.taken
        user.go.set()
        for _ in range(turns):
            await asyncio.sleep(0)
        made.abort()
        await asyncio.sleep(0.05)
        far.close()
        return list(user.ends), len(user.taken)

    ends, taken = asyncio.run(run())
    assert ends == ["aborted"] and taken <= 1


@pytest.mark.parametrize("turns", range(8))
def test_an_abort_at_any_moment_of_a_call_is_an_abort(turns):
    """turns: of the event loop between the answer of the far station and the abort."""
    async def run():
        ended = asyncio.Event()

        async def far(reader, writer):
            await reader.readexactly(2)
            await asyncio.sleep(0.05)
            writer.write(b"\0")
            try:
                while await reader.read(100):
                    pass
            except OSError:
                pass
            ended.set()
            writer.close()

        server = await asyncio.start_server(far, "127.0.0.1", 0)
        engine = Engine({"LA1AAA": "1.2.0.1", "LA1BBB": "1.2.0.2"}, "1.2.0.1", lambda line: None)
        engine.doors["1.2.0.2"] = server.sockets[0].getsockname()[1]
        user = User()
        opened = engine._open

        async def open_and_count(made, node):
            found = await opened(made, node)
            counted.set()
            return found

        counted, engine._open = asyncio.Event(), open_and_count
        call = asyncio.ensure_future(engine.call(user, "LA1AAA", "LA1BBB"))
        await counted.wait()
        for _ in range(turns):
            await asyncio.sleep(0)
        if call.done():
            call.result().abort()  # it is a session already
        call.cancel()
        await asyncio.wait({call})
        await asyncio.wait_for(ended.wait(), 5)
        server.close()
        return engine.sessions, call.cancelled() or user.ends == ["aborted"]

    assert asyncio.run(run()) == (set(), True)


CALLS = {"LA1AAA": "1.2.0.1", "LA1BBB": "1.2.0.2"}


def stream():
    """A stream from another station: our end, and the far end's socket."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        far = socket.create_connection(server.getsockname())
        return asyncio.open_connection(sock=server.accept()[0]), far


@pytest.mark.parametrize("caller, answer", [
    ("LA1BBB", greeting.Answer.NOBODY), ("LA1AAA", greeting.Answer.UNKNOWN),
    ("LA1AAA-7", greeting.Answer.UNKNOWN), ("LA9XYZ", greeting.Answer.UNKNOWN)])
def test_a_far_station_may_not_call_with_our_call_sign(caller, answer):
    async def run():
        engine = Engine(CALLS, "1.2.0.1", lambda line: None)
        opened, far = stream()
        far.send(greeting.encode(greeting.Greeting(caller, "LA1AAA")))
        await engine.arrived(*await opened)
        far.settimeout(10)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(None, far.recv, 10), engine.sessions

    assert asyncio.run(run()) == (bytes([answer]), set())


def test_streams_without_a_greeting_are_bounded():
    async def run():
        engine = Engine(CALLS, "1.2.0.1", lambda line: None)
        ends, tasks = [], []
        for k in range(GREETING_MAX + 1):
            assert engine._greeting == min(k, GREETING_MAX)
            opened, far = stream()
            ends.append(far)
            tasks.append(asyncio.ensure_future(engine.arrived(*await opened)))
            while engine._greeting == k < GREETING_MAX:
                await asyncio.sleep(0)
        await tasks[-1]
        assert not any(task.done() for task in tasks[:-1])
        for far in ends:
            far.close()
        await asyncio.wait(tasks)
        assert engine._greeting == 0

    asyncio.run(asyncio.wait_for(run(), 20))


def test_a_session_has_room_below_its_limit_only():
    async def run():
        made = session.Session(User(), "LA1AAA", "LA1BBB", incoming=False)
        waiting, asked = [session.WAITING_MAX], []

        def octets_waiting():
            asked.append(waiting[0])
            return waiting[0]

        made.octets_waiting = octets_waiting
        for better in (lambda: waiting.__setitem__(0, session.WAITING_MAX - 1),
                       lambda: setattr(made, "state", session.State.ENDED)):
            waiting[0] = session.WAITING_MAX
            asked.clear()
            room = asyncio.ensure_future(made.room())
            while len(asked) < 3:
                await asyncio.sleep(0.001)
            assert not room.done()
            better()
            await room

    asyncio.run(asyncio.wait_for(run(), 20))


def test_a_frame_fits_into_a_u_pdu_with_its_kind():
    made = frames.Frames("127.0.0.1:1", lambda kind, data: None, lambda line: None)
    try:
        sent = [made.send(frames.Kind.AX25, bytes(n)) for n in (0, 1, s5066.MTU - 1, s5066.MTU)]
    finally:
        made.close()
    assert sent == [False, True, True, False]

# SPDX-License-Identifier: GPL-3.0-or-later
"""A session by itself, on a socket pair."""
import asyncio
import socket

from gnuradio.hf.host import session
from gnuradio.hf.host.engine import Engine
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

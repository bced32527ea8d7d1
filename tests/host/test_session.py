# SPDX-License-Identifier: GPL-3.0-or-later
"""A session by itself, on a socket pair."""
import asyncio
import socket

from gnuradio.hf.host import session
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

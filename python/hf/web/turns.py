# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose page may go over HF next: some at a time, and the users in turn."""
import asyncio
from collections import Counter, OrderedDict, deque
import contextlib
from typing import AsyncIterator, Callable, Deque, Tuple

#: Is called with the place of a page in the queue, 0 when its turn has come.
Place = Callable[[int], None]
_Waiting = Tuple["asyncio.Future[None]", Place]


class Turns:
    """Places for pages on their way. Each free one goes to the next user who waits. Used from one
    event loop."""

    def __init__(self, places: int, of_one: int) -> None:
        """places: pages on their way at a time. of_one: at most this many of one user."""
        self._free, self._of_one = places, of_one
        self._active: Counter[str] = Counter()
        #: Who waits, in the order of their turns.
        self._queues: "OrderedDict[str, Deque[_Waiting]]" = OrderedDict()

    @contextlib.asynccontextmanager
    async def turn(self, user: str, place: Place) -> AsyncIterator[None]:
        """Wait for a place, and hold it."""
        mine: _Waiting = asyncio.get_running_loop().create_future(), place
        self._queues.setdefault(user, deque()).append(mine)
        self._serve()
        try:
            await mine[0]
            yield
        finally:
            if mine[0].done() and not mine[0].cancelled():
                self._free += 1
                self._active[user] -= 1
            elif mine in self._queues.get(user, ()):
                self._queues[user].remove(mine)
            self._serve()

    def _serve(self) -> None:
        """Give free places away, and tell the others where they stand."""
        for user in [u for u, queue in self._queues.items() if not queue]:
            del self._queues[user]
        while self._free:
            user = next((u for u in self._queues if self._active[u] < self._of_one), None)
            if user is None:
                break
            future, place = self._queues[user].popleft()
            if self._queues[user]:
                self._queues.move_to_end(user)
            else:
                del self._queues[user]
            if not future.done():
                self._free -= 1
                self._active[user] += 1
                place(0)
                future.set_result(None)
        self._active += Counter()  # drops those that are 0
        number = 0
        for depth in range(max(map(len, self._queues.values()), default=0)):
            for queue in self._queues.values():
                if depth < len(queue):
                    number += 1
                    queue[depth][1](number)

# SPDX-License-Identifier: GPL-3.0-or-later
"""An event loop for the sockets that a station has beside its blocks."""
import asyncio
import threading
from typing import Any, Callable, Coroutine, Optional, TypeVar

from . import netns

_Result = TypeVar("_Result")


class Loop:
    """An event loop on a thread of its own, in a network namespace."""

    def __init__(self, namespace: str, name: str) -> None:
        """namespace: empty for ours. name: of the thread. Raises OSError."""
        self.loop = asyncio.new_event_loop()
        self._failed: Optional[OSError] = None
        started = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(namespace, started), name=name,
                                        daemon=True)
        self._thread.start()
        started.wait()
        if self._failed is not None:
            self._thread.join()
            self.loop.close()
            raise self._failed

    def _run(self, namespace: str, started: threading.Event) -> None:
        asyncio.set_event_loop(self.loop)
        try:
            netns.enter(namespace)
        except OSError as error:
            self._failed = error
            return
        finally:
            started.set()
        self.loop.run_forever()

    def do(self, work: Coroutine[Any, Any, _Result], limit_s: float = 10) -> _Result:
        """The result of a coroutine on the loop, from another thread."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(limit_s)

    def close(self, last: Callable[[], Coroutine[Any, Any, None]], limit_s: float = 10) -> None:
        """Run last, cancel all tasks, and end the thread. A second call does nothing."""
        if self.loop.is_closed():
            return
        self.do(self._end(last), limit_s)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(5)
        if not self.loop.is_running():
            self.loop.close()

    @staticmethod
    async def _end(last: Callable[[], Coroutine[Any, Any, None]]) -> None:
        await last()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=5)

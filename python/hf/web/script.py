# SPDX-License-Identifier: GPL-3.0-or-later
"""Pages that build themselves by script: a headless Chromium in a network namespace of its own,
whose only way out is a proxy that keeps it away from private addresses."""
import asyncio
import os
import shutil
import sys
import tempfile
from typing import Callable, Optional, Set

from . import confined, fetch

#: Programs that can do it, by name; seconds for a page, and octets of the document they print.
PROGRAMS, LIMIT_S, MAX_OCTETS = ("chromium", "chromium-browser", "google-chrome"), 45.0, 4_000_000
#: Port of the proxy on the browser's own loopback.
_PORT = 3128
#: Connections of one page through the proxy, and octets that they may bring in all.
MAX_CONNECTIONS, MAX_PROXIED = 200, 64 << 20


class Browser:
    """A browser for one page at a time. Without Chromium it finds nothing."""

    def __init__(self, policy: fetch.Policy, say: Callable[[str], None]) -> None:
        """say: gets lines for the operator."""
        self._policy, self._say = policy, say
        # As root a browser runs without its sandbox, and a page may know a way out of it.
        self._program = None if os.geteuid() == 0 else next(
            filter(None, map(shutil.which, PROGRAMS)), None)
        self._one = asyncio.Lock()

    def close(self) -> None:
        """Start no more. Who cancels a page ends its browser."""
        self._program = None

    async def document(self, url: str) -> Optional[bytes]:
        """The document after its scripts have run; None: no browser, or none in time."""
        if self._program is None:
            return None
        async with self._one:
            proxy = _Proxy(self._policy)
            with tempfile.TemporaryDirectory(prefix="hf-web-") as folder:
                try:
                    await proxy.open(os.path.join(folder, "proxy"))
                    return await self._run(url, folder)
                finally:
                    proxy.close()

    async def _run(self, url: str, folder: str) -> Optional[bytes]:
        process = await asyncio.create_subprocess_exec(
            sys.executable, confined.__file__, os.path.join(folder, "proxy"), str(_PORT),
            str(self._program), "--headless=new", "--disable-gpu",
            "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions",
            "--disable-background-networking", "--disable-quic", "--blink-settings="
            "imagesEnabled=false", f"--user-data-dir={folder}", "--virtual-time-budget=10000",
            f"--proxy-server=http://127.0.0.1:{_PORT}", "--proxy-bypass-list=<-loopback>",
            "--dump-dom", url, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL, env={**os.environ, "HOME": folder})
        assert process.stdout is not None
        try:
            document = await asyncio.wait_for(_most(process.stdout, MAX_OCTETS), LIMIT_S)
            if not document and await asyncio.wait_for(process.wait(), LIMIT_S) == \
                    confined.NOT_POSSIBLE:
                self._say("web: pages that build themselves are not read: the system permits no "
                          "network namespace for the browser")
                self._program = None
            return document or None
        except asyncio.TimeoutError:
            return None
        finally:
            try:
                process.kill()
            except ProcessLookupError:
                pass
            await process.wait()


async def _most(reader: asyncio.StreamReader, octets: int) -> bytes:
    data = b""
    while len(data) < octets:
        more = await reader.read(65536)
        if not more:
            break
        data += more
    return data[:octets]


class _Proxy:
    """An HTTP proxy on a UNIX socket that connects to permitted addresses only."""

    def __init__(self, policy: fetch.Policy) -> None:
        self._policy = policy
        self._tasks: Set["asyncio.Task[None]"] = set()
        self._server: Optional[asyncio.AbstractServer] = None
        self._octets = 0

    async def open(self, path: str) -> None:
        """Listen."""
        self._server = await asyncio.start_unix_server(self._serve, path)

    def close(self) -> None:
        """End all connections."""
        if self._server is not None:
            self._server.close()
        for task in self._tasks:
            task.cancel()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        if len(self._tasks) >= MAX_CONNECTIONS:
            writer.close()
            return
        self._tasks.add(task)
        try:
            await self._pass(reader, writer)
        except (OSError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError,
                asyncio.TimeoutError, fetch.FetchError):
            pass
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), LIMIT_S)
        method, target, rest = head.split(b" ", 2)
        url = target.decode("ascii")
        if method == b"CONNECT":
            url = f"https://{url}/"
        parts = self._policy.check(url)
        host, port = str(parts.host), int(parts.port or 0)
        try:
            address = (await self._policy.addresses(host, port))[0][1]
        except OSError:
            writer.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
            return
        far_reader, far = await asyncio.wait_for(asyncio.open_connection(address, port), 20)
        try:
            if method == b"CONNECT":
                writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
            else:
                # One request a connection, so that each is checked.
                lines = [line for line in rest.split(b"\r\n")[1:] if not
                         line.lower().startswith((b"connection:", b"proxy-connection:"))]
                far.write(method + b" " + parts.raw_path_qs.encode()
                          + b" HTTP/1.1\r\nConnection: close\r\n" + b"\r\n".join(lines))
            await asyncio.gather(self._copy(reader, far), self._copy(far_reader, writer))
        finally:
            far.close()

    async def _copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            data = await reader.read(65536)
            self._octets += len(data)
            if not data or self._octets > MAX_PROXIED:
                break
            writer.write(data)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()

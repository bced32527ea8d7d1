# SPDX-License-Identifier: GPL-3.0-or-later
"""Pages that build themselves by script: a headless Chromium, behind a proxy that keeps it away
from private addresses."""
import asyncio
import os
import shutil
import tempfile
from typing import Optional, Set

from . import fetch

#: Programs that can do it, by name; seconds for a page, and octets of the document they print.
PROGRAMS, LIMIT_S, MAX_OCTETS = ("chromium", "chromium-browser", "google-chrome"), 45.0, 4_000_000
#: Connections of one page through the proxy, and octets that they may bring in all.
MAX_CONNECTIONS, MAX_PROXIED = 200, 64 << 20


class Browser:
    """A browser for one page at a time. Without Chromium it finds nothing."""

    def __init__(self, policy: fetch.Policy) -> None:
        self._policy = policy
        self._program = next(filter(None, map(shutil.which, PROGRAMS)), None)
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
            port = await proxy.open()
            try:
                with tempfile.TemporaryDirectory(prefix="hf-web-") as folder:
                    return await self._run(url, folder, port)
            finally:
                proxy.close()

    async def _run(self, url: str, folder: str, port: int) -> Optional[bytes]:
        sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
        process = await asyncio.create_subprocess_exec(
            str(self._program), "--headless=new", "--disable-gpu", *sandbox,
            "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions",
            "--disable-background-networking", "--disable-quic", "--blink-settings="
            "imagesEnabled=false", f"--user-data-dir={folder}", "--virtual-time-budget=10000",
            f"--proxy-server=http://127.0.0.1:{port}", "--proxy-bypass-list=<-loopback>",
            "--dump-dom", url, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL, env={**os.environ, "HOME": folder})
        assert process.stdout is not None
        try:
            return await asyncio.wait_for(_most(process.stdout, MAX_OCTETS), LIMIT_S) or None
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
    """An HTTP proxy on the loopback that connects to permitted addresses only."""

    def __init__(self, policy: fetch.Policy) -> None:
        self._policy = policy
        self._tasks: Set["asyncio.Task[None]"] = set()
        self._server: Optional[asyncio.AbstractServer] = None
        self._octets = 0

    async def open(self) -> int:
        """Listen. Returns the port."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return int(self._server.sockets[0].getsockname()[1])

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

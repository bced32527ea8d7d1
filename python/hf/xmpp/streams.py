# SPDX-License-Identifier: GPL-3.0-or-later
"""Streams to and from far gateways of ours, through HF-PEP of the station, on an event loop.

HF-PEP hands each far node its own port on loopback, so the port tells who is at the other end.
Either side opens a stream when it has stanzas and there is none. Both directions of it are used.
If both open one at the same time, each sends on its own and reads from both.
"""
import asyncio
import time
from typing import Callable, Dict, List, Optional, Set

from ..station.xmpp_tables import Xmpp
from ..system.loop import Loop
from . import stream_codec
from .stream_exchange import ACKNOWLEDGE_S, StreamExchange

#: Longest sleep while nothing arrives, s. A room's stanza or an acknowledgement may become due.
POLL_S = 0.1
#: While stanzas are on their way, later ones are gathered for this time, s, for one block of
#: deflate.
GATHER_S = 0.2
#: Streams of one far gateway. The oldest one of more is ended.
MAX_STREAMS = 4
#: Seconds without an acknowledgement until a stream is given up. At 75 bit/s a transmission takes
#: two minutes.
STUCK_S = 3600.0


class _Stream:
    """One stream."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter,
                 max_octets: int) -> None:
        self.reader, self.writer = reader, writer
        self.codec = stream_codec.Reader(max_octets)
        self.is_heard = False


class _Way:
    """The streams of one exchange."""

    def __init__(self, exchange: StreamExchange, port: int) -> None:
        """port: of HF-PEP, towards the far gateway."""
        self.exchange, self.port = exchange, port
        #: The one to send on, and all.
        self.current: Optional[_Stream] = None
        self.streams: List[_Stream] = []
        self.wake = asyncio.Event()
        self.readers: Set["asyncio.Task[None]"] = set()
        self.failures, self.until = 0, 0.0
        self.wrote = self.heard = 0.0


class Streams:
    """The streams of a station. Made before the station, so that HF-PEP knows the ports."""

    def __init__(self, namespace: str, ports: Dict[str, int], acknowledge_s: float = ACKNOWLEDGE_S
                 ) -> None:
        """namespace: of the station. ports: to listen at for each node, 0 for any. acknowledge_s:
        silence after which an acknowledgement is sent by itself. Raises OSError."""
        self._acknowledge_s = acknowledge_s
        self._loop = Loop(namespace, "xmpp streams")
        self._ways: Dict[str, _Way] = {}
        self._servers: List[asyncio.AbstractServer] = []
        self._tick: Callable[[], None] = lambda: None
        self._say: Callable[[str], None] = lambda line: None
        #: Port of each node on loopback.
        self.ports: Dict[str, int] = {}
        try:
            self._loop.do(self._listen(ports))
        except OSError:
            self.end()
            raise

    async def _listen(self, ports: Dict[str, int]) -> None:
        for node, port in ports.items():
            async def arrived(reader: asyncio.StreamReader, writer: asyncio.StreamWriter,
                              node: str = node) -> None:
                await self._arrived(node, reader, writer)
            server = await asyncio.start_server(arrived, "127.0.0.1", port)
            self._servers.append(server)
            self.ports[node] = server.sockets[0].getsockname()[1]

    def use(self, settings: Xmpp, exchanges: List[StreamExchange], entries: Dict[str, int],
            tick: Callable[[], None], say: Callable[[str], None]) -> None:
        """Before start(). entries: ports of HF-PEP towards the nodes. tick: called several times a
        second, on the loop."""
        self._settings, self._tick, self._say = settings, tick, say
        self._exchanges, self._entries = exchanges, entries
        for exchange in exchanges:
            exchange.acknowledge_s = self._acknowledge_s

    @property
    def nodes(self) -> List[str]:
        """The nodes of its exchanges."""
        return [e.node for e in self._exchanges]

    def start(self) -> None:
        """Open streams whenever there are stanzas, and take those that arrive."""
        async def begin() -> None:
            for e in self._exchanges:
                self._ways[e.node] = _Way(e, self._entries[e.node])
            self._tasks = [asyncio.ensure_future(self._work(way)) for way in self._ways.values()]
        self._loop.do(begin())

    def end(self) -> None:
        """End all streams, and the thread."""
        async def end() -> None:
            for server in self._servers:
                server.close()
            for stream in [s for way in self._ways.values() for s in way.streams]:
                stream.writer.close()
        self._loop.close(end)

    def wake(self) -> None:
        """There are stanzas to send. From another thread."""
        for way in self._ways.values():
            if not self._loop.loop.is_closed():
                self._loop.loop.call_soon_threadsafe(way.wake.set)

    def state(self, node: str) -> str:
        """The state of the link to a node, in words."""
        way = self._ways.get(node)
        if way is None:
            return "not tried"
        if way.failures:
            return f"not reached, again in {max(way.until - time.monotonic(), 0):.0f} s"
        return "reached" if way.heard else "not tried"

    # --- streams --------------------------------------------------------------------------------

    async def _work(self, way: _Way) -> None:
        while True:
            try:
                await asyncio.wait_for(way.wake.wait(), POLL_S)
            except asyncio.TimeoutError:
                pass
            way.wake.clear()
            try:
                self._tick()  # first: what is on its way does not expire
                await self._send(way)
            except Exception as error:  # of whatever kind: chat must go on
                self._failed(way, str(error) if isinstance(error, OSError) else repr(error))

    async def _send(self, way: _Way) -> None:
        now = time.monotonic()
        exchange = way.exchange
        if way.current is None:
            if now < way.until or not exchange.has_work():
                return
            self._adopt(way, self._made(way, *await asyncio.open_connection("127.0.0.1",
                                                                            way.port)))
        elif exchange.is_waiting and now - max(way.heard, way.wrote) > STUCK_S:
            self._failed(way, f"not acknowledged within {STUCK_S:g} s")
        while True:
            if exchange.is_waiting:
                await asyncio.sleep(max(way.wrote + GATHER_S - time.monotonic(), 0))
            current = way.current
            octets = exchange.group(time.time(), time.monotonic()) if current else b""
            if current is None or not octets:
                return
            way.wrote = time.monotonic()
            current.writer.write(octets)
            await current.writer.drain()

    def _made(self, way: _Way, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
              ) -> _Stream:
        """A stream that is read from now on."""
        stream = _Stream(reader, writer, self._settings.max_stanza)
        way.streams.append(stream)
        if len(way.streams) > MAX_STREAMS:
            way.streams.pop(0).writer.close()
        task = asyncio.ensure_future(self._read_all(way, stream))
        way.readers.add(task)
        task.add_done_callback(way.readers.discard)
        return stream

    def _adopt(self, way: _Way, stream: _Stream) -> None:
        """Send on another stream from now on."""
        old, way.current = way.current, stream
        if old is not None:
            old.writer.close()
        way.exchange.again()

    async def _arrived(self, node: str, reader: asyncio.StreamReader,
                       writer: asyncio.StreamWriter) -> None:
        way = self._ways.get(node)
        if way is None:
            writer.close()
            return
        stream = self._made(way, reader, writer)
        if way.current is None or way.current.is_heard:
            # The far side would not open one if it had the old one.
            self._adopt(way, stream)

    async def _read_all(self, way: _Way, stream: _Stream) -> None:
        why = "the stream has ended"
        try:
            octets = await stream.reader.read(65536)
            while octets:
                way.heard, way.failures, way.until = time.monotonic(), 0, 0.0
                stream.is_heard = True
                way.exchange.take(stream.codec.read(octets), stream, len(octets),
                                  time.monotonic())
                way.wake.set()
                octets = await stream.reader.read(65536)
        except stream_codec.Broken as error:
            way.exchange.counts["malformed"] += 1
            why = str(error)
        except Exception as error:  # of whatever kind: chat must go on
            why = str(error) if isinstance(error, OSError) else repr(error)
        stream.writer.close()
        if stream in way.streams:
            way.streams.remove(stream)
        way.exchange.ended(stream)
        if way.current is stream:
            self._failed(way, why)

    def _failed(self, way: _Way, why: str) -> None:
        """The current stream has ended, or none could be opened."""
        if way.current is not None:
            way.current.writer.close()
        others = [s for s in way.streams if s is not way.current]
        way.current = others[-1] if others else None
        way.exchange.again()
        if way.current is not None:
            return
        way.failures += 1
        pause = min(self._settings.retry_s * 2.0 ** min(way.failures - 1, 30),
                    self._settings.retry_max_s)
        way.until = time.monotonic() + pause
        if way.exchange.has_work():
            self._say(f"to {way.exchange.node}: {why}; again in {pause:.0f} s")

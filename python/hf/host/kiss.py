# SPDX-License-Identifier: GPL-3.0-or-later
"""Port for programs that use a KISS TNC over TCP. UI frames only: each is one U_PDU without ARQ
to all stations. AX.25 connections would put a second ARQ above that of the data link."""
import asyncio
from typing import Callable, List, Set, Tuple

from ..system.first_octets import Server
from . import ax25
from .engine import Engine, peer_of

#: Programs at a time.
PROGRAMS_MAX = 16
#: A program that leaves this unread is dropped, octets.
UNREAD_MAX = 1 << 18
#: Reasons of dropped frames that are reported, each once.
SAID_MAX = 20


class KissPort:
    """The port."""

    def __init__(self, engine: Engine, broadcast: Callable[[bytes], None]) -> None:
        """broadcast: sends one AX.25 frame to all stations."""
        self._engine, self._broadcast = engine, broadcast
        self._programs: Set[asyncio.StreamWriter] = set()
        # Octets before the first frame are no noise on a line: there is none.
        self.server = Server(
            self._program, lambda octets: octets[0] == ax25.FEND,
            lambda: engine.refused("KISS"), 4 * ax25.FRAME_MAX, eager=True)
        self._said: Set[str] = set()

    async def open(self, address: str, port: int) -> None:
        """Listen. Raises OSError."""
        await self.server.open(address, port)

    def close(self) -> None:
        """Stop listening and drop all programs."""
        self.server.close()
        for writer in list(self._programs):
            writer.close()

    def attached(self) -> List[Tuple[str, str]]:
        """Its programs: address and state."""
        return [(peer_of(w), "attached") for w in tuple(self._programs)]

    def heard(self, frame: bytes) -> None:
        """A frame from another station."""
        for writer in list(self._programs):
            if writer.transport.get_write_buffer_size() > UNREAD_MAX:
                writer.transport.abort()
            else:
                writer.write(ax25.kiss(frame))

    async def _program(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._programs) >= PROGRAMS_MAX:
            writer.close()
            return
        self._programs.add(writer)
        try:
            while True:
                part = (await reader.readuntil(bytes([ax25.FEND])))[:-1]
                frame = ax25.unkiss(part) if part else None
                if frame is not None:
                    self._take(frame.data)
                    if frame.mark:
                        writer.write(ax25.kiss(frame.mark[1:], frame.mark[:1]))
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            self._programs.discard(writer)
            writer.close()

    def _take(self, frame: bytes) -> None:
        ui = ax25.decode(frame)
        try:
            if ui is None:
                raise ValueError("allowed are UI frames")
            self._engine.own(ui.source)
            self._broadcast(frame)
        except ValueError as error:
            if str(error) not in self._said and len(self._said) < SAID_MAX:
                self._said.add(str(error))
                self._engine.say(f"host: KISS port: a frame was dropped: {error}")

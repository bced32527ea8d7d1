# SPDX-License-Identifier: GPL-3.0-or-later
"""The host ports of one station: sockets, their thread, and their places in the station."""
import asyncio
from typing import Callable, Dict, Iterable, List, Optional, Tuple, Union

from .. import hf_python as _hf
from .. import station
from ..station import service
from ..system import loop
from .agwpe import AgwpePort
from .ardop import ArdopPort
from .engine import Engine
from .frames import Frames, Kind
from .kiss import KissPort
from .vara import VaraPort

#: Name and port under which the engine of a station is reached through HF-PEP.
NAME, PORT = "hf.internal", 8510
#: A session without a sign of the far station ends after this time, s.
OUTAGE_S = 300

_Port = Union[ArdopPort, VaraPort, AgwpePort, KissPort]


class HostPorts(service.Service):
    """The host ports that a station file asks for. They extend HF-PEP and the SIS server."""

    def __init__(self, d: station.Description) -> None:
        """Open the ports. Raises RuntimeError if the system refuses.

        d: of the station; [pep] is extended.
        """
        if d.host is None:
            raise ValueError("the station has no [host]")
        self._host = d.host
        self._where = f"{d.where}: " if d.where else ""
        node = str(_hf.s5066.address(d.address))
        self._say: Callable[[str], None] = lambda line: None
        self._calls = [call for call, at in d.host.calls.items() if at == d.address]
        self._far = sorted(set(d.host.calls.values()) - {node})
        try:
            self._loop = loop.Loop(d.netns, "host ports")
        except OSError as error:
            raise RuntimeError(f"{self._where}[host] {error.strerror or error}") from None
        self.engine = Engine(d.host.calls, node, lambda line: self._say(line))
        self._ports: List[Tuple[str, _Port]] = []
        self._frames: Optional[Frames] = None
        self._hear: Dict[Kind, List[Callable[[bytes], None]]] = {}
        self._server: Optional[asyncio.AbstractServer] = None
        try:
            self._loop.do(self._open())
        except OSError as error:
            self.close()
            raise RuntimeError(f"{self._where}[host] {error.strerror or error}") from None
        self._extend(d)

    def _extend(self, d: station.Description) -> None:
        assert self._server is not None
        at = self._server.sockets[0].getsockname()
        if d.sis_server is None:
            d.sis_server = station.SisServer(port=0)
        for node in self._far:
            d.stream_to(node, NAME, PORT)
        d.serve(NAME, PORT, at[1])
        d.first_rule(port=PORT, outage_s=OUTAGE_S)

    def attach(self, s: station.Station, say: Callable[[str], None]) -> None:
        """The station has been made from the description.

        say: takes lines for the operator, on any thread.
        """
        self._say = say
        self.engine.doors.update({node: s.stream_port(node, NAME, PORT) for node in self._far})
        self._frames = Frames(s.sis_address(), self._heard, say, s.description.netns)

    def details(self) -> Iterable[str]:
        """One line: ports and call signs."""
        h = self._host
        ports = [f"{kind} {port}" for kind, port in
                 (("ARDOP", h.ardop_port), ("VARA", h.vara_port), ("AGWPE", h.agwpe_port),
                  ("KISS", h.kiss_port)) if port]
        return [f"host ports on {h.address}: {', '.join(ports) or 'none'}; call signs "
                f"{', '.join(self._calls)}"]

    def attached(self) -> Iterable[service.Attached]:
        """The programs at the ports."""
        return [service.Attached(name, who, state) for name, port in self._ports
                for who, state in port.attached()]

    def close(self) -> None:
        """End all sessions and close the ports."""
        if self._frames is not None:
            self._frames.close()
            self._frames = None
        self._loop.close(self._end)

    async def _open(self) -> None:
        self._server = await asyncio.start_server(self.engine.arrived, "127.0.0.1", 0)
        h, engine = self._host, self.engine
        ardop = ArdopPort(engine, lambda data: self._broadcast(Kind.TEXT, data))
        vara = VaraPort(engine, lambda data: self._broadcast(Kind.CQ, data))
        agwpe = AgwpePort(engine, lambda data: self._broadcast(Kind.AX25, data))
        kiss = KissPort(engine, lambda data: self._broadcast(Kind.AX25, data))
        self._hear = {Kind.TEXT: [ardop.heard], Kind.CQ: [vara.heard],
                      Kind.AX25: [agwpe.heard, kiss.heard]}
        ways: List[Tuple[str, _Port, int]] = [
            ("ARDOP", ardop, h.ardop_port), ("VARA", vara, h.vara_port),
            ("AGWPE", agwpe, h.agwpe_port), ("KISS", kiss, h.kiss_port)]
        for name, made, port in ways:
            if port:
                self._ports.append((name, made))
                await made.open(h.address, port)

    def _broadcast(self, kind: Kind, data: bytes) -> None:
        if self._frames is None or not self._frames.send(kind, data):
            self._say("host: a frame was dropped: too long, or too many wait")

    def _heard(self, kind: Kind, data: bytes) -> None:
        for hear in self._hear[kind]:
            self._loop.loop.call_soon_threadsafe(hear, data)

    async def _end(self) -> None:
        self.engine.close()
        for _, port in self._ports:
            port.close()
        if self._server is not None:
            self._server.close()

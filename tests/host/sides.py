# SPDX-License-Identifier: GPL-3.0-or-later
"""The engine and the ports of a side without a station, and programs in memory."""
import types

from gnuradio.hf.host import agwpe, ardop, engine, lines

CALLS = {"LA1AAA": "1.2.0.1", "LA1AAA-7": "1.2.0.1", "LA1BBB": "1.2.0.2"}


class Writer:
    """The socket of a program in memory."""

    def __init__(self, waiting=0):
        self.octets, self.closed, self.aborted = b"", False, False
        self.transport = types.SimpleNamespace(get_write_buffer_size=lambda: waiting,
                                               abort=lambda: setattr(self, "aborted", True))

    def write(self, octets):
        self.octets += octets

    def close(self):
        self.closed = True

    async def drain(self):
        pass

    def get_extra_info(self, name):
        return ("127.0.0.1", 9) if name == "peername" else types.SimpleNamespace(fileno=lambda: -1)

    def taken(self):
        octets, self.octets = self.octets, b""
        return octets


def side(number=1, kinds=(ardop.ArdopPort,)):
    """The engine of station 1 or 2, its ports, what it says and what it broadcasts."""
    said, sent = [], []
    made = engine.Engine(dict(CALLS), f"1.2.0.{number}", said.append)
    ports = [kind(made, sent.append) for kind in kinds]
    for port in ports:
        if isinstance(port, lines.LinePort):
            port._command, port._data = Writer(), Writer()
            port.reset()
    return types.SimpleNamespace(engine=made, ports=ports, said=said, sent=sent)


def frames_of(octets):
    found = []
    while octets:
        port, kind, pid, source, to, length = agwpe.HEADER.unpack_from(octets)
        end = agwpe.HEADER.size + length
        found.append((chr(kind), source.split(b"\0")[0].decode(), to.split(b"\0")[0].decode(),
                      octets[agwpe.HEADER.size:end]))
        octets = octets[end:]
    return found


def program_at(port):
    made = agwpe._Program(port, Writer())
    port._programs.add(made)
    return made

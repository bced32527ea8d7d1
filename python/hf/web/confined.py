# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs a program in a network namespace that has a loopback and a way to one proxy, nothing else.

    python3 confined.py SOCKET PORT PROGRAM [ARGUMENT ...]

The program keeps its user and has no rights beyond them. Port PORT of its loopback leads to the
proxy at the UNIX socket SOCKET. Needs user namespaces. Status NOT_POSSIBLE: the system has none.
"""
import asyncio
import ctypes
import fcntl
import os
import signal
import socket
import struct
import sys
from typing import List

#: Status if the system permits no namespaces.
NOT_POSSIBLE = 77
_CLONE_NEWUSER, _CLONE_NEWNET, _PR_SET_PDEATHSIG = 0x10000000, 0x40000000, 1
_SIOCSIFFLAGS, _IFF_UP = 0x8914, 1


def enter() -> None:
    """Enter a new network namespace, as the same user. Raises OSError."""
    user, group = os.geteuid(), os.getegid()
    if ctypes.CDLL(None, use_errno=True).unshare(_CLONE_NEWUSER | _CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "no namespace")
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"),
                       ("gid_map", f"{group} {group} 1")):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", _IFF_UP))


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        writer.write_eof()
    except OSError:
        writer.close()


async def _relay(listening: socket.socket, path: str) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far_reader, far = await asyncio.open_unix_connection(path)
            await asyncio.gather(_copy(reader, far), _copy(far_reader, writer))
            far.close()
        except OSError:
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, sock=listening)
    await server.serve_forever()


def main(path: str, port: str, program: List[str]) -> None:
    """Run a program. Does not return."""
    try:
        enter()
    except OSError:
        sys.exit(NOT_POSSIBLE)
    listening = socket.create_server(("127.0.0.1", int(port)))
    if os.fork() == 0:
        # The relay. It ends with the program, which takes the place of its parent.
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 1)  # else the reader of the program's output would wait for the relay
        asyncio.run(_relay(listening, path))
        os._exit(0)
    listening.close()
    os.execv(program[0], program)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])

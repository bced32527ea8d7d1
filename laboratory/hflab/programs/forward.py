# SPDX-License-Identifier: GPL-3.0-or-later
"""Connections that come in at a socket it was given go on to HOST PORT: forward.py FD HOST PORT.

Run in a network namespace, with a socket that listens outside of it: so a browser of this machine
reaches what only the namespace can. Nothing of the package is imported.
"""
import asyncio
import socket
import sys

#: Connections at once; a browser opens six to a server.
MOST = 32


async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """One direction, until its end."""
    while piece := await reader.read(16384):
        writer.write(piece)
        await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()


async def main(fd: int, host: str, port: int) -> None:
    """Until it is ended."""
    room = asyncio.Semaphore(MOST)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with room:
            try:
                far_reader, far_writer = await asyncio.open_connection(host, port)
            except OSError:
                writer.transport.abort()  # a reset: there is nothing at the other end
                return
            try:
                await asyncio.gather(copy(reader, far_writer), copy(far_reader, writer))
            except OSError:
                # A stream that was cut must not look like one that ended.
                far_writer.transport.abort()
                writer.transport.abort()
            finally:
                far_writer.close()
                writer.close()

    server = await asyncio.start_server(serve, sock=socket.socket(fileno=fd))
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), sys.argv[2], int(sys.argv[3])))

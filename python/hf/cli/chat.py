# SPDX-License-Identifier: GPL-3.0-or-later
"""hf chat: the operator orderwire (HFCHAT) over a SIS server."""
import queue
import signal
import sys
import threading
import time
from typing import Any, Optional

import click

from .. import sis
from ..plain_text import plain
from ..sis import orderwire
from . import fail
from ._server import NODE, server_option


def read_lines(lines: "queue.Queue[Optional[bytes]]") -> None:
    """Put the lines of standard input into a queue, then None."""
    for line in sys.stdin.buffer:
        lines.put(line)
    lines.put(None)


class Chat:
    """A conversation, with counts of messages."""

    def __init__(self, client: sis.Client, node: Optional[str], repeats: int,
                 priority: int) -> None:
        self.node = node
        self.wire = orderwire.Orderwire(client, repeats, priority, changed=self._changed)
        self.received = self.failed = 0

    def say(self, line: bytes) -> None:
        """Send a line. Needs a node."""
        assert self.node is not None
        try:
            text = line.decode(sys.stdin.encoding or "utf-8").strip("\r\n")
        except UnicodeDecodeError as error:
            self.failed += 1
            click.echo(f"not sent: octet 0x{line[error.start]:02x} is not {error.encoding}: "
                       f"{plain(line.decode('ascii', 'replace').rstrip())}", err=True)
            return
        self.wire.say(self.node, text)

    def take(self, p: Any) -> None:
        """Process a received primitive, None if there was none."""
        found = self.wire.take(p)
        if found is not None:
            self.received += 1
            print("{}: {}".format(*found), flush=True)

    def _changed(self, message: orderwire.Message) -> None:
        if message.state == "asking":
            click.echo(f"asks whether {message.node} reads more than ASCII", err=True)
        elif message.has_failed:
            self.failed += 1
            click.echo(f"{message.state}: {plain(message.text)}", err=True)


@click.command()
@click.option("--to", "node", default=None, type=NODE,
              help="Node or group. Without it, messages are only received.")
@click.option("--repeats", default=1, show_default=True, type=click.IntRange(0, 15),
              help="Extra copies of each message to a group.")
@click.option("--priority", default=15, show_default=True, type=click.IntRange(0, 15),
              help="Priority of messages, 15 is the highest.")
@click.option("--count", default=None, type=click.IntRange(1),
              help="End after this number of received messages.")
@click.option("--timeout", default=None, type=click.FloatRange(0),
              help="End after this time at the latest, s.")
@server_option
def command(node: Optional[str], repeats: int, priority: int, count: Optional[int],
            timeout: Optional[float], server: str) -> None:
    """Exchange text messages with another operator.

    Each line of standard input is a message. At the end of input the command waits until the far
    node has confirmed all messages, and until --count messages have arrived. The exit status is 0
    only if none was lost.

    Text beyond ASCII is sent only to a station that understands it. The command asks the station
    first. Otherwise it refuses the line and shows a spelling in ASCII.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    begin = time.monotonic()
    lines: "queue.Queue[Optional[bytes]]" = queue.Queue(1000)
    reading = node is not None
    if reading:
        threading.Thread(target=read_lines, args=(lines,), daemon=True).start()
    try:
        with sis.Client(server) as client:
            client.bind(orderwire.SAP, 0, sis.service("arq", "node", "in_order"))
            click.echo(f"bound SAP {orderwire.SAP} at {server}", err=True)
            chat = Chat(client, node, repeats, priority)
            while reading or chat.wire.is_busy or \
                    (node is None and count is None) or chat.received < (count or 0):
                if count is not None and chat.received >= count and node is None:
                    break
                if timeout is not None and time.monotonic() - begin > timeout:
                    break
                if reading and client.flow_on and not lines.empty():
                    line = lines.get()
                    reading = line is not None
                    if line is not None:
                        chat.say(line)
                chat.take(client.next(timeout=0.1))
            chat.wire.close("the time is over")
    except KeyboardInterrupt:
        return
    except sis.SisError as error:
        raise fail(str(error)) from None
    if chat.failed or chat.received < (count or 0):
        raise fail(f"{chat.failed} messages not confirmed, {chat.received} received")

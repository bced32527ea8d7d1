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
from ..sis import s5066
from . import fail
from ._server import NODE, server_options


def read_lines(lines: "queue.Queue[Optional[str]]") -> None:
    """Put the lines of standard input into a queue, then None."""
    for line in sys.stdin:
        lines.put(line)
    lines.put(None)


class Chat:
    """A conversation, with counts of messages."""

    def __init__(self, client: sis.Client, node: Optional[str], repeats: int,
                 priority: int) -> None:
        self.client, self.node, self.priority = client, node, priority
        group = node is not None and s5066.address(node).is_group()
        self.mode = sis.service("non_arq", retransmissions=repeats) if group else \
            sis.service("arq", "node", "in_order")
        self.unconfirmed = self.received = self.failed = 0

    def say(self, text: str) -> None:
        """Send a line. Needs a node."""
        for u_pdu in s5066.hfchat_u_pdus(text, self.client.mtu):
            self.client.send(self.node, u_pdu, mode=self.mode, priority=self.priority)
            self.unconfirmed += self.mode.mode == s5066.transmission_mode.arq

    def take(self, p: Any) -> None:
        """Process a received primitive."""
        if isinstance(p, s5066.s_unidata_indication):
            text = s5066.decode_hfchat(p.u_pdu)
            if text is not None:
                self.received += 1
                print(f"{p.src}: {text}", flush=True)
        elif isinstance(p, s5066.s_unidata_request_confirm):
            self.unconfirmed -= 1
        elif isinstance(p, s5066.s_unidata_request_rejected):
            self.unconfirmed -= 1
            self.failed += 1
            text = s5066.decode_hfchat(p.u_pdu) or ""
            click.echo(f"not delivered ({sis.reason(p)}): {text}", err=True)


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
@server_options
def command(node: Optional[str], repeats: int, priority: int, count: Optional[int],
            timeout: Optional[float], server: str, rank: int) -> None:
    """Exchange text messages with another operator.

    Each line of standard input is a message. At the end of input the command waits until the far
    node has confirmed all messages, and until --count messages have arrived. The exit status is 0
    only if none was lost.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    begin = time.monotonic()
    lines: "queue.Queue[Optional[str]]" = queue.Queue(1000)
    reading = node is not None
    if reading:
        threading.Thread(target=read_lines, args=(lines,), daemon=True).start()
    try:
        with sis.Client(server) as client:
            client.bind(s5066.SAP_HFCHAT, rank, sis.service("arq", "node", "in_order"))
            click.echo(f"bound SAP {s5066.SAP_HFCHAT} at {server}", err=True)
            chat = Chat(client, node, repeats, priority)
            while reading or chat.unconfirmed > 0 or \
                    (node is None and count is None) or chat.received < (count or 0):
                if count is not None and chat.received >= count and node is None:
                    break
                if timeout is not None and time.monotonic() - begin > timeout:
                    break
                if reading and not lines.empty():
                    line = lines.get()
                    reading = line is not None
                    if line is not None:
                        chat.say(line)
                chat.take(client.next(timeout=0.1))
    except KeyboardInterrupt:
        return
    except sis.SisError as error:
        raise fail(str(error)) from None
    if chat.failed or chat.unconfirmed or chat.received < (count or 0):
        raise fail(f"{chat.failed + chat.unconfirmed} messages not confirmed, "
                   f"{chat.received} received")

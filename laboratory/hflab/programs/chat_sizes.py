# SPDX-License-Identifier: GPL-3.0-or-later
"""Octets of stanzas on HF, as the chat gateway packs them. Needs no chat server."""
import random
import tempfile
from typing import Callable, List

from gnuradio.hf.station import xmpp_tables
from gnuradio.hf.xmpp import codec, ids, policy, stanza, stream_codec
from gnuradio.hf.xmpp.journal import Journal

ANNA, BERT = "anna@ship.example", "bert@shore.example"
#: What a stock client announces about itself (XEP-0115, XEP-0153).
_PRESENCE = ("<c xmlns='http://jabber.org/protocol/caps' hash='sha-1' node='https://dino.im' "
             "ver='QgayPKawpkPSDYmwT/WM94uAlu0='/><x xmlns='vcard-temp:x:update'><photo/></x>"
             "<priority>5</priority>")


#: Octets of an SD of SLEP before its data (lib/slep/codec.h).
_SD = 5


def _packed(version: str, dictionary: bytes) -> Callable[[int, bytes], int]:
    """Octets that a stanza adds to one direction."""
    if version == "slep":
        writer = stream_codec.Writer()
        return lambda k, text: _SD + len(writer.group([text]))
    packer = codec.Packer(0, True, dictionary=dictionary)
    return lambda k, text: sum(map(len, packer.pack(k, text, 2048)))


def _sizes(stanzas: List[str], dictionary: bytes = b"", version: str = "rcop") -> List[int]:
    """Octets of the U_PDUs of stanzas of one direction."""
    pack, sizes = _packed(version, dictionary), []
    with tempfile.TemporaryDirectory() as folder:
        table = Journal(folder, 1, 1)
        for k, text in enumerate(stanzas):
            made = policy.reduced(stanza.read(text.encode(), 100_000), xmpp_tables.DROPPED)
            assert made is not None
            ids.outward(made, table)
            sizes.append(pack(k, stanza.write(made)))
        table.close()
    return sizes


def _message(k: int, sender: str, to: str) -> str:
    """Of one letter, with an ID as slixmpp makes it."""
    return (f'<message from="{sender}/test" to="{to}" type="chat" xml:lang="en" '
            f'id="{random.Random(k).randbytes(16).hex()}"><body>x</body></message>')


def overhead(count: int = 100, version: str = "rcop") -> float:
    """Mean octets of the U_PDU of a message of one letter, without that letter. The first message
    is left out."""
    sizes = _sizes([_message(k, ANNA, BERT) for k in range(count + 1)], version=version)
    return sum(sizes[1:]) / count - 1


def first_exchange() -> float:
    """Octets of the U_PDUs of the first presence and the first message each way, between two of
    our gateways. Nothing goes before them."""
    return float(sum(sum(_sizes(
        [f"<presence from='{sender}/test' to='{to}'>{_PRESENCE}</presence>",
         _message(0, sender, to)], codec.DICTIONARY))
        for sender, to in ((ANNA, BERT), (BERT, ANNA))))

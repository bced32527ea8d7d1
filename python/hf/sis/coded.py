# SPDX-License-Identifier: GPL-3.0-or-later
"""Files to many receivers that stay silent: erasure-coded blocks over UDOP.

A file becomes n blocks, of which any k restore it. Each block is one UDOP message of its own, sent
without ARQ. The format is this project's own; other programs cannot read it. Receivers need to
hear neither the start nor the same blocks as others.

HF loses whole transmissions, so blocks travel in groups, a transmission each. Any GROUPS of the
groups are enough.
"""
from collections import Counter, OrderedDict, deque
from dataclasses import dataclass
import hashlib
import math
import random
import struct
import time
from typing import Any, Callable, Deque, Iterator, List, Optional, Tuple

from .. import sis
from . import s5066

#: UDOP application of a block, among those that are free.
APP_CODED = 0x8F47
#: Share of the receivers that get a file if the loss is as assumed.
WANTED = 0.999
#: Groups that restore a file. With more the redundancy is less, and each group has a preamble. Of
#: 5 kB at 2400 bit/s a group of 8 takes 2 s.
GROUPS = 8
#: The library computes in a field of 256 elements.
MAX_BLOCKS = 256
#: What a receiver holds: messages, their octets, numbers of those that are complete.
MAX_MESSAGES, MAX_OCTETS, MAX_DONE = 16, 16 << 20, 256

_VERSION = 1
_HEADER = struct.Struct(">BIBBBI8s")  # version, message, k, n - 1, number, octets, hash
_UDOP_HEADER = 6


def _zfec() -> Any:
    try:
        import zfec
    except ImportError:
        raise RuntimeError("the library zfec is missing (Debian: python3-zfec)") from None
    return zfec


def _hash(octets: bytes) -> bytes:
    return hashlib.sha256(octets).digest()[:8]


@dataclass(frozen=True)
class Plan:
    """Blocks of a message."""

    #: Octets of a block without its header, blocks of a group, blocks that restore the message.
    size: int
    group: int
    k: int
    #: Groups to send: then WANTED of the receivers have enough of them.
    groups: int

    @property
    def all_groups(self) -> int:
        """Groups of different blocks that there can be."""
        return MAX_BLOCKS // self.group


def enough(groups: int, needed: int, loss: float) -> float:
    """Probability that at least the needed groups arrive. Each is lost independently."""
    return sum(math.comb(groups, m) * (1 - loss) ** m * loss ** (groups - m)
               for m in range(needed, groups + 1))


def fewest(needed: int, loss: float, wanted: float = WANTED) -> int:
    """Groups to send, so that with this probability the needed ones arrive."""
    groups = needed
    while enough(groups, needed, loss) < wanted:
        groups += 1
    return groups


def plan(octets: int, mtu: int, loss: float) -> Plan:
    """The blocks for a message if this share of the transmissions is lost, each independently.

    Raises ValueError if the message is too long for that.
    """
    if octets < 1 or not 0 <= loss <= 0.9:
        raise ValueError(f"{octets} octets, {100 * loss:g} % lost: allowed are 1 or more, and 0 "
                         "to 90 %")
    groups = fewest(GROUPS, loss)
    room = mtu - _UDOP_HEADER - _HEADER.size
    most = MAX_BLOCKS // groups
    group = math.ceil(octets / (GROUPS * room))
    if group > most:
        raise ValueError(f"{octets} octets: with {100 * loss:g} % lost a file of at most "
                         f"{most * GROUPS * room - 300} octets can be sent to many")
    size = math.ceil(octets / (GROUPS * group))
    return Plan(size, group, math.ceil(octets / size), groups)


def encode(message: bytes, number: int, p: Plan) -> List[bytes]:
    """All blocks of a message. number: that of the message, of 32 bits."""
    parts = [message[k * p.size:(k + 1) * p.size].ljust(p.size, b"\0") for k in range(p.k)]
    n = p.all_groups * p.group
    blocks = _zfec().Encoder(p.k, n).encode(parts)
    return [_HEADER.pack(_VERSION, number, p.k, n - 1, i, len(message), _hash(message)) + block
            for i, block in enumerate(blocks)]


@dataclass(frozen=True)
class _Parameters:
    """What the blocks of a message have in common."""

    source: str
    number: int
    k: int
    n: int
    octets: int
    hash: bytes
    size: int


def _read(source: str, block: bytes) -> Optional[Tuple[_Parameters, int, bytes]]:
    if len(block) <= _HEADER.size:
        return None
    version, number, k, last, i, octets, digest = _HEADER.unpack_from(block)
    data = block[_HEADER.size:]
    good = version == _VERSION and 1 <= k <= last + 1 and i <= last and \
        octets >= 1 and octets <= MAX_OCTETS and math.ceil(octets / len(data)) == k
    return (_Parameters(source, number, k, last + 1, octets, digest, len(data)), i, data) \
        if good else None


class Collector:
    """Puts messages together. It holds a limited number, and drops the one not heard for longest
    of the source that has the most.

    lost: called with source, octets and reason of a message that is dropped before it is complete.
    """

    def __init__(self, lost: Callable[[str, int, str], None] = lambda source, octets, why: None
                 ) -> None:
        self._lost = lost
        self._messages: "OrderedDict[_Parameters, dict[int, bytes]]" = OrderedDict()
        self._done: Deque[_Parameters] = deque(maxlen=MAX_DONE)
        self._octets = 0

    def take(self, source: str, block: bytes) -> Optional[bytes]:
        """Take a block from the air. Returns the message that it completes."""
        read = _read(source, block)
        if read is None or read[0] in self._done:
            return None
        key, i, data = read
        blocks = self._messages.setdefault(key, {})
        self._messages.move_to_end(key)
        if i not in blocks:
            blocks[i] = data
            self._octets += len(data)
        if len(blocks) >= key.k:
            return self._decode(key)
        while len(self._messages) > MAX_MESSAGES or self._octets > MAX_OCTETS:
            self._drop(self._superfluous())
        return None

    def _superfluous(self) -> _Parameters:
        """The message not heard for longest, of the source that has the most of them. So one
        station does not displace what others send."""
        counts = Counter(key.source for key in self._messages)
        most = max(counts.values())
        return next(key for key in self._messages if counts[key.source] == most)

    def finish(self) -> None:
        """Drop all messages that are incomplete."""
        while self._messages:
            self._drop(next(iter(self._messages)))

    def _drop(self, key: _Parameters, why: str = "") -> None:
        blocks = self._messages.pop(key)
        self._octets -= sum(map(len, blocks.values()))
        self._lost(key.source, key.octets,
                   why or f"incomplete, {len(blocks)} of {key.k} blocks arrived")

    def _decode(self, key: _Parameters) -> Optional[bytes]:
        blocks = self._messages[key]
        try:
            parts = _zfec().Decoder(key.k, key.n).decode(list(blocks.values()), list(blocks))
        except RuntimeError as error:
            self._done.append(key)
            self._drop(key, str(error))
            return None
        message = b"".join(parts)[:key.octets]
        if _hash(message) != key.hash:
            # A block of another station is among them. Which one is not known.
            self._drop(key, "its blocks do not belong together")
            return None
        self._done.append(key)
        self._octets -= sum(map(len, blocks.values()))
        del self._messages[key]
        return message


def groups(message: bytes, mtu: int, loss: float, rounds: int = 1) -> Iterator[List[bytes]]:
    """The U_PDUs of a message, a list for each transmission, with this assumed share of lost
    transmissions.

    rounds: times the number of groups that are needed, for stations that join late. Raises
    ValueError if the message is too long, RuntimeError without the library.
    """
    p = plan(len(message), mtu, loss)
    blocks = encode(message, random.getrandbits(32), p)
    for g in range(rounds * p.groups):
        first = g % p.all_groups * p.group
        yield [s5066.rcop_segments(0, i % 256, APP_CODED, blocks[i], mtu)[0]
               for i in range(first, first + p.group)]


def send(client: sis.Client, dst: str, message: bytes, loss: float, rounds: int = 1,
         interval: float = 30.0, progress: Callable[[int, int], None] = lambda sent, all: None,
         wait: Callable[[float], None] = time.sleep) -> int:
    """Send a message to a group, as groups() says.

    client: bound to SAP_UDOP. interval: seconds between two groups, so that each has a
    transmission of its own. progress: called with the number of groups sent, and of all. Returns
    the octets submitted.
    """
    all_groups = list(groups(message, client.mtu, loss, rounds))
    for g, u_pdus in enumerate(all_groups):
        if g > 0:
            wait(interval)
        for u_pdu in u_pdus:
            client.send(dst, u_pdu, client.sap, sis.service("non_arq"))
        progress(g + 1, len(all_groups))
    return sum(len(u) for u_pdus in all_groups for u in u_pdus)

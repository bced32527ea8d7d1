# SPDX-License-Identifier: GPL-3.0-or-later
"""A page on its way from the shore side to a reader."""
import asyncio
import json
import threading
import time
from typing import Any, Dict, Iterator, List, Optional, Set, Tuple

from . import wire
from .library import Kept, Library
from .reduce import MAX_PICTURES

#: Longest silence of the stream before the page is given up, s. HF-PEP ends a dead one earlier.
SILENCE_S = 1800.0
#: Words of the parts H and E, and their types.
HEAD: Dict[str, type] = {"url": str, "title": str, "lang": str, "rtl": int, "status": int,
                         "cut": int, "file": int}
LEFT: Dict[str, type] = {"octets": int, "pictures": int}


class View:
    """One page as far as it has arrived. Used from one event loop.

    number: of the view, for the addresses of its links and pictures. octets: of the answer so
    far. error: why it ended early, in words. same: the page that we had is still right. file: a
    document as it is.
    """

    def __init__(self, number: str, request: wire.Request, reference: Optional[Kept]) -> None:
        self.number, self.request = number, request
        self._reference = reference
        self.head: Dict[str, Any] = {}
        self.sections: Dict[str, List[str]] = {}
        self.pictures: Dict[int, bytes] = {}
        self.file = bytearray()
        self.left: Dict[str, Any] = {}
        self.error = ""
        self.same = self.done = False
        self.octets = 0
        self._room = wire.Room()
        self.began, self.took_s = time.monotonic(), 0.0
        #: Who reads it, and how many browsers show it. Place in the queue, 0: on its way.
        self.users: Set[str] = set()
        self.readers = self.place = 0
        #: Set at the end, for other threads.
        self.ended = threading.Event()
        self._changed = asyncio.Event()

    @classmethod
    def of(cls, number: str, kept: Kept, mode: str, budget: int) -> "View":
        """A view of a page that is kept, without asking. mode, budget: for what its links lead
        to."""
        view = cls(number, wire.Request(kept.url, mode, budget), kept)
        view._take_kept()
        view._end()
        return view

    @property
    def url(self) -> str:
        """The address after redirects."""
        url = str(self.head.get("url", self.request.url))
        return url if "://" in url else "https://" + url

    @property
    def size(self) -> int:
        """Characters of text and octets of pictures and of a file that it holds."""
        return wire.MAX_CHARACTERS - self._room.characters + len(self.file) + \
            sum(map(len, self.pictures.values()))

    def wait(self, place: int) -> None:
        """Note the place in the queue, 0: it goes over HF now."""
        self.place = place
        self._wake()

    def stop(self) -> None:
        """End it, unless it has ended."""
        if not self.done:
            self._end("stopped")

    def _end(self, error: str = "") -> None:
        self.done, self.error, self.took_s = True, error, time.monotonic() - self.began
        self.ended.set()
        self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def changed(self) -> None:
        """Wait until more has arrived, or the end."""
        if not self.done:
            await self._changed.wait()

    async def link(self, number: int) -> Optional[str]:
        """The address of a link or form, when it has arrived. None: there is no such link."""
        while True:
            links = self.sections.get("L", []) + self.sections.get("M", [])
            if number < len(links):
                return links[number]
            if self.done:
                return None
            await self.changed()

    async def picture(self, number: int) -> Optional[bytes]:
        """A picture, when it has arrived. None: it does not come."""
        while number not in self.pictures:
            if self.done:
                return None
            await self.changed()
        return self.pictures[number]

    # --- the answer -----------------------------------------------------------------------------

    async def ask(self, port: int, library: Library) -> None:
        """Ask the shore side through a port of HF-PEP, and take the answer."""
        writer: Optional[asyncio.StreamWriter] = None
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(wire.encode_request(self.request))
            writer.write_eof()
            decoder = wire.Decoder()
            while not decoder.finished:
                data = await asyncio.wait_for(reader.read(65536), SILENCE_S)
                if not data:
                    raise wire.WireError("the answer was cut")
                self.octets += len(data)
                for kind, octets in decoder.feed(data):
                    self._take(kind, octets)
            self._keep(library)
            self._end(self.error)
        except (wire.WireError, ValueError, IndexError, RecursionError) as error:
            known = isinstance(error, wire.WireError)
            self._end(str(error) if known else "an answer that no shore side sends")
        except asyncio.TimeoutError:
            self._end(f"nothing arrived for {SILENCE_S:.0f} s")
        except ConnectionRefusedError:
            self._end("the station does not run")
        except OSError:
            self._end("no answer: the shore station was not reached, has no [web] or does not "
                      "serve this station, or the link broke")
        finally:
            if writer is not None:
                writer.close()
            self.stop()

    def _take(self, kind: str, octets: bytes) -> None:
        if kind in "HEX" and len(octets) > wire.MAX_NOTE:
            raise wire.WireError(f"a part {kind} of more than {wire.MAX_NOTE} octets")
        if kind == "H":
            self.head = _known(octets, HEAD)
            if not 0 <= self.head.get("file", 0) <= wire.MAX_ANSWER:
                raise wire.WireError(f"a document of {self.head['file']} octets")
        elif kind in "TLRM":
            reference = self._reference.lines if self._reference else []
            self.sections.setdefault(kind, []).extend(
                wire.decode_lines(octets, reference, self._room))
        elif kind == "F":
            self.file += octets
        elif kind == "P":
            self._take_picture(octets)
        elif kind == "K":
            self._copy_pictures(octets)
        elif kind == "S":
            self.same = True
            self._take_kept()
        elif kind == "E":
            self.left = _known(octets or b"{}", LEFT)
        elif kind == "X":
            self.error = octets.decode("utf-8", "replace")[:1000]
        self._wake()

    def _take_picture(self, octets: bytes) -> None:
        at = 0
        numbers = []
        for _ in range(3):
            number, at = wire.read_varint(octets, at)
            numbers.append(number)
        self._put_picture(numbers[0], octets[at:])

    def _copy_pictures(self, octets: bytes) -> None:
        for here, there in _pairs(octets):
            if self._reference and there in self._reference.pictures:
                self._put_picture(here, self._reference.pictures[there])

    def _put_picture(self, number: int, data: bytes) -> None:
        if number >= MAX_PICTURES:
            raise wire.WireError(f"picture {number}: a page has up to {MAX_PICTURES}")
        self.pictures[number] = data

    def _take_kept(self) -> None:
        if self._reference is None:
            raise wire.WireError("the shore side refers to a page that was not asked about")
        self.head, self.sections = self._reference.head, self._reference.sections
        self.pictures = self._reference.pictures
        self.left = self._reference.left

    def _keep(self, library: Library) -> None:
        if self.error or not self.sections or self.request.form is not None:
            return
        mode = self._reference.mode if self.same and self._reference else self.request.mode
        library.put(Kept(self.request.url, self.head, self.sections, self.pictures, mode,
                         time.time(), self.octets if not self.same else
                         self._reference.octets if self._reference else 0, self.left))


def _known(octets: bytes, kinds: Dict[str, type]) -> Dict[str, Any]:
    """The known words of a JSON object whose values have the right type."""
    found = json.loads(octets.decode("utf-8", "replace"))
    return {name: found[name] for name, kind in kinds.items()
            if isinstance(found, dict) and type(found.get(name)) is kind}


def _pairs(octets: bytes) -> Iterator[Tuple[int, int]]:
    at = 0
    while at < len(octets):
        first, at = wire.read_varint(octets, at)
        second, at = wire.read_varint(octets, at)
        yield first, second

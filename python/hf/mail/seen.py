# SPDX-License-Identifier: GPL-3.0-or-later
"""What has been accepted within a week, so that a second copy of a mail is dropped.

A sender that has no answer sends again. The receiver may have the mail already: the answer was
lost, or the sender was killed before it had written it down.
"""
from email.parser import BytesHeaderParser
import hashlib
import os
import time
from typing import Dict, Iterable

#: Seconds that a mail is remembered for.
WEEK_S = 7 * 86400
#: Keys kept, the newest. 150 000 need 12 MB on disk.
MAX_KEYS = 150_000


def key(data: bytes, sender: str, recipient: str) -> str:
    """What two copies of a mail for one recipient have in common: Message-ID and body. Lines that
    relays add to the header do not matter."""
    header, _, body = data.partition(b"\r\n\r\n")
    message_id = BytesHeaderParser().parsebytes(header + b"\r\n\r\n").get("Message-ID", "")
    digest = hashlib.sha256()
    for part in (str(message_id).strip().encode("utf-8", "replace"),
                 b"" if message_id else header, body, sender.encode("utf-8", "replace"),
                 recipient.lower().encode("utf-8", "replace")):
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()[:40]


class Seen:
    """The keys in a file, one line each with its time."""

    def __init__(self, path: str, now: float) -> None:
        """Reads the file, and writes it again without old and damaged lines. Raises OSError."""
        self._path = path
        self._keys: Dict[str, float] = {}
        try:
            with open(path, encoding="ascii", errors="replace") as file:
                for line in file:
                    self._take(line, now)
        except FileNotFoundError:
            pass
        self._compact(now)

    def __contains__(self, name: object) -> bool:
        return name in self._keys

    def __len__(self) -> int:
        return len(self._keys)

    def add(self, names: Iterable[str], now: float) -> None:
        """Remember keys. They are durable when this returns. Raises OSError; they are remembered
        until the program ends then."""
        new = [n for n in names if n not in self._keys]
        for name in new:
            self._keys[name] = now
        if len(self._keys) > MAX_KEYS + 1000:
            self._compact(now)
        elif new:
            with open(self._path, "a", encoding="ascii") as file:
                file.writelines(f"{now:.0f} {name}\n" for name in new)
                file.flush()
                os.fsync(file.fileno())

    def _take(self, line: str, now: float) -> None:
        when, _, name = line.rstrip("\n").partition(" ")
        if when.isdigit() and len(when) < 15 and len(name) == 40 and line.endswith("\n") \
                and now - int(when) < WEEK_S:
            self._keys[name] = int(when)

    def _compact(self, now: float) -> None:
        kept = sorted((t, n) for n, t in self._keys.items() if now - t < WEEK_S)[-MAX_KEYS:]
        self._keys = {n: t for t, n in kept}
        partial = self._path + ".tmp"
        try:
            with open(partial, "w", encoding="ascii") as file:
                file.writelines(f"{t:.0f} {n}\n" for t, n in kept)
                file.flush()
                os.fsync(file.fileno())
            os.rename(partial, self._path)
        except OSError:
            if os.path.exists(partial):
                os.unlink(partial)
            raise


def now() -> float:
    """Seconds since 1970."""
    return time.time()

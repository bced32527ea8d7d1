# SPDX-License-Identifier: GPL-3.0-or-later
"""Mails on disk. A mail is either there as a whole, or not at all.

Each queue is a folder. A mail in it is two files: ID.eml has its octets and never changes, ID.json
has its envelope. A mail exists if both are there. Files are written in the folder tmp, synced and
renamed, so that neither kill -9 nor a power failure nor a full disk leaves half a mail.

    out     accepted here, waiting for HF
    held    accepted here, waiting for an operator (hf mail release)
    in      received over HF, waiting for the mail server
"""
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
import fcntl
import json
import os
import re
import secrets
import threading
import time
from typing import Any, Dict, Iterator, List, Optional

QUEUES = ("out", "held", "in")
#: What the queues are called for a person.
STATES = {"out": "waits for HF", "held": "held", "in": "waits for the mail server"}
#: Names of mails. CFTP allows letters and digits only.
ID = re.compile("[0-9a-z]{1,40}")
#: An envelope that is longer is damaged. 100 recipients of 320 octets need 32 kB.
MAX_ENVELOPE_OCTETS = 1 << 18


class SpoolError(Exception):
    """The spool cannot be used, or is full. The text names the folder and says why."""


@dataclass
class Envelope:
    """What is known of a mail besides its octets.

    node: to send it to, or that it came from. protocol: hmtp, cftp or broadcast.
    arrived, next_try: seconds since 1970.
    error: why the last attempt failed.
    keys: for a received mail, what marks it as seen, by recipient.
    utf8: the mail needs SMTPUTF8.
    """

    id: str
    sender: str
    recipients: List[str]
    node: str
    protocol: str
    octets: int
    arrived: float
    priority: int = 0
    attempts: int = 0
    next_try: float = 0.0
    error: str = ""
    keys: Dict[str, str] = field(default_factory=dict)
    utf8: bool = False


def parse(text: bytes) -> Optional[Envelope]:
    """An envelope from its file; None if it is damaged."""
    try:
        table = json.loads(text)
        if not isinstance(table, dict) or set(table) - {f.name for f in fields(Envelope)}:
            return None
        e = Envelope(**table)
    except (ValueError, TypeError, RecursionError):
        return None
    texts = [e.id, e.sender, e.node, e.protocol, e.error, *_items(e.recipients),
             *_items(e.keys), *(e.keys.values() if isinstance(e.keys, dict) else [None])]
    numbers = [e.octets, e.arrived, e.priority, e.attempts, e.next_try, e.utf8]
    good = all(isinstance(t, str) for t in texts) and ID.fullmatch(e.id) and e.recipients \
        and all(isinstance(n, (int, float)) for n in numbers)
    return e if good else None


def _items(value: Any) -> List[Any]:
    return list(value) if isinstance(value, (list, dict)) else [None]


def _sync(folder: str) -> None:
    """Make the names in a folder durable."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


class Spool:
    """The queues in a folder. Safe for threads, and for hf mail beside a running gateway."""

    def __init__(self, folder: str, max_messages: int = 10000,
                 max_octets: int = 1 << 30) -> None:
        self.folder = folder
        self.max_messages, self.max_octets = max_messages, max_octets
        self._mutex = threading.RLock()
        self._running: Optional[int] = None
        self._known: Dict[str, Dict[str, Envelope]] = {queue: {} for queue in QUEUES}
        self._listed: Dict[str, int] = {}
        try:
            os.makedirs(folder, mode=0o700, exist_ok=True)
            if os.stat(folder).st_uid == os.geteuid():
                os.chmod(folder, 0o700)  # earlier versions left it open to all
            for name in (*QUEUES, "tmp"):
                os.makedirs(os.path.join(folder, name), mode=0o700, exist_ok=True)
            self._lock_file = os.open(os.path.join(folder, ".lock"), os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise SpoolError(f"spool {folder}: {error.strerror}") from None

    # --- one gateway at a time ------------------------------------------------------------------

    def start(self) -> None:
        """Claim the spool for a gateway, and sweep what a killed one has left. Raises SpoolError
        if another gateway runs."""
        fd = os.open(os.path.join(self.folder, ".running"), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(fd)
            raise SpoolError(f"spool {self.folder}: another gateway uses it") from None
        self._running = fd
        tmp = os.path.join(self.folder, "tmp")
        for name in os.listdir(tmp):
            os.unlink(os.path.join(tmp, name))
        for queue in QUEUES:
            names = set(os.listdir(os.path.join(self.folder, queue)))
            for name in names:
                stem, dot, kind = name.partition(".")
                partner = f"{stem}.{'json' if kind == 'eml' else 'eml'}"
                if kind in ("eml", "json") and partner not in names:
                    os.unlink(os.path.join(self.folder, queue, name))

    def close(self) -> None:
        """Let another gateway use the spool."""
        os.close(self._lock_file)
        if self._running is not None:
            os.close(self._running)
            self._running = None

    def has_gateway(self) -> bool:
        """Whether a gateway uses the spool."""
        if self._running is not None:
            return True
        try:
            fd = os.open(os.path.join(self.folder, ".running"), os.O_RDWR)
        except OSError:
            return False
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return False
        except OSError:
            return True
        finally:
            os.close(fd)

    # --- mails ----------------------------------------------------------------------------------

    def new_id(self) -> str:
        """A name for a mail, in the order of time."""
        return f"{time.time_ns() // 1000:x}{secrets.token_hex(2)}"

    def add(self, queue: str, envelope: Envelope, data: bytes) -> None:
        """Put a mail into a queue. It is durable when this returns. Raises SpoolError if the
        spool or the disk is full; nothing is kept then."""
        with self._locked():
            self._check_room(len(data))
            made: List[str] = []
            try:
                for kind, octets in (("eml", data), ("json", _text(envelope))):
                    made.append(self._write(queue, f"{envelope.id}.{kind}", octets))
                _sync(os.path.join(self.folder, queue))
            except OSError as error:
                for path in made:
                    _unlink(path)
                raise SpoolError(f"spool {self.folder}: {error.strerror}") from None
            self._known[queue][envelope.id] = envelope

    def data(self, queue: str, id_: str) -> Optional[bytes]:
        """Octets of a mail; None if it is gone."""
        try:
            with open(self._path(queue, id_, "eml"), "rb") as file:
                return file.read()
        except OSError:
            return None

    def update(self, queue: str, envelope: Envelope) -> None:
        """Change the envelope of a mail, unless the mail is gone. On a full disk the change lasts
        only as long as this object."""
        with self._locked():
            if not os.path.exists(self._path(queue, envelope.id, "json")):
                self._known[queue].pop(envelope.id, None)
                return
            self._known[queue][envelope.id] = envelope
            try:
                self._write(queue, f"{envelope.id}.json", _text(envelope))
                _sync(os.path.join(self.folder, queue))
            except OSError:
                pass

    def remove(self, queue: str, id_: str) -> bool:
        """Remove a mail. Returns False if it was gone."""
        with self._locked():
            self._known[queue].pop(id_, None)
            there = _unlink(self._path(queue, id_, "json"))
            _unlink(self._path(queue, id_, "eml"))
            _sync(os.path.join(self.folder, queue))
            return there

    def release(self, id_: str) -> bool:
        """Move a held mail to the queue out. Returns False if it is not held."""
        with self._locked():
            # The envelope goes last: without it the mail still counts as held.
            try:
                os.link(self._path("held", id_, "eml"), self._path("out", id_, "eml"))
                os.rename(self._path("held", id_, "json"), self._path("out", id_, "json"))
            except FileExistsError:
                os.rename(self._path("held", id_, "json"), self._path("out", id_, "json"))
            except FileNotFoundError:
                return False
            _unlink(self._path("held", id_, "eml"))
            for queue in ("out", "held"):
                _sync(os.path.join(self.folder, queue))
            return True

    def entries(self, queue: str) -> List[Envelope]:
        """The mails of a queue, the oldest first."""
        with self._mutex:
            self._refresh(queue)
            return sorted(self._known[queue].values(), key=lambda e: (e.arrived, e.id))

    def find(self, id_: str) -> Optional[str]:
        """The queue that a mail is in."""
        if not ID.fullmatch(id_):
            return None
        return next((q for q in QUEUES if os.path.exists(self._path(q, id_, "json"))), None)

    # --- inside ---------------------------------------------------------------------------------

    def _path(self, queue: str, id_: str, kind: str) -> str:
        return os.path.join(self.folder, queue, f"{id_}.{kind}")

    def _write(self, queue: str, name: str, octets: bytes) -> str:
        """A file that is whole or absent. Returns its path."""
        partial = os.path.join(self.folder, "tmp", name)
        try:
            with open(partial, "wb") as file:
                file.write(octets)
                file.flush()
                os.fsync(file.fileno())
            path = os.path.join(self.folder, queue, name)
            os.rename(partial, path)
            return path
        except OSError:
            _unlink(partial)
            raise

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Alone among the threads and processes that change the spool."""
        with self._mutex:
            fcntl.flock(self._lock_file, fcntl.LOCK_EX)
            try:
                yield
            finally:
                fcntl.flock(self._lock_file, fcntl.LOCK_UN)

    def _check_room(self, octets: int) -> None:
        mails = [e for queue in QUEUES for e in self.entries(queue)]
        if len(mails) >= self.max_messages:
            raise SpoolError(f"spool {self.folder}: full, {self.max_messages} mails")
        if sum(e.octets for e in mails) + octets > self.max_octets:
            raise SpoolError(f"spool {self.folder}: full, {self.max_octets} octets")

    def _refresh(self, queue: str) -> None:
        """Read the folder again if anybody has changed it."""
        folder = os.path.join(self.folder, queue)
        changed = os.stat(folder).st_mtime_ns
        # The clock of a file system is coarse: a recent change may hide another.
        if self._listed.get(queue) == changed and time.time_ns() - changed > 50_000_000:
            return
        known = self._known[queue]
        ids = {name[:-5] for name in os.listdir(folder) if name.endswith(".json")}
        for id_ in set(known) - ids:
            del known[id_]
        for id_ in ids - set(known):
            envelope = self._read(queue, id_)
            if envelope is not None:
                known[id_] = envelope
        self._listed[queue] = changed

    def _read(self, queue: str, id_: str) -> Optional[Envelope]:
        try:
            with open(self._path(queue, id_, "json"), "rb") as file:
                envelope = parse(file.read(MAX_ENVELOPE_OCTETS))
        except OSError:
            return None
        there = os.path.exists(self._path(queue, id_, "eml"))
        return envelope if envelope is not None and envelope.id == id_ and there else None


def _text(envelope: Envelope) -> bytes:
    return json.dumps(asdict(envelope)).encode()


def _unlink(path: str) -> bool:
    try:
        os.unlink(path)
        return True
    except FileNotFoundError:
        return False

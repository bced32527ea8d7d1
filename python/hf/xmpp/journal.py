# SPDX-License-Identifier: GPL-3.0-or-later
"""Stanzas on disk, in SQLite: those for HF until they have arrived, those from HF until the chat
server has them, and what was received before.

A stanza for HF gets a number when it is sent for the first time. The far gateway sees the lowest 8
bits, as the U_PDU ID. The last KEPT ones stay, in case the far gateway was killed before it had
written them down.
"""
import hashlib
import os
import secrets
import sqlite3
import threading
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

#: Numbers that are kept after their arrival, and that a receiver knows. Less than half of the IDs.
KEPT = 100
#: IDs that are remembered. An answer to an older stanza has its short ID.
MAX_IDS = 20_000
#: Presence is refused when this part of the room is taken: 1 / PRESENCE_SHARE.
PRESENCE_SHARE = 10
SCHEMA = """
CREATE TABLE IF NOT EXISTS outgoing (
    id INTEGER PRIMARY KEY, node TEXT, person TEXT, rank INTEGER, text BLOB, written REAL,
    number INTEGER, arrived INTEGER DEFAULT 0);
CREATE INDEX IF NOT EXISTS waiting ON outgoing (node, number, rank, person);
CREATE TABLE IF NOT EXISTS incoming (id INTEGER PRIMARY KEY, domain TEXT, text BLOB);
CREATE TABLE IF NOT EXISTS seen (node TEXT, number INTEGER, digest BLOB,
    PRIMARY KEY (node, number, digest)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS peers (
    node TEXT PRIMARY KEY, next INTEGER DEFAULT 0, last INTEGER, ours INTEGER DEFAULT 0);
CREATE TABLE IF NOT EXISTS ids (number INTEGER PRIMARY KEY AUTOINCREMENT, original TEXT UNIQUE);
CREATE TABLE IF NOT EXISTS word (word TEXT);
"""


class JournalError(Exception):
    """The journal cannot be used, or is full. The text says why."""


class Row(NamedTuple):
    """A stanza for HF. number is None before it is sent for the first time."""

    id: int
    text: bytes
    written: float
    number: Optional[int]


class Journal:
    """Any thread may use it."""

    def __init__(self, folder: str, max_messages: int, max_octets: int) -> None:
        """Raises JournalError."""
        self._max = max_messages, max_octets
        self._lock = threading.RLock()
        try:
            os.makedirs(folder, mode=0o700, exist_ok=True)
            path = os.path.join(folder, "stanzas.db")
            self._db = sqlite3.connect(path, timeout=1, check_same_thread=False)
            self._db.executescript("PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL;"
                                   "PRAGMA synchronous=FULL;" + SCHEMA)
            self._db.execute("UPDATE peers SET node = node")  # takes the lock
            self._db.execute("INSERT INTO word SELECT ? WHERE NOT EXISTS (SELECT * FROM word)",
                             (secrets.token_urlsafe(3),))
            self._db.commit()
        except (OSError, sqlite3.Error) as error:
            raise JournalError(f"[xmpp] folder {folder}: {error}") from None
        #: First characters of all short IDs. A new journal has others.
        self.word: str = self._one("SELECT word FROM word")[0]
        count, octets = self._one("SELECT COUNT(*), TOTAL(LENGTH(text)) FROM outgoing "
                                  "WHERE arrived = 0")
        self._size = {"outgoing": [count, int(octets)], "incoming": list(map(int, self._one(
            "SELECT COUNT(*), TOTAL(LENGTH(text)) FROM incoming")))}

    def _one(self, sql: str, *values: Any) -> Tuple[Any, ...]:
        return tuple(self._db.execute(sql, values).fetchone())

    def _room(self, table: str, octets: int, share: int = 1, count: int = 1) -> None:
        size, limits = self._size[table], (self._max[0] // share, self._max[1] // share)
        if size[0] + count > limits[0] or size[1] + octets > limits[1]:
            raise JournalError(f"full: {size[0]} stanzas with {size[1]} octets wait")
        size[0] += count
        size[1] += octets

    def _less(self, table: str, octets: int) -> None:
        self._size[table][0] -= 1
        self._size[table][1] -= octets

    def commit(self) -> None:
        """Everything before is durable. Raises JournalError."""
        with self._lock:
            try:
                self._db.commit()
            except sqlite3.Error as error:
                raise JournalError(str(error)) from None

    def close(self) -> None:
        """Everything stays."""
        with self._lock:
            self._db.commit()
            self._db.close()

    # --- for HF ---------------------------------------------------------------------------------

    def put(self, node: str, person: str, rank: int, text: bytes, written: float) -> None:
        """Keep a stanza for HF. A newer presence replaces one of the same person that waits, given
        as person. Raises JournalError."""
        with self._lock:
            if rank == 2:
                self._drop("node = ? AND person = ? AND rank = 2 AND number IS NULL", node, person)
            self._room("outgoing", len(text), PRESENCE_SHARE if rank == 2 else 1)
            self._db.execute("INSERT INTO outgoing (node, person, rank, text, written) "
                             "VALUES (?, ?, ?, ?, ?)", (node, person, rank, text, written))
            if rank < 2:
                self.commit()

    def _drop(self, where: str, *values: Any) -> int:
        found = self._db.execute("DELETE FROM outgoing WHERE arrived = 0 AND " + where
                                 + " RETURNING LENGTH(text)", values).fetchall()
        for octets, in found:
            self._less("outgoing", octets)
        return len(found)

    def heads(self, node: str) -> List[Tuple[str, int, int, float]]:
        """Person, rank, ID and time of the first stanza of each person that was not sent yet."""
        with self._lock:
            return list(self._db.execute(
                "SELECT person, rank, MIN(id), written FROM outgoing "
                "WHERE node = ? AND number IS NULL GROUP BY rank, person", (node,)))

    def of_room(self, node: str, person: str, from_id: int, most: int) -> List[Row]:
        """Stanzas of a room that were not sent yet, from one on. With presence, the name of a
        person is that of the occupant, and those to whom it goes after a line feed."""
        occupant = person.partition("\n")[0] + "\n"
        with self._lock:
            return [Row(*row) for row in self._db.execute(
                "SELECT id, text, written, number FROM outgoing WHERE node = ? AND number IS NULL "
                "AND id >= ? AND (person = ? OR SUBSTR(person, 1, ?) = ?) ORDER BY id LIMIT ?",
                (node, from_id, person, len(occupant), occupant, most))]

    def join(self, ids: List[int], text: bytes) -> None:
        """One stanza, with the first of the IDs, becomes of several."""
        with self._lock:
            for id_ in ids[1:]:
                self._drop("id = ?", id_)
            before, = self._one("SELECT LENGTH(text) FROM outgoing WHERE id = ?", ids[0])
            self._size["outgoing"][1] += len(text) - int(before)
            self._db.execute("UPDATE outgoing SET text = ? WHERE id = ?", (text, ids[0]))
            self.commit()

    def waiting(self, node: str) -> int:
        """Stanzas for a node that have not arrived."""
        with self._lock:
            return int(self._db.execute("SELECT COUNT(*) FROM outgoing WHERE node = ? AND "
                                        "arrived = 0", (node,)).fetchone()[0])

    def again(self, node: str, after: int) -> Optional[Row]:
        """The first stanza with a number above one that has not arrived."""
        with self._lock:
            found = self._db.execute(
                "SELECT id, text, written, number FROM outgoing WHERE node = ? AND number > ? "
                "AND arrived = 0 ORDER BY number LIMIT 1", (node, after)).fetchone()
            return Row(*found) if found else None

    def number(self, node: str, id_: int) -> Row:
        """Give a stanza its number."""
        with self._lock:
            next_ = self.peer(node)["next"]
            self._db.execute("UPDATE outgoing SET number = ? WHERE id = ?", (next_, id_))
            self._db.execute("UPDATE peers SET next = ? WHERE node = ?", (next_ + 1, node))
            self.commit()
            return Row(*self._one("SELECT id, text, written, number FROM outgoing WHERE id = ?",
                                  id_))

    def arrived(self, node: str, number: int) -> None:
        """A stanza has arrived. It stays until KEPT later ones were sent. That is durable with the
        next commit: after a kill it is sent again, and the receiver knows it."""
        with self._lock:
            found = self._db.execute("UPDATE outgoing SET arrived = 1 WHERE node = ? AND number = "
                                     "? AND arrived = 0 RETURNING LENGTH(text)", (node, number))
            for octets, in found.fetchall():
                self._less("outgoing", octets)
            self._db.execute("DELETE FROM outgoing WHERE node = ? AND arrived = 1 AND number < ?",
                             (node, number - KEPT))

    def rewind(self, node: str, last: int) -> int:
        """Stanzas after a number are to be sent again. Returns the first number that is there."""
        with self._lock:
            for octets, in self._db.execute(
                    "UPDATE outgoing SET arrived = 0 WHERE node = ? AND number > ? AND arrived = "
                    "1 RETURNING LENGTH(text)", (node, last)).fetchall():
                self._size["outgoing"][0] += 1
                self._size["outgoing"][1] += octets
            self.commit()
            found, = self._one("SELECT MIN(number) FROM outgoing WHERE node = ? AND number > ?",
                               node, last)
            return int(self.peer(node)["next"] if found is None else found)

    def expired(self, node: str, before: float) -> List[Row]:
        """Stanzas for a node that have waited for too long."""
        with self._lock:
            return [Row(*row) for row in self._db.execute(
                "SELECT id, text, written, number FROM outgoing WHERE node = ? AND arrived = 0 "
                "AND written < ? ORDER BY id", (node, before))]

    def expire(self, id_: int, notices: Sequence[Tuple[str, bytes]]) -> None:
        """Remove a stanza, and tell its writer once, by notices and their domains: all or
        nothing."""
        with self._lock:
            for domain, notice in notices if self._drop("id = ?", id_) else ():
                self._size["incoming"][0] += 1
                self._size["incoming"][1] += len(notice)
                self._db.execute("INSERT INTO incoming (domain, text) VALUES (?, ?)",
                                 (domain, notice))
            self.commit()

    # --- short IDs ------------------------------------------------------------------------------

    def id_number(self, original: str, new: bool) -> int:
        """Number of an ID: a new one if it has none and new is true, or -1. It is durable with the
        next commit."""
        with self._lock:
            if new and self._db.execute("INSERT OR IGNORE INTO ids (original) VALUES (?)",
                                        (original,)).rowcount > 0:
                self._db.execute("DELETE FROM ids WHERE number <= (SELECT MAX(number) FROM ids) "
                                 "- ?", (MAX_IDS,))
            found = self._db.execute("SELECT number FROM ids WHERE original = ?",
                                     (original,)).fetchone()
            return int(found[0]) if found else -1

    def id_of(self, number: int) -> str:
        """The ID with a number. Empty if it is not known."""
        with self._lock:
            found = self._db.execute("SELECT original FROM ids WHERE number = ?",
                                     (number,)).fetchone()
            return str(found[0]) if found else ""

    # --- from HF --------------------------------------------------------------------------------

    def peer(self, node: str) -> Dict[str, Any]:
        """next: number of the next new stanza. last: number of the last one from there, or None.
        ours: its gateway sends notices. new: nobody has asked before."""
        with self._lock:
            new = self._db.execute("INSERT OR IGNORE INTO peers (node) VALUES (?)",
                                   (node,)).rowcount > 0
            next_, last, ours = self._one("SELECT next, last, ours FROM peers WHERE node = ?",
                                          node)
            return {"next": next_, "last": last, "ours": bool(ours), "new": new}

    def set_peer(self, node: str, last: Optional[int], ours: bool) -> None:
        """What is known of a far gateway. It is durable with the next commit."""
        with self._lock:
            self._db.execute("UPDATE peers SET last = ?, ours = ? WHERE node = ?",
                             (last, int(ours), node))

    def is_new(self, node: str, number: int, text: bytes) -> bool:
        """Whether a stanza was not received before. It is known from now on."""
        digest = hashlib.sha256(text).digest()[:16]
        with self._lock:
            new = self._db.execute("INSERT OR IGNORE INTO seen VALUES (?, ?, ?)",
                                   (node, number, digest)).rowcount > 0
            self._db.execute("DELETE FROM seen WHERE node = ? AND number < ?",
                             (node, number - 2 * KEPT))
            return new

    def take(self, domain: str, *texts: bytes) -> None:
        """Keep stanzas for the chat server: all, or none. Raises JournalError."""
        with self._lock:
            self._room("incoming", sum(map(len, texts)), count=len(texts))
            self._db.executemany("INSERT INTO incoming (domain, text) VALUES (?, ?)",
                                 [(domain, text) for text in texts])
            self.commit()

    def incoming(self, domain: str, after: int, most: int) -> List[Tuple[int, bytes]]:
        """ID and text of stanzas for the chat server, the oldest first."""
        with self._lock:
            return list(self._db.execute("SELECT id, text FROM incoming WHERE domain = ? AND id > "
                                         "? ORDER BY id LIMIT ?", (domain, after, most)))

    def delivered(self, domain: str, up_to: int) -> int:
        """The chat server has them. Returns their number."""
        with self._lock:
            found = self._db.execute("DELETE FROM incoming WHERE domain = ? AND id <= ? "
                                     "RETURNING LENGTH(text)", (domain, up_to)).fetchall()
            for octets, in found:
                self._less("incoming", octets)
            self.commit()
            return len(found)

    def sizes(self) -> Dict[str, Tuple[int, int]]:
        """Stanzas and octets that wait, by direction."""
        with self._lock:
            return {name: (size[0], size[1]) for name, size in self._size.items()}

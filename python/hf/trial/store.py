# SPDX-License-Identifier: GPL-3.0-or-later
"""Measurements of a station in SQLite, so that a restart loses nothing, and their export as CSV.

The start of a slot is recorded before anything is sent. A slot cut off by a crash is marked after
the restart, and not repeated.
"""
import datetime
import fcntl
import json
import os
import sqlite3
import threading
import time
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

from ..system import output
from .plan import Slot

SCHEMA = """
CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value TEXT);
CREATE TABLE IF NOT EXISTS runs (
    id INTEGER PRIMARY KEY, began REAL, ended REAL, why TEXT);
CREATE TABLE IF NOT EXISTS slots (
    id INTEGER PRIMARY KEY, run INTEGER, round INTEGER, number INTEGER, test INTEGER, kind TEXT,
    sender TEXT, receiver TEXT, role TEXT, begin REAL, length_s REAL, ended REAL,
    frequency_hz REAL, state TEXT, linked INTEGER, why TEXT, UNIQUE (round, number));
CREATE TABLE IF NOT EXISTS results (
    id INTEGER PRIMARY KEY, slot INTEGER REFERENCES slots (id), at REAL, kind TEXT, mode TEXT,
    ok INTEGER, seconds REAL, octets INTEGER, goodput_bps REAL, blocks INTEGER, why TEXT);
CREATE TABLE IF NOT EXISTS receptions (
    id INTEGER PRIMARY KEY, slot INTEGER REFERENCES slots (id), at REAL, mode TEXT, snr_db REAL,
    freq_offset_hz REAL, doppler_hz REAL, delay_spread_ms REAL, coded_ber REAL, octets INTEGER,
    blocks INTEGER, pattern_blocks INTEGER, bad_blocks INTEGER, bits INTEGER, bit_errors INTEGER,
    reason TEXT);
CREATE TABLE IF NOT EXISTS ale (
    id INTEGER PRIMARY KEY, slot INTEGER REFERENCES slots (id), at REAL, event TEXT,
    channel INTEGER, frequency_hz REAL, peer TEXT, snr_db REAL, text TEXT);
CREATE TABLE IF NOT EXISTS costs (
    slot INTEGER PRIMARY KEY REFERENCES slots (id), data_s REAL, protocol_s REAL,
    turnaround_s REAL, padding_s REAL, loss_s REAL);
CREATE INDEX IF NOT EXISTS results_by_slot ON results (slot);
CREATE INDEX IF NOT EXISTS receptions_by_slot ON receptions (slot);
"""
#: Version of the schema, stored in the file.
VERSION = 1
#: When the database is full, delete one in this many receptions, the oldest first.
_SHARE_DROPPED = 10

RESULT_COLUMNS = ["station", "round", "number", "kind", "sender", "receiver", "begin",
                  "frequency_hz", "state", "linked", "at", "mode", "ok", "seconds", "octets",
                  "goodput_bps", "blocks", "why"]
RECEPTION_COLUMNS = ["station", "round", "number", "at", "mode", "snr_db", "freq_offset_hz",
                     "doppler_hz", "delay_spread_ms", "coded_ber", "octets", "blocks",
                     "pattern_blocks", "bad_blocks", "bits", "bit_errors", "reason"]
ALE_COLUMNS = ["station", "round", "number", "at", "event", "channel", "frequency_hz", "peer",
               "snr_db", "text"]
COST_COLUMNS = ["station", "round", "number", "kind", "receiver", "data_s", "protocol_s",
                "turnaround_s", "padding_s", "loss_s"]


class StoreError(ValueError):
    """A database cannot be used. The text names it and says why."""


def utc_text(at: Optional[float]) -> str:
    """A UTC time (s since 1970) as ISO 8601. Empty for None."""
    if at is None:
        return ""
    moment = datetime.datetime.fromtimestamp(at, datetime.timezone.utc)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


class Store:
    """The database of one station, opened for writing and locked."""

    def __init__(self, path: str, address: str, plan_text: str, max_mb: int = 500,
                 title: Optional[Dict[str, str]] = None) -> None:
        """plan_text: identifies the plan, since a database belongs to one. title: for the report,
        keys name and air (the simulated channel, or empty). Raises StoreError."""
        self.path, self.address, self.max_octets = path, address, max_mb * 1000000
        self._lock = threading.Lock()  # receptions come from a thread of the flowgraph
        self._lock_file = _locked(path)
        try:
            self._open(plan_text)
            self.db.execute("INSERT OR REPLACE INTO about VALUES ('title', ?)",
                            (json.dumps(title or {}),))
        except BaseException:
            self._lock_file.close()
            raise

    def _open(self, plan_text: str) -> None:
        try:
            self.db = sqlite3.connect(self.path, timeout=10, isolation_level=None,
                                      check_same_thread=False)
            self.db.execute("PRAGMA auto_vacuum=INCREMENTAL")
            self.db.execute("PRAGMA journal_mode=WAL")
            self.db.execute("PRAGMA synchronous=NORMAL")
            self.db.executescript(SCHEMA)
            about = dict(self.db.execute("SELECT name, value FROM about"))
        except sqlite3.Error as error:
            raise StoreError(f"{self.path}: {error}") from None
        mine = {"version": str(VERSION), "address": self.address, "plan": plan_text}
        names = {"version": "version", "address": "station", "plan": "plan"}
        for name, value in mine.items():
            if about.setdefault(name, value) != value:
                self.db.close()
                was = "" if name == "plan" else f" ({about[name]}, this is {value})"
                raise StoreError(f"{self.path}: is of another {names[name]}{was}; give another "
                                 "folder, or the original plan")
        self.db.executemany("INSERT OR IGNORE INTO about VALUES (?, ?)", mine.items())
        self.run = self._begin_run()

    def _begin_run(self) -> int:
        """Record the start of a run. Mark open slots of an earlier run as interrupted."""
        row = self.db.execute("SELECT max(at) FROM (SELECT max(at) AS at FROM results UNION "
                              "SELECT max(at) FROM receptions UNION SELECT max(begin) FROM slots)"
                              ).fetchone()
        self.last_seen: Optional[float] = row[0]
        self.db.execute("UPDATE slots SET state='interrupted', why='the program ended within it' "
                        "WHERE state='running'")
        self.db.execute("UPDATE runs SET why='ended unexpectedly' WHERE ended IS NULL")
        return int(self.db.execute("INSERT INTO runs (began) VALUES (?)",
                                   (time.time(),)).lastrowid or 0)

    def close(self, why: str = "ended on request") -> None:
        """Close the database. A running slot becomes interrupted."""
        with self._lock:
            self.db.execute("UPDATE slots SET state='interrupted', why=? WHERE state='running'",
                            (why,))
            self.db.execute("UPDATE runs SET ended=?, why=? WHERE id=?",
                            (time.time(), why, self.run))
            self.db.close()
            self._lock_file.close()

    def done(self) -> "set[Tuple[int, int]]":
        """Round and number of all slots that were started or missed."""
        return set(self.db.execute("SELECT round, number FROM slots"))

    def begin(self, slot: Slot, role: str, frequency_hz: Optional[float], state: str = "running",
              why: str = "") -> int:
        """Record the start of a slot, or with state missed a slot not run. Returns its id."""
        return self._insert("slots", {
            "run": self.run, "round": slot.round, "number": slot.number,
            "test": slot.test_number, "kind": slot.test.kind, "sender": slot.sender,
            "receiver": slot.receiver, "role": role, "begin": slot.begin,
            "length_s": slot.length_s, "frequency_hz": frequency_hz, "state": state, "why": why})

    def frequency(self, slot_id: int, frequency_hz: float) -> None:
        """Store the rig's frequency for a slot, Hz."""
        with self._lock:
            self.db.execute("UPDATE slots SET frequency_hz=? WHERE id=?", (frequency_hz, slot_id))

    def end(self, slot_id: int, utc: float, state: str, linked: Optional[bool] = None,
            why: str = "") -> None:
        """Record the end of a slot. state: done or failed."""
        with self._lock:
            self.db.execute("UPDATE slots SET ended=?, state=?, linked=?, why=? WHERE id=?",
                            (utc, state, linked, why, slot_id))
            self._make_room()

    def result(self, slot_id: int, **values: Any) -> None:
        """Store a measurement of a slot, by columns."""
        self._insert("results", {"slot": slot_id, **values})

    def reception(self, slot_id: Optional[int], **values: Any) -> None:
        """Store a reception, by columns."""
        self._insert("receptions", {"slot": slot_id, **values})

    def ale(self, slot_id: Optional[int], **values: Any) -> None:
        """Store an event of ALE or the quality of a channel, by columns."""
        self._insert("ale", {"slot": slot_id, **values})

    def cost(self, slot_id: int, parts_s: Dict[str, float]) -> None:
        """Store where the time of a slot went, s by the names of cost.PARTS."""
        self._insert("costs", {"slot": slot_id,
                               **{f"{name}_s": value for name, value in parts_s.items()}})

    def _insert(self, table: str, values: Dict[str, Any]) -> int:
        names = ", ".join(values)
        with self._lock:
            cursor = self.db.execute(f"INSERT INTO {table} ({names}) VALUES "
                                     f"({', '.join('?' * len(values))})", list(values.values()))
        return int(cursor.lastrowid or 0)

    def _octets(self) -> int:
        pages, size = (self.db.execute(f"PRAGMA {what}").fetchone()[0]
                       for what in ("page_count", "page_size"))
        return int(pages) * int(size)

    def _make_room(self) -> None:
        while self._octets() > self.max_octets:
            count = self.db.execute("SELECT count(*) FROM receptions").fetchone()[0]
            if not count:
                raise StoreError(f"{self.path}: is larger than max_mb = "
                                 f"{self.max_octets // 1000000} without any reception")
            share = max(1, count // _SHARE_DROPPED)
            self.db.execute("DELETE FROM receptions WHERE id IN (SELECT id FROM receptions "
                            "ORDER BY id LIMIT ?)", (share,))
            self.db.execute("INSERT INTO about VALUES ('receptions_dropped', ?) ON CONFLICT "
                            "(name) DO UPDATE SET value = value + excluded.value", (share,))
            self.db.execute("PRAGMA incremental_vacuum").fetchall()
            self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _locked(path: str) -> Any:
    """Lock file of a database. The lock is held while the file is open."""
    try:
        file = open(path + ".lock", "a+", encoding="ascii")
    except OSError as error:
        raise StoreError(f"{path}.lock: {error.strerror}") from None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.seek(0)
        who = file.read(20).strip()
        file.close()
        by = f" (process {who})" if who else ""
        raise StoreError(f"{path}: in use by another hf trial run{by}") from None
    file.truncate(0)
    file.write(f"{os.getpid()}\n")
    file.flush()
    return file


class Reader:
    """A database opened for reading, also while a run writes it."""

    def __init__(self, path: str) -> None:
        """Raises StoreError."""
        self.path = path
        if not os.path.isfile(path):
            raise StoreError(f"{path}: database does not exist")
        try:
            self.db = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=10)
            self.db.row_factory = sqlite3.Row
            self.about = dict(tuple(r) for r in self.db.execute("SELECT name, value FROM about"))
        except sqlite3.Error as error:
            raise StoreError(f"{path}: is no database of hf trial ({error})") from None
        if self.about.get("version") != str(VERSION) or "address" not in self.about:
            raise StoreError(f"{path}: is no database of this version of hf trial")
        self.address = self.about["address"]

    def rows(self, query: str, *values: Any) -> List[sqlite3.Row]:
        """Rows of a query."""
        return self.db.execute(query, values).fetchall()

    def close(self) -> None:
        """Close the database."""
        self.db.close()

    def results(self) -> Iterator[Sequence[Any]]:
        """Rows of RESULT_COLUMNS for each measurement, and for each slot without one."""
        for r in self.db.execute(
                "SELECT s.*, r.at, r.mode, r.ok, r.seconds, r.octets, r.goodput_bps, r.blocks, "
                "coalesce(nullif(r.why, ''), s.why) AS reason FROM slots s LEFT JOIN results r "
                "ON r.slot = s.id WHERE s.role = 'sends' OR s.state != 'done' "
                "ORDER BY s.begin, r.id"):
            yield [self.address, r["round"], r["number"], r["kind"], r["sender"], r["receiver"],
                   utc_text(r["begin"]), r["frequency_hz"], r["state"], r["linked"],
                   utc_text(r["at"]), r["mode"], r["ok"], r["seconds"], r["octets"],
                   r["goodput_bps"], r["blocks"], r["reason"]]

    def ale(self) -> Iterator[Sequence[Any]]:
        """Rows of ALE_COLUMNS for each event of ALE and each channel measured."""
        if not self._has("ale"):
            return  # written before there was ALE
        for r in self.db.execute("SELECT a.*, s.round, s.number FROM ale a LEFT JOIN slots s "
                                 "ON a.slot = s.id ORDER BY a.at, a.id"):
            yield [self.address, r["round"], r["number"], utc_text(r["at"]),
                   *(r[name] for name in ALE_COLUMNS[4:])]

    def costs(self) -> List[sqlite3.Row]:
        """Slots with what their time went to."""
        if not self._has("costs"):
            return []  # written before it was measured
        return self.rows("SELECT s.*, c.* FROM costs c JOIN slots s ON c.slot = s.id "
                         "ORDER BY s.begin")

    def _has(self, table: str) -> bool:
        return bool(self.rows("SELECT 1 FROM sqlite_master WHERE name = ?", table))

    def receptions(self) -> Iterator[Sequence[Any]]:
        """Rows of RECEPTION_COLUMNS for each reception."""
        for r in self.db.execute("SELECT r.*, s.round, s.number FROM receptions r LEFT JOIN slots "
                                 "s ON r.slot = s.id ORDER BY r.id"):
            yield [self.address, r["round"], r["number"], utc_text(r["at"]),
                   *(r[name] for name in RECEPTION_COLUMNS[4:])]


def write_csv(path: str) -> List[str]:
    """Export the database as CSV files in its folder, those of ALE and costs only if there is
    something. Returns their names."""
    base = os.path.splitext(path)[0]
    names = [f"{base}-results.csv", f"{base}-receptions.csv"]
    reader = Reader(path)
    try:
        output.write_csv(names[0], RESULT_COLUMNS, reader.results())
        output.write_csv(names[1], RECEPTION_COLUMNS, reader.receptions())
        costs = [[reader.address, *(r[name] for name in COST_COLUMNS[1:])]
                 for r in reader.costs()]
        for what, columns, rows in (("ale", ALE_COLUMNS, list(reader.ale())),
                                    ("costs", COST_COLUMNS, costs)):
            if rows:
                names.append(f"{base}-{what}.csv")
                output.write_csv(names[-1], columns, rows)
    finally:
        reader.close()
    return names

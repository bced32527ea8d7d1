# SPDX-License-Identifier: GPL-3.0-or-later
"""What the door keeps on disk: pages with their pictures, bookmarks, history."""
import hashlib
import json
import os
import tempfile
import time
from typing import Any, Dict, List, NamedTuple, Optional
from urllib.parse import urlsplit

#: Octets of all pages kept, and entries of the history.
MAX_OCTETS, MAX_HISTORY = 200 << 20, 500


class Kept(NamedTuple):
    """A page that arrived whole.

    url: as asked. head: of the answer (see wire.py). sections: lines by kind of part. pictures:
    WebP by number. sizes: width and height by number. mode: in which it was read. at: time of the
    answer. octets: of the answer. left: what did not fit into the budget.
    """

    url: str
    head: Dict[str, Any]
    sections: Dict[str, List[str]]
    pictures: Dict[int, bytes]
    mode: str
    at: float
    octets: int
    left: Dict[str, Any]

    @property
    def complete(self) -> bool:
        """It has all its pictures."""
        return self.mode == "pictures" and not self.left

    @property
    def lines(self) -> List[str]:
        """All lines, in the order in which references count them."""
        return [line for kind in "TLRM" for line in self.sections.get(kind, [])]


class Library:
    """Pages by address in a folder. Damaged files count as missing."""

    def __init__(self, folder: str) -> None:
        """Make the folder. Raises OSError."""
        self.folder = folder
        os.makedirs(os.path.join(folder, "pages"), mode=0o700, exist_ok=True)
        self._notes: Dict[str, Any] = self._read(os.path.join(folder, "notes.json"))

    def get(self, url: str) -> Optional[Kept]:
        """The page of an address, or None."""
        data = self._read(self._path(url))
        try:
            pictures = {}
            with open(self._path(url)[:-5] + ".bin", "rb") as file:
                for number, size in data["pictures"]:
                    pictures[int(number)] = file.read(size)
            return Kept(data["url"], data["head"], data["sections"], pictures, data["mode"],
                        data["at"], data["octets"], data["left"])
        except (KeyError, TypeError, ValueError, OSError):
            return None

    def near(self, url: str) -> Optional[Kept]:
        """The page of an address, or the last one of the same site."""
        found = self.get(url)
        if found is not None:
            return found
        last = self._notes.get("sites", {}).get(site_of(url))
        return self.get(last) if isinstance(last, str) else None

    def put(self, kept: Kept) -> None:
        """Keep a page. A full disk is no error: the page is not kept."""
        path = self._path(kept.url)
        body = {**kept._asdict(), "pictures": [(n, len(p)) for n, p in kept.pictures.items()]}
        try:
            self._write(path[:-5] + ".bin", b"".join(kept.pictures.values()))
            self._write(path, json.dumps(body).encode())
            self._note("sites", site_of(kept.url), kept.url)
            self._note("sizes", f"{kept.mode} {kept.url}", kept.octets)
            self._note("sizes", f"{kept.mode} {site_of(kept.url)}", kept.octets)
            self._save()
            self._trim()
        except OSError:
            pass

    def size(self, url: str, mode: str) -> Optional[int]:
        """Octets of the last answer for an address, or else for its site. None: not known."""
        sizes = self._notes.get("sizes", {})
        found = sizes.get(f"{mode} {url}") or sizes.get(f"{mode} {site_of(url)}")
        return found if isinstance(found, int) else None

    def _note(self, table: str, key: str, value: Any) -> None:
        """Set an entry of a table of notes. The oldest beyond MAX_HISTORY goes."""
        entries = self._notes.setdefault(table, {})
        entries.pop(key, None)
        entries[key] = value
        for old in list(entries)[:-MAX_HISTORY]:
            del entries[old]

    # --- bookmarks and history ------------------------------------------------------------------

    def visited(self, url: str, title: str) -> None:
        """Add a page to the history."""
        history = [h for h in self.history() if h["url"] != url]
        self._notes["history"] = [{"url": url, "title": title, "at": time.time()},
                                  *history][:MAX_HISTORY]
        self._save()

    def history(self) -> List[Dict[str, Any]]:
        """Pages read, the last first: url, title, at."""
        return list(self._notes.get("history", []))

    def bookmarks(self, user: str = "") -> List[Dict[str, Any]]:
        """Bookmarks of a user: url, title. Empty: of a door without users."""
        return list(self._notes.get("bookmarks" + f" {user}" * bool(user), []))

    def bookmark(self, url: str, title: Optional[str], user: str = "") -> None:
        """Add a bookmark of a user; without a title, remove it. The oldest beyond MAX_HISTORY
        goes."""
        others = [b for b in self.bookmarks(user) if b["url"] != url]
        self._notes["bookmarks" + f" {user}" * bool(user)] = (
            others + ([{"url": url, "title": title}] if title is not None else []))[-MAX_HISTORY:]
        self._save()

    def forget(self) -> None:
        """Delete history and pages. Bookmarks stay."""
        self._notes = {key: kept for key, kept in self._notes.items()
                       if key.startswith("bookmarks")}
        self._save()
        folder = os.path.join(self.folder, "pages")
        for name in os.listdir(folder):
            os.unlink(os.path.join(folder, name))

    # --- files ----------------------------------------------------------------------------------

    def _path(self, url: str) -> str:
        name = hashlib.sha256(url.encode("utf-8", "replace")).hexdigest()[:32]
        return os.path.join(self.folder, "pages", name + ".json")

    @staticmethod
    def _read(path: str) -> Dict[str, Any]:
        try:
            with open(path, encoding="utf-8") as file:
                found = json.load(file)
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    @staticmethod
    def _write(path: str, data: bytes) -> None:
        handle, temporary = tempfile.mkstemp(dir=os.path.dirname(path))
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            os.replace(temporary, path)
        except OSError:
            os.unlink(temporary)
            raise

    def _save(self) -> None:
        try:
            self._write(os.path.join(self.folder, "notes.json"), json.dumps(self._notes).encode())
        except OSError:
            pass  # a full disk: the notes live until the end of the program

    def _trim(self) -> None:
        """Delete the oldest pages beyond MAX_OCTETS."""
        folder = os.path.join(self.folder, "pages")
        files = sorted((os.stat(os.path.join(folder, n)).st_mtime, n) for n in os.listdir(folder))
        total = sum(os.path.getsize(os.path.join(folder, n)) for _, n in files)
        for _, name in files:
            if total <= MAX_OCTETS:
                break
            path = os.path.join(folder, name)
            total -= os.path.getsize(path)
            os.unlink(path)


def site_of(url: str) -> str:
    """The host of an address."""
    try:
        return urlsplit(url if "://" in url else "https://" + url).hostname or ""
    except ValueError:
        return ""

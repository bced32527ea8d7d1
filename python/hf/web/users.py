# SPDX-License-Identifier: GPL-3.0-or-later
"""Who may use the door on a LAN: a file with names and hashed passwords, and who is logged in."""
from collections import OrderedDict
import hashlib
import hmac
import ipaddress
import os
import re
import secrets
import time
from typing import Callable, Dict, NamedTuple, Optional, Tuple

from ..system import private

#: Cost of scrypt: 32 MB of memory, about 0.1 s on a small computer.
_COST = {"n": 1 << 15, "r": 8, "p": 1, "maxmem": 64 << 20}
#: Names of users, their number, and characters of a password.
NAME, MAX_USERS, LEAST, MOST = re.compile("[A-Za-z0-9._-]{1,32}"), 200, 8, 200
#: Users who are logged in, and how long each may be, s.
MAX_SESSIONS, SESSION_S = 400, 12 * 3600.0
#: Wrong passwords from one address and from all within TRIES_S, after which none is looked at.
TRIES, TRIES_OF_ALL, TRIES_S = 5, 60, 300.0
#: Addresses whose wrong passwords are remembered.
_MAX_ADDRESSES = 1000
_HEAD = "# Users of the web door of gr-hf: name, salt, scrypt of the password.\n"


class UsersError(ValueError):
    """The file of users cannot be used. The text names it and what is allowed."""


def _hash(password: str, salt: bytes) -> bytes:
    return hashlib.scrypt(password.encode("utf-8", "replace")[:4 * MOST], salt=salt, dklen=32,
                          **_COST)


def load(path: str) -> Dict[str, Tuple[bytes, bytes]]:
    """Salt and hash by name. Raises UsersError."""
    try:
        lines = private.read(path, 1 << 16).splitlines()
    except ValueError as error:
        raise UsersError(str(error)) from None
    except OSError as error:
        raise UsersError(f"{path}: {error.strerror}: hf web user {path} NAME makes it") from None
    found = {}
    for line in lines:
        if not line.strip() or line.startswith("#"):
            continue
        words = line.split()
        if len(words) != 3 or not NAME.fullmatch(words[0]) or \
                not re.fullmatch("[0-9a-f]{32} [0-9a-f]{64}", " ".join(words[1:])):
            raise UsersError(f"{path}: allowed are lines that hf web user writes")
        found[words[0]] = bytes.fromhex(words[1]), bytes.fromhex(words[2])
    return found


def save(path: str, name: str, password: Optional[str]) -> None:
    """Set the password of a user in a file, for its owner only. None: remove the user. Raises
    UsersError."""
    if not NAME.fullmatch(name):
        raise UsersError(f"{name}: allowed are 1 to 32 letters of A-Z, a-z, 0-9, dot, hyphen and "
                         "underscore")
    users = load(path) if os.path.exists(path) else {}
    if password is None:
        if users.pop(name, None) is None:
            raise UsersError(f"{path}: has no user {name}")
    else:
        if not LEAST <= len(password) <= MOST:
            raise UsersError(f"the password has {len(password)} characters: allowed are {LEAST} "
                             f"to {MOST}")
        salt = secrets.token_bytes(16)
        users[name] = salt, _hash(password, salt)
    if len(users) > MAX_USERS:
        raise UsersError(f"{path}: has {MAX_USERS} users, which is the limit")
    lines = "".join(f"{n} {salt.hex()} {hashed.hex()}\n" for n, (salt, hashed) in users.items())
    temporary = f"{path}.{secrets.token_hex(4)}"
    try:
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w",
                  encoding="ascii") as file:
            file.write(_HEAD + lines)
        os.replace(temporary, path)
    except OSError as error:
        raise UsersError(f"{path}: {error.strerror}") from None


class Session(NamedTuple):
    """A user who is logged in. token: which the door's own pages carry, see Door. until: on the
    clock of Users."""

    user: str
    token: str
    until: float


class Users:
    """Checks passwords and keeps who is logged in. check() may be called on another thread."""

    def __init__(self, users: Dict[str, Tuple[bytes, bytes]],
                 clock: Callable[[], float] = time.monotonic) -> None:
        self._users, self._clock = users, clock
        self._nobody = secrets.token_bytes(16), secrets.token_bytes(32)
        self._sessions: "OrderedDict[str, Session]" = OrderedDict()
        self._wrong: "OrderedDict[str, list[float]]" = OrderedDict()

    def check(self, name: str, password: str) -> bool:
        """Whether a password is right. An unknown name takes the same time."""
        salt, hashed = self._users.get(name, self._nobody)
        return hmac.compare_digest(_hash(password, salt), hashed) and name in self._users

    def may_try(self, address: str) -> bool:
        """Whether a password from an address will be looked at. It then counts as a wrong one
        until succeeded()."""
        since = self._clock() - TRIES_S
        for key in list(self._wrong):
            self._wrong[key] = [t for t in self._wrong[key] if t > since]
            if not self._wrong[key]:
                del self._wrong[key]
        mine = self._wrong.setdefault(_network(address), [])
        if len(mine) >= TRIES or sum(map(len, self._wrong.values())) >= TRIES_OF_ALL:
            return False
        mine.append(self._clock())
        while len(self._wrong) > _MAX_ADDRESSES:
            self._wrong.popitem(last=False)
        return True

    def succeeded(self, address: str, name: str) -> str:
        """Log a user in. Returns the secret of the session."""
        self._wrong.pop(_network(address), None)
        secret = secrets.token_urlsafe(32)
        self._sessions[secret] = Session(name, secrets.token_urlsafe(12),
                                         self._clock() + SESSION_S)
        while len(self._sessions) > MAX_SESSIONS:
            self._sessions.popitem(last=False)
        return secret

    def session(self, secret: str) -> Optional[Session]:
        """The session of a secret, or None."""
        found = self._sessions.get(secret)
        if found is not None and found.until < self._clock():
            del self._sessions[secret]
            return None
        return found

    def log_out(self, secret: str) -> None:
        """End a session."""
        self._sessions.pop(secret, None)


def _network(address: str) -> str:
    """What counts as one address: of IPv6 the network, since each host has many."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    return str(ipaddress.ip_network((found, 64 if found.version == 6 else 32), strict=False))

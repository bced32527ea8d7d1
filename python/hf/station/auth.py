# SPDX-License-Identifier: GPL-3.0-or-later
"""Key files of link authentication: net keys and their change, signing keys, fingerprints."""
from dataclasses import dataclass, field
import hashlib
import os
import re
import secrets
import tempfile
from typing import Dict, Optional, Tuple

from .. import hf_python as _hf
from ..system import private
from . import tables

#: Octets of a net key, and of each half of a signing key.
KEY_OCTETS = 32
#: Net keys have numbers from 0 to 7, and at most two are valid at once.
NUMBERS, MAX_KEYS = 8, 2
#: First line of each file.
_HEAD = ("# Keys of gr-hf. Keep this file secret. Any person who has it can speak in the name of "
         "its stations.\n")


class AuthError(ValueError):
    """A key file is wrong or cannot be used. The text names the file and what is allowed."""


def _key(name: str, text: str) -> bytes:
    if not re.fullmatch(f"[0-9a-fA-F]{{{2 * KEY_OCTETS}}}", text):
        raise AuthError(f"{name}: a key must be {2 * KEY_OCTETS} hexadecimal digits")
    return bytes.fromhex(text)


@dataclass
class KeyFile:
    """The content of a key file: net keys, or the signing key of one station.

    keys: net keys by number, each of 64 hexadecimal digits.
    send: number of the key that seals what this station sends.
    signing: Ed25519 private key. A file has either this or net keys.
    """

    keys: Dict[str, str] = field(default_factory=dict)
    send: int = field(default=0, metadata={"range": (0, NUMBERS - 1)})
    signing: str = ""
    #: The source file, for messages.
    where: str = field(default="", init=False)

    def check(self) -> None:
        """Raise AuthError for wrong numbers, too many keys or a wrong key."""
        for number, text in self.keys.items():
            if number not in map(str, range(NUMBERS)):
                raise AuthError(f"[keys] {number}: a key number must be 0 to {NUMBERS - 1}")
            _key(f"[keys] {number}", text)
        if self.signing:
            _key("signing", self.signing)
        if bool(self.signing) == bool(self.keys):
            raise AuthError("needs [keys] or signing, and not both")
        if len(self.keys) > MAX_KEYS:
            raise AuthError(f"[keys]: {len(self.keys)} net keys: at most {MAX_KEYS} are valid at "
                            "once")
        if self.keys and str(self.send) not in self.keys:
            raise AuthError(f"send = {self.send}: must be the number of a key in [keys]")

    @classmethod
    def new(cls) -> "KeyFile":
        """One new net key, number 0."""
        return cls({"0": secrets.token_hex(KEY_OCTETS)})

    @classmethod
    def new_signing(cls) -> "KeyFile":
        """A new signing key."""
        return cls(signing=secrets.token_hex(KEY_OCTETS))

    @property
    def public(self) -> str:
        """Public half of the signing key, 64 hexadecimal digits."""
        return bytes(_hf.auth_public_key(bytes.fromhex(self.signing))).hex()

    def fingerprints(self) -> Dict[int, str]:
        """Fingerprint of each net key by its number, to be compared by voice."""
        return {int(number): fingerprint(bytes.fromhex(text))
                for number, text in sorted(self.keys.items())}

    def rotated(self) -> Tuple["KeyFile", str]:
        """The next step of a change of keys, and what it is: new (a second key is valid), use
        (the new key seals) or drop (the old key is no longer valid).

        All stations must have taken one step before any takes the next.
        """
        if len(self.keys) < MAX_KEYS:
            number = (self.send + 1) % NUMBERS
            keys = {**self.keys, str(number): secrets.token_hex(KEY_OCTETS)}
            return KeyFile(keys, self.send), "new"
        other = next(int(number) for number in self.keys if int(number) != self.send)
        if other == (self.send + 1) % NUMBERS:
            return KeyFile(dict(self.keys), other), "use"
        return KeyFile({str(self.send): self.keys[str(self.send)]}, self.send), "drop"

    def text(self) -> str:
        """The file."""
        if self.signing:
            return f'{_HEAD}signing = "{self.signing}"\n'
        lines = "".join(f'{number} = "{key}"\n' for number, key in sorted(self.keys.items()))
        return f"{_HEAD}send = {self.send}\n[keys]\n{lines}"

    def words(self) -> Tuple[str, ...]:
        """The net keys in the form of hf.data_link."""
        return (*(f"key={number}:{key}" for number, key in self.keys.items()),
                f"send={self.send}")


def fingerprint(key: bytes) -> str:
    """20 hexadecimal digits in groups of four. They reveal nothing about the key."""
    digits = hashlib.sha256(b"gr-hf auth fingerprint" + key).hexdigest()[:20].upper()
    return " ".join(digits[k:k + 4] for k in range(0, 20, 4))


def load(path: str, signing: Optional[bool] = None) -> KeyFile:
    """Read a key file. signing: of which kind it must be. Raises AuthError."""
    try:
        content = private.read(path, 1 << 16)
    except ValueError as error:
        raise AuthError(str(error)) from None
    except OSError as error:
        raise AuthError(f"{path}: {error.strerror}") from None
    found: KeyFile = tables.parse(KeyFile, content, path, {}, AuthError)
    if signing is not None and bool(found.signing) != signing:
        wanted = "a signing key" if signing else "net keys"
        raise AuthError(f"{path}: allowed is a file with {wanted}")
    return found


def save(path: str, keys: KeyFile, replace: bool = False) -> None:
    """Write a key file for its owner only. replace: an older one at this place. Raises
    AuthError."""
    folder = os.path.dirname(os.path.abspath(path))
    partial = ""
    try:
        handle, partial = tempfile.mkstemp(dir=folder, prefix=".hf-key-")  # mode 600
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(keys.text())
            file.flush()
            os.fsync(file.fileno())
        if replace:
            os.replace(partial, path)
        else:
            os.link(partial, path)
            os.unlink(partial)
    except FileExistsError:
        os.unlink(partial)
        raise AuthError(f"{path}: exists; give another name") from None
    except OSError as error:
        if partial and os.path.exists(partial):
            os.unlink(partial)
        raise AuthError(f"{path}: {error.strerror}") from None

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Golden vectors of sealed U_PDUs: auth_make.py > auth.csv.

The layout is read from the doc comments of lib/s5066/auth/trailer.h. HMAC is that of Python,
HKDF is written here after RFC 5869 and checked by its first test case, and Ed25519 is the
openssl command.
"""
import hashlib
import hmac
from pathlib import Path
import subprocess
import sys
import tempfile
from typing import Iterator, List

COLUMNS = ("id,key,key_number,signing_key,public_key,src,dst,src_sap,dst_sap,counter,"
           "u_pdu,sealed")


def hkdf(secret: bytes, salt: bytes, info: bytes, octets: int) -> bytes:
    """RFC 5869 with SHA-256."""
    mark = hmac.new(salt or bytes(32), secret, hashlib.sha256).digest()
    out, block = b"", b""
    for number in range(1, -(-octets // 32) + 1):
        block = hmac.new(mark, block + info + bytes([number]), hashlib.sha256).digest()
        out += block
    return out[:octets]


def check_hkdf() -> None:
    """Test case 1 of RFC 5869."""
    okm = hkdf(b"\x0b" * 22, bytes(range(13)), bytes(range(0xf0, 0xfa)), 42)
    assert okm.hex() == ("3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf"
                         "34007208d5b887185865")


def raw(address: str) -> bytes:
    """28 bits and the group flag of w.x.y.z."""
    value = 0
    for part in address.split("."):
        value = value << 8 | int(part)
    return value.to_bytes(4, "big")


class Ed25519:
    """A private key in a folder, for the openssl command."""

    PREFIX = bytes.fromhex("302e020100300506032b657004220420")

    def __init__(self, folder: Path, seed: bytes) -> None:
        self._folder = folder
        (folder / "key").write_bytes(self.PREFIX + seed)

    def _run(self, *words: str) -> bytes:
        return subprocess.run(["openssl", *words], cwd=self._folder, check=True,
                              stdout=subprocess.PIPE).stdout

    def public(self) -> bytes:
        """The public key."""
        return self._run("pkey", "-inform", "DER", "-in", "key", "-pubout", "-outform",
                         "DER")[-32:]

    def sign(self, message: bytes) -> bytes:
        """The signature."""
        (self._folder / "message").write_bytes(message)
        return self._run("pkeyutl", "-sign", "-keyform", "DER", "-inkey", "key", "-rawin", "-in",
                         "message")


def vectors(folder: Path) -> Iterator[List[str]]:
    """Rows of the table."""
    net = hashlib.sha256(b"net key").digest()
    other = hashlib.sha256(b"other net key").digest()
    seed = hashlib.sha256(b"signing key").digest()
    signer = Ed25519(folder, seed)
    cases = [
        ("short", net, 0, False, "1.2.0.1", "1.2.0.2", 4, 4, 0, b"CQ"),
        ("empty", net, 0, False, "1.2.0.1", "1.2.0.2", 0, 15, 1, b""),
        ("back", net, 0, False, "1.2.0.2", "1.2.0.1", 4, 4, 0, b"CQ"),
        ("key_7", other, 7, False, "0.0.0.0", "15.255.255.255", 9, 3, 0x123456789abcdef0,
         bytes(range(256)) * 7),
        ("group", net, 3, False, "1.2.0.1", "31.255.255.255", 2, 5, 950000000, b"to all"),
        ("signed", net, 3, True, "1.2.0.1", "31.255.255.255", 2, 5, 950000001, b"to all"),
    ]
    for name, key, number, signed, src, dst, src_sap, dst_sap, counter, u_pdu in cases:
        head = bytes([0x10 | (8 if signed else 0) | number])
        message = (head + raw(src) + raw(dst) + bytes([src_sap << 4 | dst_sap]) +
                   counter.to_bytes(8, "big") + u_pdu)
        if signed:
            proof = signer.sign(message)
        else:
            pair = hkdf(key, b"", b"gr-hf auth 1" + raw(src) + raw(dst), 32)
            proof = hmac.new(pair, message, hashlib.sha256).digest()[:8]
        sealed = u_pdu + proof + counter.to_bytes(8, "big")[-3:] + head
        yield [name, key.hex(), str(number), seed.hex() if signed else "",
               signer.public().hex() if signed else "", src, dst, str(src_sap), str(dst_sap),
               str(counter), u_pdu.hex(), sealed.hex()]


def main() -> None:
    """Print the table."""
    check_hkdf()
    with tempfile.TemporaryDirectory() as folder:
        rows = [COLUMNS] + [",".join(row) for row in vectors(Path(folder))]
    sys.stdout.write("\n".join(rows) + "\n")


if __name__ == "__main__":
    main()

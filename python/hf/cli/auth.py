# SPDX-License-Identifier: GPL-3.0-or-later
"""hf auth: the keys that prove who speaks."""
import click

from ..station import auth
from . import fail

#: What to do after each step of a change of keys.
_NEXT = {
    "new": "A second key is valid now. The old one still seals. Copy this file to all stations "
           "of the net,\nrestart them, then take the next step at each: hf auth rotate FILE.",
    "use": "The new key seals now. The old one is still valid. When all stations have taken this "
           "step and\nwere restarted, take the last one at each: hf auth rotate FILE.",
    "drop": "The old key is no longer valid. Restart the station.",
}
_FILE = click.argument("path", metavar="FILE", type=click.Path(dir_okay=False))


@click.group()
def command() -> None:
    """Keys that prove who speaks, for [auth] of a station file.

    Stations with the same net key prove to each other who sent each U_PDU. Give the key file to
    the other stations by hand, never on the air, and compare its fingerprint by voice. See
    docs/how-to/proofs.md.
    """


def _print(keys: auth.KeyFile) -> None:
    if keys.signing:
        print(f"public key: {keys.public}")
        return
    for number, mark in keys.fingerprints().items():
        print(f"key {number}: {mark}{', seals' if number == keys.send else ''}")


@command.command()
@_FILE
@click.option("--signing", is_flag=True, help="A signing key for the broadcasts of one station, "
                                              "instead of a net key.")
def new(path: str, signing: bool) -> None:
    """Make a key, and write it into a file that only its owner may read."""
    keys = auth.KeyFile.new_signing() if signing else auth.KeyFile.new()
    try:
        auth.save(path, keys)
    except auth.AuthError as error:
        raise fail(str(error)) from None
    _print(keys)


@command.command()
@_FILE
def show(path: str) -> None:
    """Print the numbers and fingerprints of the keys, or the public half of a signing key.

    Compare the fingerprints by voice: equal ones mean the same key at both stations.
    """
    try:
        _print(auth.load(path))
    except auth.AuthError as error:
        raise fail(str(error)) from None


@command.command()
@_FILE
def rotate(path: str) -> None:
    """Take the next of the three steps that change the net key.

    The steps: a second key becomes valid, the second key seals, the first one is no longer valid.
    All stations must have taken a step before any takes the next, so that nothing is lost.
    """
    try:
        keys, step = auth.load(path, signing=False).rotated()
        auth.save(path, keys, replace=True)
    except auth.AuthError as error:
        raise fail(str(error)) from None
    _print(keys)
    click.echo(_NEXT[step], err=True)

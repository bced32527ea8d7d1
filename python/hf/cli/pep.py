# SPDX-License-Identifier: GPL-3.0-or-later
"""hf pep: the certificate authority of HF-PEP for TLS apart."""
import os
import time
from typing import Optional

import click

from .. import station
from .. import hf_python as _hf
from ..system import output
from . import fail


@click.group()
def command() -> None:
    """HF-PEP: what it needs beside the station file."""


@command.command()
@click.argument("path", metavar="[FILE.toml]", required=False,
                type=click.Path(exists=True, dir_okay=False))
@click.option("--export", metavar="FILE.pem", help="Write the certificate, without the key, for "
                                                   "programs that are to trust it.")
@click.option("--rotate", is_flag=True, help="Make a new key and certificate. Programs must then "
                                             "trust the new one; the old one is worth nothing.")
@click.option("--force", is_flag=True, help="Let --export overwrite any file.")
def ca(path: Optional[str], export: Optional[str], rotate: bool, force: bool) -> None:
    """Print the certificate authority for TLS apart, and make it if there is none.

    A rule with tls = "apart" lets the station take the TLS sessions of programs with
    certificates of this authority. FILE.toml is a station file with its own folder (ca in [pep]).
    The key stays in a file that only its owner may read. A program that has it can pretend to be
    any server to the programs that trust the certificate.
    """
    try:
        pep = (station.load(path).pep if path else None) or station.Pep()
        folder = pep.ca_folder()
        exists = os.path.exists(os.path.join(folder, "ca.key"))
        authority = _hf.tls_authority(folder, _hf.tls_names(pep.rule_words()))
        if rotate and exists:
            authority.rotate()
        if export:
            output.check(export, force=force, first_line="-----BEGIN CERTIFICATE-----")
            with output.replacing(export) as file:
                file.write(authority.certificate.encode())
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    except RuntimeError as error:
        raise fail(str(error)) from None
    done = "made" if not exists else "made again" if rotate else "exists"
    until = time.strftime("%Y-%m-%d", time.gmtime(authority.not_after))
    names = ", ".join(authority.names) or "every host"
    print(f"certificate authority: {done}, for {names}\n"
          f"key: {authority.path}, for its owner only\n"
          f"valid until: {until}\nSHA-256: {authority.fingerprint}")
    print(f"exported: {export}" if export else
          "programs trust it after hf pep ca --export FILE.pem, see docs/how-to/tls-apart.md")

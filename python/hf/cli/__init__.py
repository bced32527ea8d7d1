# SPDX-License-Identifier: GPL-3.0-or-later
"""The hf command line. Each command lives in the module of its name and is imported when it
is called, so that the program starts fast."""
import codecs
import difflib
import importlib
import io
import os
import signal
import sys
import threading
from typing import Any, Dict, List, Optional

import click

from .. import version
from ..plain_text import plain
from ..system import output

#: Commands and their summaries, in the groups of hf --help.
GROUPS: Dict[str, Dict[str, str]] = {
    "Commands": {
        "demo": "Two stations over a simulated HF channel: a file and a ping.",
        "run": "Stations from their files, on radios or a simulated air.",
        "top": "Running stations in a terminal.",
        "modulate": "Octets to samples.",
        "demodulate": "Samples to octets: finds every transmission in a recording.",
        "send": "A file by BFTP over a SIS server.",
        "receive": "Files by BFTP over a SIS server, into a folder.",
        "radio": "Devices, levels, test tones, delays, and received signals.",
        "mail": "The mail gateway: mails that wait, and its state.",
        "web": "Web pages through the door of a running station, as text.",
    },
    "More": {
        "chat": "Operator orderwire (HFCHAT) over a SIS server.",
        "console": "Ping, throughput, broadcast and monitor over any SIS server.",
        "auth": "Keys that prove who speaks.",
        "ale": "2G ALE: decode recordings, make frames.",
        "monitor": "All channels of one wide recording, or of an SDR.",
        "channel": "A recording through a simulated channel; learned channels.",
        "sim": "Stations over an emulated or a real modem, in virtual time.",
        "trial": "Field trials: timed tests between stations, and their report.",
        "nft": "Rules that redirect TCP connections to HF-PEP.",
        "pep": "The certificate authority of HF-PEP, for TLS apart.",
        "info": "Versions, modes and abilities of this machine.",
        "test": "Build and run all tests of the source tree.",
    },
}
COMMANDS = {name: what for group in GROUPS.values() for name, what in group.items()}

#: Libraries that only pictures and learned channels need.
OPTIONAL = ("matplotlib", "scipy")

#: Least likeness of an option that is offered instead of one that does not exist.
CLOSE = 0.8

#: Text of --version, with the commit if it is known.
VERSION = version.__version__ + (f" (commit {version.__commit__})" if version.__commit__ else "")


class LazyGroup(click.Group):
    """Lists all commands, imports only the one that is called.

    groups: commands and their summaries, by the group of --help.
    package: that has a module of each command's name.
    """

    def __init__(self, *args: Any, groups: Dict[str, Dict[str, str]], package: str,
                 **options: Any) -> None:
        super().__init__(*args, **options)
        self.groups, self.package = groups, package
        self.names = sorted(name for group in groups.values() for name in group)

    def list_commands(self, ctx: click.Context) -> List[str]:
        return self.names

    def get_command(self, ctx: click.Context, cmd_name: str) -> Optional[click.Command]:
        if cmd_name not in self.names:
            return None
        # While modules load there is nothing to tidy up: an interrupt just ends the program. In
        # the midst of a library in C++ it could not be told from an error of that library.
        handler = signal.signal(signal.SIGINT, signal.SIG_DFL)
        try:
            return importlib.import_module(f"{self.package}.{cmd_name}").command
        finally:
            signal.signal(signal.SIGINT, handler)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, self.names))
        for name, group in self.groups.items():
            with formatter.section(name):
                formatter.write_dl([(command.ljust(width), what)
                                    for command, what in group.items()])


@click.command(cls=LazyGroup, groups=GROUPS, package=__name__,
               context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, prog_name="hf")
def hf() -> None:
    """HF data station: waveforms of STANAG 4539, STANAG 5066, IP and TCP over HF.

    Data goes to stdout, messages to stderr. The exit status is 0 only
    on success, 2 for wrong use. Measurements are commands of hf-lab.
    """


def fail(message: str) -> "click.ClickException":
    """An error for the user: one line on stderr, exit status 1."""
    return click.ClickException(message)


def _exit(status: int, message: str = "") -> None:
    """Flush standard output if possible, and exit."""
    try:
        sys.stdout.flush()
    except OSError:
        # Or the interpreter tries again at its end, with a traceback.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if message:
        click.echo(plain(f"hf: {message}", "\n"), err=True)
    sys.exit(status)


def _interrupt_again(ignored: Any) -> None:
    """Python ignores exceptions in some callbacks, such as those of a fork. If that meets an
    interrupt or the end by a signal, send the signal again."""
    for kind, number in ((KeyboardInterrupt, signal.SIGINT), (SystemExit, signal.SIGTERM)):
        if issubclass(ignored.exc_type, kind):
            threading.Timer(0.05, os.kill, (os.getpid(), number)).start()
            return
    sys.__unraisablehook__(ignored)


def _open_standard_streams() -> None:
    """Open standard streams that the caller has closed. Otherwise the next files opened would
    take their place. A terminal without UTF-8 shows a question mark for what it lacks."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w",
                                    encoding="utf-8"))
    if isinstance(sys.stdout, io.TextIOWrapper) and not _writes_all(sys.stdout.encoding):
        sys.stdout.reconfigure(errors="replace")


def _writes_all(encoding: str) -> bool:
    return codecs.lookup(encoding).name.startswith("utf-")


def main(group: click.Command = hf) -> None:
    """Entry point of an installed program. group: its commands."""
    sys.unraisablehook = _interrupt_again
    # Users may lack these folders, in which nft and ip are.
    os.environ["PATH"] = os.environ.get("PATH", os.defpath) + ":/usr/sbin:/sbin"
    _open_standard_streams()
    try:
        group.main(standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Abort:
        _exit(130, "interrupted")
    except click.UsageError as error:
        if isinstance(error, click.NoSuchOption):
            # click also offers words that have little in common.
            error.possibilities = difflib.get_close_matches(
                error.option_name, error.possibilities or [], cutoff=CLOSE)
        error.show()
        _exit(2)
    except click.ClickException as error:
        _exit(1, error.format_message())
    except output.OutputError as error:
        _exit(1, str(error))
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] not in OPTIONAL:
            raise
        _exit(1, f"needs the library {error.name} (Debian: python3-{error.name.split('.')[0]})")
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
    except OSError as error:
        # An error of the system that no command handles, mostly a full disk.
        where = error.filename or "standard output"
        _exit(1, f"{where}: {error.strerror or error}")

#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""make_manual.py FOLDER [--pages]: bash completion and manual pages of all commands.

Writes hf.bash and, with --pages, man1/*.1. The pages need click-man. From Python 3.12 on,
click-man needs the distutils that setuptools brings.
"""
import inspect
import os
import sys

import click
from click.shell_completion import BashComplete

from gnuradio.hf import version
from gnuradio.hf.cli import COMMANDS, hf


def with_plain_help(command: click.Command) -> click.Command:
    """The command, and those below it, with the help that its source indents set to the left."""
    command.help = inspect.cleandoc(command.help or "").replace("\b\n", "")
    for name in getattr(command, "commands", {}):
        with_plain_help(command.commands[name])
    return command


def main(folder: str, with_pages: bool) -> None:
    """Write all into the folder."""
    pages = os.path.join(folder, "man1")
    os.makedirs(pages, exist_ok=True)
    with open(os.path.join(folder, "hf.bash"), "w", encoding="utf-8") as file:
        file.write("# SPDX-License-Identifier: GPL-3.0-or-later\n"
                   + BashComplete(hf, {}, "hf", "_HF_COMPLETE").source())
    if not with_pages:
        return
    from click_man.core import write_man_pages
    # Commands are imported when they are called; the pages want all of them.
    hf.commands = {name: hf.get_command(None, name) for name in COMMANDS}
    write_man_pages("hf", with_plain_help(hf), version=version.__version__, target_dir=pages)


main(sys.argv[1], "--pages" in sys.argv[2:])

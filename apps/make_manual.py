#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""make_manual.py FOLDER: what the commands say of themselves, as hf.bash (completion) and, where
click-man is installed, as manual pages man1/*.1."""
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


def main(folder: str) -> None:
    """Write all into the folder."""
    pages = os.path.join(folder, "man1")
    os.makedirs(pages, exist_ok=True)
    with open(os.path.join(folder, "hf.bash"), "w", encoding="utf-8") as file:
        file.write("# SPDX-License-Identifier: GPL-3.0-or-later\n"
                   + BashComplete(hf, {}, "hf", "_HF_COMPLETE").source())
    try:
        from click_man.core import write_man_pages
    except ImportError as error:
        # From Python 3.12 on, click-man needs the distutils that setuptools brings.
        print(f"no manual pages: {error.msg} (Debian: python3-click-man, python3-setuptools)",
              file=sys.stderr)
        return
    # Commands are imported when they are called; the pages want all of them.
    hf.commands = {name: hf.get_command(None, name) for name in COMMANDS}
    write_man_pages("hf", with_plain_help(hf), version=version.__version__, target_dir=pages)


main(sys.argv[1])

# SPDX-License-Identifier: GPL-3.0-or-later
"""The hf-lab command line: measurements, each beside its target."""
from typing import Dict

import click

from gnuradio.hf import cli

#: Commands and their summaries, in the groups of hf-lab --help.
GROUPS: Dict[str, Dict[str, str]] = {
    "Measure": {
        "ber": "Bit error rates over simulated channels; the standard's tables.",
        "bench": "Measurements, each beside its target.",
        "channel": "The simulated channel beside its nominal values.",
        "day": "Bulk data between two stations for a day, on five frequencies.",
        "tcp": "Test TCP over HF: transfers with their times.",
    },
}


@click.command(cls=cli.LazyGroup, groups=GROUPS, package=__name__,
               context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(cli.VERSION, prog_name="hf-lab")
def hf_lab() -> None:
    """The laboratory of gr-hf: measures the modem, the data link and whole stations.

    Tables go to stdout, messages to stderr. The exit status is 0 only on success, 2 for wrong
    use.
    """


def main() -> None:
    """Entry point of the installed program."""
    cli.main(hf_lab)

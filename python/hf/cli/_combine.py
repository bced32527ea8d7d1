# SPDX-License-Identifier: GPL-3.0-or-later
"""hf demodulate --combine: recordings of the same transmissions from different places."""
import os
import sys
from typing import Any, Callable, Dict, List, Optional, Sequence

import click

from ..recordings import recording
from ..signals import combination, demodulation
from ..system import output
from . import fail
from ._output import checked
from ._progress import Progress

Say = Callable[[demodulation.Report], None]


def check(paths: Sequence[str], others: Dict[str, bool]) -> None:
    """Refuse what cannot be combined. others: options, and whether they are given."""
    for flag, given in others.items():
        if given:
            raise click.UsageError(f"{flag} does not go with --combine")
    try:
        combination.check_count(paths)
    except ValueError as error:
        raise click.UsageError(f"--combine: {error}") from None
    if "-" in paths:
        raise click.UsageError("--combine: -: standard input cannot be read twice, name files")
    for number, path in enumerate(paths):
        for other in paths[:number]:
            if path == other or (os.path.exists(path) and os.path.exists(other)
                                 and os.path.samefile(path, other)):
                raise click.UsageError(f"--combine: {path}: is named twice. The noise of each "
                                       "recording must be its own")


def run(paths: Sequence[str], opened: Callable[[], List[recording.Recording]],
        subcarrier: Optional[float], bandwidth: Optional[int], show: bool, say: Say,
        **options: Any) -> None:
    """Combine, write the octets, report each transmission."""
    with checked():
        sources = opened()
        output.check_stdout([path for source in sources for path in source.paths])
    tried = [bandwidth] if bandwidth is not None else combination.bandwidths_of(sources,
                                                                                subcarrier)
    found = combination.Combined()
    for khz in tried:
        with Progress(f"{len(paths)} recordings, {khz} kHz", shown=show) as progress:
            found = combination.demodulate(opened, subcarrier, khz, progress.share, **options)
        if found.shared:
            break
    if not found.shared:
        raise fail(combination.no_common(paths, found))
    for message in found.messages:
        sys.stdout.buffer.write(message["octets"])
        say(combination.report(message, paths))
    sys.stdout.buffer.flush()
    took_part = {part["receiver"] for message in found.shared for part in message["parts"]}
    for number, path in enumerate(paths):
        if number not in took_part:
            click.echo(f"hf: warning: {path}: took no part, it shares no transmission with the "
                       "others", err=True)
    if not any(message["complete"] and not message["joined"] for message in found.messages):
        raise fail(f"{', '.join(paths)}: {len(found.messages)} transmission(s) found, none "
                   "complete")


def receivers(report: demodulation.Report) -> str:
    """Lines about what each recording contributed."""
    return "".join("\n  {recording}: from {start_s:.2f} s, {blocks} blocks, SNR {snr_db:.1f} dB, "
                   "offset {freq_offset_hz:+.1f} Hz".format(**one)
                   + (", its start was missed" if one["joined"] else "")
                   for one in report.get("receivers", []))

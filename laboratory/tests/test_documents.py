# SPDX-License-Identifier: GPL-3.0-or-later
"""Every command line of hf-lab in the documents is parsed. A run would take hours."""
import os
from pathlib import Path
import re
import shlex
from typing import List, Tuple

import click
import pytest

from hflab.cli import hf_lab

TREE = Path(os.environ["HF_SOURCE_DIR"])


def lines() -> List[Tuple[str, str]]:
    """Documents and their command lines, indented by four and without comments."""
    found = []
    for path in sorted([*TREE.glob("*.md"), *TREE.glob("docs/**/*.md"),
                        TREE / "laboratory" / "README.md"]):
        for text in re.findall(r"^    (?:build/run )?hf-lab (.*?)(?:\s+#.*)?$", path.read_text(),
                               re.M):
            found.append((path.name, text))
    return found


@pytest.mark.parametrize("document, text", lines())
def test_lines_are_understood(document, text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pages").mkdir()
    ctx = hf_lab.make_context("hf-lab", shlex.split(text))
    while isinstance(ctx.command, click.MultiCommand):
        name, command, rest = ctx.command.resolve_command(ctx, ctx.protected_args + ctx.args)
        assert command is not None, document
        ctx = command.make_context(name, list(rest), parent=ctx)


def test_there_are_lines():
    assert len(lines()) > 10

# SPDX-License-Identifier: GPL-3.0-or-later
"""The documents: the site is built without a warning, and every command line in them is run, or
parsed where a run would need what a test has not."""
import importlib.util
import inspect
from pathlib import Path
import re
import shlex
import shutil
import subprocess
import sys
from typing import Dict, Iterator, List, NamedTuple, Optional, Set
import wave

import click
import pytest

from gnuradio.hf.cli import hf as program

TREE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TREE / "docs" / "site"))
import pages  # noqa: E402

GENERATED = {f"docs/reference/{name}.md" for name in pages.IN_TREE}
ALL = ["CHANGELOG.md", "README.md",
       *sorted(str(p.relative_to(TREE)) for p in (TREE / "docs").rglob("*.md"))]
DOCUMENTS = [name for name in ALL if name not in GENERATED | {"CHANGELOG.md"}]
#: Commands that are only parsed, and why.
NOT_RUN = {
    r"hf demo\b": "runs for minutes; system.demo runs it",
    r"hf test\b": "is what runs this",
    r"hf (console|send|receive|chat|top)\b": "needs stations that run; tests/clients run it",
    r"hf web user\b": "asks for a password; tests/web run it",
    r"hf web check\b": "needs a site; tests/web run it",
    r"hf web get\b": "needs a door that runs; tests/web run it",
    r"hf radio\b": "needs a sound card or a radio; tests/radio run it",
    r"hf demodulate .*recording\.cf32": "needs the recording of that page; blocks.page runs it",
    r"hf trial run .*--as\b": "needs a radio",
    r"hf run station\.toml": "needs a sound card or a radio; tests/radio run it",
    r"hf channel --live\b": "needs sound cards",
    r"arecord\b": "needs a sound card",
    r"hf mail\b": "needs a gateway that has run; tests/mail run it",
    r"hf nft add\b": "needs root, and changes the machine",
    r"hf-lab\b": "runs for hours; laboratory/tests run it with less",
    r"hf monitor\b": "needs a wide recording; python.monitor makes one",
    r"gnuradio-companion\b": "opens a window",
    r"python3 .*full_station\.py": "runs for minutes; python.examples runs it",
    r"python3 /tmp/two_stations\.py": "runs until it is stopped; python.examples runs it",
}
#: Time limit for one line, seconds.
PATIENCE_S = 240
TEXT = "one line of a text\n" * 20


class Line(NamedTuple):
    """A command line in a document."""

    document: str
    number: int
    text: str

    def reason(self) -> Optional[str]:
        """Why it is only parsed; None: it is run."""
        return next((why for what, why in NOT_RUN.items() if re.search(what, self.text)), None)


def code_lines(document: str) -> Iterator[Line]:
    """Lines of a document that are indented by four or between fences, without comments."""
    fenced = False
    for number, line in enumerate((TREE / document).read_text().splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif fenced or line.startswith("    "):
            yield Line(document, number, re.sub(r"(^|\s+)#\s.*$", "", line).strip())


def command_lines(document: str) -> List[Line]:
    """Lines that call hf, or anything by build/run, as they read where hf is installed."""
    found = []
    for line in code_lines(document):
        if re.match(r"(.*[|;&] *)?(\./hf|build/run|hf) +[\w/-]", line.text):
            text = line.text.replace("build/run ", "").replace("./hf ", "hf ")
            found.append(line._replace(text=text))
    return found


LINES = [line for document in DOCUMENTS for line in command_lines(document)]


def calls(text: str) -> Iterator[List[str]]:
    """The words of each call of hf in a line of the shell, without redirections."""
    lexer = shlex.shlex(text, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    words: List[str] = []
    skip = False
    for word in [*lexer, ";"]:
        if word in ("|", ";", "&&", "&", "||"):
            if words[:1] == ["hf"]:
                yield words[1:]
            words, skip = [], False
        elif word in ("<", ">", ">>"):
            skip = True
        elif skip:
            skip = False
        else:
            words.append(word)


def parse(words: List[str]) -> None:
    """Parse the words of a call with click. Raises click.UsageError. Nothing is executed."""
    ctx = program.make_context("hf", list(words))
    while isinstance(ctx.command, click.MultiCommand):
        name, command, rest = ctx.command.resolve_command(ctx, ctx.protected_args + ctx.args)
        assert command is not None
        ctx = command.make_context(name, list(rest), parent=ctx)


@pytest.fixture(scope="module")
def recordings(tmp_path_factory) -> Dict[str, bytes]:
    """Recordings by name that the lines read, made once."""
    folder = tmp_path_factory.mktemp("recordings")
    (folder / "message.txt").write_text(TEXT)
    subprocess.run(["hf", "modulate", "--mode", "4539-600S", "message.txt", "message.wav"],
                   cwd=folder, check=True, capture_output=True)
    one = (folder / "message.wav").read_bytes()
    found = {name: one for name in ("clean.wav", "message.wav", "north.wav", "south.wav")}
    with wave.open(str(folder / "message.wav")) as mono, \
            wave.open(str(folder / "both.wav"), "wb") as two:
        two.setparams(mono.getparams()._replace(nchannels=2))
        samples = mono.readframes(mono.getnframes())
        two.writeframes(b"".join(2 * samples[k:k + 2] for k in range(0, len(samples), 2)))
    return {**found, "both.wav": (folder / "both.wav").read_bytes(), "recording.s16le": one[44:]}


@pytest.fixture
def scratch(tmp_path, monkeypatch, recordings) -> Path:
    """A folder with what the lines speak of."""
    (tmp_path / "examples").symlink_to(TREE / "examples")
    for name in ("message.txt", "file.txt", "report.pdf", "picture.jpg"):
        (tmp_path / name).write_text(TEXT)
    (tmp_path / "station.toml").write_text((TREE / "examples/station_sound_card.toml").read_text())
    for name, octets in recordings.items():
        (tmp_path / name).write_bytes(octets)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_there_are_command_lines():
    assert len(LINES) > 70
    assert {"README.md", "docs/first-hour.md", "docs/how-to/files.md"} <= {
        line.document for line in LINES}
    unused = [what for what in NOT_RUN if not any(re.search(what, x.text) for x in LINES)]
    assert not unused


@pytest.mark.parametrize("document", sorted({line.document for line in LINES}))
def test_command_lines_are_understood(document, scratch):
    for name in ("faded.wav", "message.sigmf-meta", "picture.sigmf-meta", "band.sigmf-meta"):
        (scratch / name).touch()
    for line in command_lines(document):
        for words in calls(line.text):
            try:
                parse([w for word in words for w in expanded(word)])
            except click.ClickException as error:
                pytest.fail(f"{document}:{line.number}: {line.text}: {error.format_message()}")
        for name in re.findall(r"examples/[\w./-]+\w", line.text):
            assert (TREE / name).exists() or list(TREE.glob(f"{name}*")), line


def expanded(word: str) -> List[str]:
    """A word as the shell gives it to the program: with the names of files that fit."""
    found = sorted(str(p) for p in Path(".").glob(word)) if re.search(r"[*?[]", word) \
        and not word.startswith("/") else []
    return found or [word]


def test_wrong_lines_are_not_understood(scratch):
    for wrong in ("hf modulat a b", "hf modulate --mode 4539-600S --levle -3 message.txt x.wav",
                  "hf sim --octets many", "hf console pong", "hf info --bandwidth 7 --modes"):
        with pytest.raises(click.UsageError):
            for words in calls(wrong):
                parse(words)


#: Lines whose outcome does not depend on the lines before. Each is run once.
ALONE = r"hf (sim|trial run) [^|;<>]*$"


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory) -> Dict[str, Path]:
    """Folders of lines that ALONE fits and that have been run, with the files they have made."""
    folder = tmp_path_factory.mktemp("outcomes")
    return {line.text: folder / str(k) for k, line in enumerate(LINES)
            if re.match(ALONE, line.text)}


@pytest.mark.parametrize("document", sorted({x.document for x in LINES if not x.reason()}))
def test_command_lines_do_what_they_should(document, scratch, outcomes):
    """In the order of the document, in one folder. Stations are only checked, not run."""
    for line in command_lines(document):
        if line.reason():
            continue
        text = line.text.replace("hf run ", "hf run --check ")
        text = text.replace("-o /tmp ", f"-o {scratch} ")
        made = outcomes.get(line.text)
        if made and made.exists():
            shutil.copytree(made, scratch, dirs_exist_ok=True)
            continue
        before = set(scratch.iterdir())
        done = subprocess.run(["bash", "-o", "pipefail", "-c", text], cwd=scratch,
                              capture_output=True, timeout=PATIENCE_S)
        assert done.returncode == 0, (f"{document}:{line.number}: {text}: {done.returncode}\n"
                                      f"{done.stderr.decode(errors='replace')[-2000:]}")
        if made:
            made.mkdir()
            for path in set(scratch.iterdir()) - before:
                (shutil.copytree if path.is_dir() else shutil.copy)(path, made / path.name)


# --- links ---------------------------------------------------------------------------------------

def anchors(document: str) -> Set[str]:
    """Anchors of the headings of a page, as forges make them."""
    headings = re.findall(r"^#+ (.*)$", (TREE / document).read_text(), re.M)
    return {re.sub(r"[^\w\- ]", "", h.strip().lower()).replace(" ", "-") for h in headings}


@pytest.mark.parametrize("document", ALL)
def test_every_link_leads_to_something_in_the_tree(document):
    text = re.sub(r"```.*?```", "", (TREE / document).read_text(), flags=re.S)
    for target, heading in re.findall(r"\]\(([^()#\s]*)(?:#([^()\s]*))?\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        path = (TREE / document).parent / target if target else TREE / document
        assert path.exists(), f"{document}: {target}"
        if heading and path.suffix == ".md":
            found = anchors(str(path.resolve().relative_to(TREE)))
            assert heading in found, f"{document}: {target}#{heading}"


@pytest.mark.skipif(not click.__version__.startswith("8.1"),
                    reason="other versions of click word their help in another way")
def test_generated_pages_are_what_the_code_says():
    made = pages.generated(str(TREE))
    for name in pages.IN_TREE:
        text = made[name]
        assert (TREE / f"docs/reference/{name}.md").read_text() == text, \
            "build/run python3 docs/site/make_site.py --pages"


# --- the site -----------------------------------------------------------------------------------

def test_the_site_is_built_without_a_warning(tmp_path):
    for name in ("sphinx", "myst_parser", "furo"):
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed")
    done = subprocess.run(["/usr/bin/python3", str(TREE / "docs/site/make_site.py"),
                           str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    html = tmp_path / "html"
    for page in ("index", "first-hour", "reference/commands", "reference/station-files",
                 "reference/blocks", "settings"):
        assert len((html / f"{page}.html").read_text()) > 3000, page
    if shutil.which("doxygen"):
        assert "modem" in (html / "api" / "annotated.html").read_text()


def test_every_page_can_be_found():
    contents = (TREE / "docs/user-guide.md").read_text()
    index = (TREE / "docs/index.md").read_text()
    for folder in ("how-to", "reference"):
        for path in (TREE / "docs" / folder).glob("*.md"):
            name = f"{folder}/{path.stem}"
            assert f"({name}.md)" in contents and f"\n{name}\n" in index


def test_every_key_of_a_station_file_is_described():
    seen: Dict[str, int] = {}
    for name, kind in pages.tables_of_a_file().items():
        text = inspect.getdoc(kind)
        for field in kind.__dataclass_fields__.values():
            if field.init and f"[{field.name}]" not in pages.tables_of_a_file():
                assert field.metadata.get("meaning") or re.search(
                    rf"\b{field.name}\b", text), f"[{name}] {field.name}"
                seen[name] = seen.get(name, 0) + 1
    assert len(seen) >= 9 and sum(seen.values()) > 50

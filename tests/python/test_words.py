# SPDX-License-Identifier: GPL-3.0-or-later
"""Plain words in the documents: short sentences, and none of the words that readers read twice."""
from pathlib import Path
import re
from typing import Dict, List

import pytest

TREE = Path(__file__).resolve().parents[2]
PAGES = ["README.md", *sorted(str(p.relative_to(TREE)) for folder in ("docs", "docs/how-to")
                              for p in (TREE / folder).glob("*.md"))]
#: Made by programs, tables with the words of a standard, and the page that names the words.
NOT_SEARCHED = {"docs/settings.md", "docs/style.md", "docs/conformance.md",
                "laboratory/results/measurements/papers.md",
                "laboratory/results/measurements/wideband.md"}
SEARCHED = [name for name in [*PAGES, *sorted(str(p.relative_to(TREE)) for p in
                                              (TREE / "laboratory").rglob("*.md"))]
            if name not in NOT_SEARCHED]
MAX_WORDS_ON_AVERAGE = 18
LONG_WORDS = 30
MAX_LONG_SHARE = 0.05
#: Old words, and what to write instead.
OLD_WORDS = {
    r"\b(the|its|at) begin\b": "the start", r"\ban own\b": "its own",
    r"\bis said\b": "is reported",
    r"\btold\b": "reported, printed, signalled", r"\banew\b": "again, from scratch",
    r"\bbehind\b": "after", r"\bso (many|long|far|much)\b": "the number, or its name",
    r"\b(whoever|who else)\b": "any station that", r"\b(takes|taken) for\b": "treats as",
    r"\bgives back\b": "returns", r"\bhas come\b": "has arrived", r"\bis there\b": "exists",
    r"\bwhat (is left|comes)\b": "the rest, the next", r"\bin place of\b": "instead of",
    r"\bit goes\b": "it works", r"\bhears of\b": "is notified of",
}


def prose(text: str) -> List[str]:
    """Paragraphs and list items of Markdown, without code, tables, headings and addresses."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    lines = ["" if re.match(r"    |\t|\||#|!\[|<!--", line) else line for line in text.split("\n")]
    paragraphs = re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )", "\n".join(lines))
    words = [re.sub(r"`[^`]*`", "code", re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", paragraph))
             for paragraph in paragraphs]
    return [plain for plain in (re.sub(r"^\s*(?:[-*]|\d+\.) |[*_]{1,2}", "", p).strip()
                                for p in words) if plain]


def sentences(text: str) -> List[int]:
    """Words of each sentence of a page."""
    end = r"(?<=[.!?])[\")]?\s+(?=[A-Z\"(\d]|code)"
    found = [sentence for paragraph in prose(text) for sentence in re.split(end, paragraph)]
    return [count for count in (len(re.findall(r"[\w+][^\s]*", s)) for s in found) if count]


def old_words(text: str) -> Dict[str, str]:
    """Old words in a page, each with what to write instead."""
    joined = " ".join(re.sub(r"\s+", " ", p) for p in prose(text))
    return {m[0]: better for old, better in OLD_WORDS.items()
            for m in re.finditer(old, joined, re.I)}


def test_words_are_counted():
    page = ("# A heading of many words is not counted\n\nOne two three. Four `hf run --check` "
            "[five six](seven.md#eight)\nseven! It takes 2.5 s, e.g. here.\n\n    hf run a b c\n\n"
            "| a | table |\n\n- one\n- two three\n\n```text\nno words here\n```\n")
    assert sentences(page) == [3, 5, 6, 1, 2]
    assert sentences("") == []


def test_old_words_are_found():
    assert set(old_words("The begin of it.\n\nIt is sent\nanew, in place of\nnothing.")) == {
        "The begin", "anew", "in place of"}
    assert old_words("    hf run  # told\n\n| told | anew |\n\nBegin. `anew` is a name.") == {}


def test_sentences_are_short():
    counts = {page: sentences((TREE / page).read_text()) for page in PAGES}
    for page, count in counts.items():
        if count:
            longest = sum(n > LONG_WORDS for n in count)
            mean = sum(count) / len(count)
            print(f"{page}: {mean:.1f} words, {longest} of {len(count)} sentences are long")
    every = [n for count in counts.values() for n in count]
    assert sum(every) / len(every) <= MAX_WORDS_ON_AVERAGE
    assert sum(n > LONG_WORDS for n in every) <= MAX_LONG_SHARE * len(every)


@pytest.mark.parametrize("page", SEARCHED)
def test_no_old_words(page):
    assert old_words((TREE / page).read_text()) == {}

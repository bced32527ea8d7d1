#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""make_site.py FOLDER: the site of docs/ below FOLDER: its sources in source/, the site in html/,
html/api by Doxygen if it is installed. A warning of Sphinx or Doxygen is an error.

make_site.py --pages: write docs/reference/station-files.md, which is generated from the code and
in the tree."""
import os
import shutil
import subprocess
import sys
from typing import Dict

import pages

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def lay_out(source: str) -> None:
    """The pages of the tree, the changelog, and one that links to what Doxygen makes."""
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(os.path.join(TREE, "docs"), source)
    results = os.path.join(TREE, "laboratory", "results")
    shutil.copytree(results, source, dirs_exist_ok=True)
    for folder, _, names in os.walk(source):
        for name in names:
            if name.endswith(".md"):
                with open(os.path.join(folder, name), "r+", encoding="utf-8") as file:
                    text = file.read()
                    file.seek(0)
                    file.write(in_one_folder(text))
                    file.truncate()
    with open(os.path.join(TREE, "CHANGELOG.md"), encoding="utf-8") as file:
        changelog = file.read().replace("](docs/", "](").replace("](laboratory/results/", "](")
    with open(os.path.join(source, "release-notes.md"), encoding="utf-8") as file:
        notes = file.read().replace("](../CHANGELOG.md)", "](changelog.md)")
    write(source, {"changelog": changelog, "release-notes": notes})
    write(os.path.join(source, "reference"), {"api": pages.API, **pages.generated(TREE)})


def in_one_folder(text: str) -> str:
    """A page whose links go between docs/ and laboratory/results/, for a site that has both in one
    folder."""
    return text.replace("../laboratory/results/", "").replace("../../../docs/", "../")


def write(folder: str, texts: Dict[str, str]) -> None:
    """Pages by their names."""
    for name, text in texts.items():
        with open(os.path.join(folder, f"{name}.md"), "w", encoding="utf-8") as file:
            file.write(text)


def run_doxygen(out: str) -> None:
    """The API for C++ into out, without a warning."""
    settings = {
        "PROJECT_NAME": "gr-hf", "PROJECT_BRIEF": '"GNU Radio blocks of HF data stations"',
        "INPUT": os.path.join(TREE, "include"), "RECURSIVE": "YES", "FILE_PATTERNS": "*.h",
        "STRIP_FROM_PATH": os.path.join(TREE, "include"), "OUTPUT_DIRECTORY": out,
        "HTML_OUTPUT": "api", "GENERATE_LATEX": "NO", "QUIET": "YES", "HTML_TIMESTAMP": "NO",
        "EXTRACT_ALL": "NO", "WARN_IF_UNDOCUMENTED": "YES", "WARN_NO_PARAMDOC": "NO",
        "WARN_AS_ERROR": "FAIL_ON_WARNINGS", "MACRO_EXPANSION": "YES",
        "EXPAND_ONLY_PREDEF": "YES", "PREDEFINED": "HF_API=", "HAVE_DOT": "NO",
        "JAVADOC_AUTOBRIEF": "YES", "QT_AUTOBRIEF": "YES"}
    text = "".join(f"{key} = {value}\n" for key, value in settings.items())
    subprocess.run(["doxygen", "-"], input=text, text=True, check=True)


def main(folder: str) -> int:
    """Make the site; the status of what failed."""
    source, html = os.path.join(folder, "source"), os.path.join(folder, "html")
    lay_out(source)
    status = subprocess.run(
        [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html",
         "-c", os.path.join(TREE, "docs", "site"), "-d", os.path.join(folder, "doctrees"),
         source, html]).returncode
    if status == 0 and shutil.which("doxygen"):
        try:
            run_doxygen(html)
        except subprocess.CalledProcessError as error:
            status = error.returncode
    return status


if __name__ == "__main__":
    if sys.argv[1] == "--pages":
        write(os.path.join(TREE, "docs", "reference"),
              {name: text for name, text in pages.generated(TREE).items()
               if name in pages.IN_TREE})
    else:
        sys.exit(main(os.path.abspath(sys.argv[1])))

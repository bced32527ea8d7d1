# SPDX-License-Identifier: GPL-3.0-or-later
"""Doc comments of the public headers to a table in C++: make_docstrings.py OUT.cc HEADER...

It uses the Python names: modem, modem.make, modem.state, modem_state.now.
"""
import os
import re
import sys
import textwrap
from typing import Any, Dict, List, Optional, Tuple

WIDTH = 92
#: Exceptions of C++ and of Python.
EXCEPTIONS = {"std::invalid_argument": "ValueError", "std::runtime_error": "RuntimeError",
              "std::out_of_range": "IndexError"}
TOKEN = re.compile(r"""
    /\*!(?P<block>.*?)\*/
  | //!<(?P<behind>[^\n]*(?:\n[ \t]*//!<[^\n]*)*)
  | //!(?P<lines>[^\n]*(?:\n[ \t]*//!(?!<)[^\n]*)*)
  | /\*.*?\*/ | //[^\n]* | \#[^\n]*
  | (?P<scope>\b(?:class|struct|enum\s+class|namespace)\b[^;{}]*)\{
  | (?P<open>\{) | (?P<close>\})
  | (?P<end>;)
  | (?P<code>\w+|\s+|.)
""", re.VERBOSE | re.DOTALL)


def name_of(code: str) -> Optional[str]:
    """The name that a declaration introduces."""
    code = re.sub(r"\s+", " ", code).strip()
    code = re.sub(r"^(?:public|private|protected) ?: ?", "", code)
    if re.match(r"(?:typedef|using|friend|template)\b", code) or "operator" in code:
        return None
    function = re.search(r"([\w~]+) ?\(", code)
    field = re.search(r"(\w+) ?(?:=.*|\[.*)?$", code)
    found = function or field
    return found.group(1) if found else None


def plain(comment: str) -> List[str]:
    """The lines of a comment without comment marks."""
    lines = [re.sub(r"^[ \t]*(?:\*(?!/)|//!<?)? ?", "", line, count=1)
             for line in comment.split("\n")]
    lines[0] = lines[0].strip()
    return [line.rstrip() for line in lines]


def words(text: str) -> str:
    """Text without Doxygen's marks at words."""
    for cpp, python in EXCEPTIONS.items():
        text = text.replace(cpp, python)
    return re.sub(r"\\(?:c|p|ref|e|a) ", "", text).replace("\\\\", "\\")


def tidy(comment: str) -> Tuple[str, List[Tuple[str, str]], str]:
    """Description, parameters and exceptions of a comment."""
    text = "\n".join(plain(comment))
    text = re.sub(r"\\(?:ingroup|file)[^\n]*", "", text)
    parts = re.split(r"\\(param|throws|return|returns|brief|details)\b", text)
    description, raised = [parts[0]], ""
    parameters: List[Tuple[str, str]] = []
    for kind, body in zip(parts[1::2], parts[2::2]):
        # Text after a blank line belongs to the description again.
        head, _, rest = body.partition("\n\n")
        if kind == "param":
            name, _, what = " ".join(head.split()).partition(" ")
            parameters.append((name, words(what)))
            description.append("\n\n" + rest)
        elif kind == "throws":
            raised = words(" ".join(head.split()))
            description.append("\n\n" + rest)
        elif kind == "brief":
            description.append(words(" ".join(head.split())) + "\n\n" + rest)
        elif kind == "details":
            description.append("\n\n" + re.sub(r"^ ", "", textwrap.dedent(body.strip("\n"))))
        else:
            description.append("\n\nReturns " + words(body.strip()))
    return reflow(words("".join(description))), parameters, raised


def fill(text: str, **options: Any) -> str:
    """Text in lines of one width. Names are not cut at hyphens."""
    return textwrap.fill(text, WIDTH, break_on_hyphens=False, **options)


def reflow(text: str) -> str:
    """Paragraphs of one width. Indented text and lists stay unchanged."""
    paragraphs = []
    for paragraph in re.split(r"\n{2,}", text.strip("\n")):
        lines = paragraph.strip("\n").split("\n")
        if any(re.match(r"    | *- ", line) for line in lines):
            paragraphs.append("\n".join(line.rstrip() for line in lines))
        elif paragraph.strip():
            paragraphs.append(fill(" ".join(paragraph.split())))
    return "\n\n".join(paragraphs)


def compose(comment: str) -> str:
    """A docstring."""
    description, parameters, raised = tidy(comment)
    text = description
    if parameters:
        text += "\n\nParameters:\n" + "\n".join(
            fill(f"{name}: {what}", initial_indent="    ", subsequent_indent="        ")
            for name, what in parameters)
    if raised:
        text += "\n\n" + fill(f"Raises {raised}.")
    return text.strip()


def read(text: str) -> Dict[str, str]:
    """Docstrings by name from one header."""
    found: Dict[str, str] = {}
    scopes: List[Optional[str]] = []  # a class, or None: a namespace, a body
    depth_in_code = 0
    doc: Optional[str] = None
    code = ""
    last: Optional[str] = None

    def key(name: str) -> str:
        return ".".join([s for s in scopes if s] + [name])

    def declare() -> None:
        nonlocal doc, code, last
        name = name_of(code)
        last = key(name) if name else None
        if last and doc is not None:
            found.setdefault(last, compose(doc))
        doc, code = None, ""

    for match in TOKEN.finditer(text):
        kind, value = match.lastgroup, match.group(match.lastgroup or 0)
        if kind == "behind":
            # After the declaration, or, in an enumeration, before its comma is seen.
            value_of_enum = code.strip().rstrip(",").split(",")[-1]
            target = key(name_of(value_of_enum) or "") if value_of_enum else last
            if target:
                found.setdefault(target, compose(value))
        elif kind in ("block", "lines"):
            doc, code = value, ""
        elif kind == "scope" and not depth_in_code:
            head = re.sub(r"\s+", " ", value)
            namespace = head.startswith("namespace")
            named = re.match(r"(?:class|struct|enum class) (?:HF_API )?(\w+)", head)
            name = named.group(1) if named and not namespace else None
            if name and doc is not None:
                found[key(name)] = compose(doc)
            scopes.append(name)
            doc, code = None, ""
        elif kind in ("scope", "open"):
            depth_in_code += 1
            code += "{"
        elif kind == "close":
            if depth_in_code:
                depth_in_code -= 1
                code += "}"
                if not depth_in_code and ")" in code.split("{")[0]:
                    code = code.split("{")[0]
                    declare()  # a function with a body
            elif scopes:
                scopes.pop()
                code = ""
        elif kind == "end":
            if not depth_in_code:
                code = code.split("{")[0]
                declare()
        elif kind == "code":
            code += value
    return found


def main(out: str, headers: List[str]) -> None:
    """Write the table."""
    table: Dict[str, str] = {}
    for path in sorted(headers):
        with open(path, encoding="utf-8") as file:
            table.update(read(file.read()))
    lines = ["// Made by make_docstrings.py from the public headers.",
             '#include "docstrings.h"', "",
             "const std::map<std::string, const char*>& docstrings()", "{",
             "    static const std::map<std::string, const char*> all = {"]
    lines += [f'        {{ "{name}", R"~~({text})~~" }},' for name, text in sorted(table.items())]
    lines += ["    };", "    return all;", "}", ""]
    with open(out + ".part", "w", encoding="utf-8") as file:
        file.write("\n".join(lines))
    os.replace(out + ".part", out)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])

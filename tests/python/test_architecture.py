# SPDX-License-Identifier: GPL-3.0-or-later
"""Which folder may include what: every #include under lib/ against docs/architecture.md."""
import ast
import pathlib
import re
from typing import Dict, List, Set, Tuple

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIB = ROOT / "lib"
ROW = re.compile(r"^\| `lib/([\w/]+)/` \| .*? \| (.*?) \|$", re.M)
INCLUDE = re.compile(r"^\s*#\s*include\s*[<\"]([^>\"]+)[>\"]", re.M)
#: Public headers that engines may use: value types, and what a modem asks of its user.
PUBLIC = {"hf/api.h", "hf/mode.h", "hf/modem_user.h", "hf/setting_info.h", "hf/station_time.h",
          "hf/traffic_state.h"}
#: Folders that may include foreign headers: blocks live in GNU Radio, edges on Boost.Asio.
OUTSIDE = {"gnuradio": {"blocks"}, "pmt": {"blocks"}, "uhd": {"radio/devices"},
           "SoapySDR": {"blocks", "radio/devices"}, "boost": {"blocks", "edges"}}
#: Files that read JSON, by Boost's property tree.
READS_JSON = {"channel"}


def table() -> Dict[str, Set[str]]:
    """Folders that each folder may include, from the ground up."""
    rows = ROW.findall((ROOT / "docs" / "architecture.md").read_text())
    return {name: set(re.findall(r"`([^`]+)`", cell)) for name, cell in rows}


def fault(file: str, header: str, allowed: Dict[str, Set[str]]) -> str:
    """Fault of an #include. Empty: none."""
    own, to = str(pathlib.PurePath(file).parent), str(pathlib.PurePath(header).parent)
    if own not in allowed:
        return f"lib/{file} is in no folder of the table"
    first = header.split("/")[0]
    may = {"blocks"} if first == "hf" and header not in PUBLIC else OUTSIDE.get(first, {own})
    if header.startswith("boost/property_tree/"):
        may = READS_JSON
    if own not in may:
        return f"lib/{file} includes {header}: only {sorted(may)} may"
    if to not in allowed or to == own:
        return ""  # a system header, another library's or its own
    floors = list(allowed)
    if floors.index(to) > floors.index(own):
        return f"lib/{file} includes {header}: the arrow points up"
    return "" if to in allowed[own] else \
        f"lib/{file} includes {header}: not among {sorted(allowed[own]) or 'nothing'}"


def includes() -> List[Tuple[str, str]]:
    """(file, header), both below lib/."""
    return [(str(path.relative_to(LIB)), header) for path in sorted(LIB.rglob("*"))
            if path.suffix in (".h", ".cc") for header in INCLUDE.findall(path.read_text())]


def test_every_folder_has_a_row():
    folders = {str(pathlib.PurePath(file).parent) for file, _ in includes()}
    assert len(folders) > 35 and folders == set(table())


def test_no_row_names_one_above_it():
    allowed = table()
    floors = list(allowed)
    up = [(own, to) for own in floors for to in allowed[own]
          if floors.index(to) >= floors.index(own)]
    print(f"{len(up)} arrows point up, among {sum(map(len, allowed.values()))}")
    assert up == []


def test_arrows_point_as_the_table_says():
    found = includes()
    assert len(found) > 500
    faults = [f for f in (fault(file, header, table()) for file, header in found) if f]
    assert not faults, "\n".join(faults)


def test_rows_name_nothing_that_is_not_used():
    used = {(str(pathlib.PurePath(file).parent), str(pathlib.PurePath(header).parent))
            for file, header in includes()}
    unused = [(own, to) for own, listed in table().items() for to in listed
              if (own, to) not in used]
    assert unused == []


@pytest.mark.parametrize("file, header", [
    ("waveform/mode.cc", "modem/decode/viterbi.h"),
    ("modem/detect/detector.cc", "gnuradio/block.h"),
    ("slep/codec.cc", "s5066/node/node.h"), ("s5066/node/node.cc", "boost/asio.hpp"),
    ("channel/path.cc", "boost/asio.hpp"), ("waveform/mode.cc", "boost/property_tree/ptree.hpp"),
    ("ip/client.cc", "hf/ip_client.h"), ("sim/stations/station.cc", "blocks/pdu.h"),
    ("s5066/pdu/s_primitive.cc", "s5066/clients/rcop.h"), ("new/thing.cc", "hf/mode.h"),
    ("waveform/coding/interleave.cc", "waveform/description.h"),
    ("waveform/timing.cc", "waveform/families/high_rate/high_rate.h"),
    ("edges/tcp_edge.cc", "gnuradio/block.h"), ("edges/tcp_edge.cc", "hf/pep.h"),
    ("edges/tcp_edge.cc", "blocks/pdu.h"), ("pep/proxy.cc", "edges/tcp_edge.h"),
    ("modem/detect/equaliser.cc", "modem/track/channel_estimator.h"),
    ("modem/track/presence.h", "modem/find/acquisition.h"),
    ("s5066/cas/soft_links.h", "s5066/node/turns.h"),
    ("modem/front/pulse.h", "modem/burst_receiver.h")])
def test_wrong_arrows_are_seen(file, header):
    assert fault(file, header, table())


@pytest.mark.parametrize("file, header", [
    ("modem/track/presence.h", "waveform/timing.h"),
    ("modem/detect/detector.cc", "modem/decode/viterbi.h"),
    ("modem/detect/detector.cc", "hf/mode.h"), ("blocks/pep_impl.cc", "gnuradio/block.h"),
    ("slep/codec.cc", "s5066/words/octets.h"),
    ("dns/cache.cc", "zlib.h"), ("edges/tcp_edge.cc", "boost/asio.hpp"),
    ("channel/path.cc", "boost/property_tree/ptree.hpp"),
    ("edges/tcp_edge.cc", "pep/proxy.h"), ("blocks/pep_impl.cc", "edges/tcp_edge.h")])
def test_right_arrows_are_not(file, header):
    assert not fault(file, header, table())


def long_functions(text: str, most: int) -> List[str]:
    """Heads of functions with more lines than that, as our style puts their braces: a function
    of a class further to the right."""
    lines, found = text.split("\n"), []
    for number, line in enumerate(lines):
        indent, brace, rest = line.partition("{")
        if not brace or indent.strip() or rest:
            continue
        head = lines[number - 1].strip()
        end = next(n for n, other in enumerate(lines[number:]) if other.startswith(indent + "}"))
        if end - 1 > most and not re.match(r"(template <.*> )?(class|enum) ", head):
            found.append(head)
    return found


def methods(text: str) -> Dict[str, int]:
    """Number of functions that each class in a header declares."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)
    count = {}
    for head in re.finditer(r"\b(?:class|struct) ([\w:]+)[^;{}()]*\{", text):
        depth, at, own = 1, head.end(), ""
        while depth > 0:
            c = text[at]
            depth += (c == "{") - (c == "}")
            own += c if depth == 1 else ";" if depth == 2 and c == "{" else ""
            at += 1
        count[head[1]] = len([part for part in re.split("[;}]", own)
                              if re.search(r"[\w=~]\s*\(", part) and "= default" not in part])
    return count


#: C++ of ours: what has to stay in small parts.
SOURCES = [path for folder in (LIB, ROOT / "python" / "hf" / "bindings")
           for path in sorted(folder.rglob("*")) if path.suffix in (".h", ".cc")]
MAX_LINES, MAX_METHODS = 60, 40
#: Longer functions, by file and head, and why.
LONG = {
    ("lib/blocks/ip_client_impl.cc", "const setting_table<ip::client_config>& all_settings()"):
        "a table of settings",
    ("lib/s5066/config/node_settings.cc", "const std::vector<setting>& all_settings()"):
        "a table of settings",
    ("lib/modem/detect/frame_model.cc", "frame_observation& f)"):
        "sums that the compiler puts in order (-fassociative-math): cut, their last digits differ",
}


def test_functions_stay_short():
    found = {(str(path.relative_to(ROOT)), head) for path in SOURCES
             for head in long_functions(path.read_text(), MAX_LINES)}
    assert found == set(LONG) and len(LONG) <= 10


def test_classes_stay_small():
    count = {name: n for path in SOURCES for name, n in methods(path.read_text()).items()}
    assert len(count) > 300 and count["node::impl"] > 20
    assert {name: n for name, n in count.items() if n > MAX_METHODS} == {}


#: Data members of a class with functions of its own. Records without any may have more, and so
#: may settings (*_config). What the others have beyond 20 belongs into parts with one duty each.
MAX_MEMBERS = 20
#: Larger classes, by file and name, and why.
WIDE = {
    ("lib/waveform/description.h", "description"): "a record of what is on the air",
}


def data_members(text: str) -> Dict[str, Tuple[int, bool]]:
    """Of each class: how many data members it has, and whether it has functions."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*|^\s*#[^\n]*", "", text, flags=re.S | re.M)
    count = {}
    for head in re.finditer(r"\b(?<!enum )(?:class|struct) ([\w:]+)[^;{}()]*\{", text):
        depth, at, own = 1, head.end(), ""
        while depth > 0:
            c = text[at]
            own += c if depth == 1 and c not in "{}" else "{}" if depth == 1 and c == "{" else ""
            depth += (c == "{") - (c == "}")
            at += 1
        own = re.sub(r"\b(public|private|protected):", "", own)
        # Braces are the initial value of a member, or the body of a function or a class.
        own = re.sub(r"\{\}\s*(?=[;,])", "", own).replace("{}", ";")
        members, functions = 0, False
        for part in own.split(";"):
            while "<" in part and part != (less := re.sub(r"<[^<>]*>", "", part)):
                part = less
            name = part.split("=")[0].strip()
            if "(" in name or "operator" in name:
                functions = True
            elif name and not re.match(
                    r"(using|friend|template|enum|class|struct|static)\b", name):
                members += 1 + re.sub(r"\(.*\)", "", part, flags=re.S).count(",")
        count[head[1]] = members, functions
    return count


def test_classes_have_few_data_members():
    found = {(str(path.relative_to(ROOT)), name): n for path in SOURCES
             for name, (n, functions) in data_members(path.read_text()).items()
             if functions and n > MAX_MEMBERS and not name.endswith("_config")}
    assert {key: n for key, n in found.items() if key not in WIDE} == {}


def test_data_members_are_counted():
    text = """
class a : public b
{
public:
    a() : d_x{ 1 } {}
    int f() const { return 1; }
    bool operator==(const a& o) const;
    struct part { int p, q; };

private:
    static constexpr int k = 2;
    using t = int;
    int d_x = g(1, 2), d_y{ 0 };
    std::map<int, std::function<void(int, int)>> d_map; // d_none;
    part d_part;
};
"""
    assert data_members(text) == {"a": (4, True), "part": (2, False)}


def test_files_of_the_data_link_stay_short():
    files = [path for path in SOURCES if LIB / "s5066" in path.parents]
    assert len(files) > 100
    assert [path for path in files if path.read_text().count("\n") > 500] == []


#: Python of ours, with the same limit for functions, documentation not counted.
SCRIPTS = [path for folder in ("python/hf", "laboratory/hflab", "apps", "docs/site", "examples")
           for path in sorted((ROOT / folder).rglob("*.py"))]
MAX_PARAMETERS = 10
#: Larger functions of Python, by file and name, and why.
LARGE: Dict[Tuple[str, str], str] = {}


def large_functions(text: str, max_lines: int, max_parameters: int) -> List[str]:
    """Names of functions with more lines or parameters than that; self is not counted."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        first = node.body[0]
        told = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) \
            and isinstance(first.value.value, str)
        lines = node.end_lineno - node.lineno + 1 - (
            first.end_lineno - first.lineno + 1 if told else 0)
        a = node.args
        names = [x.arg for x in (*a.posonlyargs, *a.args, *a.kwonlyargs)]
        if lines > max_lines or len(names) - (names[:1] in (["self"], ["cls"])) > max_parameters:
            found.append(node.name)
    return found


def test_functions_of_python_stay_small():
    found = {(str(path.relative_to(ROOT)), name) for path in SCRIPTS
             for name in large_functions(path.read_text(), MAX_LINES, MAX_PARAMETERS)}
    assert len(SCRIPTS) > 100
    assert found == set(LARGE)


def test_large_functions_of_python_are_counted():
    text = "def f(a, *, b=1):\n    \"\"\"Words.\n\n    More.\n    \"\"\"\n    g()\n    return a\n"
    assert large_functions(text, 3, 2) == [] and large_functions(text, 2, 2) == ["f"]
    assert large_functions(text, 3, 1) == ["f"]
    inside = "class A:\n    def f(self, a, b):\n        return a\n"
    assert large_functions(inside, 2, 2) == [] and large_functions(inside, 2, 1) == ["f"]


def test_long_functions_and_methods_are_counted():
    body = "void f()\n{\n" + "    g();\n" * 3 + "}\n"
    assert long_functions(body, 2) == ["void f()"] and not long_functions(body, 3)
    inside = "class a\n{\n    void f()\n    {\n" + "        g();\n" * 3 + "    }\n};\n"
    assert long_functions(inside, 2) == ["void f()"] and not long_functions(inside, 3)
    text = "class a : public b\n{\npublic:\n    a();\n    int f() const { return g(); }\n" \
           "    void h(int n = 1);\nprivate:\n    int d_x = 0;\n};\n"
    assert methods(text) == {"a": 3}


def test_the_guide_for_contributors_names_what_there_is():
    text = (ROOT / "docs" / "where-to-put-things.md").read_text()
    rooms = "lib|tests|python|grc|include|docs|examples"
    paths = set(re.findall(rf"[`( ]((?:{rooms})/[\w./-]*)`", text))
    assert len(paths) > 30
    assert not [path for path in paths if not (ROOT / path).exists() and "NAME" not in path]

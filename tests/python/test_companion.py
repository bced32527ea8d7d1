# SPDX-License-Identifier: GPL-3.0-or-later
"""Block descriptions of GNU Radio Companion: complete, consistent, usable."""
import inspect
import os
from pathlib import Path
import re
import subprocess

import pmt
import pytest
import yaml

from gnuradio import hf

GRC = Path(os.environ["HF_SOURCE_DIR"]) / "grc"
EXAMPLES = Path(os.environ["HF_SOURCE_DIR"]) / "examples"
BLOCKS = {b["id"]: b for b in
          (yaml.safe_load(p.read_text()) for p in sorted(GRC.glob("*.block.yml")))}
#: Modes that the menus of GRC offer. Any other mode may be typed.
MODES = [str(m) for m in hf.mode.all() if str(m).startswith(("4539", "grhf")) or
         (m.interleaver == "S" and m.constraint_length == 7)]
#: Displays: in Python, of Qt sinks.
VIEWS = ["constellation", "impulse_response", "history", "waterfall"]
NAMES = [n for n, x in inspect.getmembers(hf)
         if isinstance(x, type) and hasattr(x, "to_basic_block")]


def test_every_block_has_a_description():
    expected = {f"hf_{name}" for name in NAMES} | {"variable_hf_air", "hf_air_source",
                                                   "hf_air_sink", "variable_hf_emulated_air",
                                                   *(f"hf_view_{v}" for v in VIEWS)}
    assert set(BLOCKS) == expected


def test_the_tree_lists_every_block_once():
    def leaves(node):
        if isinstance(node, str):
            return [node]
        children = node.values() if isinstance(node, dict) else node
        return [leaf for child in children for leaf in leaves(child)]

    tree = yaml.safe_load((GRC / "hf.tree.yml").read_text())
    assert list(tree) == ["[HF]"]
    assert sorted(leaves(tree)) == sorted(BLOCKS)


@pytest.mark.parametrize("name", BLOCKS)
def test_description(name):
    block = BLOCKS[name]
    assert block["file_format"] == 1 and block["label"].startswith("HF ")
    assert len(block["documentation"]) > 100
    for port in block.get("inputs", []) + block.get("outputs", []):
        assert port["domain"] == "stream" or port["optional"]
    text = block["templates"].get("make", "") + block["templates"].get("var_make", "")
    for parameter in block["parameters"]:
        assert f"${{{parameter['id']}" in text.replace("${ ", "${"), parameter["id"]
        if "options" in parameter:
            assert len(parameter["options"]) == len(parameter["option_labels"])


@pytest.mark.parametrize("name", BLOCKS)
def test_the_documentation_speaks_of_every_parameter_and_port(name):
    """Parameters by their label, without the unit in brackets."""
    block = BLOCKS[name]
    text = " ".join(block["documentation"].split()).lower()
    for parameter in block["parameters"]:
        label = re.sub(r" *\(.*?\)", "", parameter["label"]).lower()
        assert label in text, label
    for port in block.get("inputs", []) + block.get("outputs", []):
        assert port.get("id", "").lower() in text, port


@pytest.mark.parametrize("name", [n for n in NAMES if n != "emulated_modem"]
                         + ["air", "emulated_air"])
def test_arguments_are_those_of_the_block(name):
    signature = inspect.getdoc(getattr(hf, name).__init__).splitlines()[0]
    arguments = re.findall(r"(\w+): ", signature)[1:]
    block = BLOCKS.get(f"hf_{name}") or BLOCKS[f"variable_hf_{name}"]
    # Other settings are set afterwards.
    made_with = [p["id"] for p in block["parameters"]
                 if f".set_{p['id']}(" not in block["templates"].get("make", "")]
    # Not "local", which is a word of the template language.
    assert [x.replace("local_names", "local") for x in made_with] == arguments


@pytest.mark.parametrize("name", NAMES)
def test_what_may_change_while_running_has_a_callback(name):
    block = BLOCKS[f"hf_{name}"]
    setters = {p["id"]: f"set_{p['id'].replace('frequency_hz', 'frequency')}"
               for p in block["parameters"]}
    for templates in filter(None, (block["templates"], block.get("cpp_templates"))):
        calls = templates.get("callbacks", [])
        assert calls == [f"{f}(${{{p}}})" for p, f in setters.items()
                         if hasattr(getattr(hf, name), f)]


def test_no_parameter_has_a_name_of_the_template_language():
    """Mako puts something else there, and grcc writes Python that is none."""
    taken = {"capture", "caller", "context", "local", "loop", "next", "pageargs", "parent", "self",
             "UNDEFINED"}
    assert not [(name, p["id"]) for name, b in BLOCKS.items() for p in b["parameters"]
                if p["id"] in taken]


@pytest.mark.parametrize("name, parameter, more", [("hf_tx", "mode", []),
                                                   ("hf_data_link", "mode",
                                                    ["auto", "auto:75..2400", "auto:4539",
                                                     "auto:5069"] +
                                                    [f"auto:{k}k" for k in (6, 12, 24, 48)]),
                                                   ("hf_modem_server", "mode", []),
                                                   ("hf_modem_client", "mode", []),
                                                   ("hf_data_link", "ack_mode",
                                                    ["auto", "same"])])
def test_all_modes_can_be_chosen(name, parameter, more):
    (p,) = [p for p in BLOCKS[name]["parameters"] if p["id"] == parameter]
    # What a list of the type enum does not hold the Companion makes the first of the list, without
    # a word: there are more modes than a list can have, and ranges of adaptive ones.
    assert p["dtype"] == "string"
    assert p["options"] == more + MODES, "write them anew: build/run python3 grc/write_modes.py"
    for mode, label in zip(MODES, p["option_labels"][len(more):]):
        assert label.startswith(f"{hf.mode(mode).rate_bps} bit/s")
        seconds = re.search(r"\(([\d.]+) s\)", label)
        if seconds:
            block = hf.timing(hf.mode(mode)).block_symbols / (0.8 * hf.mode(mode).bandwidth_hz)
            assert float(seconds[1]) == pytest.approx(block, rel=0.05)


@pytest.mark.parametrize("name, make", [
    ("modem", lambda: hf.modem()), ("rx", lambda: hf.rx()), ("tx", lambda: hf.tx("4539-600S")),
    ("ale_rx", lambda: hf.ale_rx()), ("ale_tx", lambda: hf.ale_tx()),
    ("ale_station", lambda: hf.ale_station(["SAM"], 1)),
    ("channel", lambda: hf.channel("clear")), ("ticker", lambda: hf.ticker()),
    ("from_audio", lambda: hf.from_audio()), ("to_audio", lambda: hf.to_audio()),
    ("audio_source", lambda: hf.audio_source("null")),
    ("audio_sink", lambda: hf.audio_sink("null")),
    ("data_link", lambda: hf.data_link("1.2.0.1")), ("traffic", lambda: hf.traffic("1.2.0.2")),
    ("emulated_modem", lambda: hf.emulated_air().modem(0)),
    ("sis_server", lambda: hf.sis_server(port=0)),
    ("sis_client", lambda: hf.sis_client("127.0.0.1", 1)),
    ("modem_server", lambda: hf.modem_server("4539-600S", port=0)),
    ("modem_client", lambda: hf.modem_client("4539-600S", port=1))])
def test_every_port_of_a_block_can_be_connected(name, make):
    block = make()
    for side, names in (("inputs", block.message_ports_in()),
                        ("outputs", block.message_ports_out())):
        there = {str(n) for n in pmt.to_python(names)} - {"system"}
        drawn = {p["id"] for p in BLOCKS[f"hf_{name}"].get(side, []) if p["domain"] == "message"}
        assert drawn == there, side


@pytest.mark.parametrize("mode", ["auto", "auto:600..4800", "auto:600S..4800S", "auto:4539",
                                  "auto:5069", "4539-1200L"])
def test_an_adaptive_data_link_is_built_as_such(tmp_path, mode):
    r = grcc(flowgraph(tmp_path, [("link", "hf_data_link", {"mode": mode})]), tmp_path)
    assert r.returncode == 0, r.stdout + r.stderr
    assert f"mode='{mode}'" in (tmp_path / "few.py").read_text()


def grcc(path: Path, folder: Path) -> subprocess.CompletedProcess:
    return subprocess.run(["grcc", "-o", str(folder), str(path)], capture_output=True, text=True,
                          timeout=60)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.grc")), ids=lambda p: p.stem)
def test_examples_compile(path, tmp_path):
    r = grcc(path, tmp_path)
    language = yaml.safe_load(path.read_text())["options"]["parameters"]["output_language"]
    if language == "cpp":
        made = tmp_path / path.stem / f"{path.stem}.cpp"
    else:
        made = tmp_path / f"{path.stem}.py"
    assert r.returncode == 0 and made.exists(), r.stdout + r.stderr
    if language == "python":
        compile(made.read_text(), str(made), "exec")


def extent(entry: dict) -> tuple:
    """Left, top, right and bottom of a block as it is drawn, ports included, about. Of other
    modules' blocks: those of usual ones."""
    x, y = entry["states"]["coordinate"]
    block = BLOCKS.get(entry["id"])
    if block is None:
        return x - 55, y, x + 170, y + 60
    lines = [block["label"] + "  "]
    for p in block["parameters"]:
        value = str(entry["parameters"].get(p["id"], p.get("default", "")))
        if p.get("hide") != "part" and not str(p.get("hide", "")).startswith("${"):
            shown = dict(zip(p.get("options", []), p.get("option_labels", []))).get(value, value)
            lines.append(f"{p['label']}: {shown}")
    ports = [[8 * len(p.get("id", side)) + 6 for p in block.get(name, [])]
             for name, side in (("inputs", "in"), ("outputs", "out"))]
    height = max(24 + 16 * len(lines), *(32 * len(side) for side in ports))
    return (x - max(ports[0], default=0), y,
            x + 5.5 * max(map(len, lines)) + max(ports[1], default=0), y + height)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.grc")), ids=lambda p: p.stem)
def test_blocks_of_examples_do_not_cover_each_other(path):
    blocks = [b for b in yaml.safe_load(path.read_text())["blocks"]]
    for k, a in enumerate(blocks):
        for b in blocks[:k]:
            if a["id"] in BLOCKS or b["id"] in BLOCKS:
                p, q = extent(a), extent(b)
                apart = p[2] <= q[0] or q[2] <= p[0] or p[3] <= q[1] or q[3] <= p[1]
                assert apart, f"{a['name']} and {b['name']}"


def test_what_names_an_air_shows_its_name(tmp_path):
    for kind in ("variable_hf_air", "variable_hf_emulated_air"):
        assert BLOCKS[kind]["value"] == "${id}"
    r = grcc(EXAMPLES / "two_stations.grc", tmp_path)
    assert r.returncode == 0, r.stdout + r.stderr
    made = (tmp_path / "two_stations.py").read_text()
    assert "air.source(0)" in made and "hf.air(stations=2" in made


def test_the_display_of_the_example_gets_samples_all_the_time():
    (tx,) = [b for b in yaml.safe_load((EXAMPLES / "modem_pair.grc").read_text())["blocks"]
             if b["id"] == "hf_tx"]
    assert tx["parameters"]["continuous"] == "True"


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.grc")), ids=lambda p: p.stem)
def test_examples_use_nothing_that_is_deprecated(path):
    """Throttle is; Throttle 2 does not exist in GNU Radio 3.10.5."""
    used = {b["id"] for b in yaml.safe_load(path.read_text())["blocks"]}
    assert not used & {"blocks_throttle", "blocks_throttle2"}


def flowgraph(folder: Path, blocks: list) -> Path:
    """A flowgraph without connections; blocks: (name, id, parameters)."""
    def state(x):
        return {"coordinate": [x, 8], "rotation": 0, "state": "enabled"}
    path = folder / "few.grc"
    path.write_text(yaml.safe_dump({
        "options": {"parameters": {"id": "few", "generate_options": "no_gui",
                                   "output_language": "python"}, "states": state(8)},
        "blocks": [{"name": n, "id": i, "parameters": p, "states": state(200)}
                   for n, i, p in blocks],
        "connections": [], "metadata": {"file_format": 1}}))
    return path


def test_all_message_blocks_run_with_their_defaults(tmp_path):
    # Stream ports must be connected, so only blocks without them work alone.
    names = ["hf_data_link", "hf_pep", "hf_traffic", "hf_ticker", "hf_sis_client",
             "variable_hf_air", "hf_modem_server", "hf_modem_client"]
    r = grcc(flowgraph(tmp_path, [(f"b{k}", n, {}) for k, n in enumerate(names)]), tmp_path)
    assert r.returncode == 0, r.stdout + r.stderr
    run = subprocess.run(["python3", "-c", "import few; t = few.few(); t.start(); t.stop(); "
                          "t.wait()"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("name, parameters", [
    ("hf_traffic", {"u_pdu_octets": "7"}),
    ("hf_traffic", {"sap": "16"}),
    ("hf_ticker", {"interval_ms": "0"}),
    ("hf_data_link", {"settings": "5"}),
    ("hf_data_link", {"mode": "4539-601S"}),
    ("hf_data_link", {"mode": "auto:1..2"}),
    ("hf_data_link", {"mode": "automatic"}),
    ("hf_sis_client", {"port": "0"}),
    ("hf_modem_server", {"port": "70000"}),
    ("hf_modem_client", {"port": "0"}),
    ("hf_sis_server", {"max_clients": "1"}),
    ("hf_pep", {"max_connections": "0"}),
    ("hf_ip_client", {"mtu": "100"}),
    ("variable_hf_air", {"stations": "1"}),
    ("variable_hf_air", {"delay_ms": "5"}),
])
def test_bad_values_stop_the_compiler(tmp_path, name, parameters):
    r = grcc(flowgraph(tmp_path, [("b", name, parameters)]), tmp_path)
    assert r.returncode != 0 and "1 errors from flowgraph" in r.stdout + r.stderr
    assert not (tmp_path / "few.py").exists()


def test_the_example_with_a_display_has_every_view(tmp_path):
    r = grcc(EXAMPLES / "modem_pair.grc", tmp_path)
    assert r.returncode == 0, r.stdout + r.stderr
    text = (tmp_path / "modem_pair.py").read_text()
    for view in VIEWS:
        assert f"views.{view}(" in text


@pytest.mark.parametrize("written, taken", [("5069-24k-9600L-k9", True), ("4539-601S", False)])
def test_a_mode_may_be_written(tmp_path, written, taken):
    r = grcc(flowgraph(tmp_path, [("b", "hf_modem_server", {"mode": written})]), tmp_path)
    assert (r.returncode == 0) == taken, r.stdout + r.stderr
    if taken:
        assert f"mode='{written}'" in (tmp_path / "few.py").read_text()

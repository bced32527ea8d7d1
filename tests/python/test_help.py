# SPDX-License-Identifier: GPL-3.0-or-later
"""Content of help() and hf info --settings: everything in the headers and the tables."""
import inspect
import json
import math
import os
import pydoc
import re
import subprocess

from gnuradio import hf
from gnuradio.hf.station import settings
import pmt
import pytest

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BLOCKS = ["modem", "tx", "rx", "channel", "air", "emulated_air", "data_link", "pep", "ip_client",
          "dns_pep", "traffic", "sis_server", "sis_client", "modem_server", "modem_client",
          "ticker", "from_audio", "to_audio", "audio_source", "audio_sink"]
SCRIPT = os.path.join(TREE, "python/hf/bindings/make_docstrings.py")


@pytest.mark.parametrize("name", BLOCKS)
def test_help_of_a_block_says_what_it_does_and_every_parameter(name):
    block = getattr(hf, name)
    text = inspect.getdoc(block)
    description, _, parameters = text.partition("\nParameters:\n")
    assert len(description.split()) > 15, text
    signature = block.__init__.__doc__.splitlines()[0]
    arguments = re.findall(r"(\w+): ", signature)[1:]
    assert arguments
    for argument in arguments:
        assert re.search(rf"^    {argument}: \S", parameters, re.M), text
    # Output of help(), without the bar at the left.
    shown = re.sub(r"(?m)^ \|(?:  )?", "", pydoc.plain(pydoc.render_doc(block)))
    assert text in shown
    assert "\\" not in description and "std::" not in text


CLASSES = {name: x for name, x in inspect.getmembers(hf)
           if isinstance(x, type) and (hasattr(x, "to_basic_block") or name.endswith("air"))}
#: Parameters that count something or compare: they have no unit.
PLAIN = {"seed", "effort", "stations", "channels", "streams", "channel", "antennas", "agc_blocks",
         "max_blocks", "level", "signal_power", "speed", "ber", "loss", "sap", "port",
         "max_connections", "max_clients", "sounds"}
UNIT = re.compile(r"(^|_)(hz|s|ms|db|octets)$")
UNIT_WORD = re.compile(r"\b(samples/s|octets|kHz|Hz|dB|ms|s)[,:]?( |$)")
RANGE = re.compile(r"(\d[\d.^e]*|device_delay_s|modem_rate)( \([^)]*\))? (to|or|and) |"
                   r"\bfrom 0 on\b|\babove 0\b|within what the device|what the device cannot do "
                   r"is refused|as of hf\.modem|: 0 (once|equalises)|kHz: 3, 6,")


def numbers(name):
    """Numeric parameters of a class, with the text on each."""
    block = CLASSES[name]
    text = inspect.getdoc(block).partition("\nParameters:\n")[2]
    for argument, kind in re.findall(r"(\w+): ([\w.\[\], ]+?)(?: = [^,)]+)?(?=, \w+: |\) ->)",
                                     block.__init__.__doc__.splitlines()[0]):
        if kind in ("int", "float", "Optional[float]"):
            told = re.search(rf"^    {argument}: (.*(?:\n     .*)*)", text, re.M)
            yield argument, " ".join(told[1].split()) if told else ""


def test_every_number_that_a_block_takes_has_its_unit_and_range():
    found = [(name, argument, said) for name in CLASSES for argument, said in numbers(name)]
    assert len(found) > 70
    no_unit = [x for x in found
               if not (x[1] in PLAIN or UNIT.search(x[1]) or UNIT_WORD.search(x[2]))]
    no_range = [x for x in found if not RANGE.search(x[2])]
    assert no_unit == [] and no_range == []


#: How blocks are made whose ports are asked for; those of devices and networks are as others.
MADE = {
    "modem": lambda: hf.modem(), "rx": lambda: hf.rx(), "tx": lambda: hf.tx("4539-600S"),
    "ticker": lambda: hf.ticker(), "to_audio": lambda: hf.to_audio(),
    "audio_sink": lambda: hf.audio_sink("null"), "data_link": lambda: hf.data_link("1.2.0.1"),
    "traffic": lambda: hf.traffic("1.2.0.2"), "sis_server": lambda: hf.sis_server(port=0),
    "emulated_modem": lambda: hf.emulated_air().modem(0),
    "sis_client": lambda: hf.sis_client("127.0.0.1", 1), "from_sdr": lambda: hf.from_sdr(1e6),
    "to_sdr": lambda: hf.to_sdr(1e6), "from_audio": lambda: hf.from_audio(),
    "audio_source": lambda: hf.audio_source("null"), "channel": lambda: hf.channel("clear"),
    "modem_server": lambda: hf.modem_server("4539-600S", port=0),
    "modem_client": lambda: hf.modem_client("4539-600S", port=1)}


@pytest.mark.parametrize("name", MADE)
def test_every_message_port_is_described(name):
    block, text = MADE[name](), inspect.getdoc(CLASSES[name])
    for ports in (block.message_ports_in(), block.message_ports_out()):
        for port in {str(p) for p in pmt.to_python(ports)} - {"system"}:
            assert re.search(rf"\b{port}\b", text), port


def test_methods_and_fields_have_their_comments():
    assert "any thread" in hf.modem.state.__doc__
    assert "not received" in hf.modem_state.carrier.__doc__
    assert "bandwidth" in hf.modem_state.snr_db.__doc__
    assert "delivered" in hf.data_link.set_emcon.__doc__
    assert hf.data_link.set_emcon.__doc__.startswith("set_emcon(self: ")
    assert "Counters by name" in hf.pep.stats.__doc__
    assert "default values" in hf.pep.settings.__doc__
    assert "No other client" in hf.new_client_id.__doc__.replace("no other", "No other")
    assert "ValueError" in hf.modem.__doc__ and "RuntimeError" in hf.pep.__doc__


def test_the_parser_of_comments(tmp_path):
    header = tmp_path / "x.h"
    header.write_text('''
/*! \\file x.h */
namespace a::b {
//! First
//! line.
struct thing {
    int plain = 0; //!< units: s
    double next; // no doc
    unsigned long_one =
        8;              //!< of a long
                        //!< one
    enum class kind { one, //!< the first
        two };
    /*! \\brief Does it.
     *  \\details Slowly, with \\p amount.
     *  \\param amount of it, 0 to 1,
     *         in two lines
     *  \\throws std::invalid_argument
     */
    static int make(int amount = 1, const std::map<int, int>& x = {});
    bool inside() const { if (plain) { return true; } return false; }
    //! After a body.
    virtual int after() = 0;
};
}
''')
    out = tmp_path / "out.cc"
    subprocess.run(["/usr/bin/python3", SCRIPT, out, header], check=True)
    table = dict(re.findall(r'\{ "([^"]+)", R"~~\((.*?)\)~~" \}', out.read_text(), re.S))
    assert table == {
        "thing": "First line.", "thing.plain": "units: s", "thing.long_one": "of a long one",
        "thing.kind.one": "the first", "thing.after": "After a body.",
        "thing.make": "Does it.\n\nSlowly, with amount.\n\nParameters:\n"
                      "    amount: of it, 0 to 1, in two lines\n\nRaises ValueError."}


def test_the_page_of_the_guide_is_what_the_command_prints(run_hf):
    with open(os.path.join(TREE, "docs", "settings.md"), encoding="utf-8") as file:
        assert file.read() == run_hf("info", "--settings", "--markdown"), \
            "write it anew: hf info --settings --markdown > docs/settings.md"


@pytest.fixture
def run_hf():
    def run(*arguments):
        return subprocess.run(["hf", *arguments], check=True, capture_output=True,
                              text=True).stdout

    return run


def test_every_setting_is_printed_with_all_that_is_known_of_it(run_hf):
    said = run_hf("info", "--settings")
    told = json.loads(run_hf("info", "--settings", "--json"))
    assert set(told) == set(settings.PARTS) and len(told["data-link"]) >= 40
    for key, part in settings.PARTS.items():
        names = part.block.settings()
        assert {s["name"] for s in told[key]} == set(names)
        for s in told[key]:
            assert len(s["meaning"]) > 8 and s["default"] == names[s["name"]]
            assert s["least"] <= s["default"] <= s["most"] and s["least"] < s["most"]
            # Units are stated: in the table, and in the names of times and octet counts.
            assert s["unit"] == "s" or not re.search(r"(?<!per)_s$", s["name"])
            assert s["unit"] == "octets" or not s["name"].endswith("_octets")
            if not s["name"].startswith("dscp_"):
                assert re.search(rf"^{s['name']} +\S", said, re.M)
        assert settings.text(part) in inspect.getdoc(part.block)
    assert max(map(len, said.splitlines())) <= 80
    one = run_hf("info", "--settings", "dns")
    assert "DNS-PEP" in one and one in said and "Data link" not in one


def blocks_with_a_setting():
    """Make a block with one setting; those of the IP client need a device."""
    # A fixed mode needs a max_transmission_s in which a D_PDU fits.
    yield "data-link", lambda s: hf.data_link("0.0.0.1", "auto", settings=s)
    yield "pep", lambda s: hf.pep([], [], settings=s)
    yield "dns", lambda s: hf.dns_pep([], [], settings=s)


@pytest.mark.parametrize("key, make", list(blocks_with_a_setting()))
def test_what_is_allowed_is_what_is_taken(key, make):
    with_others = {"mtu": {"broadcast_only": 1}, "send_ttd": {"system_utc": 1}}
    for info in settings.PARTS[key].block.describe_settings():
        for value in (info.least, info.most):
            more = dict(with_others.get(info.name, {}))
            make({**more, info.name: value})
        wrong = [info.least - 1, math.nextafter(info.most, math.inf), math.nan, math.inf]
        if info.whole:
            wrong.append(info.least + 0.5)
        for value in wrong:
            with pytest.raises(ValueError, match=info.name) as error:
                make({info.name: value})
            assert "allowed are" in str(error.value) and " to " in str(error.value)


def test_every_command_has_a_manual_page(tmp_path):
    subprocess.run(["/usr/bin/python3", os.path.join(TREE, "apps/make_manual.py"), str(tmp_path),
                    "--pages"], check=True)
    pages = {p.stem: p.read_text() for p in (tmp_path / "man1").iterdir()}
    from gnuradio.hf.cli import COMMANDS
    assert {"hf"} | {f"hf-{name}" for name in COMMANDS} <= set(pages)
    assert {"hf-console-ping", "hf-trial-run"} <= set(pages)
    for name, text in pages.items():
        assert "\b" not in text and len(text) > 300, name


def test_ten_commands_are_listed_first(run_hf):
    said = run_hf("--help")
    found = dict(re.findall(r"^(Commands|More):\n((?:  .*\n)+)", said, re.M))
    assert list(found) == ["Commands", "More"]
    listed = {group: [line.split()[0] for line in lines.splitlines()]
              for group, lines in found.items()}
    assert listed["Commands"][:2] == ["demo", "run"] and len(listed["Commands"]) == 10
    from gnuradio.hf.cli import COMMANDS
    assert sorted(name for names in listed.values() for name in names) == sorted(COMMANDS)


def test_completion_needs_no_click_man(tmp_path):
    subprocess.run(["/usr/bin/python3", os.path.join(TREE, "apps/make_manual.py"), str(tmp_path)],
                   check=True)
    assert (tmp_path / "hf.bash").exists() and not os.listdir(tmp_path / "man1")


@pytest.mark.parametrize("typed, offered", [
    ("hf mod", ["modulate"]), ("hf console thr", ["throughput"]),
    ("hf demodulate --zero", ["--zero-interleaver"])])
def test_commands_complete_themselves(typed, offered):
    words = typed.split()
    r = subprocess.run(["hf"], capture_output=True, text=True, env={
        **os.environ, "_HF_COMPLETE": "bash_complete", "COMP_WORDS": typed,
        "COMP_CWORD": str(len(words) - 1)})
    assert [line.split(",")[1] for line in r.stdout.splitlines()] == offered, r.stderr

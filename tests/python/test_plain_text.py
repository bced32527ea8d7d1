# SPDX-License-Identifier: GPL-3.0-or-later
"""What other stations send does not reach a terminal as control characters."""
import io
import re

from click.testing import CliRunner
from gnuradio.hf.cli import ale, hf, run, top, web
from gnuradio.hf.mail import Spool
from gnuradio.hf.mail.hmtp import Answer, Mail
from gnuradio.hf.mail.spool import Envelope
from gnuradio.hf.plain_text import plain, plain_within

#: Clears the screen, sets the title, writes to the left, and a C1 introducer of such sequences.
EVIL = "\x1b[2J\x1b]0;title\x07\u202eevil\x9b31m\r\x7f\u2028"
CONTROLS = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def test_each_control_becomes_a_question_mark():
    assert plain("ä €\tb\n", "\n\t") == "ä €\tb\n"
    assert plain(EVIL) == "?[2J?]0;title??evil?31m???"
    assert plain("\t\n") == "??"
    for number in (*range(32), *range(127, 160), 0x61c, 0x200e, 0x200f, *range(0x2028, 0x202f),
                   *range(0x2066, 0x206a), 0xd800, 0xdfff):
        assert plain(f"a{chr(number)}b") == "a?b", hex(number)
    assert plain_within({EVIL: [EVIL, 1, None]}) == {plain(EVIL): [plain(EVIL), 1, None]}


def clean(text):
    """Whether a text of a command shows the foreign text, and none of its controls."""
    return "evil" in text and not CONTROLS.search(text)


def test_the_list_of_mails(tmp_path):
    spool = Spool(str(tmp_path / "spool"))
    spool.add("out", Envelope("1", f"a{EVIL}@b.c", [f"d{EVIL}@e.f"], "1.2.0.2", "hmtp", 5, 1.0,
                              error=f"550 {EVIL}"), b"hello")
    found = CliRunner().invoke(hf, ["mail", "list", str(tmp_path / "spool")])
    assert found.exit_code == 0 and found.output.count("evil") == 3 and clean(found.output)


def test_an_answer_of_a_far_gateway():
    found = Answer("t.ship.example", [Mail("a@b.c", ["d@e.f"], b"")])
    found.take(b"250 t.ship.example\r\n550 \x1b[2Jevil\x07\r\n")
    assert found.outcomes[0]["d@e.f"].text == "?[2Jevil?"


def test_lines_of_the_log(capsys):
    run.print_log([f"1.2.0.1  mail: from 1.2.0.2: {EVIL}"])
    assert clean(capsys.readouterr().out)


def test_a_frame_of_ale():
    assert clean(ale._line({"type": "frame", "text": EVIL, "start_s": 0, "snr_db": 0,
                            "freq_offset_hz": 0}))


def test_a_page_as_text(capsys):
    class Page(io.BytesIO):
        def read1(self, size=-1):
            return super().read1(3)  # in the middle of a character

    assert web._print(Page(f"Ünïcode\n\t{EVIL}".encode()))
    out = capsys.readouterr().out
    assert out.startswith("Ünïcode\n\t") and clean(out)


def test_the_state_of_stations(monkeypatch):
    class Opener:
        @staticmethod
        def open(url, timeout):
            return io.BytesIO(b'{"log": ["\\u001b[2Jevil\\u0007"], "about": "x"}')

    monkeypatch.setattr(top.urllib.request, "build_opener", lambda *_: Opener)
    assert top.fetch(1) == {"log": ["?[2Jevil?"], "about": "x"}

# SPDX-License-Identifier: GPL-3.0-or-later
"""The S_primitives around the stanzas, read by tshark."""
import shutil
import subprocess

from gnuradio.hf.xmpp import codec
import pytest
from xmpp_pair import Stations

pytestmark = pytest.mark.skipif(shutil.which("tshark") is None, reason="no tshark")

OUT = ("<message from='anna@ship.example/pc' to='bert@shore.example' id='m{}'><body>out {}</body>"
       "</message>")
BACK = ("<message from='bert@shore.example/phone' to='anna@ship.example/pc' id='n{}'>"
        "<body>back {}</body></message>")
LONG = 3000  # octets, in two segments


@pytest.fixture(name="capture", scope="module")
def fixture_capture(tmp_path_factory):
    """Four messages each way and a long one, without compression, to be read as they are."""
    folder = tmp_path_factory.mktemp("capture")
    peer = {"peer": {"compression": "none"}}
    with Stations(folder, capture=True) as both:
        ship, shore = both.start("A", **peer), both.start("B", **peer)
        for k in range(4):
            ship.write(OUT.format(k, k))
            both.wait(lambda: len(shore.messages) == k + 1)
            shore.write(BACK.format(k, k))
            both.wait(lambda: len(ship.messages) == k + 1)
        ship.write(OUT.format(4, "x" * LONG))
        both.wait(lambda: len(shore.messages) == 5)
        both.wait(lambda: both.gateways["A"].status()["for_hf"] == (0, 0))
    return folder / "sis.pcap"


def tshark(path, *arguments):
    return subprocess.run(["tshark", "-r", str(path), *arguments], check=True, text=True,
                          timeout=120, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout


def fields(path, kind, *names):
    """The values of the fields in each primitive of a type."""
    found = tshark(path, "-Y", f"s5066sis.type == {kind}", "-T", "fields", "-E", "separator=;",
                   *(word for name in names for word in ("-e", f"s5066sis.{name}")))
    columns = [line.split(";") for line in found.splitlines()]
    return [tuple(int(v, 0) for v in row) for line in columns
            for row in zip(*(column.split(",") for column in line))]


def test_nothing_is_malformed(capture):
    # tshark 4.0 looks for a RCOP header after the octets that a confirmation returns.
    assert tshark(capture, "-Y", '(_ws.malformed || _ws.expert.severity == "Error") && '
                  '!(s5066sis.type == 22)') == ""


def test_the_gateway_binds_sap_2(capture):
    assert fields(capture, 1, "01.sapid") == [(2,)]


def test_each_stanza_is_a_message_of_rcop_from_sap_2(capture):
    """Mode 1 is ARQ, order 0 is in order, confirmation 1 is by the node and 2 by the client."""
    sent = fields(capture, 20, "20.sapid", "ctl.conn_id", "ctl.updu_id", "ctl.updu_segment",
                  "ctl.app_id", "st.txmode", "st.order")
    stanzas = [s for s in sent if s[4] == codec.APP_XMPP]
    assert [s[2:4] for s in stanzas] == [(0, 0), (1, 0), (2, 0), (3, 0), (4, 0), (4, 1)]
    assert {(s[0], s[1]) + s[5:] for s in sent} == {(2, 0, 1, 0)}
    assert {s[4] for s in sent} == {codec.APP_XMPP, codec.APP_NOTICE}
    confirmed = {c for c, in fields(capture, 20, "st.confirm")}
    assert confirmed == {1, 2}


def test_what_has_arrived_is_from_sap_2(capture):
    arrived = fields(capture, 21, "21.sapid", "21.src_sapid", "ctl.updu_id", "ctl.app_id")
    stanzas = [a for a in arrived if a[3] == codec.APP_XMPP]
    assert [a[2] for a in stanzas] == [0, 1, 2, 3] and {a[:2] for a in arrived} == {(2, 2)}
    octets = bytes.fromhex("".join(tshark(capture, "-Y", "s5066sis", "-T", "fields", "-e",
                                          "tcp.payload").split()))
    for k in range(4):
        assert octets.count(f"<body>out {k}</body>".encode()) >= 1
        assert octets.count(f"<body>back {k}</body>".encode()) >= 1

# SPDX-License-Identifier: GPL-3.0-or-later
"""Chat between two Prosody over two stations on emulated air."""
import pathlib
import re
import shutil
import tempfile
import textwrap
import time
from types import SimpleNamespace

from gnuradio.hf import station
from gnuradio.hf.station import pair
import pytest

from hflab.programs import prosody

if why := prosody.why_not():
    pytest.skip(why, allow_module_level=True)

from gnuradio.hf.xmpp.service import XmppService  # noqa: E402
from hflab.programs.chat import ANNA, BERT, Chat, _handed_over_again, bad_link  # noqa: E402

HOW_TO = pathlib.Path(__file__).parents[2] / "docs" / "how-to" / "chat.md"


@pytest.fixture(params=["rcop", "slep"])
def chat(request):
    with Chat(pair.Setting(mode="4539-9600S", speed=20.0, pep_ports=None),
              {"version": request.param}) as made:
        yield made


def test_messages_both_ways_and_an_error(chat):
    users = chat.users
    users.write(ANNA, BERT, "Fog & ice <here>")
    assert users.wait(lambda: users.bodies(BERT) == ["Fog & ice <here>"]), chat.lines
    users.write(BERT, ANNA, "\u00e4\u00f6\u00fc \U0001f30a")
    assert users.wait(lambda: users.bodies(ANNA) == ["\u00e4\u00f6\u00fc \U0001f30a"]), chat.lines
    users.write(ANNA, "nobody@shore.example", "hello?")
    assert users.wait(lambda: any(m["type"] == "error" for _, to, m in users.received)), \
        chat.lines
    (error,) = [m for _, _, m in users.received if m["type"] == "error"]
    assert error["from"].bare == "nobody@shore.example"
    assert error["error"]["condition"] == "service-unavailable"


def test_nothing_is_lost_or_doubled_while_servers_and_gateways_end(chat):
    users = chat.users
    for k in range(40):
        users.write(ANNA, BERT, f"{k}")
        if k == 10:
            chat.servers["B"].stop()
        elif k == 20:
            chat.stop("B")
        elif k == 25:
            chat.servers["B"].start()
            chat.start("B")
            users.again(BERT)
        elif k == 30:
            chat.settle(ANNA)
            chat.stop("A")
            chat.start("A")
            chat.settle(ANNA)
    assert users.wait(lambda: len(users.bodies(BERT)) >= 40, 300), (chat.lines,
                                                                    users.bodies(BERT))
    assert users.bodies(BERT) == [f"{k}" for k in range(40)]
    chat.wait(lambda: chat.services["A"].status()["for_hf"] == (0, 0))


def is_in(users, jid, nick, room):
    """Whether a user is in a room by this name, as its own client knows."""
    return users.do(jid, lambda c: nick in c["xep_0045"].get_roster(room) or ())


def test_a_room_at_one_end(chat):
    users, room = chat.users, "watch@rooms.shore.example"
    users.do(BERT, lambda c: c["xep_0045"].join_muc(room, "bert"))
    chat.wait(lambda: is_in(users, BERT, "bert", room))
    users.do(BERT, lambda c: c.send_raw(
        f"<iq type='set' id='c' to='{room}'><query xmlns='http://jabber.org/protocol/muc#owner'>"
        "<x xmlns='jabber:x:data' type='submit'/></query></iq>"))
    users.do(ANNA, lambda c: c["xep_0045"].join_muc(room, "anna"))
    chat.wait(lambda: is_in(users, ANNA, "anna", room))
    users.do(BERT, lambda c: c.send_message(mto=room, mbody="to all", mtype="groupchat"))
    assert users.wait(lambda: "to all" in users.bodies(ANNA)), chat.lines
    users.do(ANNA, lambda c: c.send_message(mto=room, mbody="from the ship", mtype="groupchat"))
    assert users.wait(lambda: "from the ship" in users.bodies(BERT)), chat.lines
    assert users.bodies(ANNA).count("to all") == 1
    # A second occupant on board: what the room says crosses once for both.
    second = "bert@ship.example"
    users.add(second, chat.servers["A"].port)
    users.do(second, lambda c: c["xep_0045"].join_muc(room, "carl"))
    chat.wait(lambda: is_in(users, second, "carl", room) and is_in(users, ANNA, "carl", room))
    ashore = chat.services["B"].gateway.exchanges[0]
    chat.wait(lambda: chat.services["B"].status()["for_hf"] == (0, 0))
    before = ashore.counts["sent"]
    for k in range(5):
        users.do(BERT, lambda c: c.send_message(mto=room, mbody=f"all {k}", mtype="groupchat"))
        assert users.wait(lambda: all(f"all {k}" in users.bodies(jid)
                                      for jid in (ANNA, second, BERT))), chat.lines
    assert ashore.counts["sent"] - before == 5
    assert [[b for b in users.bodies(jid) if b[:4] == "all "] for jid in (ANNA, second)] == \
        2 * [[f"all {k}" for k in range(5)]]


def test_the_files_of_the_how_to(tmp_path):
    """The whole Prosody file starts, and the gateway of the station file logs in."""
    blocks = [textwrap.dedent(b).strip() for b in re.findall(
        r"(?:^    .*\n|^\n(?=    ))+", HOW_TO.read_text(), re.M)]
    (config,) = [b for b in blocks if b.startswith("pidfile")]
    (tables,) = [b for b in blocks if b.startswith("[sis_server]")]
    folder = tempfile.mkdtemp(prefix="hf-chat-")
    server = prosody.Prosody(folder, "ship.example", [], [])
    assert config.count("component_ports = { 5347 }") == 1
    for old, new in (("5347", str(server.component_port)), ("*syslog", f"{folder}/log"),
                     ("/run/prosody", folder),
                     ("authentication", f'data_path = "{folder}/data"\nc2s_ports = '
                      f"{{ {server.port} }}\nauthentication")):
        config = config.replace(old, new)
    pathlib.Path(folder, "prosody.cfg.lua").write_text(config)
    tables = tables.replace("/var/lib/hf-xmpp", str(tmp_path)).replace(
        "5347", str(server.component_port))
    d = station.parse('address = "1.2.0.1"\n' + tables)
    assert d.xmpp.peer[0].node == "1.2.0.2"
    with server:
        made = XmppService(d)
        made.attach(SimpleNamespace(sis_address=lambda: "127.0.0.1:9"), lambda line: None)
        made.start()
        end = time.monotonic() + 20
        while len(made.status()["connected"]) < 2 and time.monotonic() < end:
            time.sleep(0.05)
        assert made.status()["connected"] == ["shore.example", "rooms.shore.example"]
        made.close()
    shutil.rmtree(folder)


@pytest.mark.parametrize("version", ["rcop", "slep"])
def test_a_bad_link_and_kills(version):
    """Gateways are killed as processes. The bench does it on a larger scale."""
    found = bad_link(40, 4, peer={"version": version})
    assert (found.once + found.again, found.lost, found.twice, found.in_order) == \
        (40, 0, 0, True)


def test_what_counts_as_handed_over_again():
    received = [(1.0, "a"), (2.0, "b"), (4.0, "b"), (5.0, "c")]
    for killed, count in (([3.0], 1), ([1.5], 1), ([0.5], 0), ([4.5], 0), ([], 0)):
        assert _handed_over_again(received, killed) == count
    assert _handed_over_again([(1.0, "a"), (2.0, "b"), (3.0, "a")], [2.5]) == 0

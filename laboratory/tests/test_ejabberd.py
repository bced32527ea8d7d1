# SPDX-License-Identifier: GPL-3.0-or-later
"""Chat between ejabberd aboard and Prosody ashore over two stations on emulated air."""
from gnuradio.hf.station import pair
import pytest

from hflab.programs import ejabberd, prosody

if why := prosody.why_not() or ejabberd.why_not():
    pytest.skip(why, allow_module_level=True)

from hflab.programs.chat import ANNA, BERT, Chat  # noqa: E402


@pytest.fixture
def chat():
    with Chat(pair.Setting(mode="4539-9600S", speed=20.0, pep_ports=None),
              kinds={"A": ejabberd.Ejabberd}) as made:
        yield made


def test_messages_both_ways_and_an_error(chat):
    users = chat.users
    users.write(ANNA, BERT, "Fog & ice <here>")
    assert users.wait(lambda: users.bodies(BERT) == ["Fog & ice <here>"]), chat.lines
    users.write(BERT, ANNA, "\u00e4\u00f6\u00fc \U0001f30a")
    assert users.wait(lambda: users.bodies(ANNA) == ["\u00e4\u00f6\u00fc \U0001f30a"]), chat.lines
    users.write(BERT, "nobody@ship.example", "hello?")
    assert users.wait(lambda: any(m["type"] == "error" for _, to, m in users.received)), \
        chat.lines
    (error,) = [m for _, _, m in users.received if m["type"] == "error"]
    assert error["from"].bare == "nobody@ship.example"
    assert error["error"]["condition"] == "service-unavailable"


def test_a_room_aboard(chat):
    users, room = chat.users, "watch@rooms.ship.example"

    def is_in(jid, nick):
        return users.do(jid, lambda c: nick in (c["xep_0045"].get_roster(room) or ()))

    users.do(ANNA, lambda c: c["xep_0045"].join_muc(room, "anna"))
    chat.wait(lambda: is_in(ANNA, "anna"))
    users.do(BERT, lambda c: c["xep_0045"].join_muc(room, "bert"))
    chat.wait(lambda: is_in(BERT, "bert"))
    second = "anna@shore.example"
    users.add(second, chat.servers["B"].port)
    users.do(second, lambda c: c["xep_0045"].join_muc(room, "anna ashore"))
    chat.wait(lambda: is_in(second, "anna ashore") and is_in(BERT, "anna ashore"))
    aboard = chat.services["A"].gateway.exchanges[0]
    chat.wait(lambda: chat.services["A"].status()["for_hf"] == (0, 0))
    before = aboard.counts["sent"]
    for k in range(3):
        users.do(ANNA, lambda c: c.send_message(mto=room, mbody=f"all {k}", mtype="groupchat"))
        assert users.wait(lambda: all(f"all {k}" in users.bodies(jid)
                                      for jid in (ANNA, BERT, second))), chat.lines
    assert aboard.counts["sent"] - before == 3
    users.do(BERT, lambda c: c.send_message(mto=room, mbody="ashore", mtype="groupchat"))
    assert users.wait(lambda: all("ashore" in users.bodies(jid)
                                  for jid in (ANNA, BERT, second))), chat.lines


def test_nothing_is_lost_or_doubled_while_the_server_ends(chat):
    users = chat.users
    for k in range(30):
        users.write(BERT, ANNA, f"{k}")
        if k == 10:
            chat.servers["A"].stop()
        elif k == 20:
            chat.servers["A"].start()
            users.again(ANNA)
    assert users.wait(lambda: len(users.bodies(ANNA)) >= 30), (chat.lines, users.bodies(ANNA))
    assert users.bodies(ANNA) == [f"{k}" for k in range(30)]
    chat.wait(lambda: chat.services["B"].status()["for_hf"] == (0, 0))

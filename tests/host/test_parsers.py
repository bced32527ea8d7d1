# SPDX-License-Identifier: GPL-3.0-or-later
"""What the host ports read: greetings, AX.25, KISS, AGWPE, call signs and the station file."""
import asyncio
import random

import pytest

from gnuradio.hf import station
from gnuradio.hf.host import agwpe, ax25, greeting
from gnuradio.hf.host.greeting import Greeting
from gnuradio.hf.station import callsigns


def test_call_signs_have_a_normal_form_and_a_node():
    assert callsigns.normal(" la1aaa-0 ") == "LA1AAA"
    table = {"LA1AAA": "1.2.0.1", "LA1AAA-7": "1.2.0.2"}
    assert callsigns.node_of(table, "LA1AAA-5") == "1.2.0.1"
    assert callsigns.node_of(table, "LA1AAA-7") == "1.2.0.2"
    assert callsigns.node_of(table, "LA1BBB") is None
    for bad in ("", "AB", "123", "LA1AAAAA", "LA1AAA-", "LA1AAA-123", "LÅ1AAA", "A B C"):
        with pytest.raises(ValueError, match="3 to 7"):
            callsigns.normal(bad)


def test_a_greeting_has_both_call_signs():
    made = greeting.encode(Greeting("LA1AAA-T", "LA1BBB"))
    assert made == b"\x01\x08LA1AAA-T\x06LA1BBB"
    assert greeting.decode(made) == Greeting("LA1AAA-T", "LA1BBB")
    assert greeting.length(made + b"data") == len(made)
    for end in range(len(made)):
        assert greeting.decode(made[:end]) is None
        assert greeting.length(made[:end]) in (None, len(made))
    assert greeting.decode(b"\x02" + made[1:]) is None


def test_garbage_is_no_greeting():
    r = random.Random(1)
    valid = greeting.encode(Greeting("LA1AAA", "LA1BBB"))
    for _ in range(20000):
        octets = bytearray(valid if r.random() < 0.7 else r.randbytes(r.randrange(30)))
        for _ in range(r.randrange(1, 4)):
            if octets:
                octets[r.randrange(len(octets))] = r.randrange(256)
        found = greeting.decode(bytes(octets))
        if found is not None:
            assert greeting.decode(greeting.encode(found)) == found
        assert (greeting.length(bytes(octets)) or 0) <= greeting.LONGEST


def test_ui_frames_are_what_ax25_says():
    frame = ax25.encode(ax25.Ui("LA1AAA-7", "APRS", ["WIDE1-1"], 0xF0, b"hi"))
    assert frame == bytes.fromhex("82a0a4a64040 60 9882628282826e ae9288 8a6240 63 03f0".replace(
        " ", "")) + b"hi"
    assert ax25.decode(frame) == ax25.Ui("LA1AAA-7", "APRS", ["WIDE1-1"], 0xF0, b"hi")
    assert ax25.decode(frame[:21] + b"\x2f" + frame[22:]) is None  # SABM
    for bad in ("LA1AAAA", "LA1AAA-16", "Ø1A"):
        with pytest.raises(ValueError):
            ax25.encode(ax25.Ui(bad, "APRS", [], 0xF0, b""))


def test_kiss_frames_survive_their_escapes():
    data = bytes(range(256))
    framed = ax25.kiss(data)
    assert framed.count(0xC0) == 2
    assert ax25.unkiss(framed[1:-1]) == ax25.Kiss(data)
    assert ax25.unkiss(b"\x1c\x12\x34hi") == ax25.Kiss(b"hi", b"\x1c\x12\x34")  # ACKMODE
    assert ax25.unkiss(b"\x0c\x12\x34") is None
    assert ax25.kiss(b"\xc0\x34", b"\x1c") == b"\xc0\x1c\xdb\xdc\x34\xc0"
    assert ax25.unkiss(b"\x01\x32") is None  # TXDELAY
    assert ax25.unkiss(b"\x00\xdb") is None
    assert ax25.unkiss(b"\x00\xdb\x01") is None


def test_garbage_frames_are_none_or_whole():
    r = random.Random(2)
    valid = ax25.encode(ax25.Ui("LA1AAA", "APRS", ["WIDE1-1"], 0xF0, b"hello"))
    for _ in range(20000):
        octets = bytearray(valid)
        for _ in range(r.randrange(4)):
            octets[r.randrange(len(octets))] = r.randrange(256)
        octets = octets[:r.randrange(len(octets) + 1)]
        found = ax25.decode(bytes(octets))
        assert found is None or (found.source and found.to and len(found.via) <= 8)
        ax25.unkiss(bytes(octets))


def test_garbage_at_agwpe_ends_or_gives_frames():
    async def frames(octets):
        reader = asyncio.StreamReader()
        reader.feed_data(octets)
        reader.feed_eof()
        count = 0
        try:
            while await agwpe.read(reader) is not None:
                count += 1
        except asyncio.IncompleteReadError:
            pass
        return count

    async def all_of_them():
        one = agwpe.encode(agwpe.Frame("D", "LA1AAA", "LA1BBB", b"data", 0, 0xF0))
        assert await frames(one + one) == 2
        r = random.Random(3)
        for _ in range(3000):
            octets = bytearray(one * 2)
            for _ in range(r.randrange(1, 6)):
                octets[r.randrange(len(octets))] = r.randrange(256)
            assert await frames(bytes(octets)) <= 2

    asyncio.run(all_of_them())


@pytest.mark.parametrize("table, named", [
    ('[host]\n', "needs a call sign of this station"),
    ('[host.calls]\nLA1BBB = "1.2.0.2"\n', "needs a call sign of this station"),
    ('[host.calls]\nXX = "1.2.0.1"\n', "'XX'"),
    ('[host.calls]\nLA1AAA = "1.2.0"\n', "1.2.0"),
    ('[host]\nardop_port = 8519\n[host.calls]\nLA1AAA = "1.2.0.1"\n', "8519"),
    ('[host]\nkiss_port = 8516\n[host.calls]\nLA1AAA = "1.2.0.1"\n', "8516 is used twice")])
def test_a_wrong_table_is_named(table, named):
    with pytest.raises(station.StationError, match=named):
        station.parse('address = "1.2.0.1"\n' + table, "a.toml")


def test_a_right_table_is_in_its_normal_form():
    d = station.parse('address = "1.2.0.1"\n[host.calls]\nla1aaa = "1.2.0.1"\n')
    assert d.host.calls == {"LA1AAA": "1.2.0.1"}

# SPDX-License-Identifier: GPL-3.0-or-later
"""Frequency and mode of a rig: set, read back, and never while it is keyed."""
import contextlib
import json
import re
import socket
import time

from click.testing import CliRunner
from gnuradio.hf import station
from gnuradio.hf.cli.radio import command
from gnuradio.hf.radio import Rig
from gnuradio.hf.radio.key import Key
from gnuradio.hf.radio.rig import RigError, open_rig
import pmt
import pytest
import rig as fake
from waiting import until


@pytest.fixture
def rig():
    found = fake.Rig()
    yield found
    found.close()


@pytest.fixture(scope="module")
def hamlib():
    """Hamlib's own rigctld with its dummy rig; its port."""
    with fake.dummy_rig() as port:
        yield port


def key_of(rig):
    return Key(station.Ptt(way="rigctld", port=rig.port), time.monotonic_ns, lambda line: None)


def press(key, down):
    key._on_key(pmt.cons(pmt.to_pmt({"type": "key", "down": down}), pmt.init_u8vector(0, [])))


def is_set(there, frequency_hz):
    """Whether it could be."""
    with contextlib.suppress(RigError):
        return there.set(frequency_hz).frequency_hz == frequency_hz
    return False


def test_hamlibs_dummy_takes_frequency_and_mode(hamlib):
    there = Rig("127.0.0.1", hamlib)
    there.set(14101000, "PKTUSB", 2700)
    found = Rig("127.0.0.1", hamlib).read()
    assert (found.frequency_hz, found.mode, found.passband_hz) == (14101000, "PKTUSB", 2700)
    # Values that are not given stay.
    there.set(frequency_hz=7050500)
    assert there.known.frequency_hz == 7050500 and there.known.mode == "PKTUSB"
    there.set(mode="USB")
    assert there.known.frequency_hz == 7050500 and there.known.mode == "USB"
    assert there.known.passband_hz > 0
    with pytest.raises(RigError, match="mode = 'NOSUCH': the rig is in 'USB'"):
        there.set(mode="NOSUCH")


def test_hamlibs_dummy_is_left_alone_while_it_is_keyed(hamlib):
    there = Rig("127.0.0.1", hamlib)
    there.set(7100000)
    with contextlib.closing(there._connected()) as s:
        s.send("T 1")
        assert s.line(time.monotonic() + 3) == "RPRT 0"
        with pytest.raises(RigError, match="it is keyed"):
            there.set(7200000)
        s.send("T 0")
        assert s.line(time.monotonic() + 3) == "RPRT 0"
    assert there.read().frequency_hz == 7100000
    assert there.set(7200000).frequency_hz == 7200000


def test_hamlibs_dummy_takes_one_use_after_another(hamlib):
    """rigctld drops a connection that arrives while it closes the rig of the last one: about one
    in ten here."""
    there = Rig("127.0.0.1", hamlib)
    for i in range(40):
        assert there.set(7100000 + i).frequency_hz == 7100000 + i


def test_a_connection_dropped_at_once_is_made_again(rig):
    rig.drops_next = 2
    assert Rig("127.0.0.1", rig.port).set(7101000).frequency_hz == 7101000
    rig.drops_next = 2
    key = key_of(rig)
    assert rig.drops_next == 0
    press(key, True)
    until(lambda: rig.keyed)
    key.close()


def test_a_rig_that_goes_elsewhere_is_an_error_with_both_values(rig):
    rig.step_hz = 1000
    there = Rig("127.0.0.1", rig.port)
    with pytest.raises(RigError, match="frequency_hz = 7100500: the rig went to 7100000 Hz"):
        there.set(7100500)
    assert there.set(7101000).frequency_hz == 7101000
    with pytest.raises(RigError, match="passband_hz = 500: needs mode"):
        there.set(passband_hz=500)


STATE = """0
1
0
150000 1500000000 0x1ff -1 -1 0x1 0x1
0 0 0 0 0 0 0
150000 1500000000 0x1ff 5000 100000 0x1 0x1
0 0 0 0 0 0 0
0xc 10
0x2 100
0 0
0xc 2400
0xc 3000
0 0
0
done
"""


def test_a_rig_with_steps_is_as_close_as_it_can(rig):
    rig.step_hz, rig.widths, rig.abilities = 10, [2400, 3000], STATE
    there = Rig("127.0.0.1", rig.port)
    assert there.set(7100505, "USB", 2700).frequency_hz == 7100500
    assert there.known.passband_hz in (2400, 3000)
    rig.step_hz = 100
    with pytest.raises(RigError, match="frequency_hz = 7100515: the rig went to 7100500 Hz"):
        there.set(7100515)
    rig.step_hz, rig.widths = 1, [500]
    with pytest.raises(RigError, match="passband_hz = 2700: the rig has 500 Hz"):
        there.set(7100000, "USB", 2700)


def test_hamlibs_rigctld_in_its_vfo_mode():
    with fake.dummy_rig("-o") as port:
        there = Rig("127.0.0.1", port)
        assert there.set(14101000, "USB", 2400).frequency_hz == 14101000
        assert there.read().mode == "USB"
        key = Key(station.Ptt(way="rigctld", port=port), time.monotonic_ns, lambda line: None)
        press(key, True)
        until(lambda: key.down)
        with pytest.raises(RigError, match="is keyed"):
            there.set(7100000)
        press(key, False)
        until(lambda: not key.down)
        key.close()
        assert there.set(7100000).frequency_hz == 7100000


def test_other_servers_end_their_lines_in_another_way(rig):
    rig.end = "\r\n"
    there = Rig("127.0.0.1", rig.port)
    assert there.set(7100500, "USB", 2400).mode == "USB"
    assert there.known.passband_hz == 2400


def test_an_answer_in_two_parts_is_one(rig):
    """The rest was read as the next answer."""
    rig.splits = True
    there = Rig("127.0.0.1", rig.port)
    for hz in (7100500, 7200500):
        assert there.set(hz, "USB", 2400).frequency_hz == hz


def test_half_an_answer_is_named(rig, monkeypatch):
    monkeypatch.setattr("gnuradio.hf.radio.rig._PATIENCE_S", 0.5)
    rig.half = "USB\n"
    with pytest.raises(RigError, match="it answered 'm' by 'USB' and nothing more"):
        Rig("127.0.0.1", rig.port).read()


def test_the_own_key_and_a_change_exclude_each_other(rig):
    key = key_of(rig)
    there = Rig("127.0.0.1", rig.port, key)
    press(key, True)
    with pytest.raises(RigError, match="the transmitter is keyed: neither frequency nor mode"):
        there.set(7200000)
    press(key, False)
    with contextlib.suppress(RigError):
        there.set(7200000)  # also before the keyer has followed its command
    assert rig.set_while_keyed == 0
    until(lambda: rig.downs() == 1 and not key.down and not rig.keyed)
    before = rig.downs()
    with key.held_up():
        press(key, True)
        assert "is being changed" in key.errors()[-1]
        press(key, False)
    until(lambda: is_set(there, 7200000))
    assert rig.downs() == before and rig.set_while_keyed == 0 and rig.frequency == 7200000
    press(key, True)  # and after it the key works
    until(lambda: rig.keyed)
    key.close()
    assert not rig.keyed


def test_trouble_is_told_in_one_sentence(rig):
    with socket.create_server(("127.0.0.1", 0)) as s:
        port = s.getsockname()[1]
    with pytest.raises(RigError, match=f"rigctld at 127.0.0.1:{port}: .*is it running"):
        Rig("127.0.0.1", port).read()
    rig.mode = ("", 0)
    with pytest.raises(RigError, match="of frequency and mode|it says"):
        rig.frequency = "none"
        Rig("127.0.0.1", rig.port).read()


def test_nothing_is_set_unless_asked(rig):
    said = []
    radio = station.Radio(ptt=station.Ptt(way="rigctld", port=rig.port))
    assert open_rig(radio, None, said.append) is None and said == []
    radio.rig = station.Rig()
    found = open_rig(radio, None, said.append)
    assert found.known.frequency_hz == rig.frequency == 7100000
    assert said == ["rig: 7.100000 MHz, PKTUSB, passband 3000 Hz"]
    radio.rig = station.Rig(14100000, "USB")
    assert open_rig(radio, None, said.append).known.mode == "USB" and rig.frequency == 14100000


WRONG = [("frequency_hz = 7100000.5", "frequency_hz = 7100000.5: allowed are whole Hz"),
         ("frequency_hz = -1", "frequency_hz = -1.0: allowed are 0 to"),
         ('mode = "usb\\nT 1"', "allowed are hamlib's words"),
         ("passband_hz = 500", "passband_hz = 500: needs mode")]


@pytest.mark.parametrize("text, said", WRONG, ids=range(len(WRONG)))
def test_what_is_wrong_in_the_file_is_named(text, said):
    with pytest.raises(station.StationError, match="x.toml.*" + re.escape(said)):
        station.parse(f'address = "1.2.0.1"\n[radio]\n[radio.rig]\n{text}\n', "x.toml")
    with pytest.raises(station.StationError, match="needs type = 'audio', this is 'file'"):
        station.parse('address = "1.2.0.1"\n[radio]\ntype = "file"\nrecording = "x.wav"\n'
                      "[radio.rig]\n")


def test_the_command_shows_and_sets(tmp_path, rig):
    path = tmp_path / "station.toml"
    path.write_text(f'address = "1.2.0.1"\n[radio.ptt]\nway = "rigctld"\nport = {rig.port}\n')

    def call(*words):
        return CliRunner(mix_stderr=False).invoke(command, ["rig", str(path), *words])

    assert call().stdout == "7.100000 MHz, PKTUSB, passband 3000 Hz\n"
    done = call("--frequency", "14101000", "--mode", "USB", "--json")
    assert json.loads(done.stdout) == {"frequency_hz": 14101000.0, "mode": "USB",
                                       "passband_hz": 2400}
    rig.step_hz = 1000
    done = call("--frequency", "14101500")
    assert done.exit_code == 1 and "14101500: the rig went to 14101000" in done.stderr

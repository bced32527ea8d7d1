# SPDX-License-Identifier: GPL-3.0-or-later
"""The key of a transmitter: it goes down and up on request, and up after any fault."""
import json
import os
import select
import signal
import subprocess
import sys
import time
import types

from gnuradio import blocks, gr, hf
from gnuradio.hf import station
from gnuradio.hf.radio import key as key_module, keyer as keyer_module
import pmt
import pytest
from rig import Rig
from waiting import until

KEYER = os.path.join(os.path.dirname(key_module.__file__), "keyer.py")


@pytest.fixture
def rig():
    found = Rig()
    yield found
    found.close()


def start(config):
    """The keyer as a program has it."""
    process = subprocess.Popen([sys.executable, "-I", KEYER], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True, bufsize=1)
    process.stdin.write(json.dumps(config) + "\n")
    return process


def rigctld(rig):
    return {"way": "rigctld", "host": "127.0.0.1", "port": rig.port, "data": True}


def tell(process, line):
    process.stdin.write(line + "\n")


class Line:
    """A GPIO line, as both versions of libgpiod's module show it."""

    def __init__(self):
        self.asked, self.levels = {}, []

    def request(self, **asked):
        self.asked = asked
        self.levels += asked["default_vals"]

    def set_value(self, *value):
        self.levels.append(value[-1])


def gpiod_1(line):
    chip = types.SimpleNamespace(get_line=lambda n: line if n == 17 else None)
    return types.SimpleNamespace(Chip=lambda path: chip, LINE_REQ_DIR_OUT=3,
                                 LINE_REQ_FLAG_ACTIVE_LOW=4)


def gpiod_2(line):
    def request_lines(path, consumer, config):
        ((number, settings),) = config.items()
        assert number == 17
        line.asked = settings
        line.levels.append(settings["output_value"])
        return line

    values = types.SimpleNamespace(ACTIVE=1, INACTIVE=0)
    return types.SimpleNamespace(
        request_lines=request_lines, LineSettings=dict,
        line=types.SimpleNamespace(Value=values, Direction=types.SimpleNamespace(OUTPUT="out")))


@pytest.mark.parametrize("version", [gpiod_1, gpiod_2])
def test_a_gpio_line_by_both_versions_of_its_library(version, monkeypatch):
    line = Line()
    monkeypatch.setitem(sys.modules, "gpiod", version(line))
    key = keyer_module.Gpio({"device": "/dev/gpiochip0", "gpio_line": 17, "inverted": True})
    assert line.levels == [0, 0]
    key.set(True)
    key.set(False)
    assert line.levels == [0, 0, 1, 0]
    assert 4 in line.asked.values() or line.asked.get("active_low") is True


def test_a_gpio_chip_that_there_is_not_is_named():
    keyer = start({"way": "gpio", "device": "/dev/gpiochip99", "gpio_line": 17, "inverted": False})
    said = keyer.stdout.readline()
    assert said.startswith("error ") and ("gpiochip99" in said or "python3-libgpiod" in said)
    assert keyer.wait(10) == 1


def test_nothing_is_keyed_while_the_device_is_lost(rig):
    there, said = [False], []
    key = key_module.Key(station.Ptt(way="rigctld", port=rig.port), lambda: time.monotonic_ns(),
                         said.append, lambda: there[0])
    message = pmt.cons(pmt.to_pmt({"type": "key", "down": True}), pmt.init_u8vector(0, []))
    key._on_key(message)
    assert "lost" in said[0] and not rig.keyed
    there[0] = True
    key._on_key(message)
    until(lambda: rig.keyed)
    key.close()
    assert not rig.keyed


def test_down_and_up(rig):
    keyer = start(rigctld(rig))
    assert keyer.stdout.readline() == "ready\n"
    tell(keyer, "down 100")
    assert keyer.stdout.readline().startswith("down ") and rig.keyed
    tell(keyer, "up")
    assert keyer.stdout.readline().startswith("up ") and not rig.keyed
    keyer.stdin.close()
    assert keyer.wait(10) == 0


def test_a_slow_rig_has_time_for_its_first_command(rig):
    rig.delay_s = 2 * keyer_module.RIG_S
    keyer = start(rigctld(rig))
    assert keyer.stdout.readline() == "ready\n"
    keyer.stdin.close()
    assert keyer.wait(10) == 0


def keyed(rig):
    keyer = start(rigctld(rig))
    assert keyer.stdout.readline() == "ready\n"
    tell(keyer, "down 100")
    assert keyer.stdout.readline().startswith("down ")
    return keyer


def test_the_end_of_the_program_releases_it(rig):
    keyer = keyed(rig)
    keyer.stdin.close()
    assert keyer.wait(10) == 0 and not rig.keyed


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_signals_release_it(rig, number):
    keyer = keyed(rig)
    keyer.send_signal(number)
    assert keyer.wait(10) == 0 and not rig.keyed


def test_ctrl_c_is_for_the_program_not_for_the_keyer(rig):
    keyer = keyed(rig)
    keyer.send_signal(signal.SIGINT)
    tell(keyer, "up")
    assert keyer.stdout.readline().startswith("up ")
    keyer.stdin.close()
    assert keyer.wait(10) == 0


def test_a_program_that_hangs_loses_it(rig):
    keyer = keyed(rig)
    # Nothing says "alive": it hangs.
    assert "alive" in keyer.stdout.readline()
    until(lambda: not rig.keyed)
    down, up = (t for t, _ in rig.history)
    assert up - down > 0.9
    keyer.stdin.close()
    keyer.wait(10)


def test_alive_keeps_it_and_the_longest_time_ends_it(rig):
    keyer = start(rigctld(rig))
    keyer.stdout.readline()
    tell(keyer, "down 2.5")
    keyer.stdout.readline()
    while rig.keyed:
        tell(keyer, "alive")
        time.sleep(0.05)
    down, up = (t for t, _ in rig.history)
    assert 2.4 < up - down
    assert "longest" in keyer.stdout.readline()
    keyer.stdin.close()
    keyer.wait(10)


def test_a_lost_connection_is_told_at_once_made_anew_and_released_first(rig):
    keyer = keyed(rig)
    rig.drop()
    # Before the keyer would treat its program as hanging, a second after the key.
    said = keyer.stdout.readline()
    assert said.startswith("broken rigctld at 127.0.0.1") and "while keyed" in said
    until(lambda: not rig.keyed)
    assert keyer.stdout.readline().startswith("up ")
    tell(keyer, "down 10")
    assert keyer.stdout.readline().startswith("down ") and rig.keyed
    keyer.stdin.close()
    assert keyer.wait(10) == 0 and not rig.keyed


def test_a_rig_that_is_gone_is_told_once(rig):
    keyer = keyed(rig)
    rig.close()
    assert keyer.stdout.readline().startswith("broken rigctld")
    assert "refused" in keyer.stdout.readline()  # nobody listens any more
    ready, _, _ = select.select([keyer.stdout], [], [], 2)  # eight more attempts
    assert not ready
    tell(keyer, "down 10")  # its program must know each time
    assert keyer.stdout.readline().startswith("broken rigctld")
    keyer.stdin.close()
    keyer.wait(20)


@pytest.mark.parametrize("how", ["lost", "refused", "unusable", "stalled", "killed"])
def test_a_modem_hears_that_its_transmission_cannot_be_heard(rig, how):
    moving, there = [True], [how != "unusable"]
    key = key_module.Key(station.Ptt(way="rigctld", port=rig.port),
                         lambda: time.monotonic_ns() if moving[0] else 0, lambda _: None,
                         lambda: there[0])
    tb, events = gr.top_block(), blocks.message_debug()
    tb.msg_connect(key, "events", events, "store")
    tb.start()
    try:
        rig.refuses = how == "refused"
        key._on_key(pmt.cons(pmt.to_pmt({"type": "key", "down": True}), pmt.PMT_NIL))
        if how not in ("refused", "unusable"):
            until(lambda: key.down)
            assert events.num_messages() == 0
        if how == "lost":
            rig.drop()
        elif how == "stalled":
            moving[0] = False
        elif how == "killed":
            key._keyer.kill()
        until(lambda: events.num_messages() == 1)
        assert pmt.is_u8vector(pmt.cdr(events.get_message(0)))  # a PDU
        told = pmt.to_python(pmt.car(events.get_message(0)))
        assert told == {"type": "tx_damaged", "reason": "unkeyed"}
        rig.refuses = False
        key._on_key(pmt.cons(pmt.to_pmt({"type": "key", "down": False}), pmt.PMT_NIL))
    finally:
        tb.stop()
        tb.wait()
        key.close()
    assert events.num_messages() == 1


def test_a_rig_that_hangs_is_told_in_time_and_released_when_it_hears_again(rig):
    keyer = keyed(rig)
    rig.hangs = True
    tell(keyer, "up")
    assert "timed out" in keyer.stdout.readline()
    assert rig.keyed
    rig.hangs = False
    until(lambda: not rig.keyed)
    keyer.stdin.close()
    keyer.wait(10)


def test_a_key_down_without_an_answer_is_released(rig):
    rig.hangs = False
    keyer = start(rigctld(rig))
    keyer.stdout.readline()
    rig.refuses = True
    tell(keyer, "down 10")
    assert "refused 'T 3'" in keyer.stdout.readline()
    rig.refuses = False
    assert keyer.stdout.readline().split()[0] in ("error", "up")
    until(lambda: not rig.keyed)
    keyer.stdin.close()
    keyer.wait(10)


def test_commands_in_a_row_are_not_lost(rig):
    rig.delay_s = 0.05
    keyer = start(rigctld(rig))
    keyer.stdout.readline()
    for _ in range(5):
        tell(keyer, "down 10")
        tell(keyer, "up")
    for _ in range(5):
        assert keyer.stdout.readline().startswith("down ")
        assert keyer.stdout.readline().startswith("up ")
    assert rig.downs() == 5 and not rig.keyed
    keyer.stdin.close()
    keyer.wait(10)


@pytest.mark.parametrize("config, named", [
    ({"way": "rigctld", "host": "127.0.0.1", "port": 1, "data": False}, "rigctld -m"),
    ({"way": "serial", "device": "/dev/nonexistent", "line": "rts", "inverted": False},
     "/dev/nonexistent"),
    ({"way": "serial", "device": "/dev/null", "line": "dtr", "inverted": False}, "/dev/null"),
    ({"way": "cm108", "device": "/dev/nonexistent", "pin": 3, "inverted": False}, "udev"),
    ({"way": "command", "command": ["/nonexistent/key"]}, "/nonexistent/key"),
    ({"way": "command", "command": ["false"]}, "status 1"),
    ({"way": "command", "command": ["sleep", "9"]}, "still running")])
def test_a_key_that_cannot_be_had_is_named(config, named):
    keyer = start(config)
    said = keyer.stdout.readline()
    assert said.startswith("error ") and named in said
    assert keyer.wait(20) == 1


def test_cm108_writes_its_pin(tmp_path):
    device = tmp_path / "hidraw"
    device.touch()
    keyer = start({"way": "cm108", "device": str(device), "pin": 3, "inverted": False})
    assert keyer.stdout.readline() == "ready\n"
    tell(keyer, "down 10")
    assert keyer.stdout.readline().startswith("down ")
    keyer.stdin.close()
    assert keyer.wait(10) == 0
    assert device.read_bytes() == bytes((0, 0, 0, 4, 0, 0, 0, 4, 4, 0, 0, 0, 0, 4, 0))


def test_a_command_is_run(tmp_path):
    log = tmp_path / "log"
    program = tmp_path / "key"
    program.write_text(f'#!/bin/sh\necho "$@" >> {log}\n')
    program.chmod(0o755)
    keyer = start({"way": "command", "command": [str(program), "tx"]})
    assert keyer.stdout.readline() == "ready\n"
    tell(keyer, "down 10")
    assert keyer.stdout.readline().startswith("down ")
    keyer.stdin.close()
    assert keyer.wait(10) == 0
    assert log.read_text() == "tx 0\ntx 1\ntx 0\n"


def message(down):
    meta = pmt.dict_add(pmt.make_dict(), pmt.intern("type"), pmt.intern("key"))
    meta = pmt.dict_add(meta, pmt.intern("down"), pmt.from_bool(down))
    return pmt.cons(meta, pmt.init_u8vector(0, []))


def test_the_block_releases_it_when_samples_stop(rig):
    said, count = [], [0]
    ptt = station.Ptt(way="rigctld", port=rig.port)
    block = key_module.Key(ptt, lambda: count[0], said.append)
    tb = gr.top_block()
    source = hf.ticker(1000)
    tb.msg_connect(source, "ticks", block, "key")  # of another type: ignored
    tb.start()
    try:
        block.to_basic_block()._post(pmt.intern("key"), message(True))
        begin = time.monotonic()
        while time.monotonic() < begin + 2:  # longer than the keyer waits for a sign of life
            count[0] += 1
            time.sleep(0.02)
        assert rig.keyed and block.down and block.latency_ms is not None
        until(lambda: not rig.keyed)
        until(lambda: any("no samples" in line for line in said))
        assert any("no samples" in line for line in block.errors())
    finally:
        block.close()
        block.close()
        tb.stop()
        tb.wait()


def test_a_rig_slower_than_the_lead_is_told(rig):
    rig.delay_s = 0.2
    said = []
    block = key_module.Key(station.Ptt(way="rigctld", port=rig.port, lead_s=0.1),
                           lambda: int(1e3 * time.monotonic()), said.append)
    tb = gr.top_block()
    tb.msg_connect(hf.ticker(1000), "ticks", block, "key")
    tb.start()
    try:
        block.to_basic_block()._post(pmt.intern("key"), message(True))
        until(lambda: any("raise lead_s" in line for line in said))
    finally:
        block.close()
        tb.stop()
        tb.wait()
    assert not rig.keyed


def test_a_program_that_is_killed_leaves_no_key_down(rig, tmp_path):
    script = tmp_path / "p.py"
    script.write_text(f'''
import time
from gnuradio.hf import station
from gnuradio.hf.radio import key
k = key.Key(station.Ptt(way="rigctld", port={rig.port}), lambda: time.monotonic_ns(), print)
k._wanted = True
k._write("down 100")
time.sleep(1000)
''')
    for number in (signal.SIGKILL, signal.SIGSTOP):
        process = subprocess.Popen([sys.executable, str(script)])
        try:
            until(lambda: rig.keyed)
            process.send_signal(number)
            until(lambda: not rig.keyed)
        finally:
            process.kill()
            process.wait()

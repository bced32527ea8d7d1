# SPDX-License-Identifier: GPL-3.0-or-later
"""Stations on sound devices: cables of a sound server, in real time."""
import contextlib
import json
import os
import re
import shutil
import signal
import socket
import statistics
import subprocess
import time

from gnuradio import blocks, gr, hf
from gnuradio.hf import station
from gnuradio.hf.radio import probe
import numpy as np
import pmt
import pytest
from rig import Rig
import sound
from waiting import until


def test_what_goes_to_audio_comes_from_audio():
    message = os.urandom(300)
    signal_ = np.concatenate([np.zeros(4000), hf.modulate("4539-3200S", message),
                              np.zeros(12000)]).astype(np.complex64)
    for rate, subcarrier in ((48000, 1800), (44100, 1700), (8000, 1800)):
        tb = gr.top_block()
        receiver = hf.rx()
        done = blocks.message_debug(False)
        tb.connect(blocks.vector_source_c(signal_.tolist()),
                   hf.to_audio(rate, subcarrier), hf.from_audio(rate, subcarrier), receiver)
        tb.msg_connect(receiver, "pdus", done, "store")
        tb.run()
        assert done.num_messages() == 1
        assert bytes(pmt.u8vector_elements(pmt.cdr(done.get_message(0)))) == message


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("sound")


@pytest.fixture(scope="module")
def environment(folder):
    with sound.cables(folder) as found:
        yield found


@pytest.fixture
def rig():
    found = Rig()
    yield found
    found.close()


def station_file(folder, number, rig, more=""):
    """Files of two stations, one at each end of the two cables."""
    hears, speaks = ("east", "west")[::1 if number == 1 else -1]
    path = folder / f"station{number}.toml"
    path.write_text(f'''
address = "1.2.0.{number}"
mode = "4539-3200S"
[sis_server]
port = 0
[radio]
type = "audio"
capture = "{hears}_out"
playback = "{speaks}_in"
{more}
[radio.ptt]
way = "rigctld"
port = {rig.port if rig else 4532}
lead_s = 0.1
''')
    return str(path)


@contextlib.contextmanager
def running(path, environment, log=os.devnull):
    """hf run on a radio; gives its SIS server, and the process."""
    with open(log, "w") as said:
        process = subprocess.Popen(["hf", "run", path], env=environment, text=True, stdout=said,
                                   stderr=subprocess.PIPE)
    try:
        line = process.stderr.readline()
        assert "port" in line, line + process.stderr.read()
        yield "127.0.0.1:" + re.search(r"on port (\d+)", line).group(1), process
    finally:
        if process.poll() is None:
            process.terminate()
        process.wait(20)
        process.stderr.close()


def hf_(environment, *arguments, timeout=120):
    return subprocess.run(["hf", *arguments], env=environment, text=True, capture_output=True,
                          timeout=timeout)


def test_check_opens_everything_and_keys_nothing(folder, environment, rig):
    result = hf_(environment, "run", "--check", station_file(folder, 1, rig))
    assert result.returncode == 0, result.stderr
    assert "hears east_out, transmits on west_in, key: rigctld" in result.stderr
    assert rig.history == []


#: status: 1 if something does not work, 2 if the file is wrong.
@pytest.mark.parametrize("change, named, status", [
    (('capture = "east_out"', 'capture = "nowhere"'), "capture = 'nowhere'", 1),
    (('playback = "west_in"', 'playback = "nowhere"'), "playback = 'nowhere'", 1),
    (("port = {rig}", "port = 1"), "rigctld at 127.0.0.1:1", 1),
    (('"audio"', '"telepathy"'), "type = 'telepathy'", 2),
    (("lead_s = 0.1", "lead_s = 3"), "lead_s = 3", 2),
    (('"rigctld"', '"magic"'), "way = 'magic'", 2),
    (("4539-3200S", "5069-12k-12800S"), "subcarrier_hz = 1800", 2)])
def test_what_is_wrong_is_named_with_its_file(folder, environment, rig, change, named, status):
    path = station_file(folder, 1, rig)
    text = open(path).read().replace(f"port = {rig.port}", "port = {rig}").replace(*change)
    with open(path, "w") as file:
        file.write(text.replace("{rig}", str(rig.port)))
    result = hf_(environment, "run", "--check", path)
    assert result.returncode == status
    assert named in result.stderr and path in result.stderr, result.stderr
    assert "Traceback" not in result.stderr and ("Usage" in result.stderr) == (status == 2)


def test_the_rig_is_set_read_back_and_shown(folder, environment, rig):
    path = station_file(folder, 1, rig)
    with open(path, "a") as file:
        file.write('[radio.rig]\nfrequency_hz = 14101000\nmode = "USB"\n')
    result = hf_(environment, "run", path, "--duration", "1")
    assert result.returncode == 0, result.stderr
    assert "key: rigctld, rig: 14.101000 MHz, USB" in result.stderr
    assert "rig: 14.101000 MHz, USB, passband 2400 Hz" in result.stdout
    assert (rig.frequency, rig.mode[0], rig.history) == (14101000, "USB", [])
    rig.step_hz = 10000
    result = hf_(environment, "run", "--check", path)
    assert result.returncode == 1 and path in result.stderr and "Usage" not in result.stderr
    assert "frequency_hz = 14101000: the rig went to 14100000 Hz" in result.stderr


def test_list_names_the_devices(environment):
    result = hf_(environment, "radio", "list", "--json")
    assert result.returncode == 0, result.stderr
    names = {json.loads(line)["name"] for line in result.stdout.splitlines()}
    assert {"east_in", "east_out"} <= names
    # Drivers of SoapySDR write lines about each sound server and network service that is missing.
    assert all(line.startswith(("audio: ", "soapy: ")) for line in result.stderr.splitlines())


def move_a_file(folder, environment, rig, other):
    """Between two stations over the cables; what hf send said if it did not get there."""
    data = os.urandom(3000)
    (folder / "message.bin").write_bytes(data)
    inbox = folder / "inbox"
    inbox.mkdir()
    with running(station_file(folder, 1, rig), environment) as (near, _), \
            running(station_file(folder, 2, other), environment) as (far, _):
        receiver = subprocess.Popen(["hf", "receive", str(inbox), "--server", far, "--count", "1",
                                     "--timeout", "100"], text=True, stdout=subprocess.DEVNULL,
                                    stderr=subprocess.PIPE)
        assert receiver.stderr.readline().startswith("bound")
        sent = hf_(environment, "send", str(folder / "message.bin"), "--to", "1.2.0.2",
                   "--server", near)
        if sent.returncode != 0:
            receiver.kill()
            receiver.communicate()
            return sent.stderr
        receiver.communicate(timeout=100)
        assert (inbox / "message.bin").read_bytes() == data
        assert rig.downs() and other.downs()  # both spoke
        deadline = time.monotonic() + 60
        while rig.keyed or other.keyed:
            assert time.monotonic() < deadline
            time.sleep(0.05)
    return ""


def test_two_stations_move_a_file_and_key_their_rigs(tmp_path, rig):
    other = Rig()
    with sound.cables(tmp_path) as environment:
        said = move_a_file(tmp_path, environment, rig, other)
    other.close()
    assert said == ""
    assert not rig.keyed and not other.keyed


def test_a_station_that_is_killed_while_it_transmits_leaves_no_key_down(folder, environment, rig):
    with running(station_file(folder, 1, rig), environment) as (near, process):
        sender = subprocess.Popen(["hf", "console", "ping", "--to", "1.2.0.9", "--server", near,
                                   "--count", "1", "--timeout", "60"],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while not rig.keyed:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        killed = time.monotonic()
        while rig.keyed:
            assert time.monotonic() < killed + 20
            time.sleep(0.01)
        sender.kill()
        sender.wait()


@contextlib.contextmanager
def pinging(environment, server):
    """A client that makes the station call somebody who is not there, for as long as needed."""
    sender = subprocess.Popen(["hf", "console", "ping", "--to", "1.2.0.9", "--server", server,
                               "--count", "1", "--timeout", "60"], env=environment,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        sender.kill()
        sender.wait()


def test_a_lost_device_releases_the_key_and_is_opened_again(tmp_path, rig):
    log = tmp_path / "log"
    with sound.cables(tmp_path) as environment, \
            running(station_file(tmp_path, 1, rig), environment, log) as (near, process):
        with pinging(environment, near):
            until(lambda: rig.keyed)
            sound.unplug(environment, "west")
            sound.unplug(environment, "east")
            until(lambda: not rig.keyed)
            until(lambda: "playback device lost" in log.read_text())
            until(lambda: "capture device lost" in log.read_text())
        downs = rig.downs()
        with pinging(environment, near):  # the station's time goes on, and it wants to transmit
            until(lambda: "not keyed: the playback device is lost" in log.read_text())
        assert rig.downs() == downs and process.poll() is None
        for name in ("east", "west"):
            sound.plug(environment, name)
        until(lambda: "playback device reopened" in log.read_text())
        until(lambda: "capture device reopened" in log.read_text())
        with pinging(environment, near):
            until(lambda: rig.downs() > downs)
    assert not rig.keyed


def test_a_lost_key_ends_the_transmission_and_the_next_one_is_soon(tmp_path, rig):
    """The connection to the rig is lost in the middle of a minute of data."""
    log, other = tmp_path / "log", Rig()
    (tmp_path / "long.bin").write_bytes(os.urandom(40000))
    (tmp_path / "inbox").mkdir()
    with sound.cables(tmp_path) as environment, \
            running(station_file(tmp_path, 1, rig), environment, log) as (near, _), \
            running(station_file(tmp_path, 2, other), environment) as (far, _):
        clients = [
            subprocess.Popen(["hf", *words], env=environment, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
            for words in (["receive", str(tmp_path / "inbox"), "--server", far],
                          ["send", str(tmp_path / "long.bin"), "--to", "1.2.0.2", "--server",
                           near])]
        try:
            until(lambda: rig.keyed and time.monotonic() > rig.history[-1][0] + 10)
            downs = rig.downs()
            rig.drop()
            until(lambda: "ptt: rigctld" in log.read_text(), 10)
            until(lambda: "broken off" in log.read_text(), 10)
            until(lambda: rig.downs() > downs, 20)
        finally:
            for client in clients:
                client.kill()
                client.wait()
    other.close()
    assert int(re.search(r"unkeyed, broken off (\d+) s before its end", log.read_text())[1]) > 5
    assert re.search(r"^ *\d+\.\d\d 1\.2\.0\.1 ptt: rigctld .* while keyed", log.read_text(), re.M)


def test_a_station_that_cannot_keep_real_time_says_so(folder, environment, rig):
    log = folder / "busy.log"
    stall = r"^ *\d+\.\d\d 1\.2\.0\.1 radio: playback ran empty for ([5-9]\d\d|\d{4}) ms.*"
    with running(station_file(folder, 1, rig), environment, log) as (_, process):
        def told_after_a_stall():
            process.send_signal(signal.SIGSTOP)
            time.sleep(1.5)  # far more than any buffer holds
            process.send_signal(signal.SIGCONT)
            return re.search(stall, log.read_text(), re.M)

        until(told_after_a_stall)
    # With the station's time; more than any buffer bridges, so that none is lengthened.
    # A busy machine may have caused shorter ones before, for which one was.
    before, line = "", ""
    for line in re.findall(r"^.*playback ran empty for .*", log.read_text(), re.M):
        if re.match(stall, line):
            break
        before = line
    later = r"answers are (\d+) ms later"
    assert re.findall(later, line) == re.findall(later, before)


def test_zeros_for_lost_samples_are_told_to_the_modem():
    tag = gr.tag_t()
    tag.key, tag.value, tag.offset = pmt.intern("erased"), pmt.from_uint64(4800), 9600
    wrong = gr.tag_t()
    wrong.key, wrong.value, wrong.offset = pmt.intern("erased"), pmt.intern("many"), 20000
    tb = gr.top_block()
    source = blocks.vector_source_f([0.0] * 96000, False, 1, [tag, wrong])
    audio, modem, seen = hf.from_audio(), hf.modem(lock_step=False), blocks.vector_sink_c()
    tb.connect(source, audio, modem, blocks.null_sink(gr.sizeof_gr_complex))
    tb.connect(audio, seen)
    tb.run()
    found = [(t.offset, pmt.to_python(t.value)) for t in seen.tags()]
    assert found == [(1920, 960)]
    assert modem.state().now > 1.8  # of 2 s: a word that is not a number does not stop it


def tagged_burst(text):
    """A burst one second after the start, two seconds before the end. Returns its source."""
    burst = hf.modulate("4539-3200S", text)
    signal_ = np.concatenate([np.zeros(9600), burst, np.zeros(19200)]).astype(np.complex64)
    tags = []
    for name, at in (("tx_sob", 9600), ("tx_eob", 9600 + len(burst) - 1)):
        tag = gr.tag_t()
        tag.key, tag.value, tag.offset = pmt.intern(name), pmt.PMT_T, at
        tags.append(tag)
    return burst, blocks.vector_source_c(signal_.tolist(), False, 1, tags)


def test_a_device_that_runs_empty_while_keyed_is_told_to_the_data_link():
    _, source = tagged_burst(b"with a hole")
    tb = gr.top_block()
    block, events = hf.to_audio(lead_s=0.1, tail_s=0.5), blocks.message_debug()
    tb.connect(source, blocks.throttle(gr.sizeof_gr_complex, 9600), block,
               blocks.null_sink(gr.sizeof_float))
    tb.msg_connect(block, "events", events, "store")

    def gaps(count, held_s=0.05):
        meta = pmt.dict_add(pmt.make_dict(), pmt.intern("type"), pmt.intern("held"))
        meta = pmt.dict_add(meta, pmt.intern("gaps"), pmt.from_uint64(count))
        if held_s is not None:
            meta = pmt.dict_add(meta, pmt.intern("held_s"), pmt.from_double(held_s))
        block.to_basic_block()._post(pmt.intern("held"), pmt.cons(meta, pmt.init_u8vector(0, [])))

    tb.start()
    try:
        gaps(1)  # nothing is being sent
        until(lambda: block.state().keyed)
        assert block.state().damaged == 0
        gaps(1)
        gaps(2)
        gaps(3)
        until(lambda: events.num_messages() == 1)
        gaps(4, None)  # a device that is lost holds nothing
        until(lambda: events.num_messages() == 2)
        assert block.state().keyed
    finally:
        tb.stop()
        tb.wait()
    assert pmt.to_python(pmt.car(events.get_message(1)))["reason"] == "lost"
    told = pmt.to_python(pmt.car(events.get_message(0)))
    assert told["type"] == "tx_damaged" and told["transmission"] == 1
    assert told["reason"] == "underflow" and block.state().damaged == 2


def test_a_tone_keys_on_the_second_channel():
    burst, source = tagged_burst(b"keyed by a tone")
    tb = gr.top_block()
    block = hf.to_audio(lead_s=0.1, tail_s=0.05, device_delay_s=0.1, device_buffer_s=0.3,
                        tone_hz=1000)
    audio, tone = blocks.vector_sink_f(), blocks.vector_sink_f()
    tb.connect(source, block, audio)
    tb.connect((block, 1), tone)
    tb.run()
    spoken, keyed = np.flatnonzero(np.abs(audio.data()) > 0.01), np.flatnonzero(tone.data())
    # Whatever the device holds, both wait in it together. The burst's own pulses rise and fall;
    # 1 ms: the filters' transients.
    loud = np.flatnonzero(np.abs(burst) > 0.01)
    rise, fall = loud[0] / 9600, (len(burst) - 1 - loud[-1]) / 9600
    assert (spoken[0] - keyed[0]) / 48000 == pytest.approx(0.1 + rise, abs=1e-3)
    assert (keyed[-1] - spoken[-1]) / 48000 == pytest.approx(0.05 + fall, abs=1e-3)
    middle = np.array(tone.data())[keyed[0] + 4800:keyed[0] + 9600]
    assert np.argmax(np.abs(np.fft.rfft(middle))) == 100  # bins of 10 Hz
    assert np.max(middle) == pytest.approx(0.5, abs=0.01)


def test_a_station_that_only_hears_opens_neither_playback_nor_key(folder, environment):
    path = station_file(folder, 1, None, "transmit = false")
    text = open(path).read().replace('playback = "west_in"', 'playback = "nowhere"')
    with open(path, "w") as file:
        file.write(text.replace("port = 4532", "port = 1"))
    result = hf_(environment, "run", "--check", path)
    assert result.returncode == 0, result.stderr
    assert "never transmits" in result.stderr


def test_what_calibration_found_is_what_a_station_needs():
    r = station.Radio(type="audio", capture="in", playback="out",
                      ptt=station.Ptt(way="rigctld", lead_s=0.1))
    found = probe.Calibration(sent=2, delays_ms=[151.0, 163.2], key_ms=20.0)
    said = station.parse('address = "1.2.0.1"\nmode = "4539-3200S"\n' + probe.table(r, found))
    assert said.data_link["turnaround_s"] == 0.17
    assert said.radio.latency_s == 0.063 and said.radio.ptt.lead_s == 0.1
    assert "turnaround_s" not in probe.table(r, probe.Calibration(sent=2))


def test_tone_levels_and_calibration_over_a_loop(folder, environment, rig):
    path = station_file(folder, 1, rig)
    text = open(path).read().replace("west_in", "east_in")
    with open(path, "w") as file:
        file.write(text)
    result = hf_(environment, "radio", "calibrate", path, "--bursts", "3", "--json")
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert len(found["delays_ms"]) == 3 and found["key_ms"] is not None
    # The lead is 100 ms, the rest is the sound server's.
    assert all(100 <= d < 3000 for d in found["delays_ms"])
    assert found["peak_db"] == pytest.approx(-6, abs=2) and found["clipped"] == 0
    assert not rig.keyed and rig.downs() == 3

    # 12 kHz around an intermediate frequency.
    wide = text.replace("4539-3200S", "5069-12k-12800S")
    wide = wide.replace('type = "audio"', 'type = "audio"\nsubcarrier_hz = 12000')
    with open(path, "w") as file:
        file.write(wide)
    result = hf_(environment, "radio", "calibrate", path, "--bursts", "2", "--json")
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert len(found["delays_ms"]) == 2 and min(found["snr_db"]) > 25
    assert rig.downs() == 5
    with open(path, "w") as file:
        file.write(text)

    meter = subprocess.Popen(["hf", "radio", "levels", path, "--duration", "8"],
                             env=environment, stdout=subprocess.PIPE, text=True)
    tone = hf_(environment, "radio", "tone", path, "--duration", "3")
    said, _ = meter.communicate(timeout=60)
    assert tone.returncode == 0, tone.stderr
    peaks = [float(x) for x in re.findall(r"peak +(-?[\d.]+)", said)]
    assert max(peaks) == pytest.approx(-6, abs=1)
    assert "too loud" in said
    assert not rig.keyed and rig.downs() == 6


def test_the_channel_as_a_box_between_devices(folder, environment):
    path = folder / "hears.toml"
    path.write_text('address = "1.2.0.3"\n[radio]\ncapture = "west_out"\n')
    talks = folder / "talks.toml"
    talks.write_text('address = "1.2.0.1"\nmode = "4539-3200S"\n[sis_server]\nport = 0\n[radio]\n'
                     'capture = "west_out"\nplayback = "east_in"\nlevel_db = -3\n')
    with running(str(talks), environment) as (server, _):
        # Peaks of -3 dB are a mean of about -10 dB: level of the modulator's peaks is 1.6.
        box = subprocess.Popen(["hf", "channel", "--live", "awgn snr=15", "east_out", "west_in",
                                "--signal", "-10", "--duration", "40"], env=environment,
                               stderr=subprocess.PIPE, text=True)
        assert box.stderr.readline().startswith("input: peak")
        ear = subprocess.Popen(["hf", "radio", "monitor", str(path), "--json", "--duration", "25"],
                               env=environment, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
        assert ear.stderr.readline().startswith("listening")
        hf_(environment, "console", "ping", "--to", "1.2.0.9", "--server", server, "--count", "1",
            "--timeout", "15")
        said, _ = ear.communicate(timeout=60)
        box.terminate()
        box.communicate(timeout=20)
        assert box.returncode == 0
    heard = [json.loads(line) for line in said.splitlines()]
    assert heard and all(h["mode"].startswith("4539-3200") for h in heard)
    # A sound device that a busy machine serves late leaves holes, but not in most transmissions.
    snr_db = [h["snr_db"] for h in heard]
    assert abs(statistics.median(snr_db) - 15) < 3, snr_db
    wrong = hf_(environment, "channel", "--live", "poor", "nowhere", "west_in")
    assert wrong.returncode == 1 and "nowhere" in wrong.stderr


def test_hamlibs_own_rigctld_is_keyed(folder, environment):
    with socket_free() as port:
        pass
    rigctld = subprocess.Popen(["rigctld", "-m", "1", "-P", "RIG", "-T", "127.0.0.1", "-t",
                                str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 20
        while ask(port, "t") is None:
            assert rigctld.poll() is None and time.monotonic() < deadline
            time.sleep(0.05)
        keyer = subprocess.Popen(
            ["/usr/bin/python3", "-I",
             os.path.join(os.path.dirname(hf.__file__), "radio", "keyer.py")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        keyer.stdin.write(json.dumps({"way": "rigctld", "host": "127.0.0.1", "port": port,
                                      "data": True}) + "\ndown 10\n")
        assert keyer.stdout.readline() == "ready\n"
        assert keyer.stdout.readline().startswith("down ")
        assert ask(port, "t") != "0"
        keyer.stdin.close()
        keyer.wait(10)
        assert ask(port, "t") == "0"
    finally:
        rigctld.terminate()
        rigctld.wait(10)


@contextlib.contextmanager
def socket_free():
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as s:
        yield s.getsockname()[1]


def ask(port, command):
    """Answer of rigctld."""
    with contextlib.suppress(OSError):
        with socket.create_connection(("127.0.0.1", port), 1) as s:
            s.sendall(command.encode() + b"\n")
            return s.recv(100).decode().strip()
    return None


assert shutil.which("pulseaudio") and shutil.which("rigctld"), \
    "pulseaudio or rigctld is missing (Debian: pulseaudio libasound2-plugins libhamlib-utils)"

# SPDX-License-Identifier: GPL-3.0-or-later
"""A wide SDR received as a whole: hf monitor on the tests' driver for SoapySDR."""
import contextlib
import json
import os
import signal
import subprocess

from gnuradio import gr, hf
from gnuradio.hf import radio, station
from gnuradio.hf.radio import probe
import numpy as np
import pytest
from air import Air, PLUGINS, args
from waiting import until

os.environ["SOAPY_SDR_PLUGIN_PATH"] = str(PLUGINS)
RATE = 192000
KINDS = ("soapy", "uhd")


@contextlib.contextmanager
def sender(folder):
    """A station that transmits in the middle of its band; gives its player."""
    tb = gr.top_block()
    r = radio.SdrRadio(tb, station.Radio(type="soapy", sdr=station.Sdr(
        args=args(folder / "air", 0, rate=RATE), frequency_hz=7e6, sample_rate=RATE,
        latency_s=1.0)))
    player = probe.Player()
    tb.connect(r.source, player, r.sink)
    tb.start()
    try:
        until(lambda: player.count > 0)
        yield player
    finally:
        tb.stop()
        r.close()
        tb.wait()


@contextlib.contextmanager
def monitor(folder, kind, *options):
    """hf monitor on that air, from when it hears; gives the process."""
    with open(folder / "heard", "w") as out, open(folder / "said", "w") as said:
        process = subprocess.Popen(
            ["hf", "monitor", f"--{kind}", args(folder / "air", 1, kind, RATE,
                                                ",channel=awgn snr:20"),
             "--frequency", "7e6", "--sample-rate", str(RATE), *options], stdout=out, stderr=said)
        try:
            yield process
        finally:
            process.kill()
            process.wait()


@pytest.mark.parametrize("kind", KINDS)
def test_an_sdr_is_heard_channel_by_channel_until_told(tmp_path, kind):
    octets = os.urandom(40)
    signal_ = 0.2 * np.asarray(hf.modulate("4539-1200S", octets))
    payload = tmp_path / "payload"

    def arrived():
        return any(file.read_bytes().startswith(octets) for file in payload.glob("+0-*.bin"))

    with sender(tmp_path) as player, monitor(
            tmp_path, kind, "--channels", "-30000,0,45000", "--payload",
            str(payload)) as process:
        # It may not hear yet, or only the end of one.
        begin = player.count
        deadline = begin + 60 * 9600
        while not arrived() and player.count < deadline:
            if player.done():
                player.play(player.count + 4800, signal_)
            until(lambda n=player.count: player.count > n + 960)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0, (tmp_path / "said").read_text()
    found = [json.loads(line) for line in (tmp_path / "heard").read_text().splitlines()]
    assert found and {f["channel_hz"] for f in found} == {0}
    assert found[0]["mode"] == "4539-1200S" and found[0]["start_s"] > 0
    assert arrived()
    assert "in 3 channels" in (tmp_path / "said").read_text()


def test_what_the_device_loses_is_put_back_and_told(tmp_path):
    heard, said = [], []
    receiver = radio.WideReceiver(station.Radio(type="soapy", transmit=False, sdr=station.Sdr(
        args=args(tmp_path / "air", 1, rate=RATE), frequency_hz=7e6, sample_rate=RATE)),
        said.append, 3.0)
    air, faults = Air(tmp_path / "air"), ["lose"]
    for piece in receiver.pieces():
        heard.append(len(piece))
        if sum(heard) > RATE and faults:
            air.put(1, faults.pop(), 12345)
    assert sum(heard) == 3 * RATE
    assert any(line.startswith("12345 received samples were lost") for line in said)
    assert receiver.warnings


@pytest.mark.parametrize("options, named", [
    (["--soapy", "driver=hftest"], "--frequency"),
    (["--soapy", "", "--frequency", "7e6", "--sample-rate", "192000"], "name of one device"),
    (["--uhd", "x=1", "--frequency", "7e6", "--sample-rate", "192000"], "name of one device"),
    (["--soapy", "driver=nosuch", "--frequency", "7e6", "--sample-rate", "192000"],
     "cannot open it"),
    (["--soapy", "driver=hftest", "x.sigmf-meta"], "give one of")])
def test_wrong_use_is_told(options, named):
    r = subprocess.run(["hf", "monitor", "--grid", "3000", *options], capture_output=True,
                       text=True, timeout=60)
    assert r.returncode in (1, 2) and named in r.stderr

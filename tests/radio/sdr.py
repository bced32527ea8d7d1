# SPDX-License-Identifier: GPL-3.0-or-later
"""Stations on SDRs over the tests' driver: files, programs, and a station that receives itself."""
import contextlib
import os
import re
import subprocess

from gnuradio import blocks, gr
from gnuradio.hf import radio, station
from gnuradio.hf.radio import probe
import numpy as np
import pmt
from air import Air, PLUGINS, args
from waiting import until

os.environ["SOAPY_SDR_PLUGIN_PATH"] = str(PLUGINS)
KINDS = ("soapy", "uhd")
#: How far ahead bursts are scheduled, so that a test passes on a busy machine: between stations,
#: which must answer in time, and where nothing waits for an answer.
LATENCY_S = 0.3
LOOP_LATENCY_S = 1.0


def station_file(folder, number, kind, rig=None, sdr="", more=""):
    """Station 1 or 2 on the air of a folder."""
    path = folder / f"station{number}.toml"
    key = f'[radio.ptt]\nway = "rigctld"\nport = {rig.port}\nlead_s = 0.05\n' if rig else ""
    sdr = sdr or f"latency_s = {LATENCY_S}"
    path.write_text(f'''
address = "1.2.0.{number}"
mode = "4539-3200S"
[data_link]
turnaround_s = 0.3
[sis_server]
port = 0
[radio]
type = "{kind}"
{more}
[radio.sdr]
args = "{args(folder / 'air', number - 1, kind, more=',channel=awgn snr:25')}"
frequency_hz = 7101800
{sdr}
{key}''')
    return str(path)


def hf_(*arguments, timeout=120, **more):
    return subprocess.run(["hf", *arguments], text=True, capture_output=True, timeout=timeout,
                          env={**os.environ, **more})


@contextlib.contextmanager
def running(path, log):
    """hf run on an SDR. Returns its SIS server and the process. Its output goes to log."""
    with open(log, "w") as out:
        process = subprocess.Popen(["hf", "run", path], text=True, stdout=out,
                                   stderr=subprocess.PIPE)
        try:
            said = ""
            while "on port" not in said:
                line = process.stderr.readline()
                assert line, said
                said += line
            yield "127.0.0.1:" + re.search(r"on port (\d+)", said).group(1), process
        finally:
            if process.poll() is None:
                process.terminate()
            process.wait(30)
            process.stderr.close()


@contextlib.contextmanager
def pinging(server):
    """A client that makes the station call somebody who is not there, for as long as needed."""
    sender = subprocess.Popen(["hf", "console", "ping", "--to", "1.2.0.9", "--server", server,
                               "--count", "1", "--timeout", "60"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        sender.kill()
        sender.wait()


class Loop:
    """A station that hears itself, without data link: the samples sent and received."""

    def __init__(self, folder, kind, rate=48000, modem_rate=9600.0, latency_s=LOOP_LATENCY_S,
                 more=""):
        path = folder / "air"
        r = station.Radio(type=kind, sdr=station.Sdr(
            args=args(path, 0, kind, rate, ",loop=1" + more), frequency_hz=7e6,
            sample_rate=rate, latency_s=latency_s))
        self.tb = gr.top_block()
        self.radio = radio.SdrRadio(self.tb, r, modem_rate)
        self.heard = []
        self.player = probe.Player(lambda x: self.heard.append(x.copy()))
        self.events = blocks.message_debug(False)
        self.tb.connect(self.radio.source, self.player, self.radio.sink)
        self.tb.msg_connect(self.radio.sink, "events", self.events, "store")
        self.air = Air(path)

    def __enter__(self):
        self.tb.start()
        until(lambda: self.player.count > 0)
        return self

    def __exit__(self, *_):
        self.tb.stop()
        self.radio.close()
        self.tb.wait()

    def play(self, signal, after=1000):
        """Gives the sample with which it begins."""
        at = self.player.count + after
        self.player.play(at, signal)
        return at

    def received(self, count):
        """The first samples, this many."""
        until(lambda: self.player.count >= count)
        return np.concatenate(self.heard)[:count]

    def reasons(self):
        """Why transmissions suffered."""
        return [str(pmt.to_python(pmt.car(self.events.get_message(k)))["reason"])
                for k in range(self.events.num_messages())]

# SPDX-License-Identifier: GPL-3.0-or-later
"""Unmodified programs of others at the host ports. Those that are not installed are skipped."""
import os
import shutil
import subprocess
import time

import pytest

from gnuradio.hf.station import pair
import pat
import sessions


@pytest.mark.parametrize("way", list(pat.WAYS))
def test_two_pats_pass_a_mail(way):
    if all(shutil.which(name) is None for name in pat.NAMES):
        pytest.skip("pat-winlink is not installed (Debian's package pat)")
    outcome = pat.measure(pat.Options(octets=500), way, *pat.LINKS[0], 60.0, pat.program())
    if pat.UNABLE in outcome.why:
        pytest.skip(outcome.why)
    assert outcome.arrived, outcome.why


def test_kissutil_sends_a_frame():
    if shutil.which("kissutil") is None:
        pytest.skip("kissutil is not installed (Debian's package direwolf)")
    with sessions.Stations(pair.Setting(speed=10, pep_ports=None)) as stations:
        def start(side):
            return subprocess.Popen(
                ["kissutil", "-h", "127.0.0.1", "-p", str(stations.ports[side] + 5)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)

        with start("A") as a, start("B") as b:
            try:
                time.sleep(1)  # it reports nothing when it is ready
                a.stdin.write("LA1AAA>APRS:hello hf\n")
                a.stdin.flush()
                line = next(x for x in b.stdout if "hello" in x)
                assert line.strip().endswith("LA1AAA>APRS:hello hf")
            finally:
                a.kill()
                b.kill()


def test_the_examples_can_be_opened():
    where = os.path.join(os.environ["HF_SOURCE_DIR"], "examples")
    files = [os.path.join(where, f"host_{side}.toml") for side in "ab"]
    told = subprocess.run(["hf", "run", *files, "--check"], capture_output=True, text=True,
                          timeout=60)
    assert told.returncode == 0, told.stderr
    assert "ARDOP 8515, VARA 8300, AGWPE 8000, KISS 8001; call signs LA1AAA" in told.stderr


@pytest.mark.parametrize("dialect", ["ardop", "vara"])
def test_hfhost_finds_nothing_to_complain_about(dialect, tmp_path):
    hfhost = pytest.importorskip("hfhost", reason="hfhost is not installed (pip)")
    from hfhost import ardop, client, config, transcript, wire
    del hfhost
    kind, classify = ((ardop.ArdopClient, ardop.classify) if dialect == "ardop"
                      else (client.ModemClient, wire.classify))
    lines = {"A": [], "B": []}
    with sessions.Stations(pair.Setting(speed=20, pep_ports=None)) as stations:
        clients, queues = {}, {}
        for side, call in sessions.CALL_OF.items():
            base = stations.ports[side] + (0 if dialect == "ardop" else 2)
            c = clients[side] = kind(
                config.ModemConfig(side, base, base + 1, dialect), "127.0.0.1",
                transcript.Transcript(str(tmp_path / f"{side}.jsonl"), side))
            queues[side] = c.subscribe()
            c.attach()
            assert c.request_version().startswith("gr-hf")
            c.set_mycall(call)
            c.set_bandwidth("2000MAX" if dialect == "ardop" else "2300")
            c.set_listen(True)
        a, b = clients["A"], clients["B"]
        try:
            for end in ("DISCONNECT", "ABORT"):
                a.command("ARQCALL LA1BBB 5" if dialect == "ardop" else "CONNECT LA1AAA LA1BBB")
                for side in "AB":
                    _until(queues[side], lines[side], "CONNECTED")
                a.send_data(b"x" * 2500)
                b.send_data(b"welcome")
                assert bytes(b.read_data(2500, timeout=30)) == b"x" * 2500
                assert bytes(a.read_data(7, timeout=30)) == b"welcome"
                a.command(end)
                for side in "AB":
                    _until(queues[side], lines[side], "DISCONNECTED")
        finally:
            a.close()
            b.close()
    for line in lines["A"] + lines["B"]:
        assert line.kind != wire.UNKNOWN and classify(line.raw).kind == line.kind, line


def _until(queue, lines, name):
    end = time.monotonic() + 30
    while not lines or lines[-1].name != name:
        lines.append(queue.get(timeout=max(end - time.monotonic(), 0.1)))


def test_pyham_pe_has_a_session():
    pe = pytest.importorskip("pe", reason="pyham-pe is not installed (pip)")

    class Heard(pe.ReceiveHandler):
        def __init__(self):
            self.events = []

        def callsign_registered(self, callsign, success):
            self.events.append(("registered", success))

        def connection_received(self, port, call_from, call_to, incoming, message):
            self.events.append(("connected", call_from))

        def connected_data(self, port, call_from, call_to, pid, data):
            self.events.append(("data", bytes(data)))

        def disconnected(self, port, call_from, call_to, message):
            self.events.append(("ended", call_from))

        def wait(self, event):
            end = time.monotonic() + 30
            while event not in self.events and time.monotonic() < end:
                time.sleep(0.02)
            assert event in self.events, self.events

    with sessions.Stations(pair.Setting(speed=20, pep_ports=None)) as stations:
        engines = {}
        for side, call in sessions.CALL_OF.items():
            heard = Heard()
            engine = engines[side] = pe.PacketEngine(heard)
            engine.connect_to_server("127.0.0.1", stations.ports[side] + 4)
            end = time.monotonic() + 30
            while not engine._ready and time.monotonic() < end:  # it asks for the version first
                time.sleep(0.02)
            engine.register_callsign(call)
            heard.wait(("registered", True))
            engines[side] = engine, heard
        (a, at_a), (b, at_b) = engines["A"], engines["B"]
        a.connect(0, "LA1AAA", "LA1BBB")
        at_a.wait(("connected", "LA1BBB"))
        at_b.wait(("connected", "LA1AAA"))
        a.send_data(0, "LA1AAA", "LA1BBB", b"hello")
        at_b.wait(("data", b"hello"))
        a.disconnect(0, "LA1AAA", "LA1BBB")
        at_a.wait(("ended", "LA1BBB"))
        at_b.wait(("ended", "LA1AAA"))
        a.disconnect_from_server()
        b.disconnect_from_server()

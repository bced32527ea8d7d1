# SPDX-License-Identifier: GPL-3.0-or-later
"""Stations on SDRs over the tests' driver: opening, refusals and exchanges."""
import contextlib
import json
import os
from pathlib import Path
import re
import socket
import subprocess
import threading

from gnuradio.hf import station
import pytest
from air import Air, args
from rig import Rig
from sdr import KINDS, hf_, running, station_file
from waiting import until

EXAMPLES = Path(os.environ["HF_SOURCE_DIR"]) / "examples"


@pytest.mark.parametrize("kind", KINDS)
def test_check_opens_everything_and_keys_nothing(tmp_path, rig, kind):
    result = hf_("run", "--check", station_file(tmp_path, 1, kind, rig))
    assert result.returncode == 0, result.stderr
    assert f"radio: {kind}" in result.stderr and "7.1018 MHz, transmits" in result.stderr
    assert rig.history == [] and Air(tmp_path / "air").get(0, "sent") == 0


@pytest.mark.parametrize("kind, change, named", [
    ("soapy", ("driver=hftest,", ""), "allowed is the name of one device"),
    ("uhd", ("type=soapy,", ""), "allowed is the name of one device"),
    ("soapy", ("driver=hftest,", "driver=nosuch,"), "SoapySDR cannot open it"),
    ("uhd", ("driver=hftest,", "driver=nosuch,"), "UHD cannot open it"),
    ("both", ("frequency_hz = 7101800", ""), "needs frequency_hz"),
    ("both", ("frequency_hz = 7101800", "frequency_hz = 500e6"), "frequency_hz = 5"),
    ("both", ("latency_s = 0.3", "latency_s = 3"), "latency_s = 3"),
    ("both", ("latency_s = 0.3", "rx_gain_db = 100"), "gain_db = 100"),
    ("both", ("latency_s = 0.3", "tx_gain_db = -20"), "gain_db = -20"),
    ("both", ("latency_s = 0.3", 'rx_antenna = "A"'), "RX, TX/RX"),
    ("both", ("latency_s = 0.3", 'clock_source = "gpsdo"'), "internal, external"),
    ("both", ("latency_s = 0.3", "sample_rate = 50000"), "sample_rate = 50000"),
    ("both", ("latency_s = 0.3", "sample_rate = 8000"), "8000"),
    ("both", ("latency_s = 0.3", 'gain = 3'), "'gain' is unknown"),
    ("soapy", ("latency_s = 0.3", "channel = 1"), "channel = 1"),
    ("uhd", ("latency_s = 0.3", '[radio.ptt]\nway = "uhd"\ndevice = "FP7"'), "FP0, "),
    ("soapy", ("latency_s = 0.3", '[radio.ptt]\nway = "uhd"'), "way = 'uhd'")])
def test_what_is_wrong_is_named_with_its_file(tmp_path, kind, change, named):
    for one in KINDS if kind == "both" else (kind,):
        path = station_file(tmp_path, 1, one)
        text = Path(path).read_text()
        assert change[0] in text
        Path(path).write_text(text.replace(*change))
        result = hf_("run", "--check", path)
        assert result.returncode != 0
        assert named in result.stderr.replace(".0", "") and path in result.stderr, result.stderr
        assert "Traceback" not in result.stderr


def test_a_device_without_time_receives_alone(tmp_path):
    path = Path(station_file(tmp_path, 1, "soapy"))
    path.write_text(path.read_text().replace("rate=48000", "rate=48000,untimed=1"))
    result = hf_("run", "--check", str(path))
    assert result.returncode != 0 and "no hardware time" in result.stderr
    path.write_text(path.read_text().replace("[radio.sdr]", "transmit = false\n[radio.sdr]"))
    result = hf_("run", "--check", str(path))
    assert result.returncode == 0 and "never transmits" in result.stderr, result.stderr


def test_list_names_the_devices(tmp_path):
    result = hf_("radio", "list", "--type", "soapy", "--json", HFTEST_AIR=str(tmp_path / "air"))
    assert result.returncode == 0, result.stderr
    found = [json.loads(line) for line in result.stdout.splitlines()]
    (mine,) = [d for d in found if d["name"].startswith("driver=hftest")]
    assert mine["type"] == "soapy" and f"air={tmp_path}/air" in mine["name"]


@pytest.mark.parametrize("kind", KINDS)
def test_two_stations_move_a_file_and_key_their_rigs(tmp_path, rig, kind):
    other = Rig()
    data = os.urandom(3000)
    (tmp_path / "message.bin").write_bytes(data)
    inbox = tmp_path / "inbox"
    inbox.mkdir()
    with running(station_file(tmp_path, 1, kind, rig), tmp_path / "log1") as (near, _), \
            running(station_file(tmp_path, 2, kind, other), tmp_path / "log2") as (far, _):
        receiver = subprocess.Popen(["hf", "receive", str(inbox), "--server", far, "--count", "1",
                                     "--timeout", "200"], stderr=subprocess.PIPE, text=True)
        assert receiver.stderr.readline().startswith("bound")
        sent = hf_("send", str(tmp_path / "message.bin"), "--to", "1.2.0.2", "--server", near,
                   timeout=200)
        logs = [(tmp_path / name).read_text() for name in ("log1", "log2")]
        assert sent.returncode == 0, sent.stderr + "".join(logs)
        receiver.communicate(timeout=200)
        until(lambda: not rig.keyed and not other.keyed)
    assert (inbox / "message.bin").read_bytes() == data
    air = Air(tmp_path / "air")
    for k, its in enumerate((rig, other)):
        assert its.downs() > 0 and air.get(k, "bursts") >= its.downs()
        # The device was asked for times on its own grid of samples, but for nanoseconds.
        assert air.get(k, "worst_error") < 0.01
        print(f"{kind}, station {k + 1}: {air.get(k, 'bursts')} bursts, late "
              f"{air.get(k, 'late')}, worst error {air.get(k, 'worst_error'):.1e} samples, came "
              f"{1e-6 * air.get(k, 'worst_ready_ns'):.0f} ms ahead at the least")
    other.close()


def serving(data):
    """A TCP server that gives each client these octets and ends; its port."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve():
        with contextlib.suppress(OSError):  # the test is over
            while True:
                with listener.accept()[0] as client:
                    client.sendall(data)

    threading.Thread(target=serve, daemon=True).start()
    return listener, listener.getsockname()[1]


@pytest.mark.parametrize("kind", KINDS)
def test_hf_pep_moves_a_file_by_tcp(tmp_path, kind):
    data = os.urandom(6000)
    listener, port = serving(data)
    with socket.create_server(("127.0.0.1", 0)) as free:
        door = free.getsockname()[1]
    paths = [Path(station_file(tmp_path, k, kind)) for k in (1, 2)]
    for path, words in zip(paths, (
            f'listen = ["{door}=127.0.0.1:{port}"]\nroutes = ["127.0.0.1/32=1.2.0.2"]',
            f'allow = ["127.0.0.1:{port}"]')):
        path.write_text(path.read_text() + f"\n[pep]\n{words}\n")
    logs = [tmp_path / "log1", tmp_path / "log2"]
    with listener, running(str(paths[0]), logs[0]), running(str(paths[1]), logs[1]):
        got = b""
        with socket.create_connection(("127.0.0.1", door), 30) as client:
            client.settimeout(240)
            while piece := client.recv(65536):
                got += piece
    assert got == data, "".join(log.read_text() for log in logs)
    air = Air(tmp_path / "air")
    assert air.get(0, "bursts") > 0 and air.get(1, "bursts") > 0


@pytest.mark.parametrize("name, kind", [("station_soapy", "soapy"), ("station_usrp", "uhd")])
def test_examples_can_be_opened(tmp_path, name, kind):
    text = (EXAMPLES / f"{name}.toml").read_text()
    d = station.parse(text)
    assert d.radio.type == kind and d.radio.sdr.frequency_hz > 0
    path = tmp_path / "station.toml"
    rate = int(d.radio.sdr.sample_rate or 48000)
    found = args(tmp_path / "air", 0, kind, rate)
    for what, value in (("args", f'"{found}"'), ("clock_source", '"internal"'),
                        ("rx_antenna", '"RX"'), ("tx_antenna", '"TX/RX"'),
                        ("way", '"none"'), ("folder", f'"{tmp_path}"')):
        text = re.sub(rf"^{what} = .*$", f"{what} = {value}", text, flags=re.M)
    path.write_text(text.replace("port = 5066", "port = 0"))
    result = hf_("run", "--check", str(path))
    assert result.returncode == 0, result.stderr

# SPDX-License-Identifier: GPL-3.0-or-later
"""hf console, send, receive and chat between two stations, as a user runs them, and tshark's
reading of the traffic of their SIS servers."""
import csv
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile

from gnuradio.hf import sis
import pytest
import stations
from stations import SPEED, hf, waiting

CLOCK = ["--clock-speed", str(SPEED)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("stations")


@pytest.fixture(scope="module")
def servers(folder):
    with stations.running(folder, capture=True) as found:
        yield found


@pytest.fixture(scope="module")
def responder(servers):
    process = waiting("console", "respond", "--server", servers[1], *CLOCK)
    yield process
    process.terminate()
    said, _ = process.communicate(timeout=20)
    assert "pings answered" in said


@pytest.mark.parametrize("more", [[], ["--non-arq", "--priority", "5", "--size", "500"]])
def test_ping(servers, responder, folder, more):
    table = folder / "ping.csv"
    result = hf("console", "ping", "--to", "1.2.0.2", "--server", servers[0], "--count", "3",
                "--immediate", "--csv", str(table), "--report", str(folder / "ping.txt"),
                *CLOCK, *more)
    assert result.returncode == 0, result.stderr
    assert "3 sent, 3 answered" in result.stdout
    rows = list(csv.DictReader(table.open()))
    assert len(rows) == 3
    # Two transmissions of one block; the host's own delays count SPEED times.
    assert all(0.4 < float(r["round_trip_s"]) < 60 for r in rows)
    assert (folder / "ping.txt").read_text() == result.stdout


def test_interrupted_ping_tells_what_it_has(servers, responder):
    process = waiting("console", "ping", "--to", "1.2.0.2", "--server", servers[0], "--count",
                      "50", "--interval", "1000", *CLOCK)
    assert process.stderr.readline().startswith("ping 0: ")
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=20)
    assert process.returncode == 0, said
    assert "1 sent, 1 answered" in said


def test_ping_to_nobody_fails(servers, responder):
    result = hf("console", "ping", "--to", "1.2.0.2", "--to-sap", "15", "--server", servers[0],
                "--count", "1", "--timeout", "20", *CLOCK)
    assert result.returncode == 1
    assert "no answer" in result.stderr


@pytest.mark.parametrize("how", [
    [], ["--send-only"], ["--two-way", "15000"], ["--non-arq", "--size", "600"]])
def test_throughput(servers, responder, folder, how):
    table, picture = folder / "t.csv", folder / "t.png"
    result = hf("console", "throughput", "--to", "1.2.0.2", "--server", servers[0],
                "--octets", "40000", "--csv", str(table), "--plot", str(picture), *CLOCK, *how)
    assert result.returncode == 0, result.stdout + result.stderr
    took = float(re.search(r"rejected in (\d+\.\d) s", result.stdout).group(1))
    bps = [float(line.split()[1]) for line in result.stdout.splitlines()
           if line.startswith("out ")]
    assert bps[0] == pytest.approx(8 * 40000 / took, rel=0.01), result.stdout
    # No more than 9600 bit/s allow, but for the host's clock, which may run ahead of the
    # stations' for a moment. No lower bound: each delay of the host counts SPEED times here;
    # how fast the data link is, tests in station time tell.
    assert 0 < bps[0] < 20000, result.stdout
    if "--two-way" in how:
        assert "15000 of 15000 octets received here" in result.stdout
    assert picture.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_broadcast_reaches_a_monitor(servers):
    monitor = waiting("console", "monitor", "--server", servers[1], "--sap", "15", "--count",
                      "2", "--duration", "90")
    result = hf("console", "broadcast", "--server", servers[0], "--sap", "15", "--count", "2",
                "--interval", "1", *CLOCK)
    assert result.returncode == 0, result.stderr
    said, _ = monitor.communicate(timeout=100)
    assert said.count("1.2.0.1/15 to 31.255.255.255/15") == 2, said


def test_file_by_bftp(servers, folder):
    inbox = folder / "inbox"
    inbox.mkdir()
    data = os.urandom(9000)
    (folder / "report.bin").write_bytes(data)
    (inbox / "report.bin").write_text("was there before")
    receiver = waiting("receive", str(inbox), "--server", servers[1], "--count", "1",
                       "--timeout", "100")
    result = hf("send", str(folder / "report.bin"), "--name", "../../report.bin", "--to",
                "1.2.0.2", "--server", servers[0])
    assert result.returncode == 0, result.stderr
    assert "9000 octets received there" in result.stdout
    said, _ = receiver.communicate(timeout=20)
    assert receiver.returncode == 0
    assert "report.bin.1 9000 octets from 1.2.0.1" in said
    assert (inbox / "report.bin.1").read_bytes() == data
    assert (inbox / "report.bin").read_text() == "was there before"
    assert sorted(os.listdir(inbox)) == ["report.bin", "report.bin.1"]


def test_several_files_go_in_order_until_one_fails(servers, folder):
    paths = [folder / name for name in ("one.txt", "two.txt", "large.txt", "three.txt")]
    for path in paths:
        path.write_text(path.name * (1000 if path.stem == "large" else 20))
    inbox = folder / "inbox_several"
    inbox.mkdir()
    receiver = waiting("receive", str(inbox), "--server", servers[1], "--count", "3",
                       "--timeout", "100", "--most", "12288")
    result = hf("send", *map(str, paths), "--to", "1.2.0.2", "--server", servers[0])
    assert result.returncode == 1, result.stdout
    assert "large.txt: not received: the far program has not kept it" in result.stderr
    assert [line.split(":")[0] for line in result.stdout.splitlines()] == ["one.txt", "two.txt"]
    last = hf("send", str(paths[-1]), "--to", "1.2.0.2", "--server", servers[0])
    assert last.returncode == 0, last.stderr
    receiver.communicate(timeout=20)
    assert receiver.returncode == 0
    assert sorted(os.listdir(inbox)) == ["one.txt", "three.txt", "two.txt"]


def test_a_file_to_the_own_station_is_refused_at_once(servers, folder):
    (folder / "mine").write_bytes(os.urandom(3000))
    result = hf("send", str(folder / "mine"), "--to", "1.2.0.1", "--server", servers[0])
    assert result.returncode == 1
    assert "1.2.0.1 is the address of this station itself" in result.stderr


def test_a_file_that_cannot_be_written_is_refused_and_the_next_one_kept(servers, folder):
    """The receiver ended, and the sender waited for an hour."""
    small, large = folder / "small.bin", folder / "large.bin"
    small.write_bytes(bytes(100))
    large.write_bytes(bytes(30000))
    inbox = folder / "inbox_full"
    inbox.mkdir()
    limit = f"ulimit -f 8; exec hf receive {inbox} --server {servers[1]} --count 1 --timeout 100"
    receiver = subprocess.Popen(["bash", "-c", limit], text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)
    assert receiver.stderr.readline().startswith("bound")
    refused = hf("send", str(large), "--to", "1.2.0.2", "--server", servers[0])
    assert refused.returncode == 1
    assert "the far program has not kept it: File too large" in refused.stderr
    kept = hf("send", str(small), "--to", "1.2.0.2", "--server", servers[0])
    assert kept.returncode == 0, kept.stderr
    _, said = receiver.communicate(timeout=20)
    assert receiver.returncode == 0
    assert "file of 30000 octets from 1.2.0.1: not written: File too large" in said
    assert os.listdir(inbox) == ["small.bin"]


def test_file_by_udop_to_all(servers, folder):
    inbox = folder / "inbox_udop"
    inbox.mkdir()
    (folder / "notice.txt").write_bytes(b"all stations " * 300)
    receiver = waiting("receive", str(inbox), "--server", servers[1], "--count", "1",
                       "--timeout", "60")
    result = hf("send", str(folder / "notice.txt"), "--to", "31.255.255.255", "--server",
                servers[0])
    assert result.returncode == 0, result.stderr
    receiver.communicate(timeout=80)
    assert (inbox / "notice.txt").read_bytes() == b"all stations " * 300


def test_chat(servers):
    far = waiting("chat", "--server", servers[1], "--count", "3", "--timeout", "60")
    result = hf("chat", "--to", "1.2.0.2", "--server", servers[0],
                input="QRV?\nGrüße\n你好\n")
    assert result.returncode == 0, result.stderr
    said, _ = far.communicate(timeout=80)
    assert said == "1.2.0.1: QRV?\n1.2.0.1: Grüße\n1.2.0.1: 你好\n"


def test_chat_refuses_what_it_cannot_send(servers):
    """A group cannot agree to UTF-8, and an octet that is no UTF-8 is no text."""
    far = waiting("chat", "--server", servers[1], "--count", "1", "--timeout", "60")
    result = subprocess.run(["hf", "chat", "--to", "31.255.255.255", "--server", servers[0]],
                            input="Grüße\nfünf\n".encode("latin-1") + "Grüße\nfive\n".encode(),
                            capture_output=True, timeout=60)
    said = result.stderr.decode()
    assert result.returncode == 1 and "Traceback" not in said
    assert "not sent: octet 0xfc is not utf-8: Gr" in said and "f\ufffdnf" in said
    assert "a group may read only ASCII; write it in ASCII, for example: Grusse" in said
    assert "3 messages not confirmed" in said
    # It must not reach the receiver of the next test.
    assert far.communicate(timeout=80)[0] == "1.2.0.1: five\n"


def test_a_terminal_without_utf_8_shows_question_marks(servers):
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    far = subprocess.Popen(["hf", "chat", "--server", servers[1], "--count", "1", "--timeout",
                            "60"], env=environment, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE)
    assert far.stderr.readline().startswith(b"bound")
    result = hf("chat", "--to", "1.2.0.2", "--server", servers[0], input="Grüße 你好\n")
    assert result.returncode == 0, result.stderr
    said, wrong = far.communicate(timeout=80)
    assert said == "1.2.0.1: Grüße ??\n".encode("latin-1") and not wrong


@pytest.mark.parametrize("arguments, named", [
    (["console", "ping", "--to", "1.2.0.2", "--server", "127.0.0.1:1"], "127.0.0.1:1"),
    (["console", "ping", "--to", "99.2.0.2"], "99.2.0.2"),
    (["console", "ping", "--to", "1.2.0.2", "--server", "host:port"], "host:port"),
    (["send", "/nowhere", "--to", "1.2.0.2"], "/nowhere"),
    (["receive", "/proc/nowhere"], "/proc/nowhere"),
    (["run", "/nowhere.toml"], "/nowhere.toml"),
])
def test_wrong_use_names_the_value(arguments, named):
    result = hf(*arguments)
    assert result.returncode in (1, 2)
    assert named in result.stderr
    assert "Traceback" not in result.stderr


def test_sap_in_use_is_said(servers, responder):
    result = hf("console", "monitor", "--server", servers[1])
    assert result.returncode == 1
    assert "SAP in use" in result.stderr


def test_python_client(servers):
    with sis.Client(servers[0]) as a, sis.Client(servers[1]) as b:
        a.bind(13, service=sis.service(confirmation="node"))
        b.bind(13)
        stream_data = bytes.fromhex("600501027878")  # SLEP SD: stream 5, number 258
        a.send("1.2.0.2", stream_data)
        got = b.next(timeout=60)
        assert (str(got.src), got.src_sap, got.u_pdu) == ("1.2.0.1", 13, stream_data)
        assert a.next(timeout=60).u_pdu == stream_data


def test_tshark_finds_nothing_wrong(servers, folder):
    """Last: on all that went before."""
    if shutil.which("tshark") is None:
        pytest.skip("no tshark")
    for name, types in (("1.2.0.1-sis.pcap", {1, 2, 3, 20, 21, 22}),
                        ("1.2.0.1-d_pdu.pcap", set())):
        def tshark(*arguments, path=str(folder / name)):
            return subprocess.run(["tshark", "-r", path, *arguments], check=True, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        # tshark 4.0 looks for a RCOP header after the octets that a confirmation returns.
        assert tshark("-Y", '(_ws.malformed || _ws.expert.severity == "Error") && '
                      '!(s5066sis.type == 22)') == ""
        assert "Incorrect" not in tshark("-V")
        if types:
            found = {int(t) for line in tshark("-T", "fields", "-e", "s5066sis.type").split()
                     for t in line.split(",")}
            assert types <= found


@pytest.fixture(name="readable")
def fixture_readable():
    """A folder that every user can read."""
    with tempfile.TemporaryDirectory() as path:
        os.chmod(path, 0o755)
        yield pathlib.Path(path)


def test_lua_dissector_reads_what_wireshark_leaves(servers, folder, readable):
    """Last: on all that went before."""
    if shutil.which("tshark") is None:
        pytest.skip("no tshark")
    script = os.path.join(os.environ["HF_SOURCE_DIR"], "examples/wireshark/hf_s5066.lua")
    for source, name in ((script, "s.lua"), (folder / "1.2.0.1-d_pdu.pcap", "d.pcap")):
        shutil.copyfile(source, readable / name)
    command = ["tshark", "-X", f"lua_script:{readable}/s.lua", "-r", str(readable / "d.pcap")]
    # For root, tshark 4.4 loads no script.
    user = {"user": "nobody", "group": "nogroup", "extra_groups": [],
            "env": {**os.environ, "HOME": str(readable)}} \
        if os.geteuid() == 0 else {}

    def tshark(*arguments):
        done = subprocess.run([*command, *arguments], check=True, text=True,
                              capture_output=True, cwd=readable, **user)
        assert "lua" not in done.stderr.lower()
        return done.stdout

    text = tshark("-V")
    assert "Lua Error" not in text
    assert tshark("-Y", '_ws.malformed || _ws.expert.severity == "Error"') == ""
    assert "Application: BFTP (0x1002)" in text
    assert "Application: FRAPv2 (0x100c)" in text
    assert "HFCHAT: QRV?" in text
    assert "SLEP type: SD (6)" in text and "Number: 258" in text
    assert "C_PDU type: LINK REQUEST" in text
    # The first file, of 9000 octets: each segment reassembled once, in spite of repeats.
    rows = [line.split() for line in tshark(
        "-Y", "hf_s5066.rcop.application == 0x1002 && s5066dts.type != 7", "-T", "fields",
        "-e", "hf_s5066.rcop.segment").splitlines()]
    assert [int(r[0]) for r in rows][:6] == [0, 1, 2, 3, 4, 0]


def test_a_file_that_nobody_receives_is_told_within_a_turn(tmp_path):
    """To a node without a client, and to one that is not there."""
    (tmp_path / "long.bin").write_bytes(bytes(50000))
    with stations.running(tmp_path, speed=8) as (near, _):
        here = hf("send", str(tmp_path / "long.bin"), "--to", "1.2.0.2", "--server", near)
        nowhere = hf("send", str(tmp_path / "long.bin"), "--to", "1.2.0.9", "--server", near)
    assert here.returncode == 1
    assert "delivered to the node, nobody is bound to SAP 6 there" in here.stderr
    # The first transmission of the data has room for most of it, and no second one was made.
    assert int(re.search(r"(\d+) of \d+ octets were confirmed", here.stderr)[1]) < 50000
    assert nowhere.returncode == 1 and "node does not respond" in nowhere.stderr
    # And this is no terminal.
    assert "to 1.2.0.9, nothing confirmed yet: 3 s so far\n" in nowhere.stderr


@pytest.mark.parametrize("confirmed, label", [(0, "submitted"), (500, "there")])
def test_the_picture_of_send_only_shows_what_was_submitted(monkeypatch, tmp_path, confirmed,
                                                           label):
    from matplotlib import axes
    from gnuradio.hf.pictures import throughput
    from gnuradio.hf.sis.console import Sample
    drawn = []
    plain = axes.Axes.plot

    def plot(self, *args, **kwargs):
        drawn.append((kwargs.get("label"), list(args[1])))
        return plain(self, *args, **kwargs)

    monkeypatch.setattr(axes.Axes, "plot", plot)
    path = tmp_path / "picture.png"
    throughput.draw(str(path), "title", [Sample(1.0, confirmed, 0, 1000),
                                         Sample(2.0, confirmed, 0, 2000)])
    assert path.stat().st_size > 1000
    assert [name for name, values in drawn if any(values)].count(label) >= 1


def test_goodput_without_the_filling_of_the_queue(monkeypatch, tmp_path):
    from gnuradio.hf.pictures import throughput
    from gnuradio.hf.sis.console import Sample, Throughput
    from matplotlib import axes
    drawn = {}
    plain = axes.Axes.plot

    def plot(self, times, values, **kwargs):
        drawn[kwargs["label"]] = list(values)
        return plain(self, times, values, **kwargs)

    monkeypatch.setattr(axes.Axes, "plot", plot)
    samples = [Sample(30.0, 1000, 0, 8000), Sample(40.0, 3000, 0, 8000),
               Sample(50.0, 5000, 0, 8000)]
    r = Throughput(submitted=8000, confirmed=5000, seconds=50.0, samples=samples)
    assert (r.out_bps(), r.steady_bps()) == (800, 1600)
    assert Throughput(samples=samples[:1]).steady_bps() is None
    throughput.draw(str(tmp_path / "picture.png"), "title", samples)
    assert drawn["there, after the first confirmation"] == [1600, 1600]
    assert drawn["there"][-1] == 800

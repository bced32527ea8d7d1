# SPDX-License-Identifier: GPL-3.0-or-later
"""hf demo as a user runs it: as root, without rights, interrupted, with wrong arguments."""
import glob
import os
import re
import signal
import subprocess
import tempfile
import time

import pytest

from gnuradio.hf.system import netns


def run(*arguments, folder, prefix=(), **options):
    process = subprocess.Popen([*prefix, "hf", "demo", *arguments], cwd=folder, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
    try:
        out, said = process.communicate(timeout=400)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    result = subprocess.CompletedProcess(process.args, process.returncode, out, said)
    result.pid = process.pid
    return result


def remains(pid):
    """What the demo with this process number has left behind: the names have it. Others that run
    beside this test, or are ended meanwhile, do not count."""
    spaces = os.listdir("/run/netns") if os.path.isdir("/run/netns") else []
    left = [n for n in spaces if n.startswith("hf-")] + glob.glob("/tmp/hf-demo-*")
    return sorted(n for n in left if re.search(rf"-{pid}(-|$)", n))


def programs_of(session):
    """Command lines of programs that still run in a session. A zombie does not run: it waits for a
    parent that is not ours, the system's first process, to take note."""
    lines = subprocess.run(["ps", "-s", str(session), "-o", "stat=,args="], text=True,
                           capture_output=True).stdout.splitlines()
    return [line for line in lines if line.strip() and not line.startswith("Z")]


@pytest.fixture
def folder():
    with tempfile.TemporaryDirectory() as path:
        os.chmod(path, 0o777)
        yield path


def test_file_and_ping_arrive_over_real_waveforms(folder):
    why_not = netns.why_not()
    if why_not is not None:
        pytest.skip(f"no namespaces here: {why_not}")
    result = run("--size", "3000", "--seed", "5", folder=folder)
    print(result.stderr)
    assert result.returncode == 0, result.stderr
    assert "SHA-256 equal" in result.stderr
    assert "3 of 3 answered" in result.stderr
    # Two short transmissions and what lies between them, in station time, whatever this host does.
    times = re.search(r"IP client: (.*)", result.stderr).group(1).replace(" s", "").split(", ")
    assert len(times) == 3 and all(0.5 < float(t) < 12 for t in times)
    picture = os.path.join(folder, "hf-demo.png")
    assert open(picture, "rb").read(8) == b"\x89PNG\r\n\x1a\n"
    assert remains(result.pid) == []


def test_240_kbit_s_in_48_khz_over_real_waveforms(folder):
    result = run("--bandwidth", "48", "--size", "60000", folder=folder)
    print(result.stderr)
    assert result.returncode == 0, result.stderr
    assert "5069-48k-240000S" in result.stderr and "SHA-256 equal" in result.stderr
    goodput = int(re.search(r"goodput +(\d+) bit/s", result.stderr).group(1))
    assert goodput > 40000  # in station time: four times what 3 kHz can carry


def test_in_24_khz_the_stations_choose_among_its_modes(folder):
    result = run("--bandwidth", "24", "--rate", "auto", "--size", "60000", folder=folder)
    print(result.stderr)
    assert result.returncode == 0, result.stderr
    assert "two stations, auto:24k, channel" in result.stderr and "SHA-256 equal" in result.stderr
    rates = re.search(r"mean rate of B \((\d+) to (\d+)\)", result.stderr).groups()
    assert int(rates[1]) > 9600  # more than 3 kHz can carry


def test_on_a_fading_channel_the_stations_adapt(folder):
    result = run("--channel", "poor", "--snr", "18", "--size", "6000", "--speed", "50",
                 folder=folder)
    print(result.stderr)
    assert result.returncode == 0, result.stderr
    assert "two stations, auto, channel 'poor snr=18'" in result.stderr
    assert "SHA-256 equal" in result.stderr
    goodput = int(re.search(r"goodput +(\d+) bit/s", result.stderr).group(1))
    # The rate behind the percentage is printed. The goodput itself counts each delay of this host
    # 50 times.
    said = r"([0-9.]+) % of (\d+) bit/s, mean rate of B \((\d+) to (\d+)\)"
    share, mean, least, most = map(float, re.search(said, result.stderr).groups())
    assert 75 <= least <= mean <= most <= 9600
    assert mean > 600  # the rate they begin with
    assert share == pytest.approx(100 * goodput / mean, abs=1) and 0 < share < 100


def test_without_rights_it_stays_on_the_loopback_and_says_so(folder):
    # Root without capabilities. Another user could not even read the build tree.
    prefix = []
    if os.geteuid() == 0:
        prefix = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"]
    env = dict(os.environ, HOME=folder)
    result = run("--size", "1500", folder=folder, prefix=prefix, env=env)
    print(result.stderr)
    assert result.returncode == 0, result.stderr
    assert "loopback only" in result.stderr
    assert "SHA-256 equal" in result.stderr


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("after_s", [0.4, 2.5, 5.0])
def test_interrupted_it_leaves_nothing(folder, sent, after_s):
    process = subprocess.Popen(["hf", "demo", "--speed", "2"], cwd=folder,
                               stderr=subprocess.PIPE, text=True, start_new_session=True)
    time.sleep(after_s)
    process.send_signal(sent)
    _, said = process.communicate(timeout=30)
    assert process.returncode not in (0, None), said
    assert "Traceback" not in said
    assert remains(process.pid) == []
    assert os.listdir(folder) == []
    # Its whole session has ended: curl, ping and the HTTP server too.
    assert programs_of(process.pid) == []


def test_what_a_killed_one_leaves_the_next_one_removes(folder):
    process = subprocess.Popen(["hf", "demo", "--speed", "1"], cwd=folder,
                               stderr=subprocess.DEVNULL, start_new_session=True)
    deadline = time.monotonic() + 60
    while not any("http.server" in line for line in programs_of(process.pid)):
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.1)
    process.kill()
    process.wait()
    assert remains(process.pid) != []
    # Its programs have ended with it, except for a ping, which ends by itself.
    while left := [line for line in programs_of(process.pid) if "ping" not in line]:
        assert time.monotonic() < deadline, left
        time.sleep(0.1)
    result = run("--size", "100", "--speed", "100", folder=folder)
    assert result.returncode == 0, result.stderr
    assert remains(process.pid) == [] == remains(result.pid)


@pytest.mark.parametrize("arguments, named", [
    (["--rate", "9601"], "9601"),
    (["--rate", "600", "--interleaver", "VL"], "600VL"),
    (["--channel", "stormy"], "stormy"),
    (["--size", "0"], "0"),
])
def test_wrong_use_names_the_value(folder, arguments, named):
    result = run(*arguments, folder=folder)
    assert result.returncode == 2, result.stderr
    assert named in result.stderr
    assert "Traceback" not in result.stderr

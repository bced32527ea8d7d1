# SPDX-License-Identifier: GPL-3.0-or-later
"""Rights that hf run needs, and that it drops all others."""
import os
import pwd
import shutil
import signal
import stat
import subprocess
import sys
import time

from gnuradio import hf
from gnuradio.hf import station
from gnuradio.hf.system import netns
import pytest

HF = [sys.executable, "-c", "from gnuradio.hf.cli import main; main()"]
NET_ADMIN = 1 << 12

pytestmark = pytest.mark.skipif(netns.why_not() is not None, reason=str(netns.why_not()))


def station_file(folder, k):
    """A station with an IP client, HF-PEP and an SIS server; 1 or 2."""
    path = folder / f"{k}.toml"
    path.write_text(f"""
address = "1.2.0.{k}"
mode = "4539-9600S"
[sis_server]
port = 0
[pep]
listen = ["socks5:{1080 + k}"]
routes = [".=1.2.0.{3 - k}"]
[ip_client]
device = "hf{k}"
address = "10.66.{k}.1/24"
routes = ["10.66.{3 - k}.0/24=1.2.0.{3 - k}"]
""", encoding="utf-8")
    path.chmod(0o644)
    return str(path)


def nobody_may_read():
    """Whether another user can load the program from where it is."""
    here = [hf.__file__, sys.executable]
    return all(subprocess.run(["setpriv", "--reuid=nobody", "--clear-groups", "test", "-r", path],
                              capture_output=True).returncode == 0 for path in here)


def threads(process):
    """By thread: effective user; effective, permitted and bounding capabilities; whether
    it may get none besides; groups."""
    found = []
    for task in os.listdir(f"/proc/{process.pid}/task"):
        with open(f"/proc/{process.pid}/task/{task}/status", encoding="ascii") as file:
            s = dict(line.split(":", 1) for line in file)
        found.append((int(s["Uid"].split()[1]), int(s["CapEff"], 16), int(s["CapPrm"], 16),
                      int(s["CapBnd"], 16), int(s["NoNewPrivs"]), s["Groups"].split()))
    return found


def running(command, home):
    """The program, and what it says of its two stations."""
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
                               env={**os.environ, "HOME": str(home)}, text=True)
    said = [process.stderr.readline() for _ in range(2)]
    return process, "".join(said)


@pytest.fixture(name="space")
def a_namespace():
    with netns.Namespace(f"hf-rights-{os.getpid()}") as ns:
        yield ns


@pytest.fixture(name="files")
def two_files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stations")
    for part in [folder, *folder.parents]:
        if str(part).startswith("/tmp/"):
            part.chmod(0o755)
    # GNU Radio looks for its preferences below HOME.
    (folder / "home").mkdir()
    (folder / "home").chmod(0o777)
    return [station_file(folder, k) for k in (1, 2)]


@pytest.mark.skipif(not nobody_may_read(), reason="nobody cannot read the program")
@pytest.mark.parametrize("way", ["started as root", "with CAP_NET_ADMIN only"])
def test_no_right_is_left_but_what_was_given(way, space, files):
    only = ["setpriv", "--clear-groups", "--inh-caps=-all,+net_admin",
            "--bounding-set=-all,+net_admin", "--no-new-privs"]
    command = [*HF, "run", "--quiet", *files]
    if way == "started as root":
        command += ["--user", "nobody"]
    else:
        command = only + command
    process, said = running(space.command(*command), os.path.dirname(files[0]) + "/home")
    try:
        assert "station 1.2.0.1" in said and "station 1.2.0.2" in said
        shown = subprocess.run(space.command("ip", "-o", "addr"), capture_output=True,
                               text=True, check=True).stdout
        assert "10.66.1.1/24" in shown and "10.66.2.1/24" in shown
        time.sleep(1)
        allowed, user = (0, pwd.getpwnam("nobody").pw_uid) if way == "started as root" else (
            NET_ADMIN, 0)
        found = threads(process)
        assert len(found) > 5
        assert set(x[:-1] for x in found) == {(user, allowed, allowed, allowed, 1)}
        assert all(groups == [] for *_, groups in found)
    finally:
        process.terminate()
        process.communicate(timeout=60)
    assert process.returncode == 0
    shown = subprocess.run(space.command("ip", "-o", "link"), capture_output=True, text=True,
                           check=True).stdout
    assert "hf1" not in shown and "hf2" not in shown


@pytest.mark.skipif(not nobody_may_read(), reason="nobody cannot read the program")
@pytest.mark.parametrize("wrong", [(), ("ip", "addr", "del", "10.66.2.1/24", "dev", "hf2"),
                                   ("ip", "link", "set", "hf2", "mtu", "1400"),
                                   ("ip", "link", "set", "hf2", "down"),
                                   ("sysctl", "-qw", "net.ipv4.conf.hf2.accept_local=0")])
def test_a_device_made_for_a_user_needs_no_right(wrong, space, files, tmp_path):
    # Some containers leave /dev/net/tun to root.
    node = str(tmp_path / "tun")
    os.mknod(node, stat.S_IFCHR, os.makedev(10, 200))
    os.chmod(node, 0o666)
    mtu = str(station.IpClient("10.66.0.1/24").mtu)
    for k in "12":
        for line in (("ip", "tuntap", "add", f"hf{k}", "mode", "tun", "user", "nobody"),
                     ("sysctl", "-qw", f"net.ipv4.conf.hf{k}.accept_local=1"),
                     ("ip", "addr", "add", f"10.66.{k}.1/24", "dev", f"hf{k}"),
                     ("ip", "link", "set", f"hf{k}", "mtu", mtu, "up")):
            space.command_run(*line)
    if wrong:
        space.command_run(*wrong)
    plain = ["setpriv", "--reuid=nobody", "--clear-groups", "--inh-caps=-all",
             "--bounding-set=-all", "--no-new-privs"]
    process, said = running(space.command(
        "sh", "-c", f'mount --bind {node} /dev/net/tun && exec "$@"', "sh", *plain, *HF, "run",
        "--quiet", *files), os.path.dirname(files[0]) + "/home")
    process.terminate()
    said += process.communicate(timeout=60)[1]
    if wrong:
        assert process.returncode == 1 and "MTU of 'hf2'" in said
        assert "or have the device made for this user" in said
    else:
        assert process.returncode == 0, said
        assert "station 1.2.0.1" in said and "station 1.2.0.2" in said


def test_a_home_that_may_not_be_looked_into_is_no_trouble(tmp_path):
    """GNU Radio would abort the program."""
    if not nobody_may_read():
        pytest.skip("nobody may not read the build")
    os.chmod(tmp_path, 0o700)
    command = shutil.which("hf")
    assert command is not None
    done = subprocess.run(["setpriv", "--reuid=nobody", "--clear-groups", command, "info"],
                          cwd="/", env={**os.environ, "HOME": str(tmp_path / "home")},
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "GNU Radio" in done.stdout


def test_a_station_alone_is_told_what_it_needs(files):
    result = subprocess.run([*HF, "run", files[0]], text=True, capture_output=True)
    assert result.returncode == 2
    assert "1.2.0.1 is alone" in result.stderr and "[modem_client]" in result.stderr


@pytest.mark.parametrize("user, named", [("no-such-user", "no-such-user"), ("root", "is root")])
def test_wrong_users_are_named(user, named, files, space):
    result = subprocess.run(space.command(*HF, "run", "--user", user, *files), text=True,
                            capture_output=True)
    assert result.returncode == 2
    assert named in result.stderr


@pytest.mark.parametrize("sent, status", [
    (signal.SIGTERM, 0), (signal.SIGINT, 130), (signal.SIGHUP, 129)])
def test_each_signal_ends_it_in_good_order(sent, status, space, files):
    process, said = running(space.command(*HF, "run", "--quiet", *files),
                            os.path.dirname(files[0]) + "/home")
    process.send_signal(sent)
    rest = process.communicate(timeout=60)[1]
    assert process.returncode == status, rest
    assert "Traceback" not in said + rest
    shown = subprocess.run(space.command("ip", "-o", "link"), capture_output=True, text=True,
                           check=True).stdout
    assert "hf1" not in shown


def test_it_says_what_it_has_opened_and_to_whom(space, files):
    with open(files[1], encoding="utf-8") as file:
        text = file.read()
    with open(files[1], "w", encoding="utf-8") as file:
        file.write(text.replace("[pep]\n", "[pep]\nallow = [\"10.66.2.1:80\"]\n"))
    process, said = running(space.command(*HF, "run", "--quiet", *files),
                            os.path.dirname(files[0]) + "/home")
    said += "".join(process.stderr.readline() for _ in range(7))
    process.terminate()
    process.communicate(timeout=60)
    for part in ("1.2.0.1  HF-PEP: listens on socks5:1081; to .=1.2.0.2; peers may reach nothing",
                 "HF-PEP: every node may reach 10.66.2.1:80", "1.2.0.2  IP client: TUN device hf2",
                 "10.66.2.1/24", "SIS server: anyone who reaches 127.0.0.1 port"):
        assert part in said, said


def test_a_full_disk_ends_a_capture_with_a_word(tmp_path):
    if not os.path.exists("/dev/full"):
        pytest.skip("this system has no /dev/full")
    for k in (1, 2):
        (tmp_path / f"{k}.toml").write_text(
            f'address = "1.2.0.{k}"\n[capture]\nd_pdu = "{tmp_path}/{k}.pcap"\n')
    os.symlink("/dev/full", tmp_path / "1.pcap")
    result = subprocess.run([*HF, "run", "--duration", "1", "--speed", "100", "1.toml", "2.toml"],
                            cwd=tmp_path, text=True, capture_output=True, timeout=60)
    assert result.returncode == 0, result.stderr
    said = result.stdout + result.stderr
    assert f"capture file '{tmp_path}/1.pcap' ends here: No space left on device" in said
    assert "2.pcap' ends" not in said

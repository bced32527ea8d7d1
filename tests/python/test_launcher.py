# SPDX-License-Identifier: GPL-3.0-or-later
"""./hf from a clone: what it installs, when, and what it prints meanwhile, with stand-ins for
apt-get, cmake and ninja."""
import os
import pty
import re
import subprocess
import threading

import pytest

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TEST_ONLY = {"libgtest-dev", "python3-pytest", "python3-distributed", "tshark", "bind9-dnsutils"}

# Stand-ins continue after the launcher has shown their output.
SEEN = r"""#!/bin/sh
seen() { [ -n "${QUICK:-}" ] || until grep -aq "$1" "$SHOWN"; do sleep 0.1; done; }
"""
APT = SEEN + r"""
echo "$*" >>"$CALLS"
case "$*" in
*--assume-no*) echo "Need to get 123 MB of archives."; exit 1 ;;
install*)
    echo "Reading package lists..."
    echo "dlstatus:1:12.5:Retrieving file 3 of 40 (20s remaining)"
    seen "downloading, 12 %: Retrieving file 3 of 40"
    echo "pmstatus:libliquid-dev:45.6:Unpacking libliquid-dev (amd64)"
    [ -z "${TERMINAL:-}" ] || seen "installing, 45 %: Unpacking libliquid-dev"
    [ -z "${APT_FAILS:-}" ] || { echo "E: no space"; exit 100; } ;;
esac
"""
CMAKE = r"""#!/bin/sh
echo "cmake $*" >>"$CALLS"
mkdir -p "$HF_BUILD_DIR"
touch "$HF_BUILD_DIR/build.ninja"
echo "BUILD_TESTING:BOOL=${*##*BUILD_TESTING=}" >"$HF_BUILD_DIR/CMakeCache.txt"
printf '#!/bin/sh\necho ran "$@"\n' >"$HF_BUILD_DIR/run"
chmod +x "$HF_BUILD_DIR/run"
"""
NINJA = SEEN + r"""
echo "[17 of 204] Building"
seen "building, step 17 of 204"
"""


def copy(source, target):
    """All that comes, until the other end is closed."""
    try:
        while piece := os.read(source, 65536):
            target.write(piece)
    except OSError:  # error of a terminal after its last user has left
        pass


@pytest.fixture
def launch(tmp_path):
    tools = tmp_path / "tools"
    tools.mkdir()
    for name, text in (("apt-get", APT), ("cmake", CMAKE), ("ninja", NINJA),
                       ("dpkg-query", "#!/bin/sh\nprintf '%s' \"${INSTALLED:-}\"\nexit 1\n"),
                       ("id", "#!/bin/sh\necho ${USER_ID:-0}\n"),
                       ("sudo", "#!/bin/sh\necho sudo >>\"$CALLS\"\nexec \"$@\"\n")):
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)
    calls = tmp_path / "calls"

    def run(*arguments, terminal=False, **variables):
        calls.write_text("")
        shown = tmp_path / "shown"
        environment = {"PATH": f"{tools}:/usr/bin:/bin", "CALLS": str(calls), "SHOWN": str(shown),
                       "HF_BUILD_DIR": str(tmp_path / "build"), **variables}
        master, slave = pty.openpty() if terminal else os.pipe()
        with open(shown, "wb", buffering=0) as file:
            process = subprocess.Popen([os.path.join(TREE, "hf"), *arguments], env=environment,
                                       stdout=subprocess.PIPE, stderr=slave)
            os.close(slave)
            reader = threading.Thread(target=copy, args=(master, file))
            reader.start()
            out, _ = process.communicate(timeout=100)
            reader.join()
        os.close(master)
        return process.returncode, out.decode(), shown.read_bytes().decode(), calls.read_text()

    return run


def asked_for(calls):
    line = [x for x in calls.splitlines() if x.startswith("install -y")][0]
    return {w for w in line.split() if not w.startswith("-") and "=" not in w} - {"install"}


def test_the_demo_waits_for_nothing_that_only_tests_need(launch):
    status, out, shown, calls = launch("demo", QUICK="1")
    assert status == 0 and out == "ran hf demo\n"
    packages = asked_for(calls)
    assert {"gnuradio-dev", "g++", "libliquid-dev", "curl", "nftables"} <= packages
    assert not TEST_ONLY & packages
    assert "-DBUILD_TESTING=OFF" in calls
    # Then the tests: their packages, and the tree configured again.
    there = " ".join(f"installed={p}" for p in packages) + " "
    status, out, _, calls = launch("test", INSTALLED=there, QUICK="1")
    assert status == 0 and out == "ran hf test\n"
    assert TEST_ONLY <= asked_for(calls) and not packages & asked_for(calls)
    assert "-DBUILD_TESTING=ON" in calls
    # Later runs install nothing.
    everything = there + " ".join(f"installed={p}" for p in asked_for(calls)) + " "
    for command in ("test", "demo", "info"):
        status, out, shown, calls = launch(command, INSTALLED=everything, QUICK="1")
        assert status == 0 and calls == "" and "install" not in shown


@pytest.mark.parametrize("terminal", [False, True])
def test_it_says_what_it_does_and_how_far_it_is(launch, terminal):
    variables = {"TERMINAL": "1"} if terminal else {}
    status, _, shown, _ = launch("demo", terminal=terminal, **variables)
    assert status == 0
    assert "libliquid-dev" in shown and "to download: 123 MB" in shown
    assert re.search(r"downloading, 12 %: Retrieving file 3 of 40", shown)
    assert re.search(r"building, step 17 of 204", shown)
    if terminal:
        assert re.search(r"\r\033\[Kinstalling, 45 %: Unpacking libliquid-dev", shown)
    assert "status:" not in shown and ".." not in shown.replace("...", "")
    changing = re.split(r"[\r\n]", shown)
    assert max(len(x) for x in changing if "%" in x) < 100


def test_a_package_that_was_removed_is_installed_again(launch):
    *_, calls = launch("info", QUICK="1",
                       INSTALLED="config-files=curl installed=gnuradio installed=g++ ")
    assert "curl" in asked_for(calls) and not {"gnuradio", "g++"} & asked_for(calls)


def test_what_fails_is_shown(launch):
    status, out, shown, _ = launch("demo", APT_FAILS="1", QUICK="1")
    assert status == 1 and out == "" and "E: no space" in shown and "pmstatus" not in shown


def test_a_user_installs_by_sudo(launch):
    *_, calls = launch("demo", USER_ID="1000", QUICK="1")
    assert "sudo" in calls.splitlines()

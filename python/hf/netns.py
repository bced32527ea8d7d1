# SPDX-License-Identifier: GPL-3.0-or-later
"""Network namespaces and nftables rules of a test or a demo, removed again in every case, and
ports that are free."""
import ctypes
import glob
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
from typing import List, Optional


class NetworkError(RuntimeError):
    """The system refused; the text says what and why."""


def free_tcp_ports(count: int) -> List[int]:
    """TCP ports of the loopback that nobody uses at the moment."""
    sockets = [socket.socket() for _ in range(count)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


def why_not() -> Optional[str]:
    """Why namespaces and TUN devices cannot be had here; None if they can."""
    if os.geteuid() != 0:
        return "not running as root"
    if not os.path.exists("/dev/net/tun"):
        return "the kernel has no TUN driver (/dev/net/tun)"
    for program in ("ip", "nft", "unshare"):
        if shutil.which(program) is None:
            return f"the program {program} is missing"
    # A namespace without a name: nothing is left of it, even if this program is ended meanwhile.
    result = subprocess.run(["unshare", "--net", "--mount", "true"], capture_output=True,
                            text=True)
    if result.returncode != 0:
        return f"no right to make network namespaces ({result.stderr.strip()})"
    return None


def _run(*command: str, text: Optional[str] = None) -> None:
    result = subprocess.run(command, input=text, capture_output=True, text=True)
    if result.returncode != 0:
        raise NetworkError(f"{' '.join(command)}: {result.stderr.strip()}")


def ended_with_me() -> None:
    """For preexec_fn of subprocess.Popen: the program is killed when this one is gone, however
    it went."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def _runs(pid: int) -> bool:
    return os.path.exists(f"/proc/{pid}")


def clear_left_overs() -> None:
    """Remove namespaces and folders of pairs and demos that were killed; their names have the
    number of the process."""
    spaces = os.listdir("/run/netns") if os.path.isdir("/run/netns") else []
    for name in spaces:
        found = re.fullmatch(r"hf-[A-Z]-(\d+)-\d+", name)
        if found and not _runs(int(found.group(1))):
            subprocess.run(["ip", "netns", "del", name], capture_output=True)
    for path in glob.glob(os.path.join(tempfile.gettempdir(), "hf-demo-*-*")):
        found = re.match(r"hf-demo-(\d+)-", os.path.basename(path))
        if found and not _runs(int(found.group(1))) and os.stat(path).st_uid == os.geteuid():
            shutil.rmtree(path, ignore_errors=True)


class Namespace:
    """One network namespace with its loopback up; a context manager that removes it."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> "Namespace":
        _run("ip", "netns", "add", self.name)
        try:
            _run("ip", "-n", self.name, "link", "set", "lo", "up")
            # A fresh Linux announces itself on every device; each such packet would be a
            # transmission.
            self.command_run("sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=1",
                             check=False)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        subprocess.run(["ip", "netns", "del", self.name], capture_output=True)

    def command(self, *command: str) -> List[str]:
        """The same command, to be run inside the namespace."""
        return ["ip", "netns", "exec", self.name, *command]

    def command_run(self, *command: str, check: bool = True) -> None:
        """Run a command inside; raises NetworkError if it fails and check is set."""
        if check:
            _run(*self.command(*command))
        else:
            subprocess.run(self.command(*command), capture_output=True)

    def nft(self, rules: str) -> None:
        """Load nftables rules inside; they go with the namespace."""
        _run(*self.command("nft", "-f", "-"), text=rules)

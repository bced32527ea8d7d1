# SPDX-License-Identifier: GPL-3.0-or-later
"""Network namespaces and nftables rules for a test or a demo, always removed at the end, and
free TCP ports."""
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
    """The system refused a command. The text says which one and why."""


def free_tcp_ports(count: int) -> List[int]:
    """Loopback TCP ports that are not in use now."""
    sockets = [socket.socket() for _ in range(count)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


def why_not() -> Optional[str]:
    """Why namespaces and TUN devices are not available here. None if they are."""
    if os.geteuid() != 0:
        return "not running as root"
    if not os.path.exists("/dev/net/tun"):
        return "the kernel has no TUN driver (/dev/net/tun)"
    for program in ("ip", "nft", "unshare"):
        if shutil.which(program) is None:
            return f"the program {program} is missing"
    # An unnamed namespace disappears by itself, even if this program is killed.
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
    """preexec_fn for subprocess.Popen. The kernel kills the program when this one ends for any
    reason."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def enter(name: str) -> None:
    """Move this thread into a network namespace. Empty: stay. Raises OSError."""
    if not name:
        return
    fd = os.open(f"/run/netns/{name}", os.O_RDONLY)
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.setns(fd, 0x40000000) != 0:  # CLONE_NEWNET
            number = ctypes.get_errno()
            raise OSError(number, f"network namespace {name}: {os.strerror(number)}")
    finally:
        os.close(fd)


def _runs(pid: int) -> bool:
    return os.path.exists(f"/proc/{pid}")


def clear_left_overs() -> None:
    """Remove namespaces and folders of killed pairs and demos. Their names contain the process
    id."""
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
    """A network namespace with its loopback up. The context manager removes it."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> "Namespace":
        try:
            _run("ip", "netns", "add", self.name)
            _run("ip", "-n", self.name, "link", "set", "lo", "up")
            # IPv6 announcements go out on every device. Each would cost a transmission.
            self.command_run("sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=1",
                             check=False)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        subprocess.run(["ip", "netns", "del", self.name], capture_output=True)

    def command(self, *command: str) -> List[str]:
        """The command line that runs a command inside the namespace."""
        return ["ip", "netns", "exec", self.name, *command]

    def command_run(self, *command: str, check: bool = True) -> None:
        """Run a command inside. With check, raises NetworkError if it fails."""
        if check:
            _run(*self.command(*command))
        else:
            subprocess.run(self.command(*command), capture_output=True)

    def nft(self, rules: str) -> None:
        """Load nftables rules inside. They disappear with the namespace."""
        _run(*self.command("nft", "-f", "-"), text=rules)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Network namespaces and nftables rules of a test or a demo, removed again in every case."""
import os
import shutil
import subprocess
from typing import List, Optional


class NetworkError(RuntimeError):
    """The system refused; the text says what and why."""


def why_not() -> Optional[str]:
    """Why namespaces and TUN devices cannot be had here; None if they can."""
    if os.geteuid() != 0:
        return "not running as root"
    if not os.path.exists("/dev/net/tun"):
        return "the kernel has no TUN driver (/dev/net/tun)"
    for program in ("ip", "nft"):
        if shutil.which(program) is None:
            return f"the program {program} is missing"
    probe = f"hf-probe-{os.getpid()}"
    result = subprocess.run(["ip", "netns", "add", probe], capture_output=True, text=True)
    if result.returncode != 0:
        return f"no right to make network namespaces ({result.stderr.strip()})"
    subprocess.run(["ip", "netns", "del", probe], capture_output=True)
    return None


def _run(*command: str, text: Optional[str] = None) -> None:
    result = subprocess.run(command, input=text, capture_output=True, text=True)
    if result.returncode != 0:
        raise NetworkError(f"{' '.join(command)}: {result.stderr.strip()}")


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

# SPDX-License-Identifier: GPL-3.0-or-later
"""Postfix on loopback for a measurement: an instance with its own folder, which ends with this
program and touches nothing of the system's."""
import os
import pwd
import shutil
import subprocess
import time
from typing import Dict, List, Optional

from gnuradio.hf.system import netns

MASTER = "/usr/lib/postfix/sbin/master"
#: The mail server of one side: mail for its own domain goes into a folder, other mail to the
#: gateway.
_MAIN = """compatibility_level = 3.6
queue_directory = {folder}/queue
data_directory = {folder}/data
maillog_file = {folder}/log
maillog_file_prefixes = {folder}
mail_owner = postfix
myhostname = mx.{domain}
mydestination =
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
mynetworks = 127.0.0.1/32
smtpd_relay_restrictions = permit_mynetworks, reject
smtpd_recipient_restrictions = permit_mynetworks, reject
smtpd_forbid_unauth_pipelining = yes
disable_dns_lookups = yes
virtual_mailbox_domains = {domain}
virtual_mailbox_base = {folder}/mail
virtual_mailbox_maps = static:box/
virtual_uid_maps = static:{uid}
virtual_gid_maps = static:{gid}
virtual_minimum_uid = 1
transport_maps = {transports}
"""
#: Services that a mail by SMTP needs.
_SERVICES = """127.0.0.1:{port} inet n - n - - smtpd
pickup unix n - n 60 1 pickup
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
verify unix - - n - 1 verify
flush unix n - n 1000? 0 flush
proxymap unix - - n - - proxymap
smtp unix - - n - - smtp
relay unix - - n - - smtp
virtual unix - n n - - virtual
error unix - - n - - error
retry unix - - n - - error
anvil unix - - n - 1 anvil
postlog unix-dgram n - n - 1 postlogd
"""


def why_not() -> Optional[str]:
    """Why Postfix cannot be run here; None if it can."""
    if not os.path.exists(MASTER) or shutil.which("postfix") is None:
        return "Postfix is missing (Debian: postfix)"
    return None if os.geteuid() == 0 else "Postfix needs root"


class Postfix:
    """One instance, a context manager. routes: gateways of far domains, "HOST:PORT"."""

    def __init__(self, folder: str, domain: str, routes: Dict[str, str]) -> None:
        self.folder, self.domain = folder, domain
        self.port = netns.free_tcp_ports(1)[0]
        account = pwd.getpwnam("postfix")
        inline = ", ".join(f"{{ {name} = smtp:[{place.rpartition(':')[0]}]:"
                           f"{place.rpartition(':')[2]} }}" for name, place in routes.items())
        for name in ("config", "queue", "data", "mail"):
            os.makedirs(os.path.join(folder, name), exist_ok=True)
        for name in ("data", "mail"):
            os.chown(os.path.join(folder, name), account.pw_uid, account.pw_gid)
        self._write("main.cf", _MAIN.format(folder=folder, domain=domain, uid=account.pw_uid,
                                            gid=account.pw_gid,
                                            transports=f"inline:{{ {inline} }}" if inline else ""))
        self._write("master.cf", _SERVICES.format(port=self.port))
        self._process: Optional[subprocess.Popen] = None

    def _write(self, name: str, text: str) -> None:
        with open(os.path.join(self.folder, "config", name), "w", encoding="ascii") as file:
            file.write(text)

    def __enter__(self) -> "Postfix":
        config = os.path.join(self.folder, "config")
        said = subprocess.run(["postfix", "-c", config, "check"], capture_output=True, text=True)
        if said.returncode != 0:
            raise RuntimeError(f"postfix check: {said.stderr.strip()}")
        self._process = subprocess.Popen([MASTER, "-c", config], stdin=subprocess.DEVNULL,
                                         preexec_fn=netns.ended_with_me)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process is not None
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def mails(self) -> List[str]:
        """Paths of the mails that have been delivered."""
        new = os.path.join(self.folder, "mail", "box", "new")
        try:
            return sorted(os.path.join(new, name) for name in os.listdir(new))
        except FileNotFoundError:
            return []

    def wait(self, count: int, timeout: float) -> bool:
        """Wait until this many mails have been delivered."""
        end = time.monotonic() + timeout
        while len(self.mails()) < count:
            if time.monotonic() > end:
                return False
            time.sleep(0.005)
        return True

    def log(self) -> str:
        """The end of its log, for an error message."""
        try:
            with open(os.path.join(self.folder, "log"), encoding="utf-8", errors="replace") as f:
                return f.read()[-2000:]
        except OSError:
            return ""

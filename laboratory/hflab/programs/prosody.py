# SPDX-License-Identifier: GPL-3.0-or-later
"""Prosody on loopback for a measurement, with its own folder, and users with slixmpp. Both end
with this program and touch nothing of the system's."""
import asyncio
import os
import pwd
import shutil
import signal
import socket
import subprocess
import threading
import time
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from gnuradio.hf.system import netns
from gnuradio.hf.system.loop import Loop

PASSWORD, SECRET = "password of a test", "secret of a test"
_CONFIG = """daemonize = false
pidfile = "{folder}/pid"
data_path = "{folder}/data"
log = {{ info = "{folder}/log" }}
run_as_root = false
interfaces = {{ "127.0.0.1" }}
component_interfaces = {{ "127.0.0.1" }}
c2s_ports = {{ {c2s} }}
component_ports = {{ {component} }}
modules_enabled = {{ "roster", "saslauth", "disco", "offline", "ping", "version" }}
modules_disabled = {{ "s2s", "tls" }}
authentication = "internal_plain"
allow_unencrypted_plain_auth = true
c2s_require_encryption = false

VirtualHost "{domain}"
Component "rooms.{domain}" "muc"
"""


def why_not() -> Optional[str]:
    """Why Prosody cannot be run here; None if it can."""
    if shutil.which("prosody") is None:
        return "Prosody is missing (Debian: prosody)"
    try:
        import slixmpp  # noqa: F401
    except ImportError:
        return "slixmpp is missing (Debian: python3-slixmpp)"
    return None


class Prosody:
    """One instance, a context manager. It refuses to run as root: then it is the user prosody.

    far: domains whose components log in. users: their names.
    """

    #: For messages. And who it is if this program is root.
    NAME, ACCOUNT = "Prosody", "prosody"

    def __init__(self, folder: str, domain: str, far: Sequence[str],
                 users: Sequence[str]) -> None:
        self.folder, self.domain = folder, domain
        self.port, self.component_port = netns.free_tcp_ports(2)
        self._account = pwd.getpwnam(self.ACCOUNT) if os.geteuid() == 0 else None
        os.makedirs(folder, exist_ok=True)
        self._process: Optional[subprocess.Popen] = None
        self._configure(far, users)
        for root, _, names in os.walk(folder) if self._account else ():
            for path in (root, *(os.path.join(root, name) for name in names)):
                os.chown(path, self._account.pw_uid, self._account.pw_gid)

    def _configure(self, far: Sequence[str], users: Sequence[str]) -> None:
        accounts = os.path.join("data", self.domain.replace(".", "%2e"), "accounts")
        os.makedirs(os.path.join(self.folder, accounts))
        for user in users:
            self._write(os.path.join(accounts, f"{user}.dat"),
                        f'return {{ ["password"] = "{PASSWORD}" }};\n')
        self._write("prosody.cfg.lua", _CONFIG.format(
            folder=self.folder, domain=self.domain, c2s=self.port,
            component=self.component_port) + "".join(
                f'Component "{d}"\n  component_secret = "{SECRET}"\n' for d in far))

    def _command(self) -> Tuple[List[str], Dict[str, str]]:
        """The command, and further variables of its environment."""
        return ["prosody", "-F", "--config", os.path.join(self.folder, "prosody.cfg.lua")], {}

    def _write(self, name: str, text: str) -> None:
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(text)

    def __enter__(self) -> "Prosody":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop(signal.SIGTERM)

    def start(self) -> None:
        """Start it, and wait until both ports are open. Raises RuntimeError."""
        who: Dict[str, Any] = {} if self._account is None else {
            "user": self._account.pw_uid, "group": self._account.pw_gid, "extra_groups": []}
        command, more = self._command()
        self._process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, cwd=self.folder, env={**os.environ, **more},
            preexec_fn=netns.ended_with_me, **who)
        end = time.monotonic() + 30
        for port in (self.port, self.component_port):
            while True:
                try:
                    socket.create_connection(("127.0.0.1", port), 1).close()
                    break
                except OSError:
                    if time.monotonic() > end or self._process.poll() is not None:
                        raise RuntimeError(f"{self.NAME} does not start: {self.log()}") from None
                    time.sleep(0.05)

    def stop(self, how: int = signal.SIGKILL) -> None:
        """End it, or kill it."""
        if self._process is not None:
            self._process.send_signal(how)
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None

    def log(self) -> str:
        """The end of its log, for an error message."""
        try:
            with open(os.path.join(self.folder, "log"), encoding="utf-8", errors="replace") as f:
                return f.read()[-2000:]
        except OSError:
            return "no log"


class Users:
    """Stock clients. jid: of each, and the port of its server."""

    def __init__(self, ports: Dict[str, int]) -> None:
        self._loop = Loop("", "users")
        self._ports: Dict[str, int] = {}
        self._clients: Dict[str, Any] = {}
        self._changed = threading.Condition()
        #: Time, recipient, and stanza of slixmpp, in the order of arrival.
        self.received: List[Tuple[float, str, Any]] = []
        self._hooks: Dict[str, Callable[[Any], None]] = {}
        for jid, port in ports.items():
            self.add(jid, port)

    def add(self, jid: str, port: int) -> None:
        """A further user."""
        self._ports[jid] = port
        self._loop.do(self._log_in(jid), 30)

    async def _log_in(self, jid: str) -> None:
        from slixmpp import ClientXMPP
        client = ClientXMPP(jid + "/test", PASSWORD)
        client.register_plugin("xep_0030")
        client.register_plugin("xep_0045")
        client.register_plugin("xep_0199")
        ready = asyncio.Event()
        client["feature_mechanisms"].unencrypted_plain = True
        client["feature_mechanisms"].unencrypted_scram = True

        def started(_: Any) -> None:
            client.send_presence()
            ready.set()

        client.add_event_handler("session_start", started)
        # slixmpp calls both handlers for an error with the text of what it answers.
        client.add_event_handler("message", lambda m: m["type"] == "error" or self._take(jid, m))
        client.add_event_handler("message_error", lambda m: self._take(jid, m))
        client.connect(("127.0.0.1", self._ports[jid]), disable_starttls=True,
                       force_starttls=False)
        self._clients[jid] = client
        await asyncio.wait_for(ready.wait(), 25)

    def _take(self, jid: str, message: Any) -> None:
        with self._changed:
            self.received.append((time.monotonic(), jid, message))
            self._changed.notify_all()
        if jid in self._hooks and message["type"] != "error" and message["body"]:
            self._hooks[jid](message)

    def on_message(self, jid: str, hook: Callable[[Any], None]) -> None:
        """Call a hook for each message of a user, on the loop."""
        self._hooks[jid] = hook

    def do(self, jid: str, work: Callable[[Any], Any]) -> Any:
        """Let the client of a user do something, on the loop."""
        async def run() -> Any:
            return work(self._clients[jid])
        return self._loop.do(run(), 30)

    def write(self, sender: str, to: str, body: str) -> None:
        """Send a message."""
        self.do(sender, lambda c: c.send_message(mto=to, mbody=body, mtype="chat"))

    def reaches(self, jid: str, domain: str) -> bool:
        """Whether a domain answers a ping of a user, 5 s at most. A gateway answers for a far
        domain, after it has written down all that the user has sent there before."""
        async def run() -> bool:
            from slixmpp.exceptions import IqError, IqTimeout
            try:
                await self._clients[jid]["xep_0199"].send_ping(domain, timeout=5)
                return True
            except (IqError, IqTimeout):
                return False
        return self._loop.do(run(), 30)

    def bodies(self, jid: str) -> List[str]:
        """Texts of the messages that a user has got."""
        with self._changed:
            return [m["body"] for _, to, m in self.received if to == jid
                    and m["type"] != "error"]

    def wait(self, condition: Callable[[], bool], timeout: float = 60) -> bool:
        """Wait until a condition on what was received holds."""
        end = time.monotonic() + timeout
        while not condition():
            with self._changed:
                self._changed.wait(0.05)
            if time.monotonic() > end:
                return False
        return True

    def again(self, jid: str) -> None:
        """Log in again, after the server was killed."""
        self._clients[jid].abort()
        self._loop.do(self._log_in(jid), 30)

    def close(self) -> None:
        """End all."""
        async def end() -> None:
            for client in self._clients.values():
                client.abort()
        self._loop.close(end)

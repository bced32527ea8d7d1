# SPDX-License-Identifier: GPL-3.0-or-later
"""Chat between two Prosody over two stations on emulated air, with stock clients."""
from contextlib import ExitStack
import os
import shutil
import tempfile
import time
from typing import Any, Dict, List, Optional

from gnuradio.hf import station
from gnuradio.hf.station import pair
from gnuradio.hf.xmpp.service import XmppService

from .prosody import SECRET, Prosody, Users

DOMAINS = {"A": "ship.example", "B": "shore.example"}
ANNA, BERT = "anna@ship.example", "bert@shore.example"


class Chat:
    """A context manager. peer: keys of [[xmpp.peer]] at both ends. more: keys of [xmpp]."""

    def __init__(self, setting: pair.Setting, peer: Optional[Dict[str, Any]] = None,
                 **more: Any) -> None:
        self._setting, self._peer, self._more = setting, peer or {}, more
        self._exit = ExitStack()
        self.lines: List[str] = []
        self.servers: Dict[str, Prosody] = {}
        self.services: Dict[str, XmppService] = {}

    def __enter__(self) -> "Chat":
        try:
            return self._open()
        except BaseException:
            self._exit.close()
            raise

    def __exit__(self, *_: object) -> None:
        self._exit.close()

    def _open(self) -> "Chat":
        # Prosody runs as another user, who must reach its folder.
        self.folder = tempfile.mkdtemp(prefix="hf-chat-")
        self._exit.callback(shutil.rmtree, self.folder, True)
        os.chmod(self.folder, 0o755)
        for name in pair.NAMES:
            far = DOMAINS[pair.OTHER[name]]
            self.servers[name] = self._exit.enter_context(Prosody(
                os.path.join(self.folder, f"prosody-{name}"), DOMAINS[name],
                [far, f"rooms.{far}"], ["anna", "bert"]))
        self.pair = self._exit.enter_context(pair.Pair(self._setting, False, self._describe))
        for name in pair.NAMES:
            self.start(name)
            self._exit.callback(self.stop, name)
        self.wait(lambda: all(len(s.status()["connected"]) == 2 for s in self.services.values()))
        self.users = Users({ANNA: self.servers["A"].port, BERT: self.servers["B"].port})
        self._exit.callback(self.users.close)
        return self

    def _describe(self, name: str, d: station.Description) -> None:
        far = DOMAINS[pair.OTHER[name]]
        d.pep, d.sis_server = None, station.SisServer(port=0)
        d.xmpp = station.Xmpp(
            folder=os.path.join(self.folder, f"gateway-{name}"),
            server=f"127.0.0.1:{self.servers[name].component_port}", secret=SECRET,
            domains=[DOMAINS[name], f"rooms.{DOMAINS[name]}"],
            peer=[station.XmppPeer(domains=[far, f"rooms.{far}"],
                                   node=pair.NODES[pair.OTHER[name]], **self._peer)],
            **{"retry_s": 0.3, "retry_max_s": 2.0, **self._more})

    def start(self, name: str) -> None:
        """Start a gateway."""
        made = self.pair.stations[name]
        service = self.services[name] = XmppService(made.description)
        service.attach(made, lambda line: self.lines.append(f"{name} {line}"))
        service.start()

    def stop(self, name: str) -> None:
        """End a gateway. Its stanzas stay on disk."""
        self.services[name].close()

    def wait(self, condition: Any, timeout: float = 30) -> None:
        """Wait for a condition. Raises RuntimeError with what the gateways have said."""
        end = time.monotonic() + timeout
        while not condition():
            if time.monotonic() > end:
                raise RuntimeError("\n".join(self.lines) or "nothing was said")
            time.sleep(0.05)

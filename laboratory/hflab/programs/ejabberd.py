# SPDX-License-Identifier: GPL-3.0-or-later
"""ejabberd on loopback for a test, with its own folder, and without a name among Erlang's nodes.
It ends with this program and touches nothing of the system's."""
import glob
import os
import shutil
from typing import Dict, List, Optional, Sequence, Tuple

from .prosody import PASSWORD, SECRET, Prosody

_CONFIG = """hosts: ["{domain}"]
loglevel: info
log_rotate_count: 0
listen:
  - {{port: {c2s}, ip: "127.0.0.1", module: ejabberd_c2s}}
  - port: {component}
    ip: "127.0.0.1"
    module: ejabberd_service
    hosts:
{hosts}
auth_method: internal
auth_password_format: plain
s2s_access: none
modules:
  mod_disco: {{}}
  mod_muc: {{host: "rooms.{domain}"}}
  mod_offline: {{}}
  mod_ping: {{}}
  mod_roster: {{}}
  mod_version: {{}}
"""


def why_not() -> Optional[str]:
    """Why ejabberd cannot be run here; None if it can."""
    if shutil.which("erl") is None or not glob.glob("/usr/lib/*/ejabberd-*"):
        return "ejabberd is missing (Debian: ejabberd, 53 MB with Erlang)"
    return None


class Ejabberd(Prosody):
    """One instance, as Prosody."""

    NAME, ACCOUNT = "ejabberd", "ejabberd"

    def _configure(self, far: Sequence[str], users: Sequence[str]) -> None:
        self._users = users
        self._write("ejabberd.yml", _CONFIG.format(
            domain=self.domain, c2s=self.port, component=self.component_port,
            hosts="\n".join(f'      "{d}": {{password: "{SECRET}"}}' for d in far)))

    def _command(self) -> Tuple[List[str], Dict[str, str]]:
        names = ", ".join(f'<<"{user}">>' for user in self._users)
        start = "{ok, _} = application:ensure_all_started(ejabberd)"
        users = f'ejabberd_auth:try_register(U, <<"{self.domain}">>, <<"{PASSWORD}">>)'
        (place,) = {os.path.dirname(p) for p in glob.glob("/usr/lib/*/ejabberd-*")}
        return ["erl", "-noinput", "-mnesia", "dir", f'"{self.folder}/spool"', "-eval",
                f"{start}, [{users} || U <- [{names}]]."], {
                    "EJABBERD_CONFIG_PATH": os.path.join(self.folder, "ejabberd.yml"),
                    "EJABBERD_LOG_PATH": os.path.join(self.folder, "log"),
                    "ERL_LIBS": place, "HOME": self.folder}

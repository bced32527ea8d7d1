# SPDX-License-Identifier: GPL-3.0-or-later
"""The mail gateway of a station, as its table [mail] asks for it."""
from typing import Callable, Iterable, List, Optional

from .. import station
from ..station import service
from .desk import Desk
from .gateway import Gateway
from .spool import Spool, SpoolError


def start_gateway(settings: station.Mail, address: str, server: str,
                  say: Callable[[str], None]) -> Gateway:
    """Start a gateway at a SIS server. The arguments are as in Gateway. Raises RuntimeError."""
    try:
        gateway = Gateway(settings, address, server, say)
        gateway.start()
        return gateway
    except SpoolError as error:
        raise RuntimeError(str(error)) from None
    except OSError as error:
        raise RuntimeError(f"[mail] listen = '{settings.listen}': {error.strerror or error}"
                           ) from None


class MailService(service.Service):
    """The gateway is a client of the station's own SIS server."""

    def __init__(self, d: station.Description) -> None:
        assert d.mail is not None
        self.settings, self._address = d.mail, d.address
        self._server = ""
        self._say: Callable[[str], None] = lambda line: None
        self._gateway: Optional[Gateway] = None

    def attach(self, s: station.Station, say: Callable[[str], None]) -> None:
        """The gateway will be a client of the station's SIS server."""
        self._server, self._say = s.sis_address(), say

    def start(self) -> None:
        """Claim the spool, listen, and begin."""
        self._gateway = start_gateway(self.settings, self._address, self._server, self._say)
        self.desk = Desk(self._gateway)

    def check(self) -> None:
        """Open the spool, and close it."""
        try:
            Spool(self.settings.spool).close()
        except SpoolError as error:
            raise RuntimeError(str(error)) from None

    def details(self) -> Iterable[str]:
        """One line: for whom, from whom, and where to."""
        m = self.settings
        routes: List[str] = [r.domain for r in m.route]
        return [f"mail: SMTP on {m.listen} for {', '.join(routes) or 'nobody'}; mail from HF for "
                f"{', '.join(m.domains) or 'nobody'} goes to {m.deliver}, "
                f"{service.who(m.peers, [r.node for r in m.route])} may send it"]

    def close(self) -> None:
        """End all threads. Mails stay in the spool."""
        if self._gateway is not None:
            self._gateway.close()
            self._gateway = None

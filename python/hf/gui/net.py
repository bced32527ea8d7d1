# SPDX-License-Identifier: GPL-3.0-or-later
"""A station in its net: what it reports to the stations that [net] names, and what others report
to the operator at its page."""
import threading
from typing import Any, Callable, Dict, Iterable, List, Optional

from .. import sis, station, version
from ..sis import console, net
from ..station import service

#: Spread of the answers, and the time for them, s.
SPREAD_S, LIMIT_S = 60, 180


class NetService(service.Service):
    """Answers over the station's own SIS server."""

    def __init__(self, d: station.Description) -> None:
        assert d.net is not None
        self.settings = d.net
        self._server, self._link = "", None
        self._stop = threading.Event()
        self._thread: Optional[threading.Thread] = None
        self._say: Callable[[str], None] = lambda line: None

    def attach(self, s: station.Station, say: Callable[[str], None]) -> None:
        """The reporter will be a client of the station's SIS server."""
        self._server, self._link, self._say = s.sis_address(), s.data_link, say

    def start(self) -> None:
        """Bind the SAP, and answer. Raises RuntimeError."""
        try:
            client = sis.Client(self._server)
            client.bind(console.SAP, 0, sis.service("non_arq"))
        except sis.SisError as error:
            raise RuntimeError(f"[net] {error}") from None
        self._thread = threading.Thread(target=self._run, args=(client,), name="net",
                                        daemon=True)
        self._thread.start()

    def _run(self, client: sis.Client) -> None:
        link: Any = self._link
        reporter = net.Reporter(client, self.settings.peers, self.settings.facts,
                                lambda: own_report(link), lambda: float(link.state().now))
        try:
            with client:
                while not self._stop.is_set():
                    reporter.take(client.next(timeout=0.1))
        except sis.SisError as error:
            if not self._stop.is_set():
                self._say(f"[net] {error}")

    def details(self) -> Iterable[str]:
        """One line: to whom, and what."""
        return [f"net: {', '.join(self.settings.peers) or 'nobody'} may ask for "
                f"{', '.join(self.settings.facts)}"]

    def close(self) -> None:
        """End the thread."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(10)


def own_report(link: Any) -> net.Report:
    """The report of a station. link: its hf.data_link."""
    state = link.state()
    return net.Report(version.__version__, state.queued_octets, state.links,
                      {h.peer: (h.snr_db, h.age_s) for h in state.heard})


class NetQuestion:
    """Asks the net for the operator at the page, one question at a time."""

    def __init__(self, server: str, now: Callable[[], float]) -> None:
        """server: HOST:PORT of the station's SIS server. now: station time, s."""
        self._server, self._now = server, now
        self._stop = threading.Event()
        self._thread: Optional[threading.Thread] = None
        self._question: Optional[net.Question] = None

    def ask(self) -> None:
        """Ask all stations. Raises ValueError if that is impossible now."""
        if not self._server:
            raise ValueError("this station has no [sis_server] in its file")
        if self._thread is not None and self._thread.is_alive():
            raise ValueError("the stations have been asked already")
        try:
            client = sis.Client(self._server)
            client.bind(net.SAP, 0, sis.service("non_arq"))
        except sis.SisError as error:
            raise ValueError(str(error)) from None
        self._question = net.Question(client, self._now)
        self._thread = threading.Thread(target=self._run, args=(client, self._question),
                                        name="page net", daemon=True)
        self._thread.start()

    def _run(self, client: sis.Client, question: net.Question) -> None:
        try:
            with client:
                question.ask(net.ALL, SPREAD_S, LIMIT_S, self._stop.is_set)
        except sis.SisError:
            pass  # the station ends

    def rows(self) -> List[Dict[str, Any]]:
        """The answers to the last question, as net.Question.rows()."""
        return [] if self._question is None else self._question.rows()

    def close(self) -> None:
        """End a question."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(10)

# SPDX-License-Identifier: GPL-3.0-or-later
"""A web page fetched through HF-PEP. Each station serves it on its loopback. Another port of the
loopback leads to the other station."""
from concurrent.futures import ThreadPoolExecutor
import http.client
import http.server
import os
import socket
import threading
from typing import Any, List

from .. import station
from . import pattern
from .plan import Plan

#: Parallel connections, as in browsers.
_CONNECTIONS = 6
#: Default port on the air. All stations must use the same.
_USUAL_PORT = 20000
#: Range searched for free ports, below the ephemeral ports, which start at 32768.
_FIRST_FREE, _LAST_FREE = 21000, 32000
_PORTS_OF_A_STATION = 16


def _host(number: int) -> str:
    """Address of a station's web server on its own loopback. It differs for each station, so that
    HF-PEP can route by it."""
    return f"127.66.0.{number + 1}"


def _port(plan: Plan, mine: int, theirs: int) -> int:
    """Port on the loopback of one station that leads to another."""
    return _base(plan) + _PORTS_OF_A_STATION * mine + theirs


def _base(plan: Plan) -> int:
    return plan.page_port or _USUAL_PORT


def _is_free(host: str, port: int) -> bool:
    with socket.socket() as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the servers do
        try:
            s.bind((host, port))
        except OSError:
            return False
    return True


def take_free_ports(plan: Plan) -> None:
    """Choose free ports if the plan names none, for stations in one program. Raises OSError if
    there are none."""
    if plan.page_port:
        return
    count = len(plan.station)
    size = _PORTS_OF_A_STATION * count
    places = (_LAST_FREE - _FIRST_FREE) // size
    for k in range(places):
        # Start at a place that depends on the process, so that programs do not collide.
        base = _FIRST_FREE + (os.getpid() + k) % places * size
        if all(_is_free(_host(n), base) for n in range(count)) and \
                all(_is_free("127.0.0.1", port) for port in range(base, base + size)):
            plan.page_port = base
            return
    raise OSError(f"no {size} ports in a row are free between {_FIRST_FREE} and {_LAST_FREE} on "
                  "127.0.0.1; set page_port")


def prepare(plan: Plan, mine: int, d: station.Description) -> None:
    """Let the HF-PEP of a station fetch the pages of the others, and serve its own to them."""
    pep = d.pep = d.pep or station.Pep()
    for k, member in enumerate(plan.station):
        if k == mine:
            pep.allow.append(f"{_host(k)}:{_base(plan)}")
        else:
            pep.listen.append(f"127.0.0.1:{_port(plan, mine, k)}={_host(k)}:{_base(plan)}")
            pep.routes.insert(0, f"{_host(k)}/32={member.address}")


class Server:
    """Web server of a station. /OCTETS/NUMBER is a file of that many octets."""

    def __init__(self, plan: Plan, mine: int) -> None:
        """Raises OSError that names address and port."""
        address = (_host(mine), _base(plan))
        try:
            self._server = http.server.ThreadingHTTPServer(address, _Handler)
        except OSError as error:
            raise OSError(error.errno, f"page_port: cannot listen on {address[0]} port "
                          f"{address[1]}: {error.strerror}") from None
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,),
                                        daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop the server."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:  # noqa: N802, the name that the library looks for
        """Send a file of the size given in its path."""
        try:
            size = min(int(self.path.split("/")[1]), 10000000)
        except (IndexError, ValueError):
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(size))
        self.end_headers()
        self.wfile.write(pattern.octets(size))

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""


class Fetch:
    """Fetches a page in its own threads. files: number of files besides the first."""

    def __init__(self, plan: Plan, mine: int, theirs: int, octets: int, files: int,
                 limit_s: float) -> None:
        """limit_s: timeout of each step, s of the host's clock."""
        self.octets = 0         #: octets received
        self.complete = 0       #: complete files
        self.why = ""           #: the first error
        self.done = False
        self._port, self._size, self._limit_s = _port(plan, mine, theirs), octets, limit_s
        self._open: List[http.client.HTTPConnection] = []
        self._lock = threading.Lock()
        self._stopped = False
        threading.Thread(target=self._run, args=(files,), daemon=True).start()

    def stop(self) -> None:
        """Give up and close the connections."""
        with self._lock:
            self._stopped = True
            for connection in self._open:
                if connection.sock is not None:
                    connection.sock.close()

    def _run(self, files: int) -> None:
        self._get(0)
        if not self.why:
            with ThreadPoolExecutor(_CONNECTIONS) as pool:
                list(pool.map(self._get, range(1, files + 1)))
        self.done = True

    def _get(self, number: int) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=self._limit_s)
        with self._lock:
            if self._stopped:
                return
            self._open.append(connection)
        try:
            connection.request("GET", f"/{self._size}/{number}")
            data = connection.getresponse().read()
            with self._lock:
                self.octets += len(data)
                if data == pattern.octets(self._size):
                    self.complete += 1
                else:
                    self.why = self.why or f"file {number} arrived altered"
        except (OSError, http.client.HTTPException, ValueError, AttributeError) as error:
            with self._lock:
                self.why = self.why or f"file {number}: {error or type(error).__name__}"
        finally:
            connection.close()

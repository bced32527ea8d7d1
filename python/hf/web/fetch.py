# SPDX-License-Identifier: GPL-3.0-or-later
"""Fetches pages and pictures for the shore side, from public addresses only.

Every host is looked up here, and only addresses that pass Policy are connected to, at each
redirect again. So no reader can reach services of the shore station or its network.
"""
import asyncio
import errno
import ipaddress
import socket
import time
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Tuple
from urllib.parse import urlsplit
import zlib

import aiohttp
from yarl import URL

from .. import hf_python as _hf
from . import decoding
from .elements import absolute

#: Most redirects, and seconds for a page or picture with all its redirects, and for a connection.
MAX_REDIRECTS, LIMIT_S, CONNECT_S = 5, 60.0, 20.0
#: Octets of a compressed body that are read at once.
_PIECE = 16384
#: Cookies that are kept of an answer, and characters of each. They live until the last redirect of
#: a page, since many sites lead a visitor around until the first one comes back.
MAX_COOKIES, MAX_COOKIE = 20, 4096
#: Cookies by scheme, host and port.
_Cookies = Dict[str, Dict[str, str]]
_AGENT = "Mozilla/5.0 (compatible; gr-hf web door)"


class FetchError(Exception):
    """What could not be fetched, in words for the reader."""


class Unreachable(FetchError):
    """The first host refuses connections, or does not answer. Nothing was sent to it."""


class Fetched(NamedTuple):
    """What was fetched. url: after redirects. cut: the body was longer than the limit. headers: of
    the answer, by names in small letters. sent: octets of headers and body as the server sent
    them. redirects: answers that led here."""

    url: str
    status: int
    kind: str
    charset: Optional[str]
    body: bytes
    cut: bool
    headers: Mapping[str, str] = {}
    sent: int = 0
    redirects: int = 0


class Policy:
    """Which addresses may be fetched: public ones outside the networks of this station, and those
    in allow (prefixes). The rules are those of allow in [pep]."""

    def __init__(self, allow: List[str]) -> None:
        """Raises ValueError for a wrong prefix."""
        networks = [ipaddress.ip_network(prefix) for prefix in allow]
        self._reach = _hf.reach(["internet:*", *(f"[{network}]:*" for network in networks)])

    def permits(self, address: str, port: int) -> bool:
        """Whether a numeric address may be connected to."""
        return bool(self._reach.permits(address, port))

    async def addresses(self, host: str, port: int) -> List[Tuple[int, str]]:
        """Families and numeric addresses of a host that may be connected to, whether it is a name
        or an address in any spelling. Raises OSError if there is none."""
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM,
                                       flags=socket.AI_ADDRCONFIG)
        good = [(int(family), str(at[0])) for family, _, _, _, at in found
                if self.permits(str(at[0]), port)]
        if not good:
            raise OSError(None, "not a public address")
        return good

    @staticmethod
    def check(text: str) -> URL:
        """The parts of an address. Raises FetchError for another scheme or a low port."""
        try:
            url = URL(text)
            host, port = url.host, url.port
        except ValueError:
            raise FetchError(f"{text[:200]} is no web address") from None
        if url.scheme not in ("http", "https") or not host:
            raise FetchError(f"{text[:200]}: allowed are http:// and https://")
        if port is None or (port not in (80, 443) and port < 1024):
            raise FetchError(f"port {port}: allowed are 80, 443 and those from 1024")
        return url


class _Connector(aiohttp.TCPConnector):
    """Connects to addresses that the policy permits. aiohttp asks a resolver for names only, and
    what it treats as a name depends on its version. So this takes its place for every host."""

    def __init__(self, policy: Policy) -> None:
        super().__init__(limit=32, limit_per_host=6, use_dns_cache=False)
        self._policy = policy

    async def _resolve_host(self, host: str, port: int, traces: Any = None
                            ) -> List[Dict[str, Any]]:
        return [{"hostname": host, "host": address, "port": port, "family": family, "proto": 0,
                 "flags": socket.AI_NUMERICHOST}
                for family, address in await self._policy.addresses(host, port)]

    async def connect(self, *arguments: Any, **words: Any) -> Any:
        """As in aiohttp. A version of it that finds addresses in another way sends nothing."""
        connection = await super().connect(*arguments, **words)
        peer = connection.transport and connection.transport.get_extra_info("peername")
        if not peer or not self._policy.permits(str(peer[0]), peer[1]):
            connection.close()
            raise OSError(None, "not a public address")
        return connection


class Fetcher:
    """Fetches for all readers of a shore station. Used from one event loop."""

    def __init__(self, allow: List[str]) -> None:
        """allow: prefixes that may be fetched though they are not public."""
        self.policy = Policy(allow)
        self._session: Optional[aiohttp.ClientSession] = None

    async def close(self) -> None:
        """End all connections."""
        if self._session is not None:
            await self._session.close()

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=_Connector(self.policy), auto_decompress=False,
                cookie_jar=aiohttp.DummyCookieJar(), timeout=aiohttp.ClientTimeout(
                    total=LIMIT_S, connect=CONNECT_S), trust_env=False)
        return self._session

    async def get(self, url: str, most: int, form: Optional[bytes] = None, accept: str = "*/*"
                  ) -> Fetched:
        """Fetch from an address. most: octets of the body, uncompressed; a longer body is cut.
        form: octets of a form to POST. Raises FetchError."""
        end = time.monotonic() + LIMIT_S
        cookies: _Cookies = {}
        for hop in range(MAX_REDIRECTS + 1):
            try:
                found = await asyncio.wait_for(
                    self._one(self.policy.check(url), most, form, accept, cookies),
                    max(end - time.monotonic(), 0.1))
            except aiohttp.ServerTimeoutError:
                raise (FetchError if hop else Unreachable)(
                    f"{urlsplit(url).hostname}: no connection within {CONNECT_S:.0f} s") from None
            except asyncio.TimeoutError:
                raise FetchError(f"no complete answer within {LIMIT_S:.0f} s") from None
            except (aiohttp.ClientError, OSError, ValueError) as error:
                raise (Unreachable if hop == 0 and _is_unreachable(error) else FetchError)(
                    _words(error, url)) from None
            if isinstance(found, Fetched):
                return found._replace(redirects=hop)
            to, keeps_form = absolute(url, found[0]), found[1]
            form = form if keeps_form else None
            if form is not None and url.startswith("https:") and not to.startswith("https:"):
                raise FetchError(f"{urlsplit(url).hostname} leads the form to an address without "
                                 "encryption")
            url = to
        raise FetchError(f"more than {MAX_REDIRECTS} redirects")

    async def _one(self, url: URL, most: int, form: Optional[bytes], accept: str,
                   cookies: _Cookies) -> Any:
        """An answer, or the target of a redirect and whether the form goes there too."""
        headers = {"User-Agent": _AGENT, "Accept": accept, "Accept-Encoding": "gzip",
                   "Accept-Language": "en,*;q=0.5"}
        if form is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        own = cookies.setdefault(str(url.origin()), {})
        if own:
            headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in own.items())
        async with self._open().request("GET" if form is None else "POST", url, data=form,
                                        headers=headers, allow_redirects=False) as answer:
            for name, cookie in list(answer.cookies.items())[:MAX_COOKIES]:
                own[name] = cookie.coded_value[:MAX_COOKIE]
            to = answer.headers.get("Location")
            if answer.status in (301, 302, 303, 307, 308) and to:
                return to, answer.status in (307, 308)
            body, cut, octets = await _body(answer, most)
            head = sum(len(name) + len(value) + 4 for name, value in answer.raw_headers)
            return Fetched(str(url), answer.status, answer.content_type, answer.charset, body, cut,
                           {n.lower(): v for n, v in answer.headers.items()}, head + octets)


async def _body(answer: aiohttp.ClientResponse, most: int) -> Tuple[bytes, bool, int]:
    """The uncompressed body, whether it was cut, and its octets as they came."""
    coding = answer.headers.get("Content-Encoding", "identity").strip().lower()
    if coding not in ("identity", "gzip", "x-gzip", "deflate", ""):
        raise ValueError(f"the server compresses by {coding[:20]}, which was not asked for")
    unpack = decoding.Unpacker(coding) if coding not in ("identity", "") else None
    body, octets = bytearray(), 0
    async for piece in answer.content.iter_chunked(_PIECE):
        octets += len(piece)
        try:
            body += piece if unpack is None else unpack.push(piece, most + 1 - len(body))
        except zlib.error:
            raise ValueError("damaged compression") from None
        if len(body) > most:
            return bytes(body[:most]), True, octets
    return bytes(body), unpack is not None and not unpack.is_whole, octets


def _is_unreachable(error: BaseException) -> bool:
    """Whether no connection was made, so that another port may answer."""
    if isinstance(error, aiohttp.ClientSSLError):
        return False
    return getattr(error, "errno", None) in (errno.ECONNREFUSED, errno.ETIMEDOUT,
                                             errno.EHOSTUNREACH)


def _words(error: BaseException, url: str) -> str:
    """Why a fetch failed, for the reader."""
    host = urlsplit(url).hostname
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return f"{host} does not prove who it is: {error.certificate_error}"
    if isinstance(error, aiohttp.ClientSSLError):
        return f"no TLS with {host}"
    cause = getattr(error, "os_error", error)
    if isinstance(cause, socket.gaierror):
        return f"{host}: name not found"
    return f"{host}: {getattr(cause, 'strerror', None) or error or type(error).__name__}"

# SPDX-License-Identifier: GPL-3.0-or-later
"""A station: its description (TOML) and its blocks."""
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional, Sequence, Tuple
import zlib

from gnuradio import gr

from .. import hf_python as _hf
from ..system import output
from . import names, tables
from .mail_tables import Mail, MailRoute
from .radio_tables import Ptt, Radio, Rig, Sdr
from .station_tables import (Ale, Auth, Capture, Dns, Host, IpClient, ModemClient, ModemServer,
                             Net, Pep, Record, SisServer, StationError, Web, words_of)
from .xmpp_tables import Xmpp, XmppPeer


@dataclass
class Description:
    """The configuration of one station.

    address: STANAG 5066 address.
    mode: mode of data transmissions, for example 4539-9600S. auto adapts it to the channel
    (auto:600..4800 within a range of rates, auto:4539 and auto:5069 in one standard, auto:48k
    in 48 kHz).
    ack_mode: mode of transmissions without data.
    bandwidth: of the channel, kHz. Default: the bandwidth of mode. With mode = "auto" it selects
    the modes to choose from.
    zero_interleaver: the serial tone's announced S means Z.
    start_delay_s: do not transmit before this many seconds of samples have arrived, 0 to 60.
    Default 1, or 0 in lock step.
    data_link: further settings by name (hf.data_link.settings()).
    names: stations by name, for people: keel = "1.2.0.2". Log lines and the page show the names.
    Call signs of [host.calls] and addresses of [ale.peers] are names, too.
    netns: network namespace of TUN device and sockets.

    With modem_server the station is a modem without a data link, and uses only mode, netns and
    zero_interleaver of these keys. With modem_client it is a data link without a modem.
    """

    address: str = ""
    mode: str = "4539-600S"
    ack_mode: str = "auto"
    netns: str = ""
    bandwidth: Optional[int] = None
    zero_interleaver: bool = False
    start_delay_s: Optional[float] = field(default=None, metadata={"range": (0, 60)})
    data_link: Dict[str, float] = field(default_factory=dict)
    ip_client: Optional[IpClient] = None
    pep: Optional[Pep] = None
    dns: Optional[Dns] = None
    sis_server: Optional[SisServer] = None
    host: Optional[Host] = None
    mail: Optional[Mail] = None
    web: Optional[Web] = None
    xmpp: Optional[Xmpp] = None
    net: Optional[Net] = None
    modem_server: Optional[ModemServer] = None
    modem_client: Optional[ModemClient] = None
    capture: Capture = field(default_factory=Capture)
    radio: Optional[Radio] = None
    record: Optional[Record] = None
    ale: Optional[Ale] = None
    auth: Optional[Auth] = None
    names: Dict[str, str] = field(default_factory=dict)
    #: The source file, for messages.
    where: str = field(default="", init=False)

    def __post_init__(self) -> None:
        if self.bandwidth is not None:
            self.use_bandwidth(self.bandwidth)

    def use_bandwidth(self, khz: int) -> None:
        """Set the bandwidth in kHz. Mode auto becomes auto within that bandwidth."""
        self.bandwidth = khz
        self.mode = _hf.in_bandwidth(self.mode, khz)

    @property
    def name(self) -> str:
        """The address, or "modem" without a data link."""
        return self.address or "modem"

    @property
    def bandwidth_khz(self) -> int:
        """Bandwidth of the modem, kHz."""
        return _mode_bandwidth_khz(self.mode) if self.bandwidth is None else self.bandwidth

    @property
    def sample_rate(self) -> float:
        """Sample rate of the modem's complex baseband, samples/s."""
        return 3200.0 * self.bandwidth_khz

    def stream_to(self, node: str, name: str, port: int) -> None:
        """Let a service open streams to a service of the same name and port at another node,
        through HF-PEP. Station.stream_port() tells where."""
        self.pep = self.pep or Pep()
        node = str(_hf.s5066.address(node))
        self.pep.listen = self.pep.listen + [f"127.0.0.1:0={node}.{name}:{port}"]
        self.pep.routes = self.pep.routes + [f"{node}.{name}={node}"]

    def serve(self, name: str, port: int, local_port: int, nodes: Sequence[str] = ()) -> None:
        """Let other nodes reach a service by its name and port, through HF-PEP.

        local_port: on loopback, where the service listens. nodes: who may; empty: every node.
        """
        self.pep = self.pep or Pep()
        who = f" from {', '.join(nodes)}" if nodes else ""
        self.pep.allow = [f"{name}:{port}=127.0.0.1:{local_port}{who}"] + self.pep.allow

    def first_rule(self, **rule: Any) -> None:
        """Put a rule for HF-PEP before those of the file. Keys as in [[pep.rule]]."""
        self.pep = self.pep or Pep()
        self.pep.rule = [rule] + self.pep.rule

    def check(self) -> None:
        """Raise ValueError for an invalid mode or address, and for parts that exclude each
        other."""
        of_mode = _mode_bandwidth_khz(self.mode)
        if self.bandwidth_khz != of_mode:
            raise StationError(f"bandwidth = {self.bandwidth}: mode {self.mode} needs "
                               f"{of_mode} kHz, and a modem has one bandwidth")
        if self.ack_mode not in ("auto", "same"):
            of_ack = _mode_bandwidth_khz(self.ack_mode)
            if of_ack != of_mode:
                raise StationError(f"ack_mode {self.ack_mode} needs {of_ack} kHz, mode "
                                   f"{self.mode} {of_mode} kHz, and a modem has one bandwidth")
        if self.modem_server is not None:
            for part in ("address", "data_link", "ip_client", "pep", "dns", "sis_server", "host",
                         "mail", "web", "xmpp", "net", "modem_client", "auth"):
                if getattr(self, part):
                    raise StationError(f"'{part}' and [modem_server] exclude each other: a "
                                       "station with a modem server has no data link")
        elif not self.address:
            raise StationError("'address' is missing, for example address = \"1.2.0.1\"")
        else:
            _hf.s5066.address(self.address)
            if self.host is not None:
                self.host.check(self.address)
        names.check(self.names)
        if self.radio is not None:
            if self.modem_client is not None:
                raise StationError("[radio] and [modem_client] exclude each other: the radio is "
                                   "at the modem")
            self.radio.check()
            self.radio.check_bandwidth(self.bandwidth_khz)
        if self.web is not None:
            self.web.check()
        if self.mail is not None:
            self.mail.check()
            if self.netns:
                raise StationError("[mail] and netns exclude each other: start hf mail run in the "
                                   "namespace")
        if self.xmpp is not None:
            self.xmpp.check()
            if self.netns:
                raise StationError("[xmpp] and netns exclude each other")
        if self.net is not None:
            self.net.check()
            if self.netns:
                raise StationError("[net] and netns exclude each other")
        for part in ("mail", "xmpp", "net"):
            if getattr(self, part) is not None and self.sis_server is None:
                raise StationError(f"[{part}] needs [sis_server]: it is one of its "
                                   "clients")
        if self.ale is not None:
            self._check_ale(self.ale)
        if self.record is not None:
            if self.modem_client is not None:
                raise StationError("[record] and [modem_client] exclude each other: only the "
                                   "modem has samples")
            self.record.check()
        if self.modem_client is not None:
            _hf.mode(self.mode)  # raises for auto, since the other modem's mode is fixed
            if self.ack_mode not in ("auto", "same", self.mode):
                raise StationError(f"ack_mode '{self.ack_mode}': allowed with [modem_client] is "
                                   "same, since its modem has one mode")

    def _check_ale(self, ale: Ale) -> None:
        if self.modem_client is not None or self.modem_server is not None:
            raise StationError("[ale] needs a modem and a data link in one station")
        if self.bandwidth_khz != 3 or self.zero_interleaver:
            raise StationError("[ale] needs a mode of 3 kHz, and excludes zero_interleaver")
        ale.check()
        if self.radio is not None and ale.wide:
            self.radio.check_band(ale.frequencies_hz)
        if self.radio is not None and self.radio.rig is None and not self.radio.is_sdr:
            raise StationError("[ale] with [radio] needs [radio.rig], which changes channels")


def _mode_bandwidth_khz(mode: str) -> int:
    return int(_hf.mode(_hf.fastest_mode(mode)).bandwidth_hz) // 1000


#: Tables within tables of a station file, and their classes.
PARTS: Dict[Any, Dict[str, Any]] = {
    Description: {"ip_client": IpClient, "pep": Pep, "dns": Dns, "sis_server": SisServer,
                  "host": Host, "mail": Mail, "web": Web, "xmpp": Xmpp, "net": Net,
                  "modem_server": ModemServer, "modem_client": ModemClient, "capture": Capture,
                  "radio": Radio, "record": Record, "ale": Ale, "auth": Auth},
    Mail: {"route": [MailRoute]}, Xmpp: {"peer": [XmppPeer]},
    Radio: {"ptt": Ptt, "sdr": Sdr, "rig": Rig}}


def parse(text: str, where: str = "station") -> Description:
    """Read a description from TOML text. Raises StationError, whose text begins with where."""
    description: Description = tables.parse(Description, text, where, PARTS, StationError)
    return description


def check_together(descriptions: Sequence[Description]) -> None:
    """Raise StationError if two stations on one channel have the same address."""
    seen: Dict[str, str] = {}
    for number, d in enumerate(descriptions, 1):
        where = d.where or f"station {number}"
        if not d.address:
            continue
        address = str(_hf.s5066.address(d.address))
        if address in seen:
            raise StationError(f"{seen[address]} and {where}: both have address = "
                               f'"{address}"; each station on a channel needs its own')
        seen[address] = where


def load(path: str) -> Description:
    """Read a description from a TOML file. Raises StationError."""
    try:
        with open(path, "rb") as file:
            return parse(file.read().decode("utf-8", "replace"), path)
    except OSError as error:
        raise StationError(f"{path}: {error.strerror}") from None


def longest_transmission_octets(mode: str) -> int:
    """Octets of the longest transmission, the size that a client's queue should have.

    mode: a mode, or auto with or without a range of rates.
    """
    timing = _hf.timing(_hf.mode(_hf.fastest_mode(mode)))
    block = timing.block_begin(1) - timing.block_begin(0)
    return max(timing.octets_in(int(_hf.s5066.MAX_EOT_S / block)), 2048)


def _listed(blocks: Any) -> List[Any]:
    return blocks if isinstance(blocks, list) else [blocks]


class Station:
    """The connected blocks of one station. Blocks that it does not have are None.

    radio_source, radio_sink: blocks of the caller for complex samples, 3200/s for each kHz of
    bandwidth (9600 in 3 kHz). Not used with a modem_client. With [ale] also lists of blocks, one
    for each channel.
    emulated_modem: modem of an emulated_air, instead of radio_source and radio_sink.
    """

    def __init__(self, tb: gr.top_block, description: Description, radio_source: Any = None,
                 radio_sink: Any = None, lock_step: bool = True,
                 clock: Optional[Tuple[Any, str]] = None,
                 emulated_modem: Any = None, level: float = 1.6) -> None:
        """clock: block and port with station time for a modem_client, by default a new ticker.
        level: as in hf.modem."""
        self.description = description
        self.modem = self.modem_server = self.modem_client = self.data_link = self.ale = None
        self.pep = self.ip_client = self.dns = self.sis_server = None
        where = f"{description.where}: " if description.where else ""
        try:
            description.check()
            self._build(tb, description, radio_source, radio_sink, lock_step, clock,
                        emulated_modem, level)
        except (ValueError, TypeError) as error:
            raise StationError(where + str(error).split("\n", 1)[0]) from None
        except RuntimeError as error:
            raise RuntimeError(where + str(error)) from None

    def _build(self, tb: gr.top_block, d: Description, radio_source: Any, radio_sink: Any,
               lock_step: bool, clock: Optional[Tuple[Any, str]], emulated_modem: Any,
               level: float) -> None:
        if d.modem_client is not None:
            far = d.modem_client
            modem = self.modem_client = _hf.modem_client(d.mode, far.form, far.host, far.port,
                                                         d.netns)
            block, port = clock or (_hf.ticker(), "ticks")
            tb.msg_connect(block, port, modem, "ticks")
        elif emulated_modem is not None:
            modem = self.modem = emulated_modem
        elif d.ale is not None:
            modem = self._ale_station(tb, d.ale, radio_source, radio_sink, lock_step, level)
        else:
            modem = self.modem = _hf.modem(lock_step, d.zero_interleaver,
                                           start_delay_s=d.start_delay_s, level=level,
                                           bandwidth=d.bandwidth_khz)
            tb.connect(radio_source, modem, radio_sink)
        if d.modem_server is not None:
            near = d.modem_server
            user = self.modem_server = _hf.modem_server(d.mode, near.form, near.address,
                                                        near.port, near.receiver_master, d.netns)
        else:
            output.check_all([c for c in (d.capture.d_pdu, d.capture.sis) if c])
            ack_mode = "same" if self.modem_client else d.ack_mode
            user = self.data_link = _hf.data_link(d.address, d.mode, ack_mode, d.data_link,
                                                  d.capture.d_pdu, d.capture.sis,
                                                  d.auth.words(d.address) if d.auth else [])
        tb.msg_connect(modem, "modem", user, "modem")
        tb.msg_connect(user, "modem", modem, "modem")
        if self.data_link is not None:
            self._add_clients(tb, d)

    def _ale_station(self, tb: gr.top_block, a: Ale, sources: Any, sinks: Any, lock_step: bool,
                     level: float) -> Any:
        sources, sinks = _listed(sources), _listed(sinks)
        seed = zlib.crc32(a.addresses[0].encode())  # stations must not pause equally long
        modem = self.modem = self.ale = _hf.ale_station(
            a.addresses, len(a.frequencies_hz), a.peers, a.nets, a.scanned, a.wide, len(sources),
            a.settings, lock_step, self.description.start_delay_s, level, seed)
        for k, (source, sink) in enumerate(zip(sources, sinks)):
            tb.connect(source, (modem, k))
            tb.connect((modem, k), sink)
        return modem

    def _add_clients(self, tb: gr.top_block, d: Description) -> None:
        # Queue about one longest transmission below SLEP. Less starves the link, more delays
        # urgent data.
        queue = int(1.1 * longest_transmission_octets(d.mode)) + 2048
        if d.pep is not None:
            self.pep = _hf.pep(d.pep.listen, d.pep.routes, queue,
                               max_connections=d.pep.max_connections, netns=d.netns,
                               allow=d.pep.allow, rules=d.pep.rule_words(),
                               settings=d.pep.settings, ca=d.pep.ca_folder())
            self.add_client(tb, self.pep)
        if d.ip_client is not None:
            c = d.ip_client
            self.ip_client = _hf.ip_client(c.device, c.address, c.routes, c.mtu, queue, d.netns,
                                           filter=words_of(c.filter), queue=c.queue,
                                           settings=c.settings)
            self.add_client(tb, self.ip_client)
        if d.dns is not None:
            # After the IP client, since it may listen on the TUN device's address.
            x = d.dns
            self.dns = _hf.dns_pep(x.listen, x.routes, x.resolver, x.peers, x.local, x.blocked,
                                   x.settings, d.netns)
            self.add_client(tb, self.dns)
        if d.sis_server is not None:
            n = d.sis_server
            self.sis_server = _hf.sis_server(n.address, n.port, n.max_clients, netns=d.netns,
                                             ranks=n.ranks)
            self.add_client(tb, self.sis_server)

    def add_client(self, tb: gr.top_block, client: Any) -> None:
        """Connect another client, for example hf.traffic, to the data link."""
        tb.msg_connect(client, "sis", self.data_link, "sis")
        tb.msg_connect(self.data_link, "sis", client, "sis")

    def stream_port(self, node: str, name: str, port: int) -> int:
        """Port on loopback of a listener that Description.stream_to() asked for."""
        assert self.description.pep is not None
        end = f"={_hf.s5066.address(node)}.{name}:{port}"
        place = next(k for k, at in enumerate(self.description.pep.listen) if at.endswith(end))
        return int(self.pep.ports()[place])

    def sis_address(self) -> str:
        """HOST:PORT at which programs of this machine reach the SIS server."""
        assert self.description.sis_server is not None
        at = self.description.sis_server.address
        at = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(at, at)
        return f"{f'[{at}]' if ':' in at else at}:{self.sis_server.port()}"

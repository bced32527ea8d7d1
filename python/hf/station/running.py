# SPDX-License-Identifier: GPL-3.0-or-later
"""Several stations in one flowgraph, from their descriptions, on radios or a simulated air."""
import os
import pwd
import tempfile
import time
from typing import Any, Callable, List, Optional

from gnuradio import gr

from .. import hf_python as hf
from .. import station
from . import ale_tuner as tuner, edge, names, service, watch

#: Opens the radio of a station, as radio.open_radio() does.
Opens = Callable[[gr.top_block, station.Description], edge.Edge]


class Airs:
    """Simulated channels that several stations share: one, or one for each channel of ALE."""

    def __init__(self, airs: List[Any]) -> None:
        self.airs = airs

    def sources(self, station_number: int) -> List[Any]:
        """What a station hears on each channel."""
        return [air.source(station_number) for air in self.airs]

    def sinks(self, station_number: int) -> List[Any]:
        """What a station transmits on each channel."""
        return [air.sink(station_number) for air in self.airs]

    def set_speed(self, speed: float) -> None:
        """Change the pace while running."""
        for air in self.airs:
            air.set_speed(speed)

    def end(self) -> None:
        """End all streams as soon as possible."""
        for air in self.airs:
            air.end()

    def now(self) -> float:
        """Station time released to the slowest station, s."""
        return min(air.now() for air in self.airs)


class Stations:
    """Stations in one flowgraph. Those with a [radio] use it, the others share a simulated air.

    A context manager that stops everything at the end. Stations with [modem_client] take station
    time from a modem of the same run, since a simulated air may run at another speed. Without
    such a modem they use the host's clock.
    """

    def __init__(self, descriptions: List[station.Description], channel: str, seed: int,
                 speed: float,
                 open_radio: Optional[Opens] = None, details: bool = True) -> None:
        """open_radio: opens the radio of a station that has one. details: new_lines() also has
        single transmissions and D_PDUs."""
        hf.channel_model(channel)  # raises for a wrong channel before any set-up
        station.check_together(descriptions)
        self.tb = gr.top_block("hf run")
        on_air = [d for d in descriptions if d.modem_client is None and d.radio is None]
        if len(on_air) == 1:
            raise ValueError(f"station {on_air[0].name} is alone on a simulated air: give a "
                             "second station file, [radio] for a radio, or [modem_client] for a "
                             "modem elsewhere")
        self.air = None
        if on_air:
            bandwidths = {d.bandwidth_khz: d.name for d in on_air}
            if len(bandwidths) > 1:
                raise ValueError("stations on one air have one bandwidth: " + ", ".join(
                    f"{name} has {khz} kHz" for khz, name in bandwidths.items()))
            power = max(hf.mode(hf.reference_mode(d.mode)).mean_power for d in on_air)
            channels = {len(d.ale.frequencies_hz) if d.ale else 0: d.name for d in on_air}
            if len(channels) > 1:
                raise ValueError("stations on one air have the same channels: " + ", ".join(
                    f"{name} has {n or 'no ALE'}" for n, name in channels.items()))
            count = max(next(iter(channels)), 1)
            self.air = Airs([hf.air(len(on_air), channel, seed + k, speed, power,
                                    bandwidth=on_air[0].bandwidth_khz) for k in range(count)])
        self.stations, self.logs, self._details = [], [], details
        self.tuners: List[tuner.AleTuner] = []
        self.said: List[str] = []  #: further lines for the operator
        #: For each station the block with its received samples, or None.
        self.received: List[Any] = []
        #: For each station its radio, or None.
        self.radio_of: List[Optional[edge.Edge]] = []
        for k, d in enumerate(on_air):
            sources = self.air.sources(k)
            sinks = self.air.sinks(k)
            made = (station.Station(self.tb, d, sources, sinks) if d.ale else
                    station.Station(self.tb, d, sources[0], sinks[0]))
            self._add(made, sources[0])
        self.radios: List[edge.Edge] = []
        try:
            for d in descriptions:
                if d.radio is not None:
                    self._add_with_radio(d, open_radio)
        except BaseException:
            self.close()
            raise
        clock = (self.stations[0].modem, "modem") if self.stations else None
        for d in descriptions:
            if d.modem_client is not None:
                self._add(station.Station(self.tb, d, clock=clock))

    def _add_with_radio(self, d: station.Description,
                        open_radio: Optional[Opens]) -> None:
        if open_radio is None:
            raise ValueError(f"station {d.name} has a radio, which cannot be opened here")
        radio = open_radio(self.tb, d)
        self.radios.append(radio)
        s = station.Station(self.tb, d, radio.sources or radio.source, radio.sinks or radio.sink,
                            radio.lock_step, level=radio.level)
        self._add(s, radio.source, radio)
        if s.ale is not None and d.ale is not None:
            if radio.rig is None:
                raise ValueError(f"station {d.name}: [ale] needs a rig or an SDR that changes "
                                 "channels")
            self.tuners.append(tuner.AleTuner(radio.rig, d.ale.frequencies_hz, self.said.append))
            self.tb.msg_connect(s.ale, "ale", self.tuners[-1], "ale")
        if radio.events is not None and s.modem is not None:
            self.tb.msg_connect(radio.events, "events", s.modem, "radio")
        if radio.key is not None and s.modem is not None:
            self.tb.msg_connect(radio.key, "events", s.modem, "radio")
        assert d.radio is not None
        if s.data_link is not None and (d.radio.recording or not d.radio.transmit):
            s.data_link.set_emcon(True)  # deliver received data without acknowledging it

    def close(self) -> None:
        """Release the keys of all radios, also of stations that were never started."""
        for radio in self.radios:
            radio.close()

    def _add(self, s: station.Station, received: Any = None,
             radio: Optional[edge.Edge] = None) -> None:
        self.stations.append(s)
        self.received.append(received)
        self.radio_of.append(radio)
        if s.data_link is not None:
            known = names.Names(s.description)
            lines = watch.LogWatch(f"{s.description.address} ", details=self._details,
                                   shown=known.in_text)
            for block in (s.ale, s.data_link, s.pep, s.ip_client, s.dns):
                if block is not None:
                    self.tb.msg_connect(block, "log", lines, "log")
            self.logs.append(lines)

    @property
    def medium(self) -> str:
        """The medium between the stations, in words."""
        if self.air:
            return "simulated air"
        kinds = {d.radio.type for d in (s.description for s in self.stations) if d.radio}
        return "a recording" if kinds == {"file"} else "on the air"

    def over(self) -> bool:
        """True when all radios are recordings that have ended."""
        return bool(self.radios) and not self.air and all(r.over for r in self.radios)

    def now(self) -> float:
        """Station time, s."""
        if self.air:
            return self.air.now()
        first = self.stations[0]
        return (first.modem or first.data_link).state().now

    def __enter__(self) -> "Stations":
        self.tb.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.air:
            self.air.end()
        self.tb.stop()
        self.close()  # even if the flowgraph does not end
        self.tb.wait()

    def new_lines(self) -> List[str]:
        """Log lines of data links and radios since the last call, with station time and sorted
        by it."""
        lines = [line for log in self.logs for line in log.take()]
        said = [("", self.said.pop(0)) for _ in range(len(self.said))]
        said += [(s.description.name + " ", line) for s, radio
                 in zip(self.stations, self.radio_of) if radio for line in radio.take_lines()]
        if said:
            now = self.now()
            lines += [watch.timed(now, name + line) for name, line in said]
        return sorted(lines, key=lambda line: float(line.split(None, 1)[0]))


def greeting(s: station.Station) -> str:
    """The line printed when a station runs."""
    d = s.description
    text = f"station {d.name}, {d.mode}"
    if s.sis_server:
        text += f", SIS server on port {s.sis_server.port()}"
    if s.modem_server:
        text += f", modem server ({d.modem_server.form}) on port {s.modem_server.port()}"
    if d.modem_client:
        text += f", modem at {d.modem_client.host}:{d.modem_client.port}"
    return text


def details(s: station.Station, services: service.Services) -> List[str]:
    """Lines on what a station and its services have opened, and to whom."""
    d, lines = s.description, []
    if d.sis_server:
        lines.append(f"SIS server: anyone who reaches {d.sis_server.address} port "
                     f"{s.sis_server.port()} can transmit")
    if d.modem_server:
        lines.append(f"modem server: anyone who reaches {d.modem_server.address} port "
                     f"{s.modem_server.port()} can transmit")
    if d.ip_client:
        lines.append(f"IP client: TUN device {d.ip_client.device}, {d.ip_client.address}; to "
                     f"{', '.join(d.ip_client.routes) or 'nobody'}")
    if d.pep:
        lines.append(f"HF-PEP: listens on {', '.join(d.pep.listen) or 'nothing'}; to "
                     f"{', '.join(d.pep.routes) or 'nobody'}"
                     + ("" if d.pep.allow else "; peers may reach nothing"))
        lines += [f"HF-PEP: {service.who(nodes.split(', ') if nodes else [])} may reach {what}"
                  for what, _, nodes in (entry.partition(" from ") for entry in d.pep.allow)]
    if d.pep and any(rule.get("tls") == "apart" for rule in d.pep.rule):
        authority = hf.tls_authority(d.pep.ca_folder())
        until = time.strftime("%Y-%m-%d", time.gmtime(authority.not_after))
        lines.append(f"TLS apart: certificate authority {authority.path} for "
                     f"{', '.join(authority.names) or 'every host'}, valid until {until}")
    if d.dns:
        lines.append(f"DNS: listens on {', '.join(d.dns.listen) or 'nothing'}; "
                     + (f"{service.who(d.dns.peers)} may ask {d.dns.resolver}"
                        if d.dns.resolver else "peers may ask nothing"))
    lines += services.details(d.name)
    files = [path for path in (d.capture.d_pdu, d.capture.sis) if path]
    if files:
        lines.append(f"captures: {', '.join(files)}")
    if d.radio:
        lines.append(_radio(d.radio))
    if d.netns:
        lines.append(f"all in network namespace {d.netns}")
    return [f"{d.name}  {line}" for line in lines]


def _radio(r: station.Radio) -> str:
    """One line on the radio of a station."""
    if r.type == "file":
        pace = "in real time" if r.paced else "as fast as possible"
        return f"recording: {r.recording}, {pace}; never transmits"
    if r.is_sdr:
        hears, speaks = f"{r.sdr.args}, {r.sdr.frequency_hz / 1e6:g} MHz", "transmits"
    else:
        hears = f"hears {r.capture or 'the default device'}"
        speaks = f"transmits on {r.playback or 'the default device'}"
    return (f"radio: {r.type}, {hears}, "
            + (f"{speaks}, key: {r.ptt.way}" if r.transmit else "never transmits")
            + (f", rig: {r.rig.text()}" if r.rig else ""))


def become(user: str) -> None:
    """Continue as this user, without root privileges. Raises ValueError or RuntimeError.

    Applies to all threads, also to those that sockets and devices have already started.
    """
    try:
        account = pwd.getpwnam(user)
    except KeyError:
        raise ValueError(f"user {user}: does not exist") from None
    if account.pw_uid == 0:
        raise ValueError(f"user {user}: is root; allowed is any other user")
    if os.geteuid() == 0:
        hf.give_up_new_rights()
    try:
        os.setgroups([])
        os.setresgid(account.pw_gid, account.pw_gid, account.pw_gid)
        os.setresuid(account.pw_uid, account.pw_uid, account.pw_uid)
    except PermissionError:
        raise RuntimeError(f"cannot become user {user}: only root can, and {os.geteuid()} "
                           "is not root") from None
    # GNU Radio keeps its preferences in HOME, and fails if it cannot write there.
    homes = [os.environ.get("HOME", ""), account.pw_dir, tempfile.gettempdir()]
    os.environ["HOME"] = next((h for h in homes if os.access(h, os.W_OK | os.X_OK)), homes[-1])

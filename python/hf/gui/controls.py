# SPDX-License-Identifier: GPL-3.0-or-later
"""What the page of running stations may change and send, with --control."""
from typing import Any, Dict, List, Optional

from .. import station
from ..station import running
from . import messages, net, snapshot, web


def add_messages(stations: running.Stations, views: List[snapshot.StationView],
                 inbox: Optional[str]) -> None:
    """Give each station of a page its messages and questions. inbox: folder for received files, or
    None."""
    for s, view in zip(stations.stations, views):
        view.net = net.NetQuestion(_server(s), stations.now)
        view.messages = messages.Messages(_server(s), inbox, view.names)
        if s.sis_server is not None and s.description.netns:
            view.messages.failure = "the SIS server of this station is in a network namespace"


def _server(s: station.Station) -> str:
    """HOST:PORT of a station's SIS server as seen from here. Empty if it cannot be reached."""
    return "" if s.sis_server is None or s.description.netns else s.sis_address()


def controls_of(stations: running.Stations, views: List[snapshot.StationView]) -> web.Controls:
    """Actions that the page of these stations may take. views: their views, with messages."""
    links = {s.description.name: s.data_link for s in stations.stations}

    def link(name: str) -> Any:
        if links.get(name) is None:
            raise ValueError(f"station {name}: allowed are {', '.join(links)}")
        return links[name]

    def set_emcon(name: str, value: Any) -> None:
        if not isinstance(value, bool):
            raise ValueError(f"emcon {value!r}: allowed are true and false")
        link(name).set_emcon(value)

    def set_speed(_: str, value: Any) -> None:
        speed = float(value)
        if not 0.1 <= speed <= 1000:
            raise ValueError(f"speed {value}: allowed are 0.1 to 1000 times real time")
        stations.air.set_speed(speed)

    dials = {s.description.name: r.rig for s, r in zip(stations.stations, stations.radio_of)
             if r is not None and r.rig is not None}

    def set_frequency(name: str, value: Any) -> None:
        if dials.get(name) is None:
            raise ValueError(f"station {name}: the frequency of its radio cannot be set")
        hz = float(value)
        if not 1 <= hz <= 6e9:
            raise ValueError(f"frequency {value}: allowed are 1 to 6e9 Hz")
        try:
            dials[name].set(hz)
        except RuntimeError as error:
            raise ValueError(str(error)) from None

    found: web.Controls = {"emcon": set_emcon,
                           "mode": lambda name, value: link(name).set_mode(str(value))}
    if dials:
        found["frequency"] = set_frequency
    if stations.air:
        found["speed"] = set_speed
    found.update(_messages(views))
    asks = {v.station.description.name: v.net for v in views if v.net is not None}
    if asks:
        found["net"] = lambda name, _: asks[name].ask()
    return found


def _messages(views: List[snapshot.StationView]) -> web.Controls:
    """The actions messages (true or false), chat (to, text), file (to, name, data) and mail
    (sender, to, subject, text)."""
    by_name: Dict[str, messages.Messages] = {
        v.station.description.name: v.messages for v in views if v.messages is not None}

    def of(name: str) -> messages.Messages:
        if name not in by_name:
            raise ValueError(f"station {name}: allowed are {', '.join(by_name)}")
        return by_name[name]

    def set_open(name: str, value: Any) -> None:
        if not isinstance(value, bool):
            raise ValueError(f"messages {value!r}: allowed are true and false")
        if value:
            of(name).open()
        else:
            of(name).close()

    def say(name: str, value: Any) -> None:
        of(name).say(value["to"], value["text"])

    def send_file(name: str, value: Any) -> None:
        of(name).send_file(value["to"], value["name"], value["data"])

    return {"messages": set_open, "chat": say, "file": send_file,
            "mail": lambda name, value: of(name).send_mail(value)} if by_name else {}

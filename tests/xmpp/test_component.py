# SPDX-License-Identifier: GPL-3.0-or-later
"""The components at a sham chat server, which hands what is for one to any, as ejabberd does."""
import re
import socket
import threading
import time

from gnuradio.hf import station
from gnuradio.hf.station import xmpp_tables
from gnuradio.hf.xmpp import gateway
import pytest

pytest.importorskip("slixmpp", reason="slixmpp is missing (Debian: python3-slixmpp)")
from gnuradio.hf.xmpp.component import Components  # noqa: E402

FAR = ["shore.example", "rooms.shore.example"]
GOOD = "<message from='bert@shore.example' to='anna@ship.example'><body>{}</body></message>"


class ShamServer(threading.Thread):
    """Answers each ping at the other component's connection."""

    def __init__(self):
        super().__init__(daemon=True)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.of, self.bodies, self.last_words = {}, [], ""

    def run(self):
        while len(self.of) < len(FAR):
            connection, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        text, domain = "", ""
        while octets := connection.recv(65536):
            text += octets.decode()
            if not domain and (found := re.search(r"<stream:stream[^>]*to=\"([^\"]*)\"", text)):
                domain = found.group(1)
                connection.sendall(
                    b"<stream:stream xmlns='jabber:component:accept' id='1' "
                    b"xmlns:stream='http://etherx.jabber.org/streams'>")
            elif "</handshake>" in text:
                self.of[domain] = connection
                connection.sendall(b"<handshake/>")
            elif "</stream:stream>" in text:
                connection.sendall(self.last_words.encode() + b"</stream:stream>")
            elif found := re.search(r"<iq [^>]*id=\"([^\"]*)\"[^>]*><ping.*?</iq>", text):
                self.bodies += re.findall("<body>(.*?)</body>", text)
                while len(self.of) < len(FAR):
                    time.sleep(0.01)
                (other,) = [c for d, c in self.of.items() if d != domain]
                other.sendall(f"<iq type='result' from='ship.example' to='{domain}' "
                              f"id='{found.group(1)}'/>".encode())
            else:
                continue
            text = ""


@pytest.fixture
def server():
    made = ShamServer()
    made.start()
    yield made
    made.listener.close()


def gateway_of(server, folder, lines):
    settings = station.Xmpp(
        folder=str(folder), secret="x", domains=["ship.example"],
        server=f"127.0.0.1:{server.listener.getsockname()[1]}",
        peer=[xmpp_tables.XmppPeer(domains=FAR, node="1.2.0.2")])
    settings.check()
    return gateway.Gateway(settings, "127.0.0.1:1", 20000, "all", lines.append)


def test_a_stanza_before_the_end_of_the_connection_is_kept(server, tmp_path):
    lines = []
    made = gateway_of(server, tmp_path, lines)
    components = Components(made, lines.append)
    end = time.monotonic() + 20
    while len(components.connected()) < len(FAR):
        assert time.monotonic() < end, lines
        time.sleep(0.02)
    server.last_words = ("<message from='anna@ship.example' to='bert@shore.example'>"
                         "<body>last</body></message>")
    components.close()
    assert made.journal.waiting("1.2.0.2") == len(FAR)
    made.close()


def test_an_answer_may_come_to_another_component(server, tmp_path):
    lines = []
    made = gateway_of(server, tmp_path, lines)
    for k in range(3):
        made.journal.take(FAR[0], GOOD.format(k).encode())
    components = Components(made, lines.append)
    end = time.monotonic() + 20
    while made.journal.sizes()["incoming"] != (0, 0):
        assert time.monotonic() < end, lines
        time.sleep(0.02)
    components.close()
    made.close()
    assert server.bodies == ["0", "1", "2"]

# SPDX-License-Identifier: GPL-3.0-or-later
"""Two exchanges with a sham link between them, which fails, and their gateways are killed."""
import collections
import itertools
import random

from gnuradio.hf.station import xmpp_tables
from gnuradio.hf.xmpp import codec, exchange, journal, stanza
import pytest

NODES = {"ship": "1.2.0.1", "shore": "1.2.0.2"}
FAR = {"ship": "shore", "shore": "ship"}


class Side:
    """One gateway's exchange, which can be killed: only its journal stays."""

    def __init__(self, name, folder, **peer):
        self.name, self.folder, self.arrived, self.lines = name, folder, [], []
        self.peer = xmpp_tables.XmppPeer(domains=[f"{FAR[name]}.example"], node=NODES[FAR[name]],
                                         **peer)
        self.start()

    def start(self):
        self.journal = journal.Journal(str(self.folder), 1000, 10**7)
        self.exchange = exchange.Exchange(self.peer, [f"{self.name}.example"], self.journal, 20000,
                                          65536, self.take, self.lines.append)
        self.exchange.begin()

    def kill(self):
        self.journal._db.rollback()
        self.journal._db.close()
        self.start()

    def take(self, s):
        self.journal.take("x", stanza.write(s))
        self.arrived.append(s.findtext(f"{{{stanza.SERVER}}}body"))

    def write(self, body, person="anna", kind="message", written=1000.0):
        text = (f"<{kind} from='{person}@{self.name}.example' to='bert@{FAR[self.name]}.example'>"
                f"<body>{body}</body></{kind}>")
        self.journal.put(self.peer.node, person, 0 if kind == "message" else 2, text.encode(),
                         written)


class Link:
    """Carries U_PDUs in order. lose: probability that a stanza fails, and all after it."""

    def __init__(self, sides, seed=1):
        self.sides, self.random, self.now = sides, random.Random(seed), 1000.0

    def move(self, name, lose=0.0, kill=0.0):
        """What one side has to send. False: nothing."""
        side, far = self.sides[name], self.sides[FAR[name]]
        u_pdus = side.exchange.due(2048, self.now)
        for u in u_pdus:
            if self.random.random() < lose:
                side.exchange.again()
                break
            if u.last and self.random.random() < kill:
                far.kill()  # the node had delivered it, the gateway had not written it down
            else:
                far.exchange.take(u.octets, self.now)
            if u.last and self.random.random() < kill:
                side.kill()  # before it has seen the confirmation
                break
            if u.last:
                side.exchange.confirmed(u.number)
        self.now += 100
        return bool(u_pdus)

    def all(self, **trouble):
        while any([self.move(name, **trouble) for name in self.sides]):
            pass


@pytest.fixture
def both(tmp_path, request):
    peer = getattr(request, "param", {})
    sides = {name: Side(name, tmp_path / name, **peer) for name in NODES}
    yield Link(sides)
    for side in sides.values():
        side.journal.close()


@pytest.mark.parametrize("both", [{"compression": "deflate"}, {"compression": "none"}],
                         indirect=True)
def test_each_once_in_order_while_all_is_killed(both):
    ship, shore = both.sides.values()
    for k in range(150):
        ship.write(f"to shore {k}")
        if k % 3 == 0:
            shore.write(f"to ship {k}")
        both.all(lose=0.1, kill=0.1)
    ship.exchange.begin()
    shore.exchange.begin()
    both.all()
    both.now += 100
    both.all()
    assert shore.arrived == [f"to shore {k}" for k in range(150)]
    assert ship.arrived == [f"to ship {k}" for k in range(0, 150, 3)]
    assert ship.journal.sizes()["outgoing"] == shore.journal.sizes()["outgoing"] == (0, 0)


def test_the_last_message_before_a_kill_is_not_lost(both):
    ship, shore = both.sides.values()
    ship.write("first")
    both.all()
    ship.write("second")
    both.all(kill=0)
    ship.write("third")
    for u in ship.exchange.due(2048, 0):
        ship.exchange.confirmed(u.number)  # by the node: the gateway there is down
    shore.kill()
    both.all()
    assert shore.arrived == ["first", "second", "third"]


class Sockets:
    """Both sides with a socket from their node: what is in it has been confirmed, and is lost when
    the gateway is killed. One step moves one U_PDU, or reads one."""

    def __init__(self, sides):
        self.sides, self.now = sides, 1000.0
        self.inbox = {name: collections.deque() for name in sides}
        self.waiting = {name: collections.deque() for name in sides}

    def kill(self, name):
        self.inbox[name].clear()
        self.waiting[name].clear()
        self.sides[name].kill()

    def step(self, name):
        side, self.now = self.sides[name], self.now + 1
        if not self.waiting[name]:
            self.waiting[name].extend(side.exchange.due(2048, self.now))
        if self.waiting[name]:
            u = self.waiting[name].popleft()
            self.inbox[FAR[name]].append(u.octets)
            if u.last:
                self.inbox[name].append(u.number)
        elif self.inbox[name]:
            found = self.inbox[name].popleft()
            if isinstance(found, int):
                side.exchange.confirmed(found)
            else:
                side.exchange.take(found, self.now)
        else:
            return False
        return True

    def run(self, kills):
        """kills: who is killed, by the number of the step before."""
        quiet, number = 0, 0
        while quiet < 2 or number <= max(kills, default=0):
            quiet = 0 if self.step(list(NODES)[number % 2]) else quiet + 1
            if number in kills:
                self.kill(kills[number])
            number += 1


def after_kills(folder, known, kills):
    """What arrives of three stanzas, and of one after the kills, which shows what is missing."""
    both = Sockets({name: Side(name, folder / name) for name in NODES})
    ship, shore = both.sides.values()
    if known:
        for side in (ship, shore):
            side.write("before")
        both.run({})
    for side in (ship, shore):
        side.kill()  # not the first start of either
    for k in range(3):
        ship.write(f"{k}")
    both.run(kills)
    ship.write("last")
    both.run({})
    for side in (ship, shore):
        side.journal.close()
    return shore.arrived[int(known):]


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("who", itertools.product(NODES, repeat=2), ids="-".join)
def test_kills_at_each_step_lose_nothing(tmp_path, monkeypatch, known, who):
    """Two kills. The gateways have heard each other before, or not."""
    monkeypatch.setattr(journal, "SCHEMA", "PRAGMA synchronous=OFF;" + journal.SCHEMA)
    for first in range(16):
        for second in (first + 1, first + 8):
            kills = {first: who[0], second: who[1]}
            assert after_kills(tmp_path / f"{first} {second}", known, kills) == \
                ["0", "1", "2", "last"], kills


@pytest.mark.parametrize("wiped", ["ship", "shore"])
def test_a_side_that_has_lost_its_journal(both, wiped):
    ship, shore = both.sides.values()
    for k in range(5):
        ship.write(f"{k}")
        both.all()
    side = both.sides[wiped]
    side.journal.close()
    (side.folder / "stanzas.db").unlink()
    side.start()
    for k in range(5, 10):
        ship.write(f"{k}")
        both.all()
    assert [b for b in shore.arrived if int(b) > 4] == [f"{k}" for k in range(5, 10)]
    assert sorted(set(shore.arrived), key=int) == [f"{k}" for k in range(10)]


def test_what_has_expired_is_not_waited_for(both):
    ship, shore = both.sides.values()
    ship.write("0")
    both.all()
    ship.write("late")
    ship.write("2")
    shore_node = NODES["shore"]
    ship.exchange.due(2048, 0)  # on its way, which fails
    assert ship.exchange.is_on_the_way(1) and not ship.exchange.is_on_the_way(None)
    ship.exchange.again()
    assert not ship.exchange.is_on_the_way(1)
    (late,) = [row for row in ship.journal.expired(shore_node, 2000.0) if b"late" in row.text]
    ship.journal.expire(late.id, [])
    both.all()
    assert shore.arrived == ["0", "2"] and shore.exchange.counts["lost"] == 1


@pytest.mark.parametrize("both", [{"extensions": False, "compression": "none"}], indirect=True)
def test_a_gateway_of_another_maker(both):
    """It numbers as it likes, sends no notices, and sends some messages twice."""
    _, shore = both.sides.values()
    for id_, body in ((200, "a"), (201, "b"), (201, "b"), (5, "c"), (0, "d"), (1, "e"), (0, "d"),
                      (2, "f"), (2, "g")):
        plain = ("<message from='x@ship.example' to='y@shore.example'>"
                 f"<body>{body}</body></message>")
        (u_pdu,) = codec.Packer(0, False, 0x1234).pack(id_, plain.encode(), 2048)
        shore.exchange.take(u_pdu, 0.0)
    assert "".join(shore.arrived) == "abcdefg"
    assert shore.exchange.counts["second_copies"] == 2
    assert shore.exchange.due(2048, 0.0) == []


def test_confirmation_by_the_node_while_the_far_gateway_is_heard(both, monkeypatch):
    ship, shore = both.sides.values()
    now = [1e6]
    monkeypatch.setattr(exchange.time, "monotonic", lambda: now[0])

    def asked(count, confirm=True):
        found = []
        for _ in range(count):
            ship.write("x")
            u_pdus = ship.exchange.due(2048, 0.0)
            found.append(u_pdus[-1].confirmation)
            assert {u.confirmation for u in u_pdus[:-1]} <= {"node"}
            if confirm:
                ship.exchange.confirmed(u_pdus[-1].number)
        return found

    assert asked(3, confirm=False) == ["client", "node", "node"], "one question at a time"
    for number in (1, 2):
        ship.exchange.confirmed(number)  # by the node
    ship.exchange.again()  # nobody is bound there
    again = []
    while u_pdus := ship.exchange.due(2048, 0.0):
        again.append(u_pdus[-1].number)
    assert again == [0, 1, 2], "what a node has answered for is sent again"
    for number in again:
        ship.exchange.confirmed(number)
    assert asked(20) == ["node"] * 12 + ["client"] + ["node"] * 7
    now[0] += exchange.HEARD_S
    assert asked(2) == ["client", "node"]
    now[0] += exchange.HEARD_S
    shore.write("here")
    both.all()
    assert asked(2) == ["node"] * 2


def test_a_notice_asks_after_a_long_stanza(both):
    """A confirmation by the far client repeats the U_PDU."""
    ship, _ = both.sides.values()
    ship.write("".join(random.Random(1).choices("0123456789abcdef", k=6000)))
    u_pdus = ship.exchange.due(2048, 0.0)
    assert len(u_pdus) == 3 and [u.last for u in u_pdus] == [False, False, True]
    asks = u_pdus[-1]
    assert (len(asks.octets), asks.confirmation, asks.number) == (8, "client", 0)
    assert codec.as_notice(codec.segment(asks.octets)) == (codec.START, 1)
    ship.exchange.confirmed(0)
    assert not ship.exchange.is_waiting


def test_order_by_person(both):
    ship, shore = both.sides.values()
    for k in range(3):
        ship.write("", kind="presence", person=f"p{k}")
    for k in range(4):
        ship.write(f"anna {k}", "anna")
    ship.write("bert 0", "bert")
    ship.write("carl 0", "carl")
    ship.write("bert 1", "bert")
    both.all()
    assert shore.arrived[:7] == ["anna 0", "bert 0", "carl 0", "anna 1", "bert 1", "anna 2",
                                 "anna 3"]
    assert shore.exchange.counts["received"] == 10


def test_long_messages_do_not_fill_the_way(both):
    ship, _ = both.sides.values()
    ship.exchange._window = 3000
    for k in range(5):
        ship.write("".join(random.Random(k).choices("0123456789abcdef", k=8000)), "anna")
    sent = []

    def send():
        while u_pdus := ship.exchange.due(2048, 0.0):
            sent.extend(u for u in u_pdus if u.number >= 0)

    send()
    assert {u.number for u in sent} == {0} and 3000 < sum(len(u.octets) for u in sent) < 6000
    ship.write("short", "bert")
    send()
    assert {u.number for u in sent} == {0}
    ship.exchange.confirmed(0)
    send()
    assert [len(u.octets) for u in sent if u.number == 1][0] < 100, "that of another person first"
    assert {u.number for u in sent} == {0, 1, 2}


def test_a_message_is_stamped_when_it_is_late(both):
    ship, shore = both.sides.values()
    got = []
    shore.exchange._received = got.append
    ship.write("now", written=1000.0)
    ship.write("yesterday", written=1000.0 - 86400)
    for _ in range(2):
        for u in ship.exchange.due(2048, 1010.0):
            shore.exchange.take(u.octets, 0.0)
    delays = [m.find("{urn:xmpp:delay}delay") for m in got]
    assert delays[0] is None
    assert delays[1].attrib == {"stamp": "1969-12-31T00:16:40Z", "from": "ship.example"}

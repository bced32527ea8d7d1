# SPDX-License-Identifier: GPL-3.0-or-later
"""Files as erasure-coded blocks: enough of any blocks restore a file, and nothing else does."""
import random
import struct
import sys

from click.testing import CliRunner
from gnuradio.hf.cli import send as send_command
from gnuradio.hf.sis import coded, files, s5066
import pytest

zfec = pytest.importorskip("zfec", reason="python3-zfec is not installed")

NODE, MTU = "1.2.0.2", 2048
MESSAGE = random.Random(1).randbytes(5000)


class Group:
    """A bound client whose U_PDUs go to receivers, transmission by transmission."""

    sap, mtu = s5066.SAP_UDOP, MTU

    def __init__(self):
        self.transmissions, self.waits, self.modes = [[]], [], []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def bind(self, sap, rank, service):
        assert sap == s5066.SAP_UDOP

    def send(self, dst, u_pdu, sap, mode):
        self.transmissions[-1].append(u_pdu)
        self.modes.append(mode)

    def wait(self, seconds):
        self.waits.append(seconds)
        self.transmissions.append([])


def blocks_of(message=MESSAGE, number=7, loss=0.2):
    return coded.encode(message, number, coded.plan(len(message), MTU, loss))


def arrive(receiver, u_pdus):
    """Give U_PDUs to a receiver; the files that they complete."""
    found = []
    for u_pdu in u_pdus:
        p = s5066.s_unidata_indication()
        p.src, p.src_sap, p.u_pdu = s5066.address(NODE), s5066.SAP_UDOP, u_pdu
        found.append(receiver.take(p))
    return [f for f in found if f is not None]


@pytest.mark.parametrize("octets", [1, 2, 7, 8, 9, 300, 5000, 16384, 100_000])
def test_any_k_blocks_restore_a_message_and_fewer_do_not(octets):
    message = random.Random(octets).randbytes(octets)
    plan = coded.plan(octets, MTU, 0.2)
    blocks = coded.encode(message, 1, plan)
    assert plan.k <= coded.GROUPS * plan.group and len(blocks) >= plan.groups * plan.group
    assert all(len(b) <= MTU - 6 for b in blocks)
    for seed in range(10):
        chosen = random.Random(seed).sample(blocks, plan.k)
        collector = coded.Collector()
        assert all(collector.take(NODE, b) is None for b in chosen[:-1] * 2)
        assert collector.take(NODE, chosen[-1]) == message
        assert all(collector.take(NODE, b) is None for b in blocks)  # once only


@pytest.mark.parametrize("loss, least", [(0.0, 8), (0.1, 13), (0.2, 17), (0.3, 21)])
def test_the_fewest_groups_that_give_the_delivery_wanted_are_sent(loss, least):
    plan = coded.plan(5000, MTU, loss)
    rng = random.Random(2)
    runs = 40_000
    short = sum(sum(rng.random() >= loss for _ in range(plan.groups)) < coded.GROUPS
                for _ in range(runs))
    # Of 40000 receivers 40 may miss it; 65 is four standard deviations more. With one group
    # less it would be 0.4 % (10 % lost), 0.15 % (20 %) and 0.13 % (30 %).
    assert short <= 65
    assert plan.groups == least


def test_a_file_too_long_is_refused_with_the_limit():
    with pytest.raises(ValueError, match="with 20 % lost a file of at most [0-9]+ octets") as e:
        coded.plan(1_000_000, MTU, 0.2)
    limit = int(str(e.value).split("at most ")[1].split()[0])
    assert coded.plan(limit, MTU, 0.2).groups and limit > 200_000


def test_send_puts_each_group_into_a_transmission_of_its_own(tmp_path):
    group = Group()
    data = random.Random(3).randbytes(30_000)
    message = s5066.bftp_message(b"chart.png", data)
    octets = coded.send(group, "all", message, 0.2, 2, 11.0, wait=group.wait)
    plan = coded.plan(len(message), MTU, 0.2)
    assert len(group.transmissions) == 2 * plan.groups
    assert group.waits == [11.0] * (2 * plan.groups - 1)
    assert octets == sum(len(u) for t in group.transmissions for u in t)
    assert {m.mode for m in group.modes} == {s5066.transmission_mode.non_arq}
    # Each of 50 receivers loses 20 % of the transmissions; ten begin after the first round.
    kept = 0
    for k in range(50):
        rng, folder = random.Random(k), tmp_path / str(k)
        folder.mkdir()
        first = plan.groups if k < 10 else 0
        receiver = files.Receiver(group, str(folder))
        found = [f for t in group.transmissions[first:] if rng.random() >= 0.2
                 for f in arrive(receiver, t)]
        assert len(found) <= 1
        kept += len(found)
        assert [p.read_bytes() for p in folder.iterdir()] == [data] * len(found)
    assert kept == 50


def test_an_incomplete_file_is_reported(tmp_path):
    group, lost = Group(), []
    coded.send(group, "all", s5066.bftp_message(b"a", MESSAGE), 0.0, wait=group.wait)
    receiver = files.Receiver(group, str(tmp_path), refused=lambda *what: lost.append(what))
    assert arrive(receiver, [u for t in group.transmissions[1:] for u in t]) == []
    receiver.finish()
    assert [(s, why) for s, _, why in lost] == [(NODE, "incomplete, 7 of 8 blocks arrived")]
    assert list(tmp_path.iterdir()) == []


def test_what_a_hostile_station_sends_is_refused_and_bounded():
    lost = []
    collector = coded.Collector(lambda *what: lost.append(what))
    good = blocks_of()[0]
    for field, value in ((0, 2), (2, 0), (2, 9), (2, 255), (3, 3), (5, 0), (5, 1 << 31)):
        fields = list(struct.unpack_from(">BIBBBI8s", good))
        fields[field] = value
        assert collector.take(NODE, struct.pack(">BIBBBI8s", *fields) + good[20:]) is None
    for length in range(21):
        assert collector.take(NODE, good[:length]) is None
    rng = random.Random(4)
    for _ in range(2000):
        collector.take(NODE, rng.randbytes(rng.randrange(2042)))
    collector.finish()
    # None of the damaged headers was kept, and random ones hardly ever have the version.
    assert all(octets != len(MESSAGE) for _, octets, _ in lost)
    # Many messages begun: the oldest give way, and the newest is completed.
    lost.clear()
    for number in range(1000):
        collector.take(NODE, blocks_of(number=number)[0])
    assert len(lost) == 1000 - coded.MAX_MESSAGES
    assert [m for m in (collector.take(NODE, b) for b in blocks_of(number=999)[1:]) if m] == \
        [MESSAGE]


def test_a_station_that_floods_displaces_only_its_own():
    lost = []
    collector = coded.Collector(lambda *what: lost.append(what))
    collector.take(NODE, blocks_of(number=1)[0])
    for number in range(1000):
        collector.take("1.2.0.9", blocks_of(number=number)[0])
    assert {source for source, _, _ in lost} == {"1.2.0.9"}
    assert [m for m in (collector.take(NODE, b) for b in blocks_of(number=1)[1:]) if m] == \
        [MESSAGE]


def test_a_forged_block_costs_the_file_no_wrong_contents():
    lost = []
    collector = coded.Collector(lambda *what: lost.append(what))
    blocks = blocks_of()
    forged = blocks[0][:20] + bytes(len(blocks[0]) - 20)
    assert [collector.take(NODE, b) for b in [forged] + blocks[1:8]] == [None] * 8
    assert [why for _, _, why in lost] == ["its blocks do not belong together"]
    assert [m for m in (collector.take(NODE, b) for b in blocks[8:16]) if m] == [MESSAGE]


def test_without_the_library_one_error_says_so(monkeypatch):
    blocks = blocks_of()
    monkeypatch.setitem(sys.modules, "zfec", None)
    lost = []
    collector = coded.Collector(lambda *what: lost.append(what))
    assert [collector.take(NODE, b) for b in blocks] == [None] * len(blocks)
    why = "the library zfec is missing (Debian: python3-zfec)"
    assert lost == [(NODE, len(MESSAGE), why)]
    with pytest.raises(RuntimeError, match="python3-zfec"):
        coded.send(Group(), "all", MESSAGE, 0.1)


def test_a_block_by_arq_is_none(tmp_path):
    group = Group()
    group.sap = s5066.SAP_RCOP
    u_pdus = [s5066.rcop_segments(0, i, coded.APP_CODED, b, MTU)[0]
              for i, b in enumerate(blocks_of(s5066.bftp_message(b"a", MESSAGE)))]
    assert arrive(files.Receiver(group, str(tmp_path)), u_pdus) == []


def run(monkeypatch, client, *arguments):
    monkeypatch.setattr(send_command.sis, "Client", lambda server: client)
    return CliRunner().invoke(send_command.command, arguments)


def test_hf_send_with_a_loss_sends_blocks(monkeypatch, tmp_path):
    path, group = tmp_path / "chart.png", Group()
    path.write_bytes(MESSAGE)
    done = run(monkeypatch, group, str(path), "--to", "31.255.255.255", "--loss", "20",
               "--interval", "0")
    assert done.exit_code == 0 and done.output.startswith("chart.png: 5000 octets submitted as 1")
    sent = group.transmissions[0]
    assert len(sent) == 17
    inbox = tmp_path / "inbox"
    inbox.mkdir()
    assert arrive(files.Receiver(group, str(inbox)), sent[9:])[0].source == NODE
    assert (inbox / "chart.png").read_bytes() == MESSAGE


@pytest.mark.parametrize("arguments, words", [
    (["--to", NODE], "--loss is for groups, or with --udop"),
    (["--to", "31.255.255.255", "--name", "x" * 300], "names of up to 255 octets")])
def test_hf_send_refuses_what_cannot_be(monkeypatch, tmp_path, arguments, words):
    path, group = tmp_path / "a", Group()
    path.write_bytes(MESSAGE)
    done = run(monkeypatch, group, str(path), "--loss", "20", *arguments)
    assert done.exit_code != 0 and group.transmissions == [[]]
    assert words in done.output + str(done.exception)

# SPDX-License-Identifier: GPL-3.0-or-later
"""What an operator reads of a station: sentences, problems and words, from snapshots."""
import json
import random

from gnuradio import hf
from gnuradio.hf.gui import glance, progress, words
import pytest

MODEM = {"now": 600.0, "transmitting": False, "receiving": False, "tx_mode": "", "rx_mode": ""}
LINK = {"now": 600.0, "phase": "idle", "peer": "1.2.0.2", "tx_mode": "4539-2400L",
        "rx_mode": "4539-4800L", "queued_octets": 0, "unacknowledged": 0, "links": 1,
        "emcon": False, "tx_reason": "it is set"}
PROGRESS = {"total_octets": 0, "waiting_octets": 0, "done_octets": 0, "begin": None, "out_bps": 0,
            "in_bps": 0, "in_octets": 0, "out_minutes_bps": 0, "in_minutes_bps": 0,
            "last_heard": 590.0, "unanswered": 0, "troubles": {}}
SENDS = {"total_octets": 80000, "waiting_octets": 46000, "done_octets": 34000, "begin": 500.0,
         "out_bps": 9200, "left_s": 40.0}
FADING = [{"at": 595.0, "snr_db": 9.0, "quality": 0.9, "doppler_hz": 1.2}]


def snapshot(link=None, done=None, **more):
    """A station that is idle, but for what is given."""
    return {"name": "1.2.0.1", "mode": "auto", "blocks": [], "spans": [], "modem": dict(MODEM),
            "link": {**LINK, **(link or {})}, "progress": {**PROGRESS, **(done or {})}, **more}


def sent(*modes):
    """Long transmissions in these modes, the last one under way."""
    spans = [{"kind": "tx", "mode": m, "begin": 500.0 + 10 * k, "end": 508.0 + 10 * k}
             for k, m in enumerate(modes)]
    spans[-1]["end"] = None
    return spans


def web(local):
    return [{"to": "10.66.0.2:80", "local": local, "state": "open", "octets_out": 1,
             "octets_in": 2}]


SENTENCES = {
    "Idle: listening, no station heard yet.": snapshot({"peer": ""}),
    "Idle: nothing to send. Last heard 1.2.0.2 just now.": snapshot(),
    "Idle: nothing to send. Last heard 1.2.0.2 9 min ago.": snapshot(done={"last_heard": 90.0}),
    "Idle: listening, 1.2.0.2 was called and not heard yet.": snapshot(done={"last_heard": None}),
    "Sending web page to 1.2.0.2, 34 of 80 kB, about 40 s left; channel is poor, rate lowered to "
    "2400.": snapshot({"phase": "transmitting"}, SENDS, blocks=FADING, connections=web(False),
                      spans=sent("4539-4800L", "4539-2400L")),
    "Sending file plan.pdf to 1.2.0.2, 34 of 80 kB, about 40 s left; channel is poor, rate raised "
    "to 4800.": snapshot({"phase": "receiving"}, SENDS, blocks=FADING, sending_file="plan.pdf",
                         spans=sent("4539-1200L", "4539-2400L", "4539-4800L")),
    "Sending data to 1.2.0.2, 34 of 80 kB, about 40 s left.":
        snapshot({"phase": "waiting for an answer"}, SENDS),
    "Sending data to 1.2.0.2, 0 of 900 octets, about 10 s left.":
        snapshot({"phase": "transmitting"}, {"total_octets": 900, "waiting_octets": 900,
                                             "done_octets": 0, "begin": 580.0, "left_s": 6.0}),
    "Sending data to 16.0.0.1, 0 of 900 octets, about 10 s left.":
        snapshot({"phase": "transmitting", "peer": "16.0.0.1"},
                 {"total_octets": 900, "waiting_octets": 900, "done_octets": 0,
                  "begin": 599.0, "left_s": 6.0}),
    "Calling 1.2.0.2: 600 of 900 octets on the air.":
        snapshot({"phase": "transmitting"}, {"total_octets": 900, "waiting_octets": 900,
                                             "done_octets": 0, "begin": 599.0, "air_octets": 600}),
    "Calling 1.2.0.2: 900 octets waiting.":
        snapshot({"phase": "transmitting"}, {"total_octets": 900, "waiting_octets": 900,
                                             "done_octets": 0, "begin": 599.0}),
    "Exchanging data with 1.2.0.2, 34 of 80 kB, about 40 s left; channel is poor.":
        snapshot({"phase": "receiving"}, {**SENDS, "in_bps": 4000, "in_octets": 30000},
                 blocks=FADING),
    "Receiving web page from 1.2.0.2, 20 kB in the last minute; channel is poor.":
        snapshot({"phase": "receiving"}, {"in_bps": 2667, "in_octets": 20000}, blocks=FADING,
                 connections=web(True)),
    "Receiving data from 1.2.0.2.": snapshot({"phase": "receiving"}),
    "Answering 1.2.0.2.": snapshot({"phase": "transmitting"}),
    "Radio silence: the station only listens.": snapshot({"emcon": True}),
    "Radio silence: 46 kB for 1.2.0.2 held back.": snapshot({"emcon": True}, SENDS),
    "The radio does not work: 46 kB for 1.2.0.2 waiting.":
        snapshot({"phase": "transmitting"}, SENDS, radio={"playback": {"open": False}}),
    "The radio does not work.": snapshot(radio={"playback": {"open": False}}),
    "Calling 1.2.0.2, which does not answer: 46 kB waiting.":
        snapshot({"phase": "transmitting"}, {**SENDS, "unanswered": 3}),
}


@pytest.mark.parametrize("sentence", SENTENCES)
def test_a_sentence_says_what_the_station_does(sentence):
    assert glance.glance(SENTENCES[sentence])["sentence"] == sentence


def test_a_modem_without_a_data_link():
    s = snapshot(modem={**MODEM, "receiving": True, "rx_mode": "4539-600S"})
    del s["link"], s["progress"]
    assert glance.glance(s)["sentence"] == \
        "Modem only, for another data link: receiving 4539-600S."


RADIO = {"capture": {"open": False, "trouble": "No such device"}}
PROBLEMS = {
    "The sound device that receives is lost (No such device).": snapshot(radio=RADIO),
    "The receiver gives no signal at all, not even noise.":
        snapshot(radio={"source": {"silent_s": 9.0}}),
    "What the receiver gives is too loud, and is cut off.":
        snapshot(radio={"source": {"silent_s": 0.0, "rms_db": -9.0}}),
    "Keying the transmitter failed: no answer of the rig.":
        snapshot(radio={"key": {"down": False, "errors": ["no answer of the rig"]}}),
    "1.2.0.2 does not answer: 3 transmissions without a reply, last heard 2 min ago.":
        snapshot(done={**SENDS, "unanswered": 3, "last_heard": 480.0}),
    "1.2.0.2 does not answer: 2 transmissions without a reply, it was never heard.":
        snapshot(done={**SENDS, "unanswered": 2, "last_heard": None}),
    "The link to 1.2.0.2 was lost.":
        snapshot({"links": 0}, {"troubles": {"links_failed": 1}}),
    "Radio silence is on, and data are waiting.": snapshot({"emcon": True}, SENDS),
    "1.2.0.2 did not answer: 4 transmissions without a reply, it was never heard.":
        snapshot(done={"unanswered": 4, "last_heard": None, "troubles": {"silent_rounds": 4}}),
    "Data were not delivered (1 U_PDU in 5 min): the other station refused them or did not "
    "answer.":
        snapshot(done={"troubles": {"u_pdus_rejected": 1}}),
    "Data were not delivered in time, and discarded (3 U_PDUs in 5 min).":
        snapshot(done={"troubles": {"u_pdus_expired": 3}}),
    "A transmission was cut or started late: the computer is too busy (last 5 min).":
        snapshot(done={"troubles": {"late_answers": 1}}),
}


@pytest.mark.parametrize("what", PROBLEMS)
def test_a_problem_is_named_with_its_remedy(what):
    found = glance.glance(PROBLEMS[what])["problems"]
    assert [p["what"] for p in found] == [what]
    assert found[0]["remedy"].endswith(".")


def test_nothing_is_a_problem_that_is_none():
    assert glance.glance(snapshot())["problems"] == []
    assert glance.glance(snapshot(done={"unanswered": 1, **SENDS}))["problems"] == []
    # Its own transmitter silences the receiver.
    keyed = {"source": {"silent_s": 60.0}, "key": {"down": True, "errors": []}}
    assert glance.glance(snapshot(radio=keyed))["problems"] == []


@pytest.mark.parametrize("phase, ends, now", (
    ("holding", 612.4, "waiting for its turn, 12 s left"),
    ("holding", 600.2, "waiting for its turn"),
    ("waiting for an answer", 605.0, "waiting for the answer, 5 s left"),
    ("waiting for the end of another signal", 0.0,
     "waiting: another signal, which cannot be read, is on the channel"),
    ("waiting for a channel", 0.0, "waiting for a channel of ALE")))
def test_the_station_says_why_it_does_not_transmit_and_how_long(phase, ends, now):
    seen = glance.glance(snapshot({"phase": phase, "phase_ends": ends}, SENDS))
    assert (seen["state"], seen["now"]) == ("waiting", now)


@pytest.mark.parametrize("snr, quality, word", (
    (25, 1, "good"), (15, 1, "fair"), (8, 1, "poor"), (2, 1, "very poor"), (25, 0.3, "fair"),
    (2, 0.1, "very poor")))
def test_the_word_for_a_channel(snr, quality, word):
    blocks = [{"at": 590.0, "snr_db": float(snr), "quality": quality}] * 3
    assert glance.channel(snapshot(blocks=blocks)) == (word, f"{snr} dB")


def test_an_old_reception_says_nothing_of_the_channel():
    assert glance.channel(snapshot(blocks=[{"at": 100.0, "snr_db": 8.0}])) == \
        ("not known now", "8 dB 9 min ago")
    assert glance.channel(snapshot())[0] == "not known yet"


def test_what_waits_and_when_it_is_done():
    seen = glance.glance(snapshot({"phase": "transmitting"}, SENDS, flows=[{"octets": 1200}]))
    assert seen["waiting"] == "46 kB and 1.2 kB of IP packets"
    assert seen["ready"] == "done in about 40 s"
    assert seen["share"] == seen["share_sent"] == 0.425
    seen = glance.glance(snapshot({"phase": "transmitting"}, {**SENDS, "air_octets": 23000}))
    assert seen["waiting"] == "46 kB (23 kB sent, not confirmed)"
    assert (seen["share"], seen["share_sent"]) == (0.425, 0.713)
    assert seen["speed"] == "out 69 kB a minute (9.2 kbit/s)"
    seen = glance.glance(snapshot())
    assert (seen["waiting"], seen["ready"], seen["share"], seen["speed"]) == \
        ("nothing", "", None, "nothing")


def test_words_for_amounts_and_times():
    assert [words.amount(n) for n in (0, 999, 1000, 12345, 2.5e6)] == \
        ["0 octets", "999 octets", "1.0 kB", "12 kB", "2.5 MB"]
    assert [words.duration(s) for s in (0, 36, 55, 56, 90, 241, 301, 3540, 3600, 86000, 1e6)] == \
        ["5 s", "40 s", "55 s", "1 min", "1 min 30 s", "4 min 10 s", "6 min", "59 min",
         "1 h 0 min", "23 h", "more than a day"]
    assert [words.mode_bps(m) for m in ("110A-75S", "5069-3-Walsh", "auto", "")] == \
        [75, None, None, None]
    for mode in hf.mode.all():
        assert words.mode_bps(str(mode)) == mode.rate_bps


def note(p, now, submitted=0, queued=0, unacknowledged=0, **stats):
    p.note({"now": now, "queued_octets": queued, "unacknowledged": unacknowledged},
           {"u_pdu_octets_submitted": submitted, **stats})
    return p.take()


def test_progress_of_a_piece_of_work():
    p = progress.Progress()
    assert p.take() == {}
    note(p, 0)
    assert note(p, 100, 10000, 10000)["done_octets"] == 0
    # 5000 octets went out in 50 D_PDUs, of which 30 are acknowledged.
    seen = note(p, 110, 10000, 5000, 20, d_pdus_acked=30)
    assert (seen["total_octets"], seen["waiting_octets"], seen["done_octets"]) == \
        (10000, 7000, 3000)
    assert seen["out_bps"] == 8 * 3000 / 10 and seen["begin"] == 100
    seen = note(p, 120, 10000, 0, 0, d_pdus_acked=100)
    assert (seen["total_octets"], seen["waiting_octets"], seen["begin"]) == (0, 0, None)
    assert seen["out_minutes_bps"] == round(8 * 10000 / 120)
    assert note(p, 200, 12000, 2000, d_pdus_acked=100)["total_octets"] == 2000
    assert note(p, 600, 12000, 2000, d_pdus_acked=100)["out_minutes_bps"] == 0


def test_what_a_client_holds_back_waits_too():
    p = progress.Progress()
    note(p, 0)
    for k, held in enumerate((9000, 5000, 0)):
        p.note({"now": 10 + k, "queued_octets": 1000, "unacknowledged": 0},
               {"u_pdu_octets_submitted": 10000 - held}, held=held)
        assert p.take()["total_octets"] == 10000
    p.note({"now": 20, "queued_octets": 1000, "unacknowledged": 0},
           {"u_pdu_octets_submitted": 1000}, held=9000)
    assert note(p, 21, 1000, 1000)["waiting_octets"] == 1000  # given up


def of(peer, p, now, **more):
    """A sample while this is the peer."""
    stats = {k: more.pop(k) for k in list(more) if k not in ("queued_octets", "unacknowledged")}
    p.note({"now": now, "queued_octets": 0, "unacknowledged": 0, "peer": peer, **more}, stats)
    return p.take()


#: Samples (time, peer, octets received, silent rounds), and then last_heard and unanswered.
HEARD = [
    ([(0, "", 0, 0)], None, 0),
    ([(0, "", 0, 0), (10, "A", 50, 0)], 10, 0),
    ([(0, "A", 50, 0), (200, "B", 50, 0)], None, 0),  # B is called and may not exist
    ([(0, "A", 50, 3), (200, "B", 50, 4)], None, 0),  # A's silence is none of B's
    ([(0, "A", 0, 0), (10, "A", 50, 0), (200, "B", 50, 2), (210, "B", 50, 4)], None, 2),
    ([(0, "A", 0, 0), (10, "A", 50, 0), (200, "B", 50, 0), (300, "A", 50, 0)], 10, 0),
    ([(0, "A", 0, 0), (10, "A", 50, 0), (200, "B", 90, 0), (300, "A", 90, 0)], 10, 0),
    ([(0, "A", 0, 0), (10, "A", 50, 2), (20, "A", 50, 5)], 10, 3),
    ([(0, "A", 0, 0), (10, "A", 50, 2), (20, "A", 60, 5)], 20, 0),
    ([(0, "A", 0, 0), (10, "B", 50, 0), (20, "A", 50, 3)], None, 0),
    ([(0, "A", 0, 0), (10, "B", 50, 0), (20, "A", 50, 3), (30, "A", 50, 5)], None, 2),
    ([(0, "A", 0, 0), (10, "B", 50, 0), (20, "B", 70, 0)], 20, 0),
]


@pytest.mark.parametrize("samples, heard, unanswered", HEARD)
def test_what_was_heard_belongs_to_a_peer(samples, heard, unanswered):
    p = progress.Progress()
    for now, peer, received, rounds in samples:
        seen = of(peer, p, now, octets_received=received, silent_rounds=rounds)
    assert (seen["last_heard"], seen["unanswered"]) == (heard, unanswered)


def test_the_peers_that_were_heard_are_bounded():
    p = progress.Progress()
    for k in range(3 * progress.MAX_PEERS):
        of(f"P{k}", p, k, octets_received=k + 1)
    assert len(p._heard) == progress.MAX_PEERS


def test_the_speed_is_that_with_the_peer():
    p = progress.Progress()
    for now in range(0, 60):
        of("A", p, now, u_pdu_octets_delivered=100 * now, octets_received=now)
    assert p.take()["in_bps"] > 700
    assert of("B", p, 60, u_pdu_octets_delivered=6000, octets_received=60)["in_bps"] == 0
    assert of("B", p, 80, u_pdu_octets_delivered=7000, octets_received=80)["in_bps"] == \
        round(8 * 1000 / 20)
    assert p.take()["peer_since"] == 60


#: Blocks (time, SNR), receptions (begin, end), since when the peer is the peer, the radio; and the
#: word for the channel.
CHANNELS = [
    ([(595, 30)], [], None, {}, "good"),
    ([(595, 30)], [], 590, {}, "good"),
    ([(595, 30)], [], 597, {}, "not known yet"),  # that was another station
    ([(580, 30), (599, 8)], [], 597, {}, "poor"),
    ([(580, 30), (580, 30), (599, 8)], [(570, 581), (595, None)], 597, {}, "poor"),
    ([(596, 30)], [(594, None)], 597, {}, "good"),  # the reception that names the peer
    ([(596, 30)], [(594, 596.5)], 597, {}, "good"),
    ([(580, 30)], [(570, 581)], 597, {}, "not known yet"),
    ([(595, 49)], [], None, {"source": {"silent_s": 9.0}}, "not known now"),
    ([(595, 49)], [], None, {"capture": {"open": False}}, "not known now"),
    ([(595, 49)], [], None, {"source": {"silent_s": 9.0}, "key": {"down": True}}, "good"),
    ([(595, 49)], [], None, {"key": {"errors": ["once"]}}, "good"),
    ([(100, 49)], [], None, {}, "not known now"),
]


@pytest.mark.parametrize("blocks, receptions, since, radio, word", CHANNELS)
def test_the_channel_is_that_from_the_peer(blocks, receptions, since, radio, word):
    s = snapshot(done={"peer_since": since}, radio=radio,
                 blocks=[{"at": at, "snr_db": snr, "quality": 0.9} for at, snr in blocks],
                 spans=[{"kind": "rx", "mode": "", "begin": begin, "end": end}
                        for begin, end in receptions])
    assert glance.channel(s)[0] == word


def test_causes_stand_before_their_effects():
    s = snapshot(done={**SENDS, "unanswered": 3, "troubles": {"tx_damaged": 2}},
                 radio={"key": {"errors": ["no answer of the rig"]}, "source": {"silent_s": 9.0}})
    assert [p["about"] for p in glance.glance(s)["problems"]] == \
        ["radio", "radio", "computer", "answer"]
    first = glance.glance(s)["problems"][0]
    assert first["what"].startswith("Keying the transmitter failed") and \
        "[radio.ptt]" in first["remedy"]


def test_a_long_transmission_does_not_look_faster_than_it_was():
    p = progress.Progress()
    note(p, 0)
    for now in range(10, 130):
        # The mean size of a D_PDU is an estimate, so octets vary a little.
        note(p, now, 60000, 30000 + now % 7, 50)
    # 30 kB in 120 s, all acknowledged at once.
    assert note(p, 130, 60000, 30000, d_pdus_acked=50)["out_bps"] == 8 * 30000 / 120


def test_progress_counts_silence_since_the_peer_was_heard():
    p = progress.Progress()
    note(p, 0)
    assert note(p, 10, silent_rounds=2)["unanswered"] == 2
    seen = note(p, 20, silent_rounds=3, octets_received=50)
    assert (seen["unanswered"], seen["last_heard"]) == (0, 20)
    seen = note(p, 30, silent_rounds=4, octets_received=50)
    assert seen["unanswered"] == 1 and seen["troubles"] == {"silent_rounds": 4}
    assert note(p, 400, silent_rounds=4, octets_received=50)["troubles"] == {}


def test_progress_keeps_a_bounded_number_of_samples():
    p = progress.Progress()
    for k in range(5000):
        note(p, k / 4, 100 * k, 0, octets_received=k)
    assert len(p._samples) <= progress.MAX_SAMPLES
    assert p._samples[-1][0] - p._samples[0][0] >= progress.MINUTES_S


def test_any_snapshot_gives_words():
    """Half-filled snapshots: no part of one may be taken for granted."""
    random.seed(1)
    pool = list(SENTENCES.values()) + list(PROBLEMS.values())
    for _ in range(2000):
        s = dict(random.choice(pool))
        for key in ("link", "progress", "modem", "radio", "connections", "flows", "blocks"):
            if random.random() < 0.5 and key in s:
                other = random.choice(pool)
                s[key] = other.get(key, s[key])
            if random.random() < 0.1 and key != "blocks":
                s.pop(key, None)
        if "link" not in s:
            s.pop("progress", None)
        if not s.get("progress", True):
            s["progress"] = {}
        seen = glance.glance(s)
        assert json.loads(json.dumps(seen)) == seen
        assert seen["sentence"].endswith(".") and "None" not in json.dumps(seen["sentence"])

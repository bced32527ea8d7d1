# SPDX-License-Identifier: GPL-3.0-or-later
"""Every block by keyword, with good and with bad arguments."""
import contextlib
import socket

import numpy as np
import pytest

from flow import wait_for
from gnuradio import gr, hf

GOOD = [
    (hf.modem, dict(lock_step=False, zero_interleaver=True, agc_blocks=7, level=0.9)),
    (hf.tx, dict(mode="4539-9600VL", agc_blocks=3, gap_ms=0, level=0.9)),
    (hf.modem, dict(bandwidth=48)),
    (hf.rx, dict(zero_interleaver=True, max_blocks=5, bandwidth=12)),
    (hf.rx, dict(antennas=2)),
    (hf.rx, dict(bandwidth=12, join=True)),
    (hf.channel, dict(spec="poor snr=10 offset=5", seed=7, signal_power=0.5, sample_rate=48000)),
    (hf.air, dict(stations=64, channel="good", seed=2, speed=1, signal_power=0.7, duration_s=9,
                  delay_ms=1000, bandwidth=12)),
    (hf.emulated_air, dict(stations=64, ber=0.5, loss=1, seed=2, speed=0)),
    (hf.data_link, dict(address="1.2.0.1", mode="4539-9600S", ack_mode="4539-75S",
                        settings={"turnaround_s": 0.5}, d_pdu_pcap="", sis_pcap="")),
    (hf.data_link, dict(address="1.2.0.1", ack_mode="same")),
    (hf.pep, dict(listeners=["redirect:50121", "127.0.0.1:50122=host.example:80"],
                  routes=["10.0.0.0/8=1.2.0.2", ".example=1.2.0.3"], queue_octets=100000,
                  segment_octets=800, max_connections=1, netns="", real_time=True)),
    (hf.ip_client, dict(device="hf7", address="10.9.0.1/24", table=["10.9.0.2/32=1.2.0.2"],
                        mtu=576, queue_octets=9000, netns="", real_time=True)),
    (hf.dns_pep, dict(listen=[], routes=[".=1.2.0.2"], resolver="127.0.0.1:5399",
                      peers=["1.2.0.2"], local=["a.hf=10.66.0.1"], blocked=["ads.example"],
                      settings={"ipv6": 0, "ttl_min_s": 60}, netns="", real_time=True)),
    (hf.modem_server, dict(mode="4539-9600S", form="udp", address="127.0.0.1", port=0,
                           receiver_master=False, netns="")),
    (hf.modem_client, dict(mode="4539-9600S", form="udp", host="modem.example", port=3000,
                           netns="")),
    (hf.traffic, dict(peer="1.2.0.2", octets=10 ** 12, u_pdu_octets=8, sap=15, arq=False)),
    (hf.ticker, dict(interval_ms=1000)),
    (hf.from_audio, dict(audio_rate=44100, subcarrier_hz=1700, modem_rate=9600)),
    (hf.audio_source, dict(device="null", audio_rate=44100)),
    (hf.audio_sink, dict(device="null", audio_rate=44100, buffer_s=0.5, channels=2)),
    (hf.to_audio, dict(audio_rate=44100, subcarrier_hz=1700, modem_rate=9600, lead_s=2, tail_s=2,
                       device_delay_s=2, device_buffer_s=4, latency_s=2, tone_hz=20000)),
    (hf.receiver, dict(zero_interleaver=False, max_blocks=0)),
    (hf.modulator, dict(mode=hf.mode("4539-600S"), octets=b"x", agc_blocks=0, eom=True)),
    (hf.channel_model, dict(spec="clear", seed=1, signal_power=1, sample_rate=9600)),
]


@pytest.mark.parametrize("block, arguments", GOOD, ids=lambda x: getattr(x, "__name__", ""))
def test_good_arguments_by_keyword(block, arguments):
    assert block(**arguments) is not None


LINK = dict(address="1.2.0.1")
BAD = [
    # block, arguments, what the text must contain: the value, and what is allowed
    (hf.mode, dict(text="4539-1234S"), ['"4539-1234S"', "12800N"]),
    (hf.mode, dict(text="4539-600VL"), ['"4539-600VL"', "Z, S, L"]),
    (hf.mode, dict(text="x" * 100000), ["xxx...", "12800N"]),
    (hf.modem, dict(agc_blocks=8), ["8", "0 to 7"]),
    (hf.modem, dict(agc_blocks=-1), ["-1", "0 to 7"]),
    (hf.modem, dict(bandwidth=5), ["5", "3, 6, 9, 12, 15, 18, 21, 24, 30, 36, 42, 48 kHz"]),
    (hf.rx, dict(bandwidth=-3), ["-3", "3, 6, 9"]),
    (hf.rx, dict(antennas=3), ["antennas", "3", "1 and 2"]),
    (hf.receiver, dict(bandwidth=1000000), ["1000000", "3, 6, 9"]),
    (hf.air, dict(bandwidth=0), ["0", "1 to 100"]),
    (hf.channel, dict(spec="snr=3 bandwidth=0"), ["0", "0.1 to 1000"]),
    (hf.tx, dict(mode="fast"), ['"fast"', "12800N"]),
    (hf.tx, dict(mode="4539-600S", agc_blocks=8), ["8", "0 to 7"]),
    (hf.tx, dict(mode="4539-600S", gap_ms=-1), ["-1", "0 to 60000"]),
    (hf.tx, dict(mode="4539-600S", gap_ms=float("nan")), ["nan", "0 to 60000"]),
    (hf.channel, dict(spec="terrible"), ['"terrible"', "poor"]),
    (hf.channel, dict(spec="snr=loud"), ["loud", "number"]),
    (hf.channel, dict(spec="paths=1:2"), ["1:2", "delay_ms:gain_db:spread_hz"]),
    (hf.channel, dict(spec="clear", sample_rate=0), ["0"]),
    (hf.air, dict(stations=1), ["1", "2 to 64"]),
    (hf.air, dict(stations=65), ["65", "2 to 64"]),
    (hf.air, dict(channel="terrible"), ['"terrible"', "poor"]),
    (hf.air, dict(speed=-1), ["-1", "0"]),
    (hf.air, dict(duration_s=-1), ["-1", "0"]),
    (hf.air, dict(delay_ms=9), ["9", "10 to 1000"]),
    (hf.emulated_air, dict(stations=1), ["1", "2 to 64"]),
    (hf.emulated_air, dict(ber=0.6), ["0.6", "0 to 0.5"]),
    (hf.emulated_air, dict(loss=-1), ["-1", "0 to 1"]),
    (hf.emulated_air, dict(speed=-1), ["-1", "0"]),
    (hf.data_link, dict(address="1.2.0.1.5.6"), ["1.2.0.1.5.6"]),
    (hf.data_link, dict(address=""), ["address"]),
    (hf.data_link, dict(LINK, mode="4539-1S"), ['"4539-1S"', "12800N"]),
    (hf.data_link, dict(LINK, ack_mode="quick"), ["quick"]),
    (hf.data_link, dict(LINK, settings={"windows": 3}), ["windows", "window"]),
    (hf.data_link, dict(LINK, settings={"window": -1}), ["window", "-1"]),
    (hf.data_link, dict(LINK, settings={"window": 1e99}), ["window"]),
    (hf.data_link, dict(LINK, settings={"segment_octets": 5000}), ["segment_octets", "5000"]),
    (hf.data_link, dict(LINK, d_pdu_pcap="/no/such/folder/x.pcap"),
     ["/no/such/folder/x.pcap", "No such file"]),
    (hf.pep, dict(listeners=["telnet"], routes=[]), ["telnet"]),
    (hf.pep, dict(listeners=["redirect:0"], routes=[]), ["'0'", "1 to 65535"]),
    (hf.pep, dict(listeners=["redirect:70000"], routes=[]), ["70000"]),
    (hf.pep, dict(listeners=[], routes=["10.0.0.0/33=1.2.0.2"]), ["10.0.0.0/33"]),
    (hf.pep, dict(listeners=[], routes=["10.0.0.0/8"]), ["10.0.0.0/8"]),
    (hf.pep, dict(listeners=[], routes=["10.0.0.0/8=x"]), ["x"]),
    (hf.pep, dict(listeners=[], routes=[], segment_octets=15), ["15", "16", "1023"]),
    (hf.pep, dict(listeners=[], routes=[], max_connections=0), ["0", "1", "4096"]),
    (hf.pep, dict(listeners=[], routes=[], netns="no-such-namespace"), ["no-such-namespace"]),
    (hf.ip_client, dict(device="hf0", address="10.9.0.1/24", table=[], mtu=575),
     ["575", "576 to 2048"]),
    (hf.ip_client, dict(device="hf0", address="10.9.0.256/24", table=[]), ["10.9.0.256"]),
    (hf.ip_client, dict(device="hf0", address="10.9.0.1/24", table=["all=1.2.0.2"]), ["all"]),
    (hf.modem_server, dict(mode="fast"), ['"fast"', "12800N"]),
    (hf.modem_server, dict(mode="4539-600S", form="serial"), ["serial", "tcp", "udp"]),
    (hf.modem_server, dict(mode="4539-600S", address="here"), ["here", "IPv4"]),
    (hf.modem_server, dict(mode="4539-600S", port=65536), ["65536", "0 to 65535"]),
    (hf.modem_client, dict(mode="4539-600S", form="serial"), ["serial", "tcp", "udp"]),
    (hf.modem_client, dict(mode="4539-600S", host=""), ["host ''", "1 to 253"]),
    (hf.modem_client, dict(mode="4539-600S", port=0), ["0", "1 to 65535"]),
    (hf.traffic, dict(peer="nobody"), ["nobody"]),
    (hf.traffic, dict(peer="1.2.0.2", u_pdu_octets=7), ["7", "8 to 2048"]),
    (hf.traffic, dict(peer="1.2.0.2", u_pdu_octets=2049), ["2049", "8 to 2048"]),
    (hf.traffic, dict(peer="1.2.0.2", sap=16), ["16", "0 to 15"]),
    (hf.ticker, dict(interval_ms=0), ["0", "1 to 1000"]),
    (hf.from_audio, dict(audio_rate=7999), ["7999", "8000 to"]),
    (hf.to_audio, dict(subcarrier_hz=0), ["0"]),
    (hf.to_audio, dict(lead_s=2.5), ["lead_s 2.5", "0 to 2"]),
    (hf.to_audio, dict(device_delay_s=0.5, device_buffer_s=0.1), ["device_buffer_s", "0.5 to 4"]),
    (hf.to_audio, dict(latency_s=-1), ["latency_s -1", "0 to 2"]),
    (hf.to_audio, dict(audio_rate=8000, tone_hz=5000), ["tone_hz 5000", "0 to 4000"]),
    (hf.audio_source, dict(device="null", audio_rate=7999), ["audio_rate 7999", "8000 to 192000"]),
    (hf.audio_sink, dict(device="null", buffer_s=0.6), ["buffer_s 0.6", "0.02 to 0.5"]),
    (hf.audio_sink, dict(device="null", channels=3), ["channels 3", "1 to 2"]),
    (hf.modulator, dict(mode=hf.mode("4539-600S"), octets=b"", agc_blocks=1), ["1"]),
]


@pytest.mark.parametrize("block, arguments, texts", BAD, ids=lambda x: getattr(
    x, "__name__", str(list(x.values())[-1])[:20] if isinstance(x, dict) and x else ""))
def test_bad_arguments_say_the_value_and_what_is_allowed(block, arguments, texts):
    with pytest.raises(ValueError) as error:
        block(**arguments)
    for text in texts:
        assert text in str(error.value)
    assert len(str(error.value)) < 1000


def test_wrong_types_are_refused_by_name():
    with pytest.raises(TypeError, match=r"mode: Union\[.*mode, str\]"):
        hf.tx(mode=600)


def test_air_gives_each_half_once():
    air = hf.air(stations=2)
    for half in (air.source, air.sink):
        assert half(0).name() and half(1).name()
        for station, text in ((0, "already"), (2, "0 to 1"), (-1, "0 to 1")):
            with pytest.raises(ValueError, match=text):
                half(station)


def test_settings_are_those_that_the_data_link_takes():
    names = dict(hf.data_link.settings())
    assert names["max_transmission_s"] > 0 and "segment_octets" in names
    hf.data_link("1.2.0.1", settings=names)


def test_set_mode():
    link = hf.data_link("1.2.0.1")
    link.set_mode("4539-9600S")
    with pytest.raises(ValueError, match='"4539-1S"'):
        link.set_mode("4539-1S")


def test_set_rules():
    pep = hf.pep(["127.0.0.1:0=10.1.2.3:80"], ["0.0.0.0/0=1.2.0.2"], real_time=True)
    for rules, text in ((["port=80 action=maybe"], "maybe"), (["tls=apart"], "tls=apart")):
        with pytest.raises(ValueError, match=text):
            pep.set_rules(rules)

    def opens():
        """Whether a connection is taken, as the counters say."""
        before = pep.stats()
        with socket.socket() as s, contextlib.suppress(ConnectionResetError):
            s.connect(("127.0.0.1", pep.ports()[0]))
        assert wait_for(lambda: sum(pep.stats()[k] - before[k]
                                    for k in ("accepted", "rejected")) == 1)
        return pep.stats()["accepted"] > before["accepted"]
    top = gr.top_block()
    top.connect(pep)
    top.start()
    try:
        assert opens()
        pep.set_rules(["port=80 action=reject"])
        assert wait_for(lambda: not opens())
        pep.set_rules([])
        assert wait_for(opens)
    finally:
        top.stop()
        top.wait()


def test_emission_control_and_broadcast_sessions():
    link = hf.data_link("1.2.0.1")
    assert not link.state().emcon and not link.state().broadcast
    link.set_emcon(True)
    link.set_broadcast(True)
    assert link.state().emcon and link.state().broadcast
    link.set_emcon(False)
    link.set_broadcast(False)
    assert not link.state().emcon and not link.state().broadcast


def test_snapshots_of_idle_blocks():
    assert hf.modem().state().transmissions == 0
    assert hf.data_link("1.2.0.1").state().phase == "idle"
    assert hf.data_link("1.2.0.1").stats()["transmissions"] == 0
    assert hf.traffic("1.2.0.2").state().octets_received == 0
    assert hf.pep([], []).connections() == [] and hf.pep([], []).stats()["accepted"] == 0
    assert hf.new_client_id() != hf.new_client_id()


def test_documentation_is_there():
    names = [n for n in dir(hf) if not n.startswith("_")]
    for name in ("modem", "tx", "rx", "channel", "air", "data_link", "pep", "ip_client",
                 "traffic", "ticker", "mode", "timing", "receiver", "modulate", "modulator",
                 "modem_server", "modem_client"):
        assert name in names and (getattr(hf, name).__doc__ or "").strip()


def test_a_mode_and_its_name_are_taken_alike():
    mode = hf.mode("4539-600S")
    assert hf.mode(mode) == mode
    assert np.array_equal(hf.modulate("4539-600S", b"hello"), hf.modulate(mode, b"hello"))
    assert np.array_equal(hf.modulator("4539-600S", b"hello").read(500),
                          hf.modulator(mode, b"hello").read(500))
    assert hf.timing("4539-600S").duration(100) == hf.timing(mode).duration(100)
    assert hf.tx(mode).transmissions() == hf.tx("4539-600S").transmissions() == 0
    for make in (hf.mode, hf.timing, hf.tx, lambda m: hf.modulate(m, b""),
                 lambda m: hf.modulator(m, b"")):
        with pytest.raises(ValueError, match="4539-601S"):
            make("4539-601S")

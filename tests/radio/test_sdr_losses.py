# SPDX-License-Identifier: GPL-3.0-or-later
"""SDRs that lose samples, SDRs that are lost and return, stations that are killed."""
import os
import signal
import subprocess

from gnuradio import blocks, gr, hf
import numpy as np
import pmt
import pytest
from air import Air
from answering import delay_of
from sdr import KINDS, Loop, hf_, pinging, running, station_file
from waiting import until


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("fault", ["lose", "lose_mute"])
def test_what_the_device_loses_is_put_back(tmp_path, kind, fault):
    signal_ = 0.2 * np.asarray(hf.modulate("4539-3200S", b"when?"))
    with Loop(tmp_path, kind) as loop:
        loop.air.put(0, fault, 3333)
        until(lambda: loop.radio.source.state().gaps == 1)
        assert loop.radio.source.state().lost == 3333
        delay = loop.radio.sink.state().delay_s
        at = loop.play(signal_)
        y = loop.received(at + int(9600 * delay) + len(signal_) + 500)
        # Times are as true as before: the count of samples is still the device's clock.
        assert abs(5 * (delay_of(y[at:], signal_) - 9600 * delay)) < 0.25
        assert any("3333 received samples were lost (69.4 ms)" in line
                   for line in loop.radio.take_lines())


def test_lost_samples_are_erasures():
    tb = gr.top_block()
    source = blocks.vector_source_c([1] * 20000, False, 1, [
        gr.tag_utils.python_to_tag((at, pmt.intern("rx_time"), pmt.make_tuple(
            pmt.from_uint64(7), pmt.from_double(t)), pmt.PMT_NIL))
        for at, t in ((0, 0.25), (10000, 0.25 + 15000 / 48000))])
    from_sdr, sink = hf.from_sdr(48000, 9600), blocks.vector_sink_c()
    times = blocks.message_debug(False)
    tb.connect(source, from_sdr, sink)
    tb.msg_connect(from_sdr, "time", times, "store")
    tb.run()
    assert from_sdr.state().lost == 5000 and from_sdr.state().gaps == 1
    tags = [(t.offset, pmt.to_python(t.value)) for t in sink.tags()
            if str(t.key) == "erased"]
    assert tags == [(2000, 1000)]
    y = np.array(sink.data())
    assert np.max(np.abs(y[2100:2900])) < 1e-3 and np.min(np.abs(y[200:1900])) > 0.99
    origin = pmt.to_python(pmt.car(times.get_message(0)))
    assert (origin["seconds"], origin["fraction"]) == (7, 0.25)


def test_a_modem_takes_lost_samples_as_erasures():
    """The same reception with and without the tag: the decoder is surer if it knows."""
    signal_ = np.asarray(hf.modulate("4539-9600VS", bytes(2000)))
    qualities = []
    for tagged in (False, True):
        x = np.concatenate([np.zeros(4800), signal_, np.zeros(9600)]).astype(np.complex64)
        x += np.random.default_rng(1).normal(0, 0.01, (len(x), 2)) @ [1, 1j]
        x[12000:12400] = 0
        x = np.concatenate([x, np.zeros(-len(x) % 96)])
        tags = [gr.tag_utils.python_to_tag((12000, pmt.intern("erased"), pmt.from_uint64(400),
                                            pmt.PMT_NIL))] if tagged else []
        tb = gr.top_block()
        modem, told = hf.modem(), blocks.message_debug(False)
        tb.connect(blocks.vector_source_c(x.tolist(), False, 1, tags), modem,
                   blocks.null_sink(8))
        tb.msg_connect(modem, "status", told, "store")
        tb.run()
        found = [pmt.to_python(pmt.car(told.get_message(k)))
                 for k in range(told.num_messages())]
        qualities.append([m["quality"] for m in found if m["type"] == "rx_octets"])
    print("quality of blocks without and with the tag", qualities)
    assert len(qualities[0]) == len(qualities[1]) and qualities[0] != qualities[1]
    assert sum(qualities[1]) > sum(qualities[0])


@pytest.mark.parametrize("kind", KINDS)
def test_a_lost_device_releases_the_key_and_is_opened_again(tmp_path, rig, kind):
    log = tmp_path / "log"
    with running(station_file(tmp_path, 1, kind, rig), log) as (near, process):
        air = Air(tmp_path / "air")
        begun = air.get(0, "bursts")
        with pinging(near):
            # The key leads the samples. A transmission without its first one is "not sent".
            until(lambda: rig.keyed and air.get(0, "bursts") > begun)
            air.put(0, "gone", 1)
            print(f"{kind}: released within {until(lambda: not rig.keyed):.2f} s")
            until(lambda: "the device is lost" in log.read_text())
            until(lambda: "was cut: the device is lost" in log.read_text())
        downs = rig.downs()
        with pinging(near):  # the station's time goes on, and it wants to transmit
            until(lambda: "was not sent" in log.read_text())
        assert rig.downs() == downs and process.poll() is None
        bursts = air.get(0, "bursts")
        air.put(0, "gone", 0)
        until(lambda: "the device is open again" in log.read_text())
        with pinging(near):
            until(lambda: rig.downs() > downs)
            until(lambda: air.get(0, "bursts") > bursts)
    assert not rig.keyed and process.returncode == 0


@pytest.mark.parametrize("kind", KINDS)
def test_times_are_true_after_a_device_came_back(tmp_path, kind):
    signal_ = 0.2 * np.asarray(hf.modulate("4539-3200S", b"when?"))
    with Loop(tmp_path, kind) as loop:
        device, source = loop.radio._device_in, loop.radio.source
        until(lambda: loop.player.count > 9600)
        for outages in (1, 2):
            loop.air.put(0, "gone", 1)
            until(lambda: device.state().outages == outages)
            before = loop.player.count
            until(lambda: loop.player.count > before + 9600)  # station time goes on
            assert not device.state().open
            loop.air.put(0, "gone", 0)
            until(lambda: device.state().open)
        until(lambda: source.state().peak_db < -100)
        assert source.state().lost > 2 * 48000
        delay, late = loop.radio.sink.state().delay_s, 0
        for attempt in range(10):
            at = loop.play(signal_, 9600)
            y = loop.received(at + int(9600 * delay) + len(signal_) + 500)
            if loop.air.get(0, "late") == late:
                break
            late = loop.air.get(0, "late")
        assert abs(5 * (delay_of(y[at:], signal_) - 9600 * delay)) < 0.25
        assert "lost" not in loop.reasons()


def test_a_station_that_is_killed_while_it_transmits_leaves_no_key_down(tmp_path, rig):
    path = station_file(tmp_path, 1, "soapy", rig)
    with running(path, tmp_path / "log") as (near, process), pinging(near):
        until(lambda: rig.keyed)
        process.send_signal(signal.SIGKILL)
        until(lambda: not rig.keyed, 20)


@pytest.mark.parametrize("kind", KINDS)
def test_a_device_that_gives_nothing_is_closed_and_opened_again(tmp_path, kind):
    signal_ = 0.2 * np.asarray(hf.modulate("4539-3200S", b"when?"))
    with Loop(tmp_path, kind) as loop:
        device = loop.radio._device_in
        until(lambda: loop.player.count > 9600)
        loop.air.put(0, "silent", 1)
        until(lambda: not device.state().open)
        assert device.state().trouble == "it gives no samples"
        loop.air.put(0, "silent", 0)
        until(lambda: device.state().open)
        until(lambda: loop.radio.source.state().peak_db < -100)
        delay, heard = loop.radio.sink.state().delay_s, False
        for _ in range(10):  # on a busy machine some are late
            late = loop.air.get(0, "late")
            at = loop.play(signal_, 9600)
            y = loop.received(at + int(9600 * delay) + len(signal_) + 500)
            if heard := loop.air.get(0, "late") == late and np.abs(y[at:]).max() > 0.05:
                break
        assert heard and abs(5 * (delay_of(y[at:], signal_) - 9600 * delay)) < 0.25


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_crosses_when_a_lost_device_is_back(tmp_path, rig, kind):
    data = os.urandom(2000)
    (tmp_path / "message.bin").write_bytes(data)
    inbox = tmp_path / "inbox"
    inbox.mkdir()
    logs = [tmp_path / "log1", tmp_path / "log2"]
    with running(station_file(tmp_path, 1, kind, rig), logs[0]) as (near, process), \
            running(station_file(tmp_path, 2, kind), logs[1]) as (far, _):
        air = Air(tmp_path / "air")
        with pinging(near):
            until(lambda: rig.keyed)
            air.put(0, "gone", 1)
            released_s = until(lambda: not rig.keyed)
            until(lambda: "the device is lost" in logs[0].read_text())
        air.put(0, "gone", 0)
        back_s = until(lambda: "the device is open again" in logs[0].read_text(), 10)
        receiver = subprocess.Popen(["hf", "receive", str(inbox), "--server", far, "--count", "1",
                                     "--timeout", "200"], stderr=subprocess.PIPE, text=True)
        assert receiver.stderr.readline().startswith("bound")
        sent = hf_("send", str(tmp_path / "message.bin"), "--to", "1.2.0.2", "--server", near,
                   timeout=200)
        assert sent.returncode == 0, sent.stderr + "".join(log.read_text() for log in logs)
        receiver.communicate(timeout=200)
        until(lambda: not rig.keyed)
    assert (inbox / "message.bin").read_bytes() == data and process.returncode == 0
    print(f"{kind}: key released within {released_s:.2f} s, device opened again within "
          f"{back_s:.2f} s, {air.get(0, 'late')} of {air.get(0, 'bursts')} bursts late")

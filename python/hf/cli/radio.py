# SPDX-License-Identifier: GPL-3.0-or-later
"""hf radio: devices, levels, test tones, delays, rig, and a monitor."""
import contextlib
import json
import time
from typing import Any, Callable, Iterator, Optional, Tuple

import click
from gnuradio import blocks, gr

from .. import hf_python as _hf
from .. import radio, station
from ..radio import devices, monitor, probe
from ..station.edge import level_words
from . import fail
from ._progress import Progress
from .run import end_on_signals


@click.group(short_help="Devices, levels, test tones, delays, monitor.")
def command() -> None:
    """Set up a radio: list devices, set levels, send test tones, measure delays, listen."""


def described(path: str) -> station.Description:
    """The description in a station file, which must have a radio."""
    try:
        d = station.load(path)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    if d.radio is None:
        raise click.UsageError(f"{path}: has no table [radio]")
    return d


@contextlib.contextmanager
def opened(d: station.Description) -> Iterator[Tuple[gr.top_block, Any]]:
    """Flowgraph and radio. Releases the key at the end."""
    tb = gr.top_block("hf radio")
    try:
        found = radio.open_radio(tb, d)
    except (ValueError, RuntimeError) as error:
        raise fail(str(error)) from None
    try:
        yield tb, found
    except RuntimeError as error:
        raise fail(str(error)) from None
    finally:
        tb.stop()
        found.close()
        tb.wait()
        for line in found.take_lines():
            click.echo(line, err=True)


@command.command("list", short_help="Devices by the names used in [radio].")
@click.option("--type", "kind", type=click.Choice(["audio", "soapy"]),
              help="Only devices of this type.  [default: both]")
@click.option("--json", "as_json", is_flag=True, help="One line of JSON for each device.")
def list_devices(kind: Optional[str], as_json: bool) -> None:
    """List sound devices by name, for capture and playback in [radio], and SDRs found by SoapySDR,
    for args in [radio.sdr] (for USRPs use uhd_find_devices).

    plughw:CARD=... is a card by its name, which does not change. Card numbers change with the
    order of plugging. Some drivers of SoapySDR search the network. --type soapy also shows the
    messages of the drivers.
    """
    found = []
    for name, look in (("audio", devices.audio_devices), ("soapy", devices.soapy_devices)):
        if kind not in (None, name):
            continue
        try:
            with contextlib.nullcontext() if kind else devices.lines_of_drivers():
                found += look()
        except RuntimeError as error:
            if kind == name:
                raise fail(str(error)) from None
            click.echo(f"{name}: {error}", err=True)
    if kind != "soapy" and not devices.has_card(found):
        click.echo("audio: this machine has no sound card", err=True)
    if kind != "audio" and not any(d.type == "soapy" for d in found):
        click.echo("soapy: no SDR found", err=True)
    for d in found:
        if as_json:
            click.echo(json.dumps(vars(d)))
        else:
            what = "both" if d.captures and d.plays else "capture" if d.captures else "playback"
            what = "SDR" if d.type == "soapy" else what
            click.echo(f"{d.name:40} {what:9} {d.description}")


@command.command(short_help="Level of the received audio.")
@click.argument("path", metavar="FILE.toml")
@click.option("--duration", type=click.FloatRange(1), help="End after this time, s.")
def levels(path: str, duration: Optional[float]) -> None:
    """Print peak and mean level of the station's receiver every second until Ctrl-C.

    The peak should be between -18 and -9 dB of full scale. clock: how much faster the sound
    card's clock is than this machine's. Nothing is transmitted.
    """
    end_on_signals()
    d = described(path)
    assert d.radio is not None
    d.radio.transmit = False
    with opened(d) as (tb, found):
        tb.connect(found.source, blocks.null_sink(gr.sizeof_gr_complex))
        tb.start()
        begin = time.monotonic()
        with contextlib.suppress(KeyboardInterrupt):
            while duration is None or time.monotonic() < begin + duration:
                time.sleep(1)
                s, c = found.source.state(), found.capture.state()
                clock = f", clock {c.drift_ppm:+.0f} ppm" if c.drift_ppm else ""
                click.echo(f"peak {s.peak_db:6.1f} dB, mean {s.rms_db:6.1f} dB, lost {c.lost} "
                           f"samples{clock}: {level_words(s)}")


@command.command(short_help="Key the transmitter with a test tone.")
@click.argument("path", metavar="FILE.toml")
@click.option("--kind", type=click.Choice(sorted(probe.TONES_HZ)), default="two",
              show_default=True, help="two: 700 and 1900 Hz; single: 1500 Hz.")
@click.option("--duration", type=click.FloatRange(0.1, 30), default=5, show_default=True,
              help="Seconds.")
def tone(path: str, kind: str, duration: float) -> None:
    """Key the transmitter and send a test tone at the station's level.

    Set the drive so that ALC does not move. The tone waits for the end of a reception, at most
    30 s.
    """
    end_on_signals()
    d = described(path)
    assert d.radio is not None
    if not d.radio.transmit:
        raise click.UsageError(f"{path}: transmit = false: this station only receives")
    with opened(d) as (tb, found):
        busy = monitor.Busy(d.bandwidth_khz)
        player = probe.Player(busy.push)
        player.set_max_output_buffer(512)
        tb.connect(found.source, player, found.sink)
        tb.start()
        begin = time.monotonic()
        # Detection takes as long as the longest time between known symbols, plus a margin.
        while time.monotonic() < begin + 2 or busy.busy:
            time.sleep(0.1)
            if time.monotonic() > begin + 30:
                raise fail("the channel has not been clear for 30 s")
        signal = probe.tone(kind, duration, d.sample_rate, d.radio.subcarrier_hz, found.level)
        player.play(player.count + int(0.1 * d.sample_rate), signal)
        click.echo(f"{kind} tone for {duration:g} s", err=True)
        _wait_until(player.done, duration + 10)
        _wait_until(lambda: not found.sink.state().keyed, 10)


def _wait_until(condition: Callable[[], bool], patience_s: float) -> None:
    begin = time.monotonic()
    while not condition():
        if time.monotonic() > begin + patience_s:
            raise fail("the device takes no samples")
        time.sleep(0.05)


@command.command(short_help="Measure delays, levels and clocks over a loop.")
@click.argument("path", metavar="FILE.toml")
@click.option("--bursts", type=click.IntRange(1, 100), default=6, show_default=True,
              help="Number of transmissions, about 3 s each.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
def calibrate(path: str, bursts: int, as_json: bool) -> None:
    """Send short transmissions and measure their delay back to the station's own receiver, over a
    cable from playback to capture, or from the antenna to a second receiver.

    Prints delay, level, SNR, clock difference and the keying time of the rig. Also prints the
    tables [data_link], [radio] and [radio.ptt] with these values. The transmitter is keyed.
    """
    end_on_signals()
    d = described(path)
    assert d.radio is not None
    if not d.radio.transmit:
        raise click.UsageError(f"{path}: transmit = false: this station only receives")
    with opened(d) as (tb, found):
        with Progress("transmissions", bursts) as progress:
            result = probe.calibrate(tb, found, d.bandwidth_khz, bursts, progress.at)
    if as_json:
        click.echo(json.dumps(vars(result)))
    else:
        _say(result)
        click.echo(probe.table(d.radio, result))
    if not result.delays_ms:
        raise fail(f"none of {bursts} transmissions came back (peak {result.peak_db:.0f} dB); is "
                   "playback connected to capture?")


def _say(c: probe.Calibration) -> None:
    def say(text: str) -> None:
        click.echo(text, err=True)

    say(f"{len(c.delays_ms)} of {c.sent} transmissions came back; peak {c.peak_db:.1f} dB, "
        f"{c.clipped} samples clipped")
    if c.delays_ms:
        say(f"delay {min(c.delays_ms):.1f} to {max(c.delays_ms):.1f} ms, SNR "
            f"{min(c.snr_db):.0f} to {max(c.snr_db):.0f} dB, offset "
            f"{sum(c.offset_hz) / len(c.offset_hz):+.1f} Hz")
    if c.turnaround_ms is not None:
        say(f"turnaround: {c.turnaround_ms:.0f} ms beyond the decoder's delay and the key's lead")
    if c.ppm is not None:
        say(f"clock of playback against capture: {c.ppm:+.0f} ppm")
    if c.key_ms is not None:
        say(f"the rig took up to {c.key_ms:.0f} ms to key")


@command.command("rig", short_help="Frequency and mode of the rig.")
@click.argument("path", metavar="FILE.toml")
@click.option("--frequency", type=click.FloatRange(1, 6e9), metavar="HZ",
              help="Set the dial frequency.")
@click.option("--mode", help="Set the mode, in hamlib's words, for example USB or PKTUSB.")
@click.option("--passband", default=0, type=click.IntRange(0, 100000), metavar="HZ",
              help="Passband of the mode. 0: its usual one.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def show_rig(path: str, frequency: Optional[float], mode: Optional[str], passband: int,
             as_json: bool) -> None:
    """Print frequency and mode of the rig, read through the rigctld of [radio.ptt].

    Options set the rig first and read it back, never while it is keyed. [radio.rig] in the file is
    not used, it is for hf run."""
    d = described(path)
    assert d.radio is not None
    wanted = station.Rig(frequency or 0.0, mode or "", passband)
    try:
        wanted.check()
        rig = radio.Rig(d.radio.ptt.host, d.radio.ptt.port)
        if frequency or mode:
            found = rig.set(wanted.frequency_hz, wanted.mode, wanted.passband_hz)
        else:
            found = rig.read()
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    except RuntimeError as error:
        raise fail(str(error)) from None
    click.echo(json.dumps(vars(found)) if as_json else found.text())


@command.command("monitor", short_help="Print received transmissions.")
@click.argument("path", metavar="FILE.toml")
@click.option("--duration", type=click.FloatRange(1), help="End after this time, s.")
@click.option("--json", "as_json", is_flag=True, help="One line of JSON for each transmission.")
def listen(path: str, duration: Optional[float], as_json: bool) -> None:
    """Listen on the station's radio until Ctrl-C and print each received transmission. Nothing is
    transmitted."""
    end_on_signals()
    d = described(path)
    assert d.radio is not None
    d.radio.transmit = False
    with opened(d) as (tb, found):
        heard = monitor.Heard()
        receiver = _hf.rx(d.zero_interleaver, bandwidth=d.bandwidth_khz)
        tb.connect(found.source, receiver)
        tb.msg_connect(receiver, "pdus", heard, "pdus")
        tb.start()
        begin = time.monotonic()
        ends = f"for {duration:g} s" if duration else "until Ctrl-C"
        click.echo(f"listening {ends}", err=True)
        with contextlib.suppress(KeyboardInterrupt):
            while duration is None or time.monotonic() < begin + duration:
                time.sleep(0.2)
                for t in heard.take():
                    if as_json:
                        click.echo(json.dumps(t))
                    else:
                        click.echo("{time}  {mode:12} {octets:6} octets, SNR {snr_db:5.1f} dB, "
                                   "offset {freq_offset_hz:+6.1f} Hz, ended: {reason}"
                                   .format(**t))

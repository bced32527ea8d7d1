# SPDX-License-Identifier: GPL-3.0-or-later
"""What the waveform chain of blocks costs beside the whole modems, by the processor time of whole
flowgraphs."""
import resource
import time
from typing import Any, Callable, List, NamedTuple, Optional

import numpy as np
import pmt

from gnuradio import blocks, gr, hf

MODES = ["4539-75S", "4539-600S", "4539-2400L", "4539-3200S", "4539-9600VL", "5069-12k-64000S"]
#: Largest cost of a chain, as a multiple of the whole modem's.
TARGET = 3.0


class Cost(NamedTuple):
    """Processor time of a signal's second, ms: of the whole modems and of the chains."""

    mode: str
    tx: float
    tx_chain: float
    rx: float
    rx_chain: float


class Speaker(gr.basic_block):
    """The way into a hierarchical block for a message."""

    def __init__(self) -> None:
        gr.basic_block.__init__(self, "speaker", [], [])
        self.message_port_register_out(pmt.intern("out"))


def used() -> float:
    """Processor time of this process so far, s."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def processor_time(top: gr.top_block, sink: Any, items: int) -> float:
    """Processor time of all threads of a running flowgraph until a sink has taken its items, s."""
    begin = used()
    while sink.nitems_read(0) < items:
        time.sleep(0.01)
    spent = used() - begin
    top.stop()
    top.wait()
    return spent


def sending(make: Callable[[], Any], octets: bytes, samples: int) -> float:
    """Processor time of a transmission, s."""
    top, block, speaker = gr.top_block(), make(), Speaker()
    top.msg_connect(speaker, "out", block, "pdus")
    sink = blocks.null_sink(gr.sizeof_gr_complex)
    top.connect(block, sink)
    top.start()
    speaker.message_port_pub(pmt.intern("out"), pmt.cons(
        pmt.make_dict(), pmt.init_u8vector(len(octets), list(octets))))
    return processor_time(top, sink, samples)


def receiving(make: Callable[[], Any], heard: np.ndarray) -> float:
    """Processor time of a reception, s."""
    top, block, message = gr.top_block(), make(), blocks.message_debug()
    top.msg_connect(block, "pdus", message, "store")
    top.connect(blocks.vector_source_c(heard), block)
    begin = used()
    top.run()
    spent = used() - begin
    assert message.num_messages() == 1
    return spent


def measure(mode: str, seconds: float) -> Cost:
    """Cost of one mode, with about this many seconds of signal."""
    m = hf.mode(mode)
    octets = np.random.default_rng(1).bytes(max(int(m.rate_bps * seconds / 8), 16))
    samples = hf.modulate(mode, octets)
    rate = 4 * hf.waveform.sizes(mode)["symbol_rate"]
    silence = np.zeros(int(rate) // 2, np.complex64)
    heard = hf.channel_model("awgn snr=35", signal_power=m.mean_power, sample_rate=rate).process(
        np.concatenate([silence, samples, silence]))
    times = [
        sending(lambda: hf.tx(mode), octets, len(samples)),
        sending(lambda: hf.tx_chain(mode), octets, len(samples)),
        receiving(lambda: hf.rx(effort=0, bandwidth=m.bandwidth_hz // 1000, join=False), heard),
        receiving(lambda: hf.rx_chain(mode), heard)]
    scale = 1e3 * rate / len(samples)
    return Cost(mode, *(scale * t for t in times))


def table(costs: List[Cost], target: Optional[float] = TARGET) -> str:
    """Costs in Markdown."""
    rows = ["| mode | tx | tx_chain | ratio | rx, one pass | rx_chain | ratio | target |",
            "|---|---|---|---|---|---|---|---|"]
    for c in costs:
        rows.append(f"| {c.mode} | {c.tx:.2f} | {c.tx_chain:.2f} | {c.tx_chain / c.tx:.1f} | "
                    f"{c.rx:.2f} | {c.rx_chain:.2f} | {c.rx_chain / c.rx:.1f} | {target:g} |")
    return "Processor time for a second of signal, ms\n\n" + "\n".join(rows)

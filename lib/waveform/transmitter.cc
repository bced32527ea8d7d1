/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "waveform/transmitter.h"

namespace gr::hf::kernel {

transmitter::transmitter(const mode& m, tx_options options)
    : transmitter(describe(m), options)
{
}

transmitter::transmitter(const description& d, tx_options options)
    : d_d(d), d_framer(d, options.eom), d_frames(d, options), d_encoder(d)
{
}

size_t transmitter::octets_wanted() const
{
    return d_phase == phase::want ? d_framer.octets_wanted() : 0;
}

uint64_t transmitter::block_symbol() const
{
    return d_frames.head() + d_d.block_begin(d_block);
}

void transmitter::give(const uint8_t* octets, size_t n, bool last)
{
    if (d_phase != phase::want)
        return;
    d_framer.give(octets, n, last);
    next_block();
}

void transmitter::next_block()
{
    if (d_framer.finished()) {
        d_tail = d_frames.tail(d_block);
        d_phase = d_tail.empty() ? phase::done : phase::tail;
    } else if (!d_framer.ready()) {
        d_phase = phase::want;
    } else {
        d_numbers = d_encoder.encode(d_framer.take().data(), d_block);
        d_next_number = 0;
        d_phase = phase::block;
    }
}

size_t transmitter::produce(tx_symbol* out, size_t n)
{
    const uint64_t head = d_frames.head();
    size_t made = 0;
    while (made < n && d_phase != phase::want && d_phase != phase::done) {
        if (d_phase == phase::head) {
            out[made++] = d_frames.head_symbol(d_produced++);
            if (d_produced == head)
                next_block();
        } else if (d_phase == phase::tail) {
            out[made++] = d_tail[d_next_tail++];
            ++d_produced;
            if (d_next_tail == d_tail.size())
                d_phase = phase::done;
        } else {
            // A reinserted preamble lies between the end of the previous block and this
            // one.
            tx_symbol s = d_frames.body_symbol(d_produced++ - head);
            if (!is_known(s.kind)) {
                s.number = d_numbers[d_next_number++];
                s.value = d_d.alphabet.points[s.number];
            }
            out[made++] = s;
            if (d_produced == head + d_d.block_end(d_block)) {
                ++d_block;
                next_block();
            }
        }
    }
    return made;
}

} // namespace gr::hf::kernel

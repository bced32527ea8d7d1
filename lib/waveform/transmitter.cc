/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "waveform/transmitter.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace gr::hf::kernel {

transmitter::transmitter(const mode& m, tx_options options)
    : d_d(describe(m)), d_options(options), d_encoder(d_d)
{
    const int most = static_cast<int>(d_d.max_agc_blocks);
    if (options.agc_blocks < 0 || options.agc_blocks > most)
        throw std::invalid_argument("agc_blocks = " + std::to_string(options.agc_blocks) +
                                    ", mode " + m.to_string() + " allows 0 to " +
                                    std::to_string(most));
    if (!options.eom && !d_d.eom_optional)
        throw std::invalid_argument("eom = false: mode " + m.to_string() +
                                    " always sends the end-of-message marker");
    d_head = options.agc_blocks * d_d.agc.size() + d_d.preamble.size();
}

size_t transmitter::octets_wanted() const
{
    // Fewer than 8 bits can be left over from the block before.
    return d_phase == phase::want ? (d_d.input_bits - d_bits.size() + 7) / 8 : 0;
}

uint64_t transmitter::block_symbol() const { return d_head + d_d.block_begin(d_block); }

void transmitter::give(const uint8_t* octets, size_t n, bool last)
{
    if (d_phase != phase::want)
        return;
    const size_t wanted = octets_wanted();
    n = std::min(n, wanted);
    for (size_t i = 0; i < n; ++i)
        for (int b = 0; b < 8; ++b)
            d_bits.push_back(octets[i] >> b & 1);
    if (last || n < wanted)
        end_message();
    next_block();
}

void transmitter::end_message()
{
    d_ended = true;
    if (d_options.eom)
        for (size_t b = 0; b < eom_bits; ++b)
            d_bits.push_back(eom_marker >> (eom_bits - 1 - b) & 1);
    d_bits.insert(d_bits.end(), d_d.flush_bits, 0);
}

void transmitter::next_block()
{
    if (d_ended && d_bits.empty()) {
        d_phase = phase::done;
        return;
    }
    if (d_bits.size() < d_d.input_bits) {
        if (!d_ended) {
            d_phase = phase::want;
            return;
        }
        d_bits.resize(d_d.input_bits, 0);
    }
    d_numbers = d_encoder.encode(d_bits.data(), d_block);
    d_next_number = 0;
    d_bits.erase(d_bits.begin(),
                 d_bits.begin() + static_cast<std::ptrdiff_t>(d_d.input_bits));
    d_phase = phase::block;
}

tx_symbol transmitter::head_symbol(uint64_t i) const
{
    const uint64_t agc = d_head - d_d.preamble.size();
    const uint8_t number = i < agc ? d_d.agc[i % d_d.agc.size()] : d_d.preamble[i - agc];
    return { d_d.known_points[number],
             number,
             i < agc ? symbol_kind::agc : symbol_kind::preamble };
}

tx_symbol transmitter::body_symbol(uint64_t i)
{
    const cell& c = d_d.at(i);
    if (is_known(c.kind))
        return { d_d.known_points[c.value], c.value, c.kind };
    const uint8_t number = d_numbers[d_next_number++];
    return { d_d.alphabet.points[number], number, c.kind };
}

size_t transmitter::produce(tx_symbol* out, size_t n)
{
    size_t made = 0;
    while (made < n && d_phase != phase::want && d_phase != phase::done) {
        if (d_phase == phase::head) {
            out[made++] = head_symbol(d_produced++);
            if (d_produced == d_head)
                next_block();
        } else {
            // A reinserted preamble lies between the end of the block before and this one.
            out[made++] = body_symbol(d_produced++ - d_head);
            if (d_produced == d_head + d_d.block_end(d_block)) {
                ++d_block;
                next_block();
            }
        }
    }
    return made;
}

} // namespace gr::hf::kernel

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "waveform/transmitter.h"

#include "waveform/family.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace gr::hf::kernel {

namespace {

// The preamble of the description, unless the operator wants another.
preamble_plan plan_of(const description& d, const preamble_options& o)
{
    if (!(o == preamble_options{}))
        return preamble_of(d.m, o);
    return { d.agc, d.preamble, d.preamble_probe, d.sections };
}

} // namespace

transmitter::transmitter(const mode& m, tx_options options)
    : transmitter(describe(m), options)
{
}

transmitter::transmitter(const description& d, tx_options options)
    : d_d(d), d_options(options), d_encoder(d_d), d_plan(plan_of(d_d, options.preamble))
{
    const int most = static_cast<int>(d_d.max_agc_blocks);
    if (options.agc_blocks < 0 || options.agc_blocks > most)
        throw std::invalid_argument("agc_blocks = " + std::to_string(options.agc_blocks) +
                                    ", mode " + d_d.m.to_string() + " allows 0 to " +
                                    std::to_string(most));
    if (!options.eom && !d_d.eom_optional)
        throw std::invalid_argument("eom = false: mode " + d_d.m.to_string() +
                                    " always sends the end-of-message marker");
    if (options.eot && d_d.eot_symbols == 0)
        throw std::invalid_argument("eot = true: mode " + d_d.m.to_string() +
                                    " has no end-of-transmission signal");
    d_head = options.agc_blocks * d_plan.agc.size() + d_plan.symbols.size();
}

size_t transmitter::octets_wanted() const
{
    // Fewer than 8 bits can remain from the previous block.
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
            d_bits.push_back(octets[i] >> (d_d.most_significant_first ? 7 - b : b) & 1);
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
        begin_tail();
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

// Continues the last probe, which is periodic.
void transmitter::begin_tail()
{
    d_phase = d_options.eot ? phase::tail : phase::done;
    if (!d_options.eot)
        return;
    std::vector<uint8_t> probe(d_plan.symbols.end() -
                                   static_cast<std::ptrdiff_t>(d_plan.probe),
                               d_plan.symbols.end());
    if (d_block > 0)
        for (size_t i = 0; i < d_d.known; ++i)
            probe[i] = d_d.at(d_d.block_end(d_block - 1) - d_d.known + i).value;
    for (size_t i = 0; i < d_d.eot_symbols; ++i)
        d_tail.push_back(probe[(d_d.known + i) % d_d.probe_period]);
}

tx_symbol transmitter::head_symbol(uint64_t i) const
{
    const uint64_t agc = d_head - d_plan.symbols.size();
    if (i < agc) {
        const uint8_t number = d_plan.agc[i % d_plan.agc.size()];
        return { d_d.known_points[number], number, symbol_kind::agc };
    }
    const uint8_t number = d_plan.symbols[i - agc];
    const bool probe = i + d_plan.probe >= d_head;
    return { d_d.known_points[number],
             number,
             probe ? symbol_kind::probe : symbol_kind::preamble };
}

tx_symbol transmitter::body_symbol(uint64_t i)
{
    const cell& c = d_d.at(i);
    if (is_known(c.kind))
        return { d_d.known_point(c), c.value, c.kind };
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
        } else if (d_phase == phase::tail) {
            const uint8_t number = d_tail[d_next_tail++];
            out[made++] = { d_d.known_points[number], number, symbol_kind::probe };
            ++d_produced;
            if (d_next_tail == d_tail.size())
                d_phase = phase::done;
        } else {
            // A reinserted preamble lies between the end of the previous block and this
            // one.
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

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "waveform/frame_builder.h"

#include "waveform/family.h"

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

frame_builder::frame_builder(const description& d, const tx_options& options)
    : d_d(d), d_plan(plan_of(d, options.preamble)), d_head(0), d_eot(options.eot)
{
    const int most = static_cast<int>(d.max_agc_blocks);
    if (options.agc_blocks < 0 || options.agc_blocks > most)
        throw std::invalid_argument("agc_blocks = " + std::to_string(options.agc_blocks) +
                                    ", mode " + d.m.to_string() + " allows 0 to " +
                                    std::to_string(most));
    if (options.eot && d.eot_symbols == 0)
        throw std::invalid_argument("eot = true: mode " + d.m.to_string() +
                                    " has no end-of-transmission signal");
    d_head = static_cast<uint64_t>(options.agc_blocks) * d_plan.agc.size() +
             d_plan.symbols.size();
}

tx_symbol frame_builder::head_symbol(uint64_t i) const
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

tx_symbol frame_builder::body_symbol(uint64_t i) const
{
    const cell& c = d_d.at(i);
    return is_known(c.kind) ? tx_symbol{ d_d.known_point(c), c.value, c.kind }
                            : tx_symbol{};
}

// Continues the last probe, which is periodic.
std::vector<tx_symbol> frame_builder::tail(uint64_t blocks) const
{
    std::vector<tx_symbol> all;
    if (!d_eot)
        return all;
    std::vector<uint8_t> probe(d_plan.symbols.end() -
                                   static_cast<std::ptrdiff_t>(d_plan.probe),
                               d_plan.symbols.end());
    if (blocks > 0)
        for (size_t i = 0; i < d_d.known; ++i)
            probe[i] = d_d.at(d_d.block_end(blocks - 1) - d_d.known + i).value;
    for (size_t i = 0; i < d_d.eot_symbols; ++i) {
        const uint8_t number = probe[(d_d.known + i) % d_d.probe_period];
        all.push_back({ d_d.known_points[number], number, symbol_kind::probe });
    }
    return all;
}

} // namespace gr::hf::kernel

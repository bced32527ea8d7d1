/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/cued_receiver.h"

#include "modem/find/cued_preamble.h"
#include "waveform/description.h"

#include <algorithm>
#include <cmath>

namespace gr::hf::kernel {

namespace {

// Longest time without a recognisable signal, s: the most that burst_receiver allows.
constexpr double patience_s = 60;
// Samples before the preamble for filters, and after the last block for its decoding, s.
constexpr double before_s = 0.5, after_s = 2;
// Differences of two clocks over a transmission, relative.
constexpr double clock = 100e-6;

rx_options patient(rx_options o)
{
    o.give_noise = true;
    o.lost_after_s = patience_s;
    return o;
}

double preamble_s(const description& d)
{
    return static_cast<double>(d.preamble.size()) / d.symbol_rate_bd;
}

double length_s(const description& d, size_t blocks)
{
    return (1 + clock) * static_cast<double>(d.block_end(blocks)) / d.symbol_rate_bd;
}

} // namespace

cued_receiver::cued_receiver(const cued_transmission& t, const rx_options& options)
    : d_cue(t), d_family(cued_preamble(t.m, 2 * t.within_s, options.max_freq_offset_hz)),
      d_receiver(patient(options), { &d_family })
{
    const description& d = describe(t.m);
    const symbol_grid& grid = d_receiver.grid();
    const double from = t.begin_s - t.within_s - preamble_s(d) - before_s;
    const double to = t.begin_s + t.within_s + length_s(d, t.blocks) + after_s;
    d_from = std::max<int64_t>(0, grid.samples(std::max(0.0, from)));
    d_to = grid.samples(std::max(0.0, to));
}

void cued_receiver::push(const std::complex<float>* samples,
                         size_t n,
                         const float* erased)
{
    const int64_t begin = d_next, end = d_next + static_cast<int64_t>(n);
    d_next = end;
    const int64_t first = std::clamp(d_from, begin, end),
                  last = std::clamp(d_to, begin, end);
    if (first > begin)
        d_receiver.skip(static_cast<uint64_t>(first - begin));
    if (last > first)
        d_receiver.push(samples + (first - begin),
                        static_cast<size_t>(last - first),
                        erased == nullptr ? nullptr : erased + (first - begin));
}

std::vector<soft_transmission> cued_receiver::heard() const
{
    std::vector<soft_transmission> found;
    for (soft_transmission t : d_receiver.heard()) {
        while (!t.blocks.empty() &&
               t.blocks.back().number >= static_cast<int64_t>(d_cue.blocks))
            t.blocks.pop_back();
        if (!t.blocks.empty())
            found.push_back(std::move(t));
    }
    return found;
}

} // namespace gr::hf::kernel

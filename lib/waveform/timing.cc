/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "waveform/timing.h"

#include "waveform/description.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <stdexcept>

namespace gr::hf::kernel {

namespace {

size_t begin_symbol(const mode_timing& t, size_t k)
{
    const size_t reinserted =
        t.blocks_per_superframe ? k / t.blocks_per_superframe * t.reinserted_symbols : 0;
    return t.preamble_symbols + k * t.block_symbols + reinserted;
}

/*! What 110D Appendix D says of a wideband mode: symbol rate (table D-I), symbols of a frame
 *  with its probe, user bits per frame (tables D-XXXIII to D-L), frames of the interleavers.
 *  The preamble is 0.24 s in every bandwidth; the tail-biting code needs no flush.
 */
struct wideband_mode {
    int bandwidth_hz;
    int rate_bps;
    double symbol_rate;
    size_t frame_symbols;
    size_t frame_bits;
    size_t frames[4]; // US, S, M, L
};

constexpr wideband_mode wideband_modes[] = {
    { 18000, 57600, 14400, 1536 + 192, 6912, { 1, 4, 16, 64 } },
    { 48000, 240000, 38400, 2880 + 192, 19200, { 2, 8, 32, 128 } },
};
constexpr double wideband_preamble_s = 0.24;

mode_timing wideband_timing(const mode& m)
{
    const auto& all = mode::emulated();
    if (std::find(all.begin(), all.end(), m) == all.end())
        throw std::invalid_argument("mode " + m.to_string() +
                                    ": mode::emulated() lists the wideband ones");
    const auto& w = *std::find_if(std::begin(wideband_modes),
                                  std::end(wideband_modes),
                                  [&](const wideband_mode& x) {
                                      return x.bandwidth_hz == m.bandwidth_hz &&
                                             x.rate_bps == m.rate_bps;
                                  });
    const size_t frames = w.frames[m.il == interleaver::ultra_short ? 0
                                   : m.il == interleaver::short_    ? 1
                                   : m.il == interleaver::medium    ? 2
                                                                    : 3];
    mode_timing t;
    t.symbol_rate = w.symbol_rate;
    t.preamble_symbols =
        static_cast<size_t>(std::lround(wideband_preamble_s * w.symbol_rate));
    t.block_symbols = frames * w.frame_symbols;
    t.bits_per_block = frames * w.frame_bits;
    t.tail_bits = eom_bits;
    return t;
}

} // namespace

size_t mode_timing::blocks_for(size_t octets) const
{
    return (8 * octets + tail_bits + bits_per_block - 1) / bits_per_block;
}

size_t mode_timing::octets_in(size_t blocks) const
{
    const size_t bits = blocks * bits_per_block;
    return bits < tail_bits ? 0 : (bits - tail_bits) / 8;
}

sim_time mode_timing::block_begin(size_t k) const
{
    return from_seconds(static_cast<double>(begin_symbol(*this, k)) / symbol_rate);
}

sim_time mode_timing::block_end(size_t k) const
{
    return from_seconds(static_cast<double>(begin_symbol(*this, k) + block_symbols) /
                        symbol_rate);
}

sim_time mode_timing::duration(size_t octets) const
{
    return block_end(blocks_for(octets) - 1);
}

mode_timing timing_of(const mode& m)
{
    if (m.family == waveform_family::wideband)
        return wideband_timing(m);
    const description& d = describe(m);
    mode_timing t;
    t.symbol_rate = d.symbol_rate;
    t.preamble_symbols = d.preamble.size();
    t.block_symbols = d.block_symbols();
    t.blocks_per_superframe = d.reinserted ? d.blocks_per_cycle() : 0;
    t.reinserted_symbols = d.reinserted;
    t.bits_per_block = d.input_bits;
    t.tail_bits = eom_bits + d.flush_bits;
    return t;
}

} // namespace gr::hf::kernel

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "waveform/timing.h"

#include "waveform/description.h"

namespace gr::hf::kernel {

namespace {

size_t begin_symbol(const mode_timing& t, size_t k)
{
    const size_t reinserted =
        t.blocks_per_superframe ? k / t.blocks_per_superframe * t.reinserted_symbols : 0;
    return t.preamble_symbols + k * t.block_symbols + reinserted;
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

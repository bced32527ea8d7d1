/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "waveform/timing.h"

#include "waveform/family.h"

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

station_time mode_timing::block_begin(size_t k) const
{
    return from_seconds(static_cast<double>(begin_symbol(*this, k)) / symbol_rate_bd);
}

station_time mode_timing::block_end(size_t k) const
{
    return from_seconds(static_cast<double>(begin_symbol(*this, k) + block_symbols) /
                        symbol_rate_bd);
}

station_time mode_timing::duration(size_t octets) const
{
    const size_t end = begin_symbol(*this, blocks_for(octets) - 1) + block_symbols;
    return from_seconds(static_cast<double>(end + eot_symbols) / symbol_rate_bd);
}

mode_timing timing_of(const mode& m, const tx_options& o)
{
    const description& d = describe(m);
    mode_timing t;
    t.symbol_rate_bd = d.symbol_rate_bd;
    t.preamble_symbols = o.preamble == preamble_options{}
                             ? d.preamble.size()
                             : preamble_of(m, o.preamble).symbols.size();
    t.block_symbols = d.block_symbols();
    t.blocks_per_superframe = d.reinserted ? d.blocks_per_cycle() : 0;
    t.reinserted_symbols = d.reinserted;
    t.bits_per_block = d.input_bits;
    t.tail_bits = (o.eom ? eom_bits : 0) + d.flush_bits;
    t.eot_symbols = o.eot ? d.eot_symbols : 0;
    return t;
}

} // namespace gr::hf::kernel

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "waveform/description.h"
#include "waveform/timing.h"
#include "waveform/transmitter.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace gr::hf;
using namespace gr::hf::kernel;

namespace {

struct row {
    const char* name;
    double preamble_s, block_s;
    size_t bits, tail;
    double air_30, air_200; // seconds for 30 and 200 octets
    size_t most;            // octets in the 127.5 s that an EOT field can name
};

// Computed independently of this code. Wideband preambles include a mini-probe. Block
// times include the mean share of the reinserted preamble.
constexpr row rows[] = {
    { "4539-75S", 0.6, 0.6, 45, 176, 6.60, 24.60, 1170 },
    { "4539-150S", 0.6, 0.6, 90, 176, 3.60, 12.60, 2363 },
    { "4539-300S", 0.6, 0.6, 180, 176, 2.40, 6.60, 4748 },
    { "4539-600S", 0.6, 0.6, 360, 176, 1.80, 3.60, 9518 },
    { "4539-1200S", 0.6, 0.6, 720, 176, 1.20, 2.40, 19058 },
    { "4539-2400S", 0.6, 0.6, 1440, 176, 1.20, 1.80, 38138 },
    { "4539-3200S", 287 / 2400., 1.08, 3456, 32, 1.20, 1.20, 50972 },
    { "4539-4800S", 287 / 2400., 1.08, 5184, 32, 1.20, 1.20, 76460 },
    { "4539-6400S", 287 / 2400., 1.08, 6912, 32, 1.20, 1.20, 101948 },
    { "4539-8000S", 287 / 2400., 1.08, 8640, 32, 1.20, 1.20, 127436 },
    { "4539-9600S", 287 / 2400., 1.08, 10368, 32, 1.20, 1.20, 152924 },
    { "4539-1200L", 4.8, 4.8, 5760, 176, 9.60, 9.60, 18698 },
    { "4539-9600US", 287 / 2400., 0.12, 1152, 32, 0.24, 0.36, 152924 },
    { "4539-9600VS", 287 / 2400., 0.36, 3456, 32, 0.48, 0.48, 152924 },
    { "5069-18k-57600US",
      0.24 + 192 / 14400.,
      0.12,
      6912,
      32,
      0.36 + 192 / 14400.,
      0.36 + 192 / 14400.,
      917564 },
    { "5069-18k-57600S",
      0.24 + 192 / 14400.,
      0.48,
      27648,
      32,
      0.72 + 192 / 14400.,
      0.72 + 192 / 14400.,
      915836 },
    { "5069-18k-57600M",
      0.24 + 192 / 14400.,
      1.92,
      110592,
      32,
      2.16 + 192 / 14400.,
      2.16 + 192 / 14400.,
      912380 },
    { "5069-18k-57600L",
      0.24 + 192 / 14400.,
      7.68,
      442368,
      32,
      7.92 + 192 / 14400.,
      7.92 + 192 / 14400.,
      884732 },
    { "5069-48k-240000US", 0.24 + 192 / 38400., 0.08, 19200, 32, 0.32, 0.32, 3823196 },
    { "5069-48k-240000S", 0.24 + 192 / 38400., 0.48, 115200, 32, 0.72, 0.72, 3815996 },
    { "5069-48k-240000M", 0.24 + 192 / 38400., 1.92, 460800, 32, 2.16, 2.16, 3801596 },
    { "5069-48k-240000L", 0.24 + 192 / 38400., 7.68, 1843200, 32, 7.92, 7.92, 3686396 },
};

} // namespace

TEST(timing, agrees_with_the_table_of_limits)
{
    for (const row& r : rows) {
        const mode m = mode::parse(r.name);
        const auto t = timing_of(m);
        const bool serial = m.family == waveform_family::serial_tone;
        EXPECT_NEAR(to_seconds(t.block_begin(0)), r.preamble_s, 1e-9) << r.name;
        EXPECT_EQ(t.bits_per_block, r.bits) << r.name;
        EXPECT_EQ(t.tail_bits, r.tail) << r.name;
        // Mean block time over one superframe, or over many equal blocks.
        const size_t n = t.blocks_per_superframe ? t.blocks_per_superframe : 100;
        EXPECT_NEAR(to_seconds(t.block_begin(n) - t.block_begin(0)) /
                        static_cast<double>(n),
                    r.block_s,
                    1e-9)
            << r.name;
        // The table rounds to 10 ms and spreads the reinserted preamble (30 ms in 72 frames).
        const double tolerance = serial ? 1e-9 : 0.01;
        EXPECT_NEAR(to_seconds(t.duration(30)), r.air_30, tolerance) << r.name;
        EXPECT_NEAR(to_seconds(t.duration(200)), r.air_200, tolerance) << r.name;
        const auto blocks = static_cast<size_t>(127.5 / r.block_s + 1e-9);
        EXPECT_EQ(t.octets_in(blocks), r.most) << r.name;
    }
}

TEST(timing, wideband_options_count)
{
    const mode m = mode::parse("5069-12k-19200M");
    tx_options o;
    const auto plain = timing_of(m);
    EXPECT_EQ(plain.preamble_symbols, 18 * 128 + 128u);
    o.preamble.superframes = 3;
    o.eot = true;
    o.eom = false;
    const auto t = timing_of(m, o);
    EXPECT_EQ(t.preamble_symbols, 3 * 18 * 128 + 128u);
    EXPECT_EQ(t.tail_bits, 0u);
    EXPECT_EQ(t.eot_symbols, 128u); // 13.333 ms at 9600 Bd
    EXPECT_NEAR(to_seconds(t.duration(1)),
                (3 * 18 * 128 + 128 + 16 * (1024 + 128) + 128) / 9600.,
                1e-9);
    o.preamble.superframes = 33;
    EXPECT_THROW(timing_of(m, o), std::invalid_argument);
    o = {};
    o.preamble.superframes = 2;
    EXPECT_THROW(timing_of(mode::parse("4539-600S"), o), std::invalid_argument);
}

// Waveform 0 in 3 kHz is readable at SNRs at which one super-frame is missed too often.
TEST(timing, wideband_modes_have_a_preamble_of_their_own)
{
    const mode robust = mode::parse("5069-3k-75S");
    EXPECT_EQ(timing_of(robust).preamble_symbols, 3 * 18 * 32u);
    EXPECT_EQ(timing_of(mode::parse("5069-3k-150S")).preamble_symbols, 2 * 18 * 32 + 48u);
    EXPECT_EQ(timing_of(mode::parse("5069-3k-300S")).preamble_symbols, 18 * 32 + 48u);
    EXPECT_NEAR(
        to_seconds(timing_of(robust).duration(0)), 3 * 0.24 + 40 * 32 / 2400., 1e-9);
    EXPECT_EQ(describe(robust).preamble.size(), 3 * 18 * 32u);
    EXPECT_EQ(describe(mode::parse("5069-6k-150S")).preamble.size(), 2 * 18 * 64u);
    EXPECT_EQ(timing_of(mode::parse("5069-6k-300S")).preamble_symbols, 18 * 64 + 96u);
    EXPECT_EQ(describe(mode::parse("5069-9k-300S")).preamble.size(), 2 * 18 * 96u);
    EXPECT_EQ(describe(mode::parse("5069-48k-1200L")).preamble.size(), 2 * 18 * 512u);
    tx_options o;
    o.preamble.superframes = 1; // a choice, not the absence of one
    EXPECT_EQ(timing_of(robust, o).preamble_symbols, 18 * 32u);
    o.preamble = {};
    o.preamble.short_form = true; // is sent once
    EXPECT_EQ(timing_of(robust, o).preamble_symbols, 10 * 32u);
    o.preamble = {};
    o.preamble.scrambling = preamble_scrambling::running;
    EXPECT_EQ(timing_of(robust, o).preamble_symbols, 3 * 18 * 32u);
}

TEST(timing, unknown_modes_have_none)
{
    mode other = mode::parse("5069-48k-240000S");
    other.bandwidth_hz = 24000;
    EXPECT_THROW(timing_of(other), std::invalid_argument);
}

// 110C D.5.3.3 and 110D: Long blocks last 7.68 s from 30 kHz on, and at 48 kHz the ladder of
// the interleavers is 1:6:24:96 frames, not 1:4:16:64.
TEST(timing, wideband_interleavers)
{
    size_t blocks = 0, ladders = 0;
    for (const mode& m : mode::all()) {
        if (m.family != waveform_family::wideband || m.constraint_length != 7)
            continue;
        const auto t = timing_of(m);
        const double block_s = to_seconds(t.block_end(0) - t.block_begin(0));
        EXPECT_NEAR(static_cast<double>(t.bits_per_block) / block_s, m.rate_bps, 1e-3)
            << m.to_string();
        ++blocks;
        if (m.bandwidth_hz < 30000 || m.il != interleaver::long_)
            continue;
        EXPECT_NEAR(block_s, 7.68, 1e-9) << m.to_string();
        mode us = m;
        us.il = interleaver::ultra_short;
        const auto& all = mode::all();
        if (std::find(all.begin(), all.end(), us) == all.end())
            continue; // waveform 0
        const size_t ratio = m.bandwidth_hz == 48000 ? 96 : 64;
        EXPECT_EQ(t.block_symbols, ratio * timing_of(us).block_symbols) << m.to_string();
        ++ladders;
    }
    EXPECT_EQ(blocks, 608u);
    EXPECT_EQ(ladders, 4 * 12u);
}

TEST(timing, octets_in_and_blocks_for_are_inverse)
{
    for (const mode& m : mode::all()) {
        const auto t = timing_of(m);
        EXPECT_EQ(t.octets_in(0), 0u);
        for (size_t blocks = t.blocks_for(0); blocks < t.blocks_for(0) + 20; ++blocks) {
            const size_t most = t.octets_in(blocks);
            EXPECT_LE(t.blocks_for(most), blocks) << m.to_string();
            EXPECT_EQ(t.blocks_for(most + 1), blocks + 1) << m.to_string();
        }
    }
}

TEST(timing, agrees_with_the_transmitter)
{
    for (const mode& m : mode::all()) {
        const auto t = timing_of(m);
        // Enough blocks to pass a reinserted preamble with the shorter interleavers.
        const bool wideband = m.family == waveform_family::wideband;
        if (wideband && (m.il == interleaver::long_ || m.constraint_length != 7))
            continue; // the same blocks, only longer, and another code
        const size_t blocks =
            wideband ? 2 : std::min<size_t>(75, 1 + 400000 / t.bits_per_block);
        const size_t octets = t.octets_in(t.blocks_for(0) + blocks);
        transmitter tx(m);
        std::vector<tx_symbol> symbols(1 << 16);
        size_t given = 0, block = 0;
        while (!tx.done()) {
            if (const size_t wanted = tx.octets_wanted()) {
                EXPECT_EQ(from_seconds(static_cast<double>(tx.block_symbol()) /
                                       t.symbol_rate_bd),
                          t.block_begin(block++));
                const size_t n = std::min(wanted, octets - given);
                given += n;
                const std::vector<uint8_t> zeros(n);
                tx.give(zeros.data(), n, given == octets);
            }
            tx.produce(symbols.data(), symbols.size());
        }
        EXPECT_EQ(from_seconds(static_cast<double>(tx.produced()) / t.symbol_rate_bd),
                  t.duration(octets))
            << m.to_string();
    }
}

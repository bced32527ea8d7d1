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

// Computed apart from this code; block times contain the mean share of the reinserted
// preamble.
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
    { "5069-18k-57600S", 0.24, 0.48, 27648, 32, 0.72, 0.72, 915836 },
    { "5069-48k-240000S", 0.24, 0.64, 153600, 32, 0.88, 0.88, 3820796 },
    { "5069-48k-240000US", 0.24, 0.16, 38400, 32, 0.40, 0.40, 3820796 },
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

TEST(timing, wideband_modes_are_known_by_their_times_only)
{
    for (const mode& m : mode::emulated()) {
        EXPECT_GT(timing_of(m).bits_per_block, 0u) << m.to_string();
        EXPECT_THROW(describe(m), std::invalid_argument) << m.to_string();
    }
    mode other = mode::emulated().front();
    other.bandwidth_hz = 24000;
    EXPECT_THROW(timing_of(other), std::invalid_argument);
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
        const size_t blocks = std::min<size_t>(75, 1 + 400000 / t.bits_per_block);
        const size_t octets = t.octets_in(t.blocks_for(0) + blocks);
        transmitter tx(m);
        std::vector<tx_symbol> symbols(1 << 16);
        size_t given = 0, block = 0;
        while (!tx.done()) {
            if (const size_t wanted = tx.octets_wanted()) {
                EXPECT_EQ(from_seconds(static_cast<double>(tx.block_symbol()) / 2400),
                          t.block_begin(block++));
                const size_t n = std::min(wanted, octets - given);
                given += n;
                const std::vector<uint8_t> zeros(n);
                tx.give(zeros.data(), n, given == octets);
            }
            tx.produce(symbols.data(), symbols.size());
        }
        EXPECT_EQ(from_seconds(static_cast<double>(tx.produced()) / 2400),
                  t.duration(octets))
            << m.to_string();
    }
}

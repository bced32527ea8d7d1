/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// The table of block errors: which curve serves a mode, and its values between points.
#include "s5066/rate/block_errors.h"

#include <gtest/gtest.h>

#include <stdexcept>

using namespace gr::hf;

TEST(block_errors, of_wideband_come_from_the_same_waveform_in_3_khz)
{
    const auto& steady = s5066::measured_block_errors("awgn");
    const mode narrow = mode::parse("4539-9600S");
    EXPECT_EQ(steady.source(narrow), s5066::curve_source::measured);
    // 9600 bit/s exist in many bandwidths: 64-QAM in 3 kHz, BPSK in 24.
    const mode wide = mode::parse("5069-24k-9600S");
    EXPECT_EQ(steady.source(wide), s5066::curve_source::derived);
    EXPECT_LT(*steady.needed_db(wide), *steady.needed_db(narrow) - 3);
    // 64-QAM at rate 3/4 in 3 and in 48 kHz: the same SNR, each in its band.
    const mode same = mode::parse("5069-3k-9600S"),
               widest = mode::parse("5069-48k-144000S");
    EXPECT_NEAR(*steady.needed_db(same), *steady.needed_db(narrow), 1.5);
    EXPECT_NEAR(*steady.needed_db(widest), *steady.needed_db(same), 0.11);
    for (const mode& m : mode::all()) {
        EXPECT_TRUE(steady.has(m) || m.rate_bps == 4800 || m.rate_bps == 12800)
            << m.to_string();
    }
    EXPECT_FALSE(s5066::block_error_curves().has(widest));
}

TEST(block_errors, are_interpolated)
{
    s5066::block_error_curves c;
    EXPECT_TRUE(c.empty());
    EXPECT_THROW(c.add(mode::parse("4539-600S"), {}), std::invalid_argument);
    EXPECT_THROW(c.add(mode::parse("4539-600S"), { { 3, 0, 0.5, 0.1 }, { 2, 0, 0, 0 } }),
                 std::invalid_argument);
    EXPECT_THROW(c.add(mode::parse("4539-600S"), { { 3, 0, 1.5, 0.1 } }),
                 std::invalid_argument);
    c.add(mode::parse("4539-4800S"),
          { { 8, 0.2, 1, 0.3 }, { 10, 0, 0.4, 0.1 }, { 12, 0, 0, 0 } });
    const mode m = mode::parse("4539-4800S"), l = mode::parse("4539-4800VL");
    // Mean of two quantiles: those for 0.4 and for all of 80 blocks, and for 0.4 and for
    // none.
    EXPECT_NEAR(c.at(m, 9).bad, 0.86, 0.01);
    EXPECT_NEAR(c.at(m, 9).lost, 0.05, 0.01);
    EXPECT_NEAR(c.at(l, 11).bad, 0.085, 0.01) << "the nearest interleaver";
    EXPECT_EQ(c.source(m), s5066::curve_source::measured);
    EXPECT_EQ(c.source(l), s5066::curve_source::interleaver);
    EXPECT_NEAR(*c.needed_db(m), 9.8, 0.11);
    EXPECT_DOUBLE_EQ(c.at(m, 11).ber_of_bad, 0.1);
    EXPECT_EQ(c.at(m, 30).bad, 0);
    EXPECT_EQ(c.at(m, 5).bad, 1);
    EXPECT_EQ(c.at(mode::parse("4539-600S"), 30).bad, 1) << "no curve";
}

// Quantiles of the normal distribution, from tables: -2 for 0.022750, -1 for 0.158655,
// 0 for 0.5, 1.5 for 0.933193.
TEST(block_errors, follow_a_normal_distribution_between_points)
{
    const mode m = mode::parse("4539-600S");
    s5066::block_error_curves c;
    c.add(m,
          { { 0, 0, 0.933193, 0.4 },
            { 2, 0, 0.5, 0.2 },
            { 4, 0, 0.158655, 0.1 },
            { 6, 0, 0.022750, 0.1 } });
    constexpr double within = 5e-4;                  // of the formula
    EXPECT_NEAR(c.at(m, 1).bad, 0.773373, within);   // 0.75
    EXPECT_NEAR(c.at(m, 3).bad, 0.308538, within);   // -0.5
    EXPECT_NEAR(c.at(m, 5).bad, 0.066807, within);   // -1.5
    EXPECT_NEAR(c.at(m, 4.5).bad, 0.105650, within); // -1.25
    EXPECT_NEAR(c.at(m, 1).ber_of_bad, 0.282843, 1e-6) << "by equal factors";
    // A share of 0 or 1 stays exactly that at its point, and between two of its kind.
    c.add(m, { { 0, 1, 1, 0.5 }, { 2, 1, 0.5, 0.2 }, { 4, 0, 0, 0 }, { 6, 0, 0, 0 } });
    for (const double snr : { 0.0, 1.0 })
        EXPECT_EQ(c.at(m, snr).lost, 1) << snr;
    for (const double snr : { 4.0, 5.0, 6.0 }) {
        EXPECT_EQ(c.at(m, snr).lost, 0) << snr;
        EXPECT_EQ(c.at(m, snr).bad, 0) << snr;
    }
    EXPECT_NEAR(c.at(m, 3).bad, 0.10586, within)
        << "0 counts as half an error in 80 blocks";
}

// Fewer and longer bursts: of as many wrong bits, more D_PDUs of a bad block stay whole.
TEST(block_errors, bursts_of_k9_are_longer)
{
    const mode k7 = mode::parse("5069-3k-1200L"), k9 = mode::parse("5069-3k-1200L-k9");
    s5066::block_error_curves c;
    for (const mode& m : { k7, k9 })
        c.add(m, { { 0, 0, 1, 0.02 }, { 2, 0, 0, 0 } });
    // 100 octets with 0.02 x 2 / 12 and 0.02 x 2 / 32 bursts for each bit.
    EXPECT_NEAR(c.at(k7, 0).loss(100), 1 - std::exp(-800 * 0.04 / 12), 1e-9);
    EXPECT_NEAR(c.at(k9, 0).loss(100), 1 - std::exp(-800 * 0.04 / 32), 1e-9);
}

TEST(block_errors, come_from_the_fastest_mode_that_is_not_faster)
{
    s5066::block_error_curves c;
    for (const char* m : { "4539-600S",
                           "4539-2400S",
                           "4539-2400L",
                           "4539-6400S",
                           "5069-3k-2400S",
                           "5069-6k-3200S" })
        c.add(mode::parse(m), { { 5, 0, 0.5, 0.1 }, { 7, 0, 0, 0 } });
    const auto serves = [&c](const char* m) {
        const auto found = c.serving(mode::parse(m));
        return found ? found->to_string() : std::string();
    };
    EXPECT_EQ(serves("4539-2400S"), "4539-2400S");
    EXPECT_EQ(serves("4539-3200S"), "4539-2400S");
    EXPECT_EQ(serves("4539-3200US"), "4539-2400S") << "the nearer interleaver";
    EXPECT_EQ(serves("4539-3200L"), "4539-2400L");
    EXPECT_EQ(serves("4539-3200VL"), "4539-2400L");
    EXPECT_EQ(serves("4539-4800S"), "4539-2400S");
    EXPECT_EQ(serves("4539-1200L"), "4539-600S");
    EXPECT_EQ(serves("4539-9600S"), "4539-6400S");
    EXPECT_EQ(serves("4539-300S"), "") << "all are faster";
    EXPECT_EQ(serves("5069-3k-6400S"), "5069-3k-2400S") << "not 4539-6400S";
    EXPECT_EQ(serves("5069-3k-1200S"), "4539-600S") << "5069 has none so slow";
    EXPECT_EQ(c.source(mode::parse("4539-3200S")), s5066::curve_source::derived);
    // Shannon's bound of 3200 bit/s in 2400 Bd is 1.82 dB above that of 2400 bit/s.
    EXPECT_NEAR(*c.needed_db(mode::parse("4539-3200S")) -
                    *c.needed_db(mode::parse("4539-2400S")),
                1.82,
                0.11);
}

TEST(block_errors, of_two_equally_near_interleavers_the_shorter_one_serves)
{
    s5066::block_error_curves c;
    for (const char* m : { "4539-3200S", "4539-3200L" })
        c.add(mode::parse(m), { { 5, 0, 0.5, 0.1 }, { 7, 0, 0, 0 } });
    EXPECT_EQ(c.serving(mode::parse("4539-3200M"))->to_string(), "4539-3200S");
}

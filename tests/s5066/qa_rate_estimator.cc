/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/rate/adaptive_rate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>

using namespace gr::hf;
using namespace gr::hf::s5066;

namespace {

// SNR of blocks. Averages over many fades differ little, single fades differ much.
const std::vector<double> fast_fading = { 29, 31, 28, 32, 29, 31, 28, 32, 30, 30 };
const std::vector<double> slow_fading = { 24, 27, 31, 33, 32, 29, 23, 27, 32, 34 };

// Sends rounds, each in the best mode known. Returns the number that failed.
unsigned
in_vain(rate_estimator& e, std::optional<mode>& present, bool fast, unsigned rounds)
{
    const auto modes = rate_range::parse("auto:4539")->modes();
    unsigned lost = 0;
    for (unsigned k = 0; k < rounds; ++k) {
        const mode m = e.best(modes, present);
        present = m;
        const bool arrives = !fast || m.family != waveform_family::high_rate;
        lost += !arrives;
        e.on_blocks(m, fast ? fast_fading : slow_fading);
        e.on_d_pdus(m, arrives ? 10 : 0, arrives ? 0 : 10, 200);
    }
    return lost;
}

} // namespace

// At 30 dB and 10 Hz of Doppler spread 2400 bit/s arrives and no high rate ever does.
TEST(mode_promises, the_long_interleaver_gains_less_where_fades_are_slow)
{
    const mode long_one_mode = mode::parse("4539-600L");
    const auto& long_one = mode_promises::of(long_one_mode);
    const mode short_one_mode = mode::parse("4539-600S");
    const auto& short_one = mode_promises::of(short_one_mode);
    int better = 0;
    for (const double snr_db : { 4.0, 6.0, 8.0 }) {
        const auto gain = [&](size_t c) {
            return long_one.at(c, snr_db).block_success -
                   short_one.at(c, snr_db).block_success;
        };
        // Fades of Good last 6 s, of Moderate 1 s. The interleavers have 4.8 and 0.6 s.
        EXPECT_GT(gain(1), 0) << snr_db;
        EXPECT_LT(gain(1), 0.3 * gain(2)) << snr_db;
        EXPECT_EQ(short_one.at(1, snr_db).block_success,
                  short_one.at(2, snr_db).block_success);
        better += gain(3) > 0;
    }
    EXPECT_EQ(better, 3);
}

TEST(rate_estimator, leaves_rates_that_fail_at_any_ratio)
{
    rate_estimator e;
    e.on_blocks(mode::parse("4539-600S"), fast_fading);
    std::optional<mode> present;
    EXPECT_LE(in_vain(e, present, true, 20), 3u);
    EXPECT_EQ(present->rate_bps, 2400);
    EXPECT_LE(in_vain(e, present, true, 100), 3u);
    EXPECT_EQ(present->rate_bps, 2400);
    // Fading has become slow: back to the mode that the SNR suggests.
    in_vain(e, present, false, 10);
    EXPECT_GE(present->rate_bps, 8000);
}

// Arrivals correct what the SNR suggests, within a few transmissions and in both
// directions.
TEST(rate_estimator, learns_how_far_the_table_is_off)
{
    const std::vector<double> steady(40, 12.0);
    const mode slow = mode::parse("4539-4800S"), fast = mode::parse("4539-6400S");
    const auto modes = rate_range::parse("auto:4539")->modes();
    rate_estimator e;
    e.on_blocks(slow, steady);
    const double before = e.block_success(slow);
    EXPECT_GT(before, 0.8);
    for (int i = 0; i < 3; ++i) {
        e.on_blocks(slow, steady);
        e.on_d_pdus(slow, 4, 36, 600);
    }
    EXPECT_LT(e.block_success(slow), 0.3) << "though the SNR is enough by the table";
    EXPECT_LT(e.best(modes).rate_bps, 4800);
    for (int i = 0; i < 5; ++i) {
        e.on_blocks(slow, steady);
        e.on_d_pdus(slow, 40, 0, 600);
    }
    EXPECT_GT(e.block_success(slow), 0.8);
    EXPECT_LT(e.block_success(fast), e.block_success(slow));
}

TEST(rate_estimator, a_transmission_of_which_nothing_is_heard_counts_against_its_mode)
{
    const mode m = mode::parse("4539-4800S");
    rate_estimator e;
    e.on_blocks(m, std::vector<double>(20, 12.0));
    double before = e.block_success(m);
    for (int k = 0; k < 3; ++k) {
        e.on_nothing(m);
        EXPECT_LT(e.block_success(m), before) << k;
        before = e.block_success(m);
    }
}

TEST(mode_promises, without_fading_each_block_of_a_d_pdu_counts)
{
    // 45 octets in a block of 600S. A D_PDU of ten blocks arrives if all ten do.
    const mode m = mode::parse("4539-600S");
    const auto& p = mode_promises::of(m);
    const double snr_db = p.needed_db();
    const double one = p.d_pdu_success(0, snr_db, 45),
                 ten = p.d_pdu_success(0, snr_db, 450);
    EXPECT_GT(one, 0.3);
    EXPECT_LT(one, 0.7);
    EXPECT_LT(ten, std::pow(one, 5));
}

TEST(rate_estimator, knows_a_channel_by_the_spread_of_its_blocks)
{
    const mode m = mode::parse("4539-4800S");
    rate_estimator steady, fading;
    for (int i = 0; i < 3; ++i) {
        steady.on_blocks(m, std::vector<double>(40, 20.0));
        std::vector<double> deep;
        for (int k = 0; k < 40; ++k) {
            deep.push_back(20 + 3 * std::sin(1.3 * k) + 2 * std::sin(0.7 * k + 1));
        }
        fading.on_blocks(m, deep);
    }
    EXPECT_GT(steady.class_probability(0), 0.9);
    EXPECT_LT(fading.class_probability(0), 0.1);
}

// Without fading all blocks are alike, so each of them is evidence.
TEST(rate_estimator, forty_blocks_that_differ_rule_out_a_channel_without_fading)
{
    const mode m = mode::parse("4539-4800S");
    std::vector<double> snr_db;
    for (unsigned k = 0; k < 40; ++k) {
        snr_db.push_back(k % 2 == 0 ? 18 : 22); // four times the receiver's error
    }
    rate_estimator e;
    e.on_blocks(m, snr_db);
    EXPECT_LT(e.class_probability(0), 0.01) << "0.005 is the least after an observation";
}

// At 30 dB and 10 Hz of Doppler spread, neither the SNR nor its spread shows any fading.
// Without the Doppler spread, every high rate has to fail first.
TEST(rate_estimator, knows_fast_fading_by_its_doppler_spread)
{
    const auto modes = rate_range::parse("auto:4539")->modes();
    const mode first = mode::parse("4539-600S");
    rate_estimator without, with;
    without.on_blocks(first, fast_fading);
    with.on_blocks(first, fast_fading, 9.3);
    EXPECT_GE(without.best(modes).rate_bps, 6400);
    EXPECT_EQ(with.best(modes).rate_bps, 2400);
    EXPECT_GT(with.class_probability(channel_classes - 1), 0.8);
    for (int i = 0; i < 50; ++i) {
        with.on_blocks(mode::parse("4539-2400S"), fast_fading, 10.4);
        with.on_d_pdus(mode::parse("4539-2400S"), 40, 0, 200);
        ASSERT_EQ(with.best(modes).rate_bps, 2400) << "tried after " << i;
    }
    // Fading becomes slow.
    for (int i = 0; i < 3; ++i)
        with.on_blocks(mode::parse("4539-2400S"), slow_fading, 0.9);
    EXPECT_GE(with.best(modes).rate_bps, 6400);
}

TEST(rate_estimator, tells_classes_by_their_doppler_spread)
{
    const mode m = mode::parse("4539-4800S");
    for (size_t c = 1; c < channel_classes; ++c) {
        rate_estimator without, with;
        for (int i = 0; i < 3; ++i) {
            without.on_blocks(m, slow_fading);
            with.on_blocks(m, slow_fading, known_channels[c].doppler_hz);
        }
        EXPECT_GT(with.class_probability(c), without.class_probability(c)) << c;
    }
}

// A block of one fade may read 0 on any channel with fading.
TEST(rate_estimator, a_short_block_that_reads_no_doppler_spread_proves_little)
{
    rate_estimator without, with;
    without.on_blocks(mode::parse("4539-600S"), { 12 });
    with.on_blocks(mode::parse("4539-600S"), { 12 }, 0.0);
    EXPECT_GT(with.class_probability(2), without.class_probability(2) / 3);
}

// Between the classes, arrivals decide.
TEST(rate_estimator, a_doppler_spread_between_the_classes_bars_no_mode_that_arrives)
{
    const auto modes = rate_range::parse("auto:4539")->modes();
    const mode fast = mode::parse("4539-4800L");
    rate_estimator e;
    e.on_blocks(mode::parse("4539-600S"), fast_fading, 3.5);
    for (int i = 0; i < 4; ++i) {
        e.on_blocks(fast, fast_fading, 3.5);
        e.on_d_pdus(fast, 40, 0, 200);
    }
    EXPECT_GE(e.best(modes).rate_bps, 4800);
}

// 1200L at 0 dB and 10 Hz: every block is bad, with errors all over it. 2 of 52 D_PDUs of
// 208 octets arrived, where the table has at most 7 % of the blocks without errors. 2 dB
// lies between two points of the table.
TEST(mode_promise, where_every_block_is_bad_few_d_pdus_arrive)
{
    const mode every_mode = mode::parse("4539-1200L");
    const auto& every = mode_promises::of(every_mode);
    for (const double snr_db : { 0.5, 1.0, 1.5, 2.0 }) {
        EXPECT_LT(every.d_pdu_success(4, snr_db, 208), 0.14) << snr_db << " dB";
    }
    EXPECT_GT(every.d_pdu_success(4, 4, 208), 0.8);
    // Where few blocks are bad and those are noise, D_PDUs fare like blocks.
    const mode few_mode = mode::parse("4539-600L");
    const auto& few = mode_promises::of(few_mode);
    EXPECT_NEAR(few.d_pdu_success(2, 2.5, 208), few.at(2, 2.5).block_success, 0.06);
    EXPECT_NEAR(few.d_pdu_success(2, 2.5, 30), few.at(2, 2.5).block_success, 0.06);
}

// When a transfer ends, much data wait after gaps in a mode that loses half, and little
// in one that loses nothing.
TEST(mode_promise, what_waits_behind_gaps_is_not_promised)
{
    constexpr size_t moderate = 2, of_192_octets = 2;
    const mode m = mode::parse("4539-1200L");
    const auto& promises = mode_promises::of(m);
    const auto share_kept = [&](double snr_db) {
        const double arrives = promises.d_pdu_success(moderate, snr_db, 192 + 20);
        return promises.at(moderate, snr_db).goodput_bps[of_192_octets] /
               (arrives * m.rate_bps * 192 / (192 + 20));
    };
    double half_db = 0;
    while (promises.d_pdu_success(moderate, half_db, 192 + 20) < 0.5) {
        half_db += 0.5;
    }
    EXPECT_LT(share_kept(half_db), 0.85);
    EXPECT_GT(share_kept(20), 0.9);
}

// A transmission of two minutes in 240000 bit/s has thousands of D_PDUs. If a tenth is lost,
// nearly all of its data wait for one round, and some for more.
TEST(mode_promise, data_wait_for_the_last_of_many_d_pdus)
{
    const mode m = mode::parse("5069-48k-240000S-k9");
    const auto& p = mode_promises::of(m, large_window);
    const auto kept = [&](double snr_db) {
        const double arrives = p.d_pdu_success(0, snr_db, 700 + 20);
        return std::pair(arrives,
                         p.at(0, snr_db).goodput_bps[4] /
                             (arrives * m.rate_bps * 700 / (700 + 20)));
    };
    double snr_db = 22;
    while (kept(snr_db).first < 0.85)
        snr_db += 0.5;
    ASSERT_LT(kept(snr_db).first, 0.97);
    // 1 to 4 rounds of 129 s of half an hour, and a turn of two seconds.
    EXPECT_LT(kept(snr_db).second, 0.98 / (1 + 129.0 / 1800));
    EXPECT_GT(kept(snr_db).second, 0.98 / (1 + 4 * 129.0 / 1800));
    EXPECT_GT(kept(snr_db + 6).second, 0.97);
}

// Poor at 0 dB for 9600 bit/s, 2400S. The window allows ten seconds, and after each an answer
// may be lost. Without that, 84 % of the time would carry data.
TEST(mode_promise, lost_answers_count)
{
    constexpr size_t poor = 3, of_48_octets = 0;
    const mode m = mode::parse("5069-3k-2400S-k9");
    const auto& p = mode_promises::of(m);
    const auto share_of_time = [&](double snr_db) {
        return p.at(poor, snr_db).goodput_bps[of_48_octets] /
               (p.d_pdu_success(poor, snr_db, 48 + 20) * m.rate_bps * 48 / (48 + 20));
    };
    EXPECT_LT(share_of_time(2), 0.8);
    EXPECT_GT(share_of_time(20), 0.94);
}

// The window holds all D_PDUs sent while the new ones of a transmission arrive. The rounds
// until the last of n has arrived are summed here from their distribution.
TEST(mode_promise, a_window_lasts_for_the_rounds_that_its_last_d_pdu_takes)
{
    constexpr double d_pdu_s = 0.1;
    for (const unsigned window : { 127u, 1000u }) {
        for (const double lost : { 0.1, 0.3, 0.5, 0.7 }) {
            const double fresh =
                windowed_transmission_s(d_pdu_s, lost, window) / d_pdu_s * (1 - lost);
            double rounds = 0;
            for (int k = 0; k < 200; ++k) {
                rounds += 1 - std::pow(1 - std::pow(lost, k), fresh);
            }
            EXPECT_NEAR(fresh * rounds / window, 1, 0.05) << window << " " << lost;
        }
    }
    // Without losses all of the window is new.
    EXPECT_NEAR(windowed_transmission_s(d_pdu_s, 0, 127), 12.7, 1e-9);
    EXPECT_EQ(windowed_transmission_s(10, 0, 127), 127.5);
}

// Moderate at 0 dB: 1200L loses two thirds of its D_PDUs, 600L a tenth. By their curves
// no channel does both. The success of 600L is then no evidence for 1200L.
TEST(rate_estimator, a_mode_worse_than_its_curve_stays_left_while_others_do_well)
{
    const auto modes = rate_range::parse("auto:4539")->modes();
    const mode slow = mode::parse("4539-600L"), fast = mode::parse("4539-1200L");
    std::vector<double> blocks;
    for (int k = 0; k < 26; ++k) {
        blocks.push_back(1.7 + (k % 3 - 1) * 1.8);
    }
    rate_estimator e;
    e.on_blocks(slow, blocks, 0.5);
    for (int k = 0; k < 3; ++k) {
        e.on_blocks(fast, blocks, 0.5);
        e.on_d_pdus(fast, 27, 58, 208);
    }
    for (int k = 0; k < 10; ++k) {
        e.on_blocks(slow, blocks, 0.5);
        e.on_d_pdus(slow, 40, 4, 208);
        EXPECT_EQ(e.best(modes, slow), slow) << k;
    }
    EXPECT_LT(e.goodput_bps(fast), 0.9 * e.goodput_bps(slow));
}

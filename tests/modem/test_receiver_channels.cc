/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/loopback.h"
#include "waveform/timing.h"

#include <gtest/gtest.h>

#include <string>

using namespace gr::hf;
using namespace gr::hf::kernel;

namespace {

// Bit errors of one transmission of \p octets; all bits if it was not received.
size_t bit_errors(const char* name,
                  const std::string& channel,
                  size_t octets,
                  uint64_t seed,
                  int effort = 1)
{
    const mode m = mode::parse(name);
    const auto sent = loopback::random_octets(octets, seed);
    loopback::samples x(3000);
    const auto t = loopback::transmit(m, sent);
    x.insert(x.end(), t.begin(), t.end());
    loopback::pause(x, 9600);
    rx_options options;
    options.effort = effort;
    burst_receiver rx(options);
    const auto got =
        loopback::receive(rx, loopback::through(x, channel, seed, mean_power(m)));
    if (got.size() != 1 || !(got[0].start->m == m))
        return 8 * octets;
    size_t errors = 0;
    for (size_t i = 0; i < octets; ++i)
        errors +=
            i < got[0].octets.size()
                ? static_cast<size_t>(__builtin_popcount(sent[i] ^ got[0].octets[i]))
                : 8;
    return errors;
}

} // namespace

TEST(receiver_channels, two_static_paths)
{
    for (const char* name : { "4539-75S",
                              "4539-150S",
                              "4539-300S",
                              "4539-600S",
                              "4539-1200S",
                              "4539-2400S",
                              "4539-4800N",
                              "4539-3200S",
                              "4539-4800S",
                              "4539-6400S",
                              "4539-8000S",
                              "4539-9600S" })
        EXPECT_EQ(bit_errors(name, "paths=0:0:0,2:0:0:0:120 snr=40", 150, 3), 0u) << name;
    for (const char* delay : { "1", "4", "6" })
        EXPECT_EQ(bit_errors("4539-6400S",
                             std::string("paths=0:0:0,") + delay + ":0:0:0:77 snr=25",
                             150,
                             3),
                  0u)
            << delay;
    // the later path may be the stronger one, and 5 ms away
    for (const char* name : { "4539-75S", "4539-600S", "4539-1200S", "4539-3200S" })
        EXPECT_EQ(bit_errors(name, "paths=0:-3:0,5:0:0 snr=30", 150, 4), 0u) << name;
}

TEST(receiver_channels, poor_as_the_standard_wants_it)
{
    // 110C Tables XVI and C-XVII, one block or two each
    struct row {
        const char* mode;
        double snr;
        size_t octets;
    };
    for (const row& r : { row{ "4539-150L", 5, 80 },
                          row{ "4539-300L", 7, 160 },
                          row{ "4539-600L", 7, 330 },
                          row{ "4539-1200L", 11, 690 },
                          row{ "4539-2400L", 18, 1410 },
                          row{ "4539-3200VL", 14, 3400 },
                          row{ "4539-4800VL", 19, 5100 },
                          row{ "4539-6400VL", 23, 6900 } })
        for (uint64_t seed : { 11, 12 })
            EXPECT_EQ(bit_errors(r.mode,
                                 "poor snr=" + std::to_string(r.snr) + " offset=20",
                                 r.octets,
                                 seed),
                      0u)
                << r.mode << " seed " << seed;
}

TEST(receiver_channels, poor_at_the_targets)
{
    // 1.5 to 6 dB below the standard's tables: one pass fails at the high rates
    struct row {
        const char* mode;
        double snr;
        size_t octets;
    };
    for (const row& r : { row{ "4539-600L", 5.5, 330 },
                          row{ "4539-1200L", 8.5, 690 },
                          row{ "4539-2400L", 12.5, 1410 },
                          row{ "4539-3200VL", 12.5, 3400 },
                          row{ "4539-4800VL", 16.5, 5100 },
                          row{ "4539-6400VL", 19, 6900 },
                          row{ "4539-8000VL", 22, 8600 },
                          row{ "4539-9600VL", 25, 10300 } })
        for (uint64_t seed : { 21, 22 })
            EXPECT_EQ(bit_errors(r.mode,
                                 "poor snr=" + std::to_string(r.snr) + " offset=-30",
                                 r.octets,
                                 seed),
                      0u)
                << r.mode << " seed " << seed;
}

TEST(receiver_channels, effort_pays)
{
    const std::string channel = "poor snr=22.5 offset=10";
    EXPECT_EQ(bit_errors("4539-9600VL", channel, 10300, 31, 1), 0u);
    EXPECT_EQ(bit_errors("4539-9600VL", channel, 10300, 31, 2), 0u);
    EXPECT_GT(bit_errors("4539-9600VL", channel, 10300, 31, 0), 50u);
    rx_options o;
    o.effort = 3;
    EXPECT_THROW(burst_receiver{ o }, std::invalid_argument);
}

TEST(receiver_channels, fast_fading_as_the_standard_wants_it)
{
    EXPECT_EQ(bit_errors("4539-150L", "paths=0:0:5,5:0:5 snr=5", 80, 5), 0u);
    EXPECT_EQ(bit_errors("4539-300L", "paths=0:0:5,5:0:5 snr=7", 160, 5), 0u);
    EXPECT_EQ(bit_errors("4539-2400L", "paths=0:0:1,5:0:1 snr=30", 1410, 6), 0u);
    // 1e-3 allowed
    EXPECT_LT(bit_errors("4539-2400L", "paths=0:0:5,2:0:5 snr=30", 2800, 7), 22u);
}

// ITU-R F.1487, high latitudes and disturbed. Known symbols every 17 or 20 ms are enough
// for 10 Hz at every rate, and for 30 Hz at 300 bit/s. No receiver may do worse with less
// noise.
TEST(receiver_channels, fading_of_disturbed_channels)
{
    struct row {
        const char* mode;
        const char* paths;
        double snr;
        size_t octets;
    };
    const char *moderate = "paths=0:0:10,3:0:10", *low = "paths=0:0:10,6:0:10",
               *high = "paths=0:0:30,7:0:30";
    for (const row& r : { row{ "4539-600L", moderate, 8, 600 },
                          row{ "4539-1200L", moderate, 12, 1400 },
                          row{ "4539-1200L", low, 12, 1400 },
                          row{ "4539-1200L", low, 35, 1400 },
                          row{ "4539-2400L", moderate, 15, 2800 },
                          row{ "4539-2400L", moderate, 35, 2800 },
                          row{ "4539-300L", high, 12, 320 } })
        for (const uint64_t seed : { 1, 2 })
            EXPECT_EQ(
                bit_errors(
                    r.mode, r.paths + (" snr=" + std::to_string(r.snr)), r.octets, seed),
                0u)
                << r.mode << " " << r.paths << " " << r.snr << " seed " << seed;
}

TEST(receiver_channels, fast_fading_at_75_bits)
{
    EXPECT_EQ(bit_errors("4539-75L", "paths=0:0:5,5:0:5 snr=2", 80, 5), 0u);
    EXPECT_EQ(bit_errors("4539-75L", "paths=0:0:1,10:0:1 snr=-1", 80, 6), 0u);
    EXPECT_EQ(bit_errors("4539-75L", "paths=0:0:20,10:0:20 snr=2", 80, 7), 0u);
}

TEST(receiver_channels, slow_fading_at_75_bits)
{
    // STANAG 4415: the first of two paths 10 ms apart may be away when the other is found
    for (uint64_t seed = 1; seed <= 10; ++seed) // none of the first 40 has errors
        EXPECT_EQ(bit_errors("4539-75L", "paths=0:0:0.5,10:0:0.5 snr=-1", 125, seed), 0u)
            << seed;
    EXPECT_LT(bit_errors("4539-75L", "snr=-9", 500, 7), 10u);
}

TEST(receiver_channels, phases_pay_at_75_bits)
{
    // 0.7 dB above an ideal receiver on AWGN, 3 dB below STANAG 4415 in slow fading: without
    // phases one in ten blocks has errors at the former
    for (uint64_t seed : { 1, 2, 3, 4 })
        EXPECT_EQ(bit_errors("4539-75L", "snr=-10.1 offset=40", 250, seed), 0u) << seed;
    EXPECT_EQ(bit_errors("4539-75L", "paths=0:0:0.5,10:0:0.5 snr=-3", 250, 5), 0u);
    EXPECT_GT(bit_errors("4539-75L", "snr=-10.3", 1000, 6, 0), 30u);
    EXPECT_LT(bit_errors("4539-75L", "snr=-10.3", 1000, 6, 1), 10u);
}

TEST(receiver_channels, preambles_are_found_at_the_data_rates_own_threshold)
{
    struct row {
        const char* mode;
        const char* channel;
        size_t octets;
    };
    for (const row& r : { row{ "4539-75L", "snr=-10.1", 5 },
                          row{ "4539-75L", "paths=0:0:50,10:0:50 snr=-1", 5 },
                          row{ "4539-600S", "snr=1.2", 20 },
                          row{ "4539-3200S", "poor snr=12.5", 100 } }) {
        const mode m = mode::parse(r.mode);
        size_t found = 0;
        constexpr uint64_t trials = 20;
        for (uint64_t seed = 0; seed < trials; ++seed) {
            loopback::samples x(3000);
            const auto t = loopback::transmit(m, loopback::random_octets(r.octets, seed));
            x.insert(x.end(), t.begin(), t.end());
            rx_options options;
            options.effort = 0;
            burst_receiver rx(options);
            const auto got = loopback::receive(
                rx, loopback::through(x, r.channel, seed, mean_power(m)));
            found += !got.empty() && got[0].start->m == m;
        }
        EXPECT_GE(found, trials - 1) << r.mode << " " << r.channel;
    }
}

TEST(receiver_channels, reports_the_channel_of_each_block)
{
    struct row {
        const char* mode;
        const char* channel;
        size_t octets;
        double doppler, doppler_within, delay, delay_within;
    };
    for (const row& r :
         { row{
               "4539-3200L", "paths=0:0:1,2:0:1 snr=20 offset=12", 5000, 1, 0.4, 2, 0.8 },
           row{ "4539-3200L", "snr=25 offset=12", 5000, 0, 0.2, 0, 0.4 },
           row{ "4539-600L", "paths=0:0:5,4:0:5 snr=20 offset=12", 1000, 5, 2, 4, 1 },
           row{ "4539-600L", "snr=15 offset=12", 1000, 0, 0.4, 0, 0.4 },
           row{ "4539-75L", "paths=0:0:20,5:0:20 snr=10 offset=12", 125, 20, 8, 5, 1.5 },
           row{ "4539-75L",
                "paths=0:0:1,5:0:1 snr=10 offset=12",
                125,
                1,
                0.5,
                5,
                1.5 } }) {
        const mode m = mode::parse(r.mode);
        loopback::samples x(3000);
        const auto t = loopback::transmit(m, loopback::random_octets(r.octets, 1));
        x.insert(x.end(), t.begin(), t.end());
        loopback::pause(x, 9600);
        x = loopback::through(x, r.channel, 2, mean_power(m));
        burst_receiver rx;
        double doppler = 0, delay = 0;
        size_t blocks = 0;
        for (size_t i = 0; i < x.size(); i += 960) {
            rx.push(&x[i], std::min<size_t>(960, x.size() - i));
            while (const auto e = rx.poll()) {
                if (e->channel.profile.empty())
                    continue;
                ++blocks;
                doppler += e->channel.doppler_hz;
                delay += e->channel.delay_spread_ms;
                EXPECT_NEAR(e->channel.freq_offset_hz, 12, 2 + r.doppler / 2) << r.mode;
                EXPECT_LT(e->channel.coded_ber, 0.25) << r.mode;
            }
        }
        ASSERT_GT(blocks, 1u) << r.mode;
        EXPECT_NEAR(doppler / static_cast<double>(blocks), r.doppler, r.doppler_within)
            << r.mode << " " << r.channel;
        EXPECT_NEAR(delay / static_cast<double>(blocks), r.delay, r.delay_within)
            << r.mode << " " << r.channel;
    }
}

TEST(receiver_channels, carrier_that_drifts)
{
    // 110C C.6.4 sweeps at 3.5 Hz/s at 24 dB
    EXPECT_EQ(bit_errors("4539-9600S", "snr=24 offset=-30 drift=3.5", 9000, 8), 0u);
    EXPECT_EQ(bit_errors("4539-9600S", "snr=24 offset=75 sweep=3.5", 9000, 8), 0u);
    EXPECT_EQ(bit_errors("4539-2400S", "snr=13 offset=30 drift=-3.5", 2000, 9), 0u);
    // over a turning point of the triangle, 3 dB below what the standard gives
    EXPECT_EQ(bit_errors("4539-9600VL", "snr=21 offset=20 sweep=3.5", 20600, 10), 0u);
    EXPECT_EQ(bit_errors("4539-9600S", "poor snr=30 offset=75 sweep=3.5", 20600, 11), 0u);
}

TEST(receiver_channels, path_that_was_away_during_the_preamble)
{
    // One path comes up half a tap from the grid a second after a preamble in a deep fade.
    EXPECT_EQ(bit_errors("4539-3200VL", "paths=0:0:1,2:0:1 snr=14", 3000, 16), 0u);
    EXPECT_EQ(bit_errors("4539-4800VL", "paths=0:0:1,2:0:1 snr=19", 5000, 16), 0u);
}

TEST(receiver_channels, equal_paths_that_drift)
{
    for (const char* clock : { "clock=100", "clock=-100" })
        EXPECT_EQ(bit_errors("4539-3200L",
                             std::string("paths=0:0:0,5:-3:0 snr=25 ") + clock,
                             22000,
                             5),
                  0u)
            << clock;
}

TEST(receiver_channels, short_preamble_at_75_bits_and_minus_9_db)
{
    size_t found = 0;
    for (uint64_t seed = 1; seed <= 40; ++seed)
        found += bit_errors("4539-75S", "snr=-9 offset=20", 5, seed) == 0;
    EXPECT_GE(found, 33u); // 92 % in longer runs; it was a third
}

// Transmissions with a fade as long as a block of the short interleaver. The channel
// beyond the reach of the estimator must not count.
TEST(receiver_channels, fade_as_long_as_a_short_block)
{
    for (const uint64_t seed : { 67u, 86u })
        EXPECT_EQ(bit_errors("4539-9600S", "poor snr=27", 10000, seed), 0u) << seed;
}

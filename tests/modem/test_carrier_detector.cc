/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/front/carrier_detector.h"
#include "modem/loopback.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace gr::hf;
using kernel::carrier_detector;

namespace {

// Samples from the middle of a transmission.
loopback::samples middle_of(const mode& m, double seconds, uint64_t seed)
{
    const auto octets =
        loopback::random_octets(static_cast<size_t>(m.rate_bps) * 30 / 8, seed);
    const auto all = loopback::transmit(m, octets);
    const auto begin = all.begin() + 12 * 9600;
    return { begin, begin + static_cast<long>(seconds * 9600) };
}

// Seconds until presence is as wanted; infinite if never.
double seconds_until(bool wanted, carrier_detector& d, const loopback::samples& x)
{
    for (size_t i = 0; i + 96 <= x.size(); i += 96) {
        d.push(&x[i], 96);
        if (d.present() == wanted)
            return static_cast<double>(i + 96) / 9600;
    }
    return std::numeric_limits<double>::infinity();
}

loopback::samples silence(double seconds)
{
    return loopback::samples(static_cast<size_t>(seconds * 9600));
}

} // namespace

TEST(CarrierDetector, finds_the_middle_of_every_waveform)
{
    const struct {
        const char* channel;
        double within_s;
    } cases[] = {
        { "awgn snr=0", 0.8 },
        { "awgn snr=10 offset=75", 0.3 },
        { "poor snr=5", 0.8 },
        { "flutter snr=10", 0.6 },
        { "paths=0:0:0,5:0:0 snr=20", 0.4 },
        { "awgn snr=10 carriers=300:10,-800:6", 0.8 },
        { "awgn snr=15 impulses=10:20", 0.6 },
    };
    for (const char* name :
         { "4539-75L", "4539-600S", "4539-2400L", "4539-3200S", "4539-9600VL" })
        for (const auto& c : cases)
            for (uint64_t seed = 1; seed <= 3; ++seed) {
                const auto m = mode::parse(name);
                const auto x = loopback::through(
                    middle_of(m, 4, seed), c.channel, seed, kernel::mean_power(m));
                carrier_detector d{ kernel::symbol_grid(2400) };
                EXPECT_LE(seconds_until(true, d, x), c.within_s)
                    << name << ' ' << c.channel << " seed " << seed;
            }
}

TEST(CarrierDetector, finds_signals_weaker_than_any_mode_needs)
{
    for (uint64_t seed = 1; seed <= 8; ++seed) {
        const auto x = loopback::through(
            middle_of(mode::parse("4539-75S"), 10, seed), "awgn snr=-5", seed, 1);
        carrier_detector d{ kernel::symbol_grid(2400) };
        EXPECT_LE(seconds_until(true, d, x), 8) << seed;
    }
}

TEST(CarrierDetector, lets_go_within_a_second)
{
    auto x = middle_of(mode::parse("4539-2400S"), 4, 1);
    const size_t end = x.size();
    loopback::pause(x, 4 * 9600);
    x = loopback::through(x, "moderate snr=20", 1, 1);
    carrier_detector d{ kernel::symbol_grid(2400) };
    d.push(x.data(), end);
    ASSERT_TRUE(d.present());
    const loopback::samples after(x.begin() + static_cast<long>(end), x.end());
    EXPECT_LE(seconds_until(false, d, after), 1.05);
}

TEST(CarrierDetector, hears_nothing_in_noise_tones_and_impulses)
{
    for (const char* channel : { "awgn snr=0",
                                 "awgn snr=0 carriers=300:10,1100:20",
                                 "awgn snr=0 impulses=20:30" })
        for (uint64_t seed = 1; seed <= 3; ++seed) {
            const auto x = loopback::through(silence(300), channel, seed, 1);
            carrier_detector d{ kernel::symbol_grid(2400) };
            EXPECT_TRUE(std::isinf(seconds_until(true, d, x)))
                << channel << " seed " << seed;
        }
}

TEST(CarrierDetector, begins_anew_after_a_reset)
{
    const auto x = middle_of(mode::parse("4539-600L"), 4, 1);
    carrier_detector d{ kernel::symbol_grid(2400) };
    d.push(x.data(), x.size());
    ASSERT_TRUE(d.present());
    d.reset();
    EXPECT_FALSE(d.present());
    EXPECT_EQ(d.coherence(), 0);
    EXPECT_LE(seconds_until(true, d, x), 0.3);
}

TEST(CarrierDetector, survives_samples_that_are_no_numbers)
{
    auto x = middle_of(mode::parse("4539-600L"), 4, 1);
    x[100] = { std::numeric_limits<float>::quiet_NaN(), 0 };
    x[200] = { std::numeric_limits<float>::infinity(), 0 };
    carrier_detector d{ kernel::symbol_grid(2400) };
    EXPECT_LE(seconds_until(true, d, x), 0.3);
}

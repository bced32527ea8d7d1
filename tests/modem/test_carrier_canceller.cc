/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/front/carrier_canceller.h"
#include "modem/loopback.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

using namespace gr::hf;
using namespace gr::hf::kernel;
using loopback::samples;

namespace {

samples signal(const char* name, size_t octets)
{
    return loopback::transmit(mode::parse(name), loopback::random_octets(octets, 1));
}

// Power of x without the signal, from sample \p from on.
double error(const samples& x, const samples& signal, size_t from)
{
    double sum = 0;
    for (size_t i = from; i < signal.size(); ++i)
        sum += std::norm(x[i] - signal[i]);
    return sum / static_cast<double>(signal.size() - from);
}

samples pushed(carrier_canceller& c, const samples& x)
{
    samples y;
    for (const auto& s : x)
        y.push_back(c.push(s, false));
    return y;
}

} // namespace

TEST(carrier_canceller, leaves_a_thousandth_of_the_signal)
{
    const auto sent = signal("4539-9600VL", 20000);
    for (const char* level : { "-15", "0", "20" }) {
        carrier_canceller c(symbol_grid(2400), { 0.2 });
        const auto x =
            loopback::through(sent, std::string("snr=60 carriers=433.3:") + level, 1, 1);
        const auto y = pushed(c, x);
        EXPECT_LT(error(y, sent, 48000), 1e-3) << level;
        ASSERT_EQ(c.frequencies().size(), 1u) << level;
        EXPECT_NEAR(c.frequencies()[0], 433.3, 0.2) << level;
    }
}

TEST(carrier_canceller, passes_signals_unchanged)
{
    for (const char* name : { "4539-9600VL", "4539-6400VL", "4539-3200S", "4539-2400L" })
        for (const char* channel : { "poor snr=25", "snr=30" }) {
            carrier_canceller c(symbol_grid(2400), { 0.2 });
            auto sent = signal(name, 20000);
            sent.insert(sent.begin(), 48000, 0); // noise alone was heard for 5 s
            const auto x = loopback::through(sent, channel, 1, 1);
            EXPECT_EQ(pushed(c, x), x) << name << " " << channel;
        }
}

TEST(carrier_canceller, takes_little_from_signals_whose_scrambler_repeats)
{
    for (const char* name : { "4539-75L", "4539-150S", "4539-600L", "4539-2400L" }) {
        carrier_canceller c(symbol_grid(2400), { 0.2 });
        const auto sent = signal(name, 2000);
        EXPECT_LT(error(pushed(c, sent), sent, 0), 1e-3) << name;
        EXPECT_LE(c.frequencies().size(), carrier_canceller::most);
    }
}

TEST(carrier_canceller, lets_go_of_a_carrier_that_has_gone)
{
    carrier_canceller c(symbol_grid(2400), { 0.2 });
    pushed(c, loopback::through(samples(48000), "snr=20 carriers=700:0", 1, 1));
    EXPECT_EQ(c.frequencies().size(), 1u);
    const auto x = loopback::through(samples(48000), "snr=20", 2, 1);
    const auto y = pushed(c, x);
    EXPECT_TRUE(c.frequencies().empty());
    EXPECT_TRUE(std::equal(x.begin() + 38400, x.end(), y.begin() + 38400));
}

// The rest of a carrier faded for 14 s after the end of a recording, and was taken for
// preambles.
TEST(carrier_canceller, forgets_carriers_in_digital_silence)
{
    carrier_canceller c(symbol_grid(2400), { 0.2 });
    pushed(c, loopback::through(samples(48000), "snr=20 carriers=700:20,-300:10", 1, 1));
    ASSERT_EQ(c.frequencies().size(), 2u);
    pushed(c, samples(960)); // a hole of 0.1 s
    EXPECT_EQ(c.frequencies().size(), 2u);
    const auto y = pushed(c, samples(4800));
    EXPECT_TRUE(c.frequencies().empty());
    EXPECT_TRUE(std::all_of(
        y.begin() + 2400, y.end(), [](auto v) { return v == samples::value_type{}; }));
}

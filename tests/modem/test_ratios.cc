/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Soft bits that the modem gives with the octets of a block.
#include "modem/code_agreement.h"
#include "modem/incoming_message.h"
#include "modem/loopback.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

using namespace gr::hf;
using namespace gr::hf::kernel;

namespace {

loopback::reception received(const std::string& name, size_t octets, bool noise = true)
{
    const mode m = mode::parse(name);
    auto x = loopback::transmit(m, loopback::random_octets(octets, 1));
    loopback::pause(x, 24000);
    rx_options options;
    options.give_noise = noise;
    const auto air = loopback::through(x, "awgn snr=20", 1, mean_power(m));
    const auto all = loopback::receive(*loopback::receiver_of(m, options), air);
    EXPECT_EQ(all.size(), 1u) << name;
    return all.empty() ? loopback::reception() : all.front();
}

} // namespace

// Two for each bit, at their places, whether a block has many octets or hardly one.
TEST(ratios, are_those_of_the_code)
{
    for (const auto* name : { "4539-75S",
                              "4539-75L",
                              "4539-150S",
                              "4539-300L",
                              "4539-600S",
                              "4539-600L",
                              "4539-1200S",
                              "4539-2400L" }) {
        const auto r = received(name, 300);
        ASSERT_GE(r.octets.size(), 300u) << name;
        size_t counted = 0;
        for (const double share : loopback::code_agreement(r, counted))
            EXPECT_GT(share, 0.99) << name;
        EXPECT_GE(counted, 2 * 8 * 300u) << name;
    }
}

TEST(ratios, are_of_no_other_code)
{
    for (const auto* name : { "4539-3200S", "4539-9600S" })
        for (const auto& b : received(name, 300).blocks)
            EXPECT_TRUE(b.ratios.empty()) << name;
}

// The octets of a hole are ones, and its ratios are missing.
TEST(ratios, keep_their_places_after_a_hole)
{
    const mode m = mode::parse("4539-600S");
    auto x = loopback::transmit(m, loopback::random_octets(600, 1));
    loopback::pause(x, 24000);
    auto air = loopback::through(x, "awgn snr=20", 1, mean_power(m));
    const auto from = air.begin() + static_cast<long>(x.size() / 2);
    air.erase(from, from + 4800);
    rx_options options;
    options.give_noise = true;
    const auto all = loopback::receive(*loopback::receiver_of(m, options), air);
    ASSERT_EQ(all.size(), 1u);
    size_t counted = 0;
    const auto shares = loopback::code_agreement(all.front(), counted);
    ASSERT_GT(shares.size(), 8u);
    EXPECT_GT(shares[1], 0.99);
    EXPECT_GT(shares[shares.size() - 2], 0.99);
    // Blocks of 0.6 s: the signal is found again within 3 s.
    EXPECT_LE(
        std::count_if(shares.begin(), shares.end(), [](double s) { return s < 0.99; }),
        5);
}

TEST(ratios, not_a_number_is_unknown_and_large_ones_are_cut)
{
    incoming_message message(describe(mode::parse("4539-600S")), 0);
    received_block b;
    b.decoded.bits.assign(360, 1);
    b.decoded.pairs = { std::numeric_limits<float>::quiet_NaN(),
                        std::numeric_limits<float>::infinity(),
                        -1e30f,
                        0.3f };
    rx_octets e;
    message.take(b, true, e);
    EXPECT_EQ(e.ratios, (std::vector<int8_t>{ 0, 127, -127, 1 }));
    EXPECT_EQ(e.ratios_from, 0u);
}

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trials/ale_handshake.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace gr::hf::sim {
namespace {

// Handshakes of 20 that led to a link.
size_t linked(const std::string& channel, size_t channels = 1)
{
    size_t count = 0;
    for (uint64_t seed = 1; seed <= 20; ++seed) {
        const auto r = ale_handshake(channel, seed, channels);
        EXPECT_TRUE(r.called || !r.answered);
        EXPECT_TRUE(r.answered || !r.linked);
        EXPECT_TRUE(r.linked_at_last || !r.linked);
        count += r.linked;
    }
    return count;
}

} // namespace

TEST(ale_handshake, a_clear_channel_links_always)
{
    EXPECT_EQ(linked("awgn snr=0"), 20u);
    EXPECT_EQ(linked("awgn snr=0", 10), 20u);
    const auto r = ale_handshake("awgn snr=0", 1);
    EXPECT_EQ(r.false_links, 0u);
    EXPECT_EQ(r.strangers, 0u);
}

TEST(ale_handshake, below_the_noise_nothing_is_read)
{
    const auto r = ale_handshake("awgn snr=-30", 1);
    EXPECT_FALSE(r.called || r.answered || r.linked);
    EXPECT_EQ(r.false_links, 0u);
    EXPECT_EQ(r.strangers, 0u);
}

TEST(ale_handshake, stations_use_what_they_know)
{
    EXPECT_GE(linked("awgn snr=-10.5"), 10u);
}

TEST(ale_handshake, repeats_link_more_often)
{
    size_t first = 0, at_last = 0;
    for (uint64_t seed = 1; seed <= 20; ++seed) {
        const auto r = ale_handshake("good snr=-6", seed);
        first += r.linked;
        at_last += r.linked_at_last;
    }
    EXPECT_LT(first, 20u);
    EXPECT_GT(at_last, first);
}

TEST(ale_handshake, equal_seeds_give_equal_handshakes)
{
    for (uint64_t seed = 1; seed <= 5; ++seed) {
        const auto a = ale_handshake("good snr=-6", seed),
                   b = ale_handshake("good snr=-6", seed);
        EXPECT_EQ(a.called, b.called);
        EXPECT_EQ(a.answered, b.answered);
        EXPECT_EQ(a.linked, b.linked);
    }
}

TEST(ale_handshake, the_frames_of_a_waiting_station)
{
    EXPECT_TRUE(ale_frames({}).empty());
    EXPECT_TRUE(ale_frames(std::vector<std::complex<float>>(96000)).empty());
    EXPECT_THROW(ale_handshake("good", 1), std::invalid_argument); // no SNR
}

} // namespace gr::hf::sim

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Whose turn it is on a shared channel.
#include "s5066/access/channel_share.h"

#include <gtest/gtest.h>

using namespace gr::hf::s5066;
using namespace std::chrono_literals;

namespace {
const address a("1.1.0.0"), b("1.2.0.0"), c("1.3.0.0");

channel_share three()
{
    channel_share s;
    s.served(a, 10s);
    s.served(b, 20s);
    s.served(c, 30s);
    return s;
}
} // namespace

TEST(channel_share, whoever_has_waited_longest_is_next)
{
    auto s = three();
    EXPECT_EQ(s.ahead_of(a), 0u);
    EXPECT_EQ(s.ahead_of(b), 1u);
    EXPECT_EQ(s.ahead_of(c), 2u);
    s.served(a, 40s);
    EXPECT_EQ(s.ahead_of(a), 2u);
    EXPECT_EQ(s.ahead_of(b), 0u);
    EXPECT_EQ(s.ahead_of(address("1.4.0.0")), 0u); // not on the list
}

TEST(channel_share, whoever_lets_its_turn_pass_leaves_the_list)
{
    auto s = three();
    s.began_first(b);
    EXPECT_FALSE(s.has(a));
    EXPECT_TRUE(s.has(b) && s.has(c));
    EXPECT_EQ(s.stations(), 2u);
    EXPECT_EQ(s.recent(), 3u); // but its share of the cycle stays for a while
    EXPECT_EQ(s.ahead_of(c), 1u);
    s.served(a, 40s);
    EXPECT_TRUE(s.has(a));
    EXPECT_EQ(s.ahead_of(a), 2u);
    s.began_first(address("1.4.0.0")); // a new station skips no other
    EXPECT_EQ(s.stations(), 3u);
}

TEST(channel_share, without_an_answer_a_station_keeps_its_turn)
{
    auto s = three();
    s.served(a, 40s);
    s.unserved(a);
    EXPECT_EQ(s.ahead_of(a), 0u);
    const address d("1.4.0.0");
    s.served(d, 50s);
    s.unserved(d);
    EXPECT_FALSE(s.has(d));
}

TEST(channel_share, forgets)
{
    auto s = three();
    s.began_first(c);
    s.forget_before(5s, 15s);
    EXPECT_EQ(s.recent(), 2u);
    s.forget_before(100s, 15s);
    EXPECT_FALSE(s.has(c));
    s.served(address::broadcast(), 200s);
    EXPECT_FALSE(s.has(address::broadcast()));
}

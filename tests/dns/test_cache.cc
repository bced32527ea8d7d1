/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dns/cache.h"

#include <gtest/gtest.h>

namespace gr::hf::test {
namespace {

using namespace dns;
using namespace std::chrono_literals;

known address_for(uint32_t ttl)
{
    known k;
    k.addresses = { ip::address("192.0.2.1") };
    k.ttl = ttl;
    return k;
}

TEST(cache, floor_ceiling_and_stale)
{
    cache c{ cache_limits{} };
    const question a{ "a.org", type_a, false }, b{ "b.org", type_a, false };
    c.put(0s, a, address_for(1));
    c.put(0s, b, address_for(1'000'000));
    EXPECT_EQ(c.find(0s, a)->ttl_s, 300u);
    EXPECT_EQ(c.find(0s, b)->ttl_s, 86400u);
    EXPECT_FALSE(c.find(299s, a)->stale);
    EXPECT_TRUE(c.find(301s, a)->stale);
    EXPECT_FALSE(c.find(300s + 24h, a));
    EXPECT_EQ(c.size(), 1u);
}

TEST(cache, negative_answers_have_limits_of_their_own)
{
    cache c{ cache_limits{} };
    const question a{ "a.org", type_a, false }, b{ "b.org", type_aaaa, false };
    known none;
    none.code = rcode::no_such_name;
    none.ttl = 86400;
    c.put(0s, a, none);
    c.put(0s, b, known{}); // no data, TTL 0
    EXPECT_EQ(c.find(0s, a)->ttl_s, 900u);
    EXPECT_EQ(c.find(0s, b)->ttl_s, 60u);
}

TEST(cache, the_one_used_least_recently_makes_room)
{
    cache c{ cache_limits{} };
    constexpr int entries = cache_limits::entries;
    const auto q = [](int k) {
        return question{ std::to_string(k) + ".org", type_a, false };
    };
    for (int k = 0; k < entries; ++k)
        c.put(0s, q(k), address_for(600));
    ASSERT_TRUE(c.find(1s, q(0)));
    c.put(1s, q(entries), address_for(600));
    EXPECT_EQ(c.size(), cache_limits::entries);
    EXPECT_FALSE(c.find(1s, q(1)));
    for (const int k : { 0, 2, entries })
        EXPECT_TRUE(c.find(1s, q(k))) << k;
}

} // namespace
} // namespace gr::hf::test

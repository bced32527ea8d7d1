/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dns/codec.h"
#include "dns/messages.h"

#include <gtest/gtest.h>

namespace gr::hf::test {
namespace {

using namespace dns;

TEST(codec, a_question_costs_its_name_and_two_octets)
{
    const octets v = encode(hf_question{ 5, kind::both, 0, "isode.com" });
    EXPECT_EQ(v.size(), 11u);
    const auto m = decode(v.data(), v.size());
    ASSERT_TRUE(m);
    const auto& q = std::get<hf_question>(*m);
    EXPECT_EQ(q.transaction, 5);
    EXPECT_EQ(q.what, kind::both);
    EXPECT_EQ(q.name, "isode.com");
    const octets other = encode(hf_question{ 5, kind::other, 15, "isode.com" });
    EXPECT_EQ(std::get<hf_question>(*decode(other.data(), other.size())).type, 15);
}

TEST(codec, an_answer_costs_three_octets_and_its_addresses)
{
    hf_answer a;
    a.transaction = 9;
    a.ttl = 3600;
    a.addresses = { ip::address("fd00::1"), ip::address("192.0.2.1") };
    const octets v = encode(a);
    EXPECT_EQ(v.size(), 3u + 4 + 16);
    const auto back = std::get<hf_answer>(*decode(v.data(), v.size()));
    EXPECT_EQ(back.ttl, 1920u) << "15 * 2^7 is the largest below";
    ASSERT_EQ(back.addresses.size(), 2u);
    EXPECT_EQ(back.addresses[0], ip::address("192.0.2.1"));
    EXPECT_EQ(back.addresses[1], ip::address("fd00::1"));
    a.ttl = 3;
    EXPECT_EQ(std::get<hf_answer>(*decode(encode(a).data(), v.size())).ttl, 15u);
    a.addresses.assign(16, ip::address("192.0.2.1"));
    EXPECT_TRUE(encode(a).empty());
}

TEST(codec, raw_messages)
{
    const octets message(40, 7);
    const octets v = encode(raw_answer{ 3, message });
    EXPECT_EQ(std::get<raw_answer>(*decode(v.data(), v.size())).message, message);
    EXPECT_FALSE(decode(v.data(), 10));
}

TEST(codec, damaged_messages_are_refused_or_read_the_same)
{
    std::mt19937 rng(2);
    hf_answer a;
    a.addresses = { ip::address("192.0.2.1"), ip::address("fd00::1") };
    const octets from[] = { encode(hf_question{ 5, kind::other, 15, "isode.com" }),
                            encode(a),
                            encode(raw_question{ 1, octets(30, 1) }) };
    size_t refused = 0;
    for (int k = 0; k < 100000; ++k) {
        const octets v = damage(from[k % 3], rng);
        const auto m = decode(v.data(), v.size());
        refused += !m;
        if (!m)
            continue;
        const auto again = encode(*m);
        const auto same = decode(again.data(), again.size());
        ASSERT_TRUE(same);
        EXPECT_EQ(same->index(), m->index());
    }
    EXPECT_GT(refused, 1000u);
}

} // namespace
} // namespace gr::hf::test

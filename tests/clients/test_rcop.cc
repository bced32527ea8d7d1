/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Segmentation and reassembly: order, loss, repeats, limits, anything at all.
#include "s5066/clients/bftp.h"
#include "s5066/clients/rcop.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

using namespace gr::hf;
using namespace gr::hf::s5066;

namespace {

using octets = std::vector<uint8_t>;

octets pattern(size_t n, unsigned seed)
{
    std::mt19937 rng(seed);
    octets v(n);
    for (auto& o : v)
        o = static_cast<uint8_t>(rng());
    return v;
}

const address from = address("1.2.0.1");

std::optional<rcop_message>
in(rcop_assembler& a, const octets& u_pdu, station_time now = {})
{
    return a.u_pdu_in(now, from, sap_rcop, u_pdu.data(), u_pdu.size());
}

std::vector<octets>
file_segments(size_t size, uint8_t id, unsigned seed, size_t mtu = 2048)
{
    return rcop_segments(3, id, app_bftp, bftp_message("f", pattern(size, seed)), mtu);
}

} // namespace

TEST(rcop, header_is_that_of_the_standard)
{
    const rcop_segment s{ { 5, 0x21, 0x0304 }, 0x1002, { 0xaa } };
    EXPECT_EQ(encode(s), (octets{ 0x50, 0x21, 0x03, 0x04, 0x10, 0x02, 0xaa }));
    EXPECT_TRUE(encode(rcop_segment{ { 16, 0, 0 }, 0, {} }).empty());
    const octets reserved_bits{ 0x51, 0, 0, 0, 0, 0 };
    EXPECT_FALSE(decode_rcop(reserved_bits.data(), reserved_bits.size()));
    EXPECT_FALSE(decode_rcop(reserved_bits.data(), 5));
}

TEST(rcop, segments_fill_the_mtu)
{
    const auto all = rcop_segments(0, 0, app_bftp, pattern(5000, 1), 2048);
    ASSERT_EQ(all.size(), 3u);
    EXPECT_EQ(all[0].size(), 2048u);
    EXPECT_EQ(all[1].size(), 2048u);
    EXPECT_EQ(all[2].size(), 6u + 5000 - 2 * 2042);
    EXPECT_EQ(rcop_segments(0, 0, 1, {}, 2048).size(), 1u);
    EXPECT_EQ(rcop_segments(0, 0, 1, pattern(2042, 1), 2048).size(), 1u);
    EXPECT_EQ(rcop_segments(0, 0, 1, pattern(2043, 1), 2048).size(), 2u);
    EXPECT_EQ(rcop_segments(0, 0, 1, octets(65536), 7).size(), 65536u);
    EXPECT_TRUE(rcop_segments(0, 0, 1, octets(65537), 7).empty());
    EXPECT_TRUE(rcop_segments(16, 0, 1, {}, 2048).empty());
    EXPECT_TRUE(rcop_segments(0, 0, 1, {}, 6).empty());
}

TEST(rcop, any_order_and_repeats_give_the_message_once)
{
    for (unsigned seed = 0; seed < 50; ++seed) {
        auto all = file_segments(20000 + seed, 7, seed, 300);
        const size_t count = all.size();
        for (size_t k = 0; k < count; k += 3)
            all.push_back(all[k]);
        std::shuffle(all.begin(), all.end(), std::mt19937(seed));
        rcop_assembler a;
        std::optional<rcop_message> got;
        size_t needed = 0;
        for (const auto& u : all) {
            ++needed;
            if ((got = in(a, u)))
                break;
        }
        ASSERT_TRUE(got);
        EXPECT_GE(needed, count);
        EXPECT_EQ(got->connection, 3);
        EXPECT_EQ(got->id, 7);
        const auto f = decode_bftp(got->data);
        ASSERT_TRUE(f);
        EXPECT_EQ(f->data, pattern(20000 + seed, seed));
        EXPECT_EQ(a.incomplete(), 0u);
        EXPECT_EQ(a.octets(), 0u);
        EXPECT_EQ(a.stats().duplicates, needed - count);
    }
}

TEST(rcop, a_missing_segment_means_no_message)
{
    auto all = file_segments(5000, 1, 1);
    rcop_assembler a;
    EXPECT_FALSE(in(a, all[0]));
    EXPECT_FALSE(in(a, all[2]));
    EXPECT_EQ(a.incomplete(), 1u);
    EXPECT_TRUE(in(a, all[1]));
}

TEST(rcop, messages_are_told_apart_by_source_sap_connection_and_id)
{
    const auto one = file_segments(3000, 1, 1);
    const auto two = file_segments(3000, 2, 2);
    rcop_assembler a;
    EXPECT_FALSE(in(a, one[0]));
    EXPECT_FALSE(in(a, two[0]));
    // The same segment from elsewhere is part of another message.
    EXPECT_FALSE(
        a.u_pdu_in({}, address("1.2.0.9"), sap_rcop, one[1].data(), one[1].size()));
    EXPECT_FALSE(a.u_pdu_in({}, from, sap_udop, one[1].data(), one[1].size()));
    EXPECT_EQ(a.incomplete(), 4u);
    const auto m = in(a, two[1]);
    ASSERT_TRUE(m);
    EXPECT_EQ(m->id, 2);
}

TEST(rcop, an_id_that_comes_round_begins_a_new_message)
{
    const auto broken_off = file_segments(5000, 1, 1);
    const auto later = file_segments(5000, 1, 2);
    rcop_assembler a;
    EXPECT_FALSE(in(a, broken_off[0]));
    EXPECT_FALSE(in(a, broken_off[1]));
    EXPECT_FALSE(in(a, later[0]));
    EXPECT_FALSE(in(a, later[1]));
    const auto m = in(a, later[2]);
    ASSERT_TRUE(m);
    EXPECT_EQ(decode_bftp(m->data)->data, pattern(5000, 2));
    EXPECT_EQ(a.stats().forgotten, 1u);
}

TEST(rcop, limits_hold)
{
    rcop_assembler::config c;
    c.max_messages = 4;
    c.max_octets = 10000;
    c.forget_after = from_seconds(100);
    rcop_assembler a(c, bftp_message_octets);
    for (unsigned k = 0; k < 100; ++k) {
        EXPECT_FALSE(
            in(a, file_segments(5000, static_cast<uint8_t>(k), k)[0], from_seconds(k)));
        EXPECT_LE(a.incomplete(), 5u);
        EXPECT_LE(a.octets(), 10000u + 2048);
    }
    EXPECT_GE(a.stats().forgotten, 95u);
    // One that says it is longer than allowed is not begun.
    const auto before = a.incomplete();
    EXPECT_FALSE(in(a, file_segments(20000, 200, 1)[0], from_seconds(100)));
    EXPECT_EQ(a.stats().too_long, 1u);
    EXPECT_EQ(a.incomplete(), before);
    // Time alone makes room when the next segment comes.
    EXPECT_FALSE(in(a, file_segments(5000, 201, 1)[0], from_seconds(1000)));
    EXPECT_EQ(a.incomplete(), 1u);
    c.max_octets = 0;
    EXPECT_THROW(rcop_assembler(c, bftp_message_octets), std::invalid_argument);
}

TEST(rcop, anything_may_come)
{
    rcop_assembler::config c;
    c.max_messages = 8;
    c.max_octets = 20000;
    rcop_assembler a(c, bftp_message_octets);
    std::mt19937 rng(42);
    uint64_t messages = 0;
    for (unsigned k = 0; k < 50000; ++k) {
        auto all =
            file_segments(rng() % 2000, static_cast<uint8_t>(rng() % 4), rng() % 8, 400);
        auto u = all[rng() % all.size()];
        for (unsigned n = rng() % 3; n > 0; --n)
            if (!u.empty())
                u[rng() % std::min<size_t>(u.size(), 14)] = static_cast<uint8_t>(rng());
        if (rng() % 8 == 0)
            u.resize(rng() % (u.size() + 1));
        const auto m = in(a, u, from_seconds(k));
        messages += m ? 1 : 0;
        if (m) {
            decode_bftp(m->data);
            decode_receipt(*m);
        }
        ASSERT_LE(a.incomplete(), 9u);
        ASSERT_LE(a.octets(), 20000u + 400);
    }
    EXPECT_GT(messages, 1000u);
    EXPECT_GT(a.stats().malformed, 100u);
}

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// COSS, CFTP and ETHER against the golden octets, and against anything.
#include "s5066/clients/cftp.h"
#include "s5066/clients/coss.h"
#include "s5066/clients/ether.h"
#include "s5066/vectors.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

using namespace gr::hf;
using namespace gr::hf::s5066;

namespace {

const octets abc{ 'A', 'B', 'C' };

} // namespace

TEST(golden_clients, all_six)
{
    std::set<std::string> done;
    for (const auto& g : load_golden("client")) {
        octets built;
        if (g.id == "client-frap") {
            built = encode(bftp_receipt{ 0, 1, std::nullopt });
        } else if (g.id == "client-frapv2") {
            built = encode(bftp_receipt{ 0, 1, bftp_header{ "a.txt", 3 } });
        } else if (g.id == "client-cftp-first") {
            built = cftp_segments(0, 1, "M1", abc, 2048).at(0);
        } else if (g.id == "client-cftp-ack") {
            built = cftp_acknowledgement(0, 1);
        } else if (g.id == "client-coss-dpi2e") {
            built = coss_dense({ 1, 2, 3, 4, 5 });
        } else if (g.id == "client-ether-arp-addr") {
            const auto e = to_ether(address("1.2.3.4"));
            ASSERT_TRUE(e);
            built.assign(e->begin(), e->end());
        }
        EXPECT_EQ(to_hex(built), to_hex(g.hex)) << g.id;
        done.insert(g.id);
    }
    EXPECT_EQ(done.size(), 6u);
}

TEST(coss, every_length_comes_back)
{
    octets c;
    for (size_t n = 0; n <= 40; ++n) {
        const auto packed = coss_dense(c);
        const size_t lengths[] = { 2 * n / 3, 2 * (n - 1) / 3 + 1, 2 * (n - 2) / 3 + 2 };
        EXPECT_EQ(packed.size(), n == 0 ? 0 : lengths[n % 3]) << n;
        EXPECT_EQ(decode_coss_dense(packed.data(), packed.size()), c) << n;
        c.push_back(static_cast<uint8_t>(7 * n + 3) % 32);
    }
}

TEST(coss, what_is_not_allowed)
{
    EXPECT_TRUE(coss_dense({ 32 }).empty());
    EXPECT_TRUE(coss_loose({ 128 }, 7).empty());
    EXPECT_TRUE(coss_loose({ 1 }, 4).empty());
    EXPECT_EQ(coss_loose({ 127 }, 7), (octets{ 127 }));
    for (const octets& bad : { octets{ 0, 0x04 }, octets{ 0x20 }, octets{ 0, 0, 0xff } })
        EXPECT_FALSE(decode_coss_dense(bad.data(), bad.size())) << to_hex(bad);
}

TEST(cftp, files_are_cut_and_put_together)
{
    octets file(5000);
    std::mt19937 r(1);
    for (auto& o : file)
        o = static_cast<uint8_t>(r());
    const auto all = cftp_segments(3, 9, "M77", file, 2048);
    ASSERT_EQ(all.size(), 3u);
    octets data;
    for (size_t k = 0; k < all.size(); ++k) {
        ASSERT_LE(all[k].size(), 2048u);
        const auto s = decode_cftp(all[k].data(), all[k].size());
        ASSERT_TRUE(s);
        EXPECT_EQ(s->connection, 3);
        EXPECT_EQ(s->id, 9);
        EXPECT_EQ(s->segment, k);
        EXPECT_EQ(decode_cftp_header(*s).has_value(), k == 0);
        data.insert(data.end(), s->data.begin(), s->data.end());
    }
    const auto f = decode_cftp_file(data);
    ASSERT_TRUE(f);
    EXPECT_EQ(f->header.name, "M77");
    EXPECT_EQ(f->data, file);
    data.pop_back();
    EXPECT_FALSE(decode_cftp_file(data));
}

TEST(cftp, acknowledgement_is_read_back)
{
    const auto v = cftp_acknowledgement(2, 200);
    const auto s = decode_cftp(v.data(), v.size());
    ASSERT_TRUE(s);
    EXPECT_EQ(s->connection, 2);
    EXPECT_EQ(s->id, 200);
    EXPECT_TRUE(is_cftp_acknowledgement(*s));
    EXPECT_FALSE(is_cftp_acknowledgement(cftp_segment{ { 2, 200, 0 }, { 0x10, 0x02 } }));
    EXPECT_TRUE(cftp_acknowledgement(16, 0).empty());
    EXPECT_TRUE(cftp_segments(0, 0, std::string(256, 'x'), abc, 2048).empty());
    EXPECT_TRUE(cftp_segments(0, 0, "x", abc, 6).empty());
}

TEST(ether, frames_and_addresses)
{
    const ether_frame f{ ether_ipv6, abc };
    const auto v = encode(f);
    EXPECT_EQ(to_hex(v), "86dd414243");
    const auto g = decode_ether(v.data(), v.size());
    ASSERT_TRUE(g);
    EXPECT_EQ(g->type, ether_ipv6);
    EXPECT_EQ(g->data, abc);
    EXPECT_FALSE(decode_ether(v.data(), 1));
    EXPECT_TRUE(encode(ether_frame{ ether_ipv4, octets(2047) }).empty());
    for (const char* text : { "1.2.3.4", "0.0.0.0", "31.255.255.255", "16.0.0.9" }) {
        const auto e = to_ether(address(text));
        ASSERT_TRUE(e);
        EXPECT_EQ(from_ether(*e), address(text)) << text;
    }
    EXPECT_FALSE(to_ether(address("1.2.3.4"), 6));
    EXPECT_FALSE(from_ether({ 0x50, 0x67, 0xe1, 2, 3, 4 }));
    EXPECT_FALSE(from_ether({ 0x50, 0x66, 0x21, 2, 3, 4 })); // longer than it says
}

TEST(annex_f, decoders_take_anything)
{
    std::mt19937 r(5);
    for (int k = 0; k < 20000; ++k) {
        octets v(r() % 40);
        for (auto& o : v)
            o = static_cast<uint8_t>(r() % 4 ? r() % 20 : r());
        decode_coss_dense(v.data(), v.size());
        decode_ether(v.data(), v.size());
        decode_cftp_file(v);
        if (const auto s = decode_cftp(v.data(), v.size())) {
            decode_cftp_header(*s);
            EXPECT_EQ(encode(*s), v);
        }
    }
}

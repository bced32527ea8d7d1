/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ip/packets.h"

#include <gtest/gtest.h>
#include <random>
#include <stdexcept>

namespace gr::hf::test {
namespace {

TEST(ip_address, text_and_prefixes)
{
    EXPECT_EQ(ip::address("10.66.0.1").to_string(), "10.66.0.1");
    EXPECT_EQ(ip::address("FD00:0:0::1").to_string(), "fd00::1");
    EXPECT_FALSE(ip::address::parse("10.66.0"));
    EXPECT_FALSE(ip::address::parse("10.66.0.256"));
    EXPECT_THROW(ip::address("x"), std::invalid_argument);
    EXPECT_TRUE(ip::address("239.1.2.3").is_multicast());
    EXPECT_TRUE(ip::address("fe80::1").is_link_local());
    for (const char* open : { "1.1.1.1",
                              "172.32.0.1",
                              "192.0.3.1",
                              "2606:4700::1111",
                              "::ffff:1.1.1.1",
                              "64:ff9b::101:101" })
        EXPECT_TRUE(ip::address(open).is_public()) << open;
    for (const char* closed : { "0.0.0.0",
                                "10.1.1.1",
                                "100.127.1.1",
                                "127.0.0.1",
                                "169.254.1.1",
                                "172.31.1.1",
                                "192.0.0.9",
                                "192.0.2.1",
                                "192.88.99.1",
                                "192.168.1.1",
                                "198.19.1.1",
                                "198.51.100.1",
                                "203.0.113.1",
                                "224.0.0.1",
                                "240.0.0.1",
                                "255.255.255.255",
                                "::",
                                "::1",
                                "::1.1.1.1",
                                "fe80::1",
                                "fd00::1",
                                "ff02::1",
                                "2001::1",
                                "2001:db8::1",
                                "2002:101:101::1",
                                "3fff::1",
                                "64:ff9b:1::1",
                                "64:ff9b::7f00:1",
                                "::ffff:10.1.1.1",
                                "fec0::1" })
        EXPECT_FALSE(ip::address(closed).is_public()) << closed;
    const ip::prefix p("10.64.0.0/10");
    EXPECT_TRUE(p.contains(ip::address("10.127.255.255")));
    EXPECT_FALSE(p.contains(ip::address("10.128.0.0")));
    EXPECT_FALSE(p.contains(ip::address("::1")));
    EXPECT_TRUE(ip::prefix("fd00::/8").contains(ip::address("fdff::1")));
    EXPECT_TRUE(ip::prefix("0.0.0.0/0").contains(ip::address("1.2.3.4")));
    for (const char* bad :
         { "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/8x", "/8" })
        EXPECT_THROW(ip::prefix{ std::string(bad) }, std::invalid_argument) << bad;
    for (const char* base : { "10.0.0.0", "fd00::" }) {
        const ip::address a(base);
        EXPECT_EQ(ip::prefix(a, 0).to_string(), std::string(base) + "/0");
        EXPECT_NO_THROW(ip::prefix(a, a.bits()));
        EXPECT_THROW(ip::prefix(a, a.bits() + 1), std::invalid_argument);
        EXPECT_THROW(ip::prefix(a, -1), std::invalid_argument);
    }
    ip::prefix_table<int> t;
    t.add(ip::prefix("0.0.0.0/0"), 1);
    t.add(ip::prefix("10.0.0.0/8"), 2);
    t.add(ip::prefix("10.0.0.0/8"), 3);
    EXPECT_EQ(*t.find(ip::address("10.1.1.1")), 2);
    EXPECT_EQ(*t.find(ip::address("11.1.1.1")), 1);
    EXPECT_EQ(t.find(ip::address("::1")), nullptr);
}

TEST(ip_packet, checks_headers)
{
    const octets good = udp(1000, 53).packet();
    const auto v = ip::read_packet(good.data(), good.size());
    ASSERT_TRUE(v);
    EXPECT_EQ(v->dst_port, 53);
    EXPECT_EQ(v->src.to_string(), "10.66.0.1");
    for (size_t k = 0; k < 20; ++k) { // any wrong bit of the header shows
        octets bad = good;
        bad[k] ^= 1;
        EXPECT_FALSE(ip::read_packet(bad.data(), bad.size())) << k;
    }
    EXPECT_FALSE(ip::read_packet(good.data(), good.size() - 1));
    EXPECT_FALSE(ip::read_packet(good.data(), 0));
}

TEST(ip_packet, walks_ipv6_extension_headers)
{
    made m;
    m.src = "fd00::1";
    m.dst = "fd00::2";
    m.protocol = 0; // hop-by-hop, then destination options, then fragment, then UDP
    m.upper = { 60, 0, 5, 2, 0, 0, 1, 0, 44, 0,   1, 4,  0, 0, 0, 0,
                17, 0, 0, 1, 0, 0, 0, 9, 3,  232, 0, 53, 0, 8, 0, 0 };
    octets p = m.packet();
    auto v = ip::read_packet(p.data(), p.size());
    ASSERT_TRUE(v);
    EXPECT_EQ(v->protocol, ip::proto_udp);
    EXPECT_EQ(v->src_port, 1000);
    EXPECT_EQ(v->upper, 64u);
    m.upper[19] = 8; // a later fragment has no ports
    p = m.packet();
    v = ip::read_packet(p.data(), p.size());
    ASSERT_TRUE(v);
    EXPECT_FALSE(v->has_ports);
    m.upper.resize(10); // a header that is cut off
    p = m.packet();
    EXPECT_FALSE(ip::read_packet(p.data(), p.size()));
}

TEST(ip_packet, hop_decrement_keeps_the_checksum_right)
{
    std::mt19937 rng(1);
    for (int k = 0; k < 2000; ++k) {
        made m = udp(uint16_t(rng()), 5);
        m.id = uint16_t(rng());
        m.hops = uint8_t(1 + rng() % 255);
        m.tos = uint8_t(rng());
        octets p = m.packet();
        ip::decrement_hops(p);
        const auto v = ip::read_packet(p.data(), p.size());
        ASSERT_TRUE(v);
        ASSERT_EQ(v->hops, m.hops - 1);
    }
}

octets syn(const char* src, const char* dst, const octets& options)
{
    made m;
    m.src = src;
    m.dst = dst;
    m.protocol = ip::proto_tcp;
    m.upper.assign(20, 0x11);
    m.upper[13] = 2;
    m.upper.insert(m.upper.end(), options.begin(), options.end());
    m.upper[12] = uint8_t(m.upper.size() / 4 << 4);
    put16(m.upper, 16, 0);
    octets p = m.packet();
    const size_t at = p.size() - m.upper.size() + 16;
    put16(p, at, upper_checksum(p));
    return p;
}

TEST(ip_packet, mss_clamp_keeps_the_checksum_right)
{
    const octets aligned = { 2, 4, 0x05, 0xb4, 1, 1, 4, 2 };
    const octets odd = { 1, 2, 4, 0x05, 0xb4, 1, 1, 0 };
    for (const auto& options : { aligned, odd })
        for (const bool v6 : { false, true }) {
            octets p =
                syn(v6 ? "fd00::1" : "10.0.0.1", v6 ? "fd00::2" : "10.0.0.2", options);
            ASSERT_EQ(upper_checksum(p), 0);
            const octets before = p;
            EXPECT_FALSE(ip::clamp_mss(p, 1460));
            EXPECT_EQ(p, before);
            EXPECT_TRUE(ip::clamp_mss(p, 1200));
            EXPECT_EQ(upper_checksum(p), 0);
            EXPECT_NE(p, before);
            EXPECT_FALSE(ip::clamp_mss(p, 1200));
        }
    octets none = syn("10.0.0.1", "10.0.0.2", { 1, 1, 1, 0 });
    EXPECT_FALSE(ip::clamp_mss(none, 500));
}

TEST(ip_packet, icmp_errors_are_well_formed)
{
    using ip::icmp_error;
    const struct {
        icmp_error e;
        uint8_t v4_type, v4_code, v6_type, v6_code;
    } rows[] = { { icmp_error::net_unreachable, 3, 0, 1, 0 },
                 { icmp_error::port_unreachable, 3, 3, 1, 4 },
                 { icmp_error::too_big, 3, 4, 2, 0 },
                 { icmp_error::time_exceeded, 11, 0, 3, 0 } };
    for (const auto& r : rows)
        for (const bool v6 : { false, true }) {
            made m = udp(1000, 9, octets(1400, 7));
            if (v6) {
                m.src = "fd00::1";
                m.dst = "fd00::2";
            }
            const octets about = m.packet();
            const ip::address own(v6 ? "fd00::66" : "10.66.0.66");
            const auto e = ip::make_icmp_error(
                r.e, *ip::read_packet(about.data(), about.size()), own, 1280);
            ASSERT_TRUE(e);
            const auto v = ip::read_packet(e->data(), e->size());
            ASSERT_TRUE(v);
            EXPECT_EQ(v->dst, ip::address(m.src));
            EXPECT_EQ(v->src, own);
            EXPECT_EQ(v->size, v6 ? 1280u : 576u);
            const uint8_t* icmp = &(*e)[v->upper];
            EXPECT_EQ(icmp[0], v6 ? r.v6_type : r.v4_type);
            EXPECT_EQ(icmp[1], v6 ? r.v6_code : r.v4_code);
            const size_t quoted = v->size - v->upper - 8;
            EXPECT_TRUE(
                std::equal(about.begin(), about.begin() + long(quoted), icmp + 8));
            if (r.e == icmp_error::too_big) {
                EXPECT_EQ(icmp[6] << 8 | icmp[7], 1280);
            }
            if (v6)
                EXPECT_EQ(upper_checksum(*e), 0);
            else
                EXPECT_EQ(
                    ip::checksum_fold(ip::checksum_add(0, icmp, v->size - v->upper)), 0);
            // Never about an error, a multicast or another family.
            EXPECT_FALSE(ip::make_icmp_error(r.e, *v, ip::address(m.src)));
            EXPECT_FALSE(ip::make_icmp_error(r.e,
                                             *ip::read_packet(about.data(), about.size()),
                                             ip::address(v6 ? "10.0.0.1" : "fd00::1")));
        }
}

TEST(ip_packet, no_icmp_error_about_what_is_for_many_or_from_nobody)
{
    const auto answered = [](const char* src, const char* dst) {
        made m = udp(1000, 9, octets(100, 7));
        m.src = src;
        m.dst = dst;
        const octets about = m.packet();
        const bool six = ip::address(src).is_v6();
        return ip::make_icmp_error(ip::icmp_error::net_unreachable,
                                   *ip::read_packet(about.data(), about.size()),
                                   ip::address(six ? "fd00::66" : "10.66.0.66"),
                                   1500)
            .has_value();
    };
    // RFC 1122 3.2.2 and RFC 4443 2.4 (e).
    EXPECT_TRUE(answered("10.66.0.1", "10.66.0.2"));
    EXPECT_TRUE(answered("fd00::1", "fd00::2"));
    const char* never[][2] = {
        { "10.66.0.1", "239.1.1.1" }, { "10.66.0.1", "224.0.0.1" },
        { "224.0.0.5", "10.66.0.2" }, { "10.66.0.1", "255.255.255.255" },
        { "0.0.0.0", "10.66.0.2" },   { "fd00::1", "ff02::1" },
        { "ff02::1", "fd00::2" },     { "::", "fd00::2" }
    };
    for (const auto& pair : never)
        EXPECT_FALSE(answered(pair[0], pair[1])) << pair[0] << " to " << pair[1];
}

TEST(ip_packet, fuzz)
{
    std::mt19937 rng(2);
    made six = udp(1, 2, octets(40));
    six.src = "fd00::1";
    six.dst = "fd00::2";
    six.protocol = 0;
    const std::vector<octets> seeds = {
        udp(1, 2, octets(40)).packet(),
        six.packet(),
        syn("10.0.0.1", "10.0.0.2", { 2, 4, 0x05, 0xb4, 1, 1, 4, 2 })
    };
    size_t read = 0;
    for (int k = 0; k < 100'000; ++k) {
        octets v = seeds[rng() % seeds.size()];
        for (unsigned n = rng() % 4; n > 0; --n)
            v[rng() % v.size()] = uint8_t(rng());
        if (rng() % 4 == 0)
            v.resize(rng() % (v.size() + 1));
        else if (v[0] >> 4 == 4 && rng() % 2) {
            put16(v, 10, 0);
            put16(v, 10, ip::checksum_fold(ip::checksum_add(0, v.data(), 20)));
        }
        if (const auto p = ip::read_packet(v.data(), v.size())) {
            ++read;
            ASSERT_LE(p->upper, p->size);
            ip::make_icmp_error(
                ip::icmp_error::too_big, *p, ip::address("10.0.0.9"), 576);
        }
        ip::clamp_mss(v, 536);
        ip::decrement_hops(v);
    }
    EXPECT_GT(read, 30'000u);
}

} // namespace
} // namespace gr::hf::test

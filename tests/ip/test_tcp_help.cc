/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Help of an IP client for TCP connections: it holds back repeats and lowers windows.
#include "ip/packets.h"
#include "ip/tcp_help.h"

#include <gtest/gtest.h>
#include <random>

namespace gr::hf::test {
namespace {

using namespace std::chrono_literals;
using ip::tcp_fields;

constexpr uint8_t syn = tcp_fields::syn, ack = tcp_fields::ack_valid;

//! One TCP packet; \p near: from this host. \p scale below 0: no option.
octets segment(bool near,
               uint8_t flags,
               uint32_t seq,
               uint32_t ack_number,
               uint16_t window = 65535,
               int scale = -1,
               size_t payload = 0)
{
    made m;
    m.protocol = ip::proto_tcp;
    if (!near)
        std::swap(m.src, m.dst);
    octets& t = m.upper;
    t.assign(scale >= 0 ? 24 : 20, 0);
    put16(t, 0, near ? 4000 : 80);
    put16(t, 2, near ? 80 : 4000);
    for (size_t k = 0; k < 4; ++k) {
        t[4 + k] = uint8_t(seq >> (24 - 8 * k));
        t[8 + k] = uint8_t(ack_number >> (24 - 8 * k));
    }
    t[12] = uint8_t(t.size() / 4 << 4);
    t[13] = flags;
    put16(t, 14, window);
    if (scale >= 0) {
        t[20] = 1;
        t[21] = 3;
        t[22] = 3;
        t[23] = uint8_t(scale);
    }
    t.insert(t.end(), payload, 0x55);
    octets v = m.packet();
    put16(v, 36, upper_checksum(v));
    EXPECT_EQ(upper_checksum(v), 0);
    return v;
}

struct watched {
    ip::tcp_flows flows{ 30'000, 60s };
    station_time now{};
    void out(const octets& v)
    {
        flows.from_host(now, *ip::read_packet(v.data(), v.size()));
    }
    //! The window that the host sees, as a number of octets.
    uint32_t in(octets v, unsigned scale = 0)
    {
        flows.from_hf(now, v);
        EXPECT_EQ(upper_checksum(v), 0);
        return uint32_t(v[34] << 8 | v[35]) << scale;
    }
    void open(int near_scale, int far_scale)
    {
        out(segment(true, syn, 100, 0, 64000, near_scale));
        EXPECT_EQ(in(segment(false, syn | ack, 900, 101, 65000, far_scale)), 65000u);
        out(segment(true, ack, 101, 901, 64000, -1, 1000));
    }
};

TEST(ip_tcp_help, windows_are_lowered_with_the_scale_that_both_agreed_upon)
{
    for (const int scale : { -1, 0, 3, 10, 14, 200 }) {
        watched w;
        w.open(7, scale);
        const unsigned shift = scale < 0 ? 0 : std::min(scale, 14);
        const uint32_t got = w.in(segment(false, ack, 901, 1101, 65535), shift);
        EXPECT_GE(got, 30'000u) << scale;
        EXPECT_LT(got, 30'000u + (1u << shift)) << scale;
        EXPECT_EQ(w.in(segment(false, ack, 901, 1101, 0), shift), 0u) << scale;
    }
    // The near side has no scale, so the other's does not count.
    watched w;
    w.open(-1, 10);
    EXPECT_EQ(w.in(segment(false, ack, 901, 1101, 20'000)), 20'000u);
    EXPECT_EQ(w.in(segment(false, ack, 901, 1101, 40'000)), 30'000u);
}

TEST(ip_tcp_help, what_was_offered_is_not_taken_back)
{
    watched w;
    w.open(0, 0);
    EXPECT_EQ(w.in(segment(false, ack, 901, 1101, 65535)), 30'000u);
    // A second connection halves the share.
    octets other = segment(true, syn, 5, 0, 64000, 0);
    put16(other, 20, 4001);
    w.out(other);
    octets data = segment(true, ack, 6, 1, 64000, -1, 10);
    put16(data, 20, 4001);
    w.out(data);
    EXPECT_EQ(w.in(segment(false, ack, 901, 1101, 65535)), 30'000u);
    EXPECT_EQ(w.in(segment(false, ack, 901, 11'101, 65535)), 20'000u);
    EXPECT_EQ(w.in(segment(false, ack, 901, 21'101, 65535)), 15'000u);
    // Quiet for long, it has no share any more.
    w.now = 301s;
    w.out(segment(true, ack, 21'101, 901, 64000, -1, 10));
    EXPECT_EQ(w.in(segment(false, ack, 901, 21'101, 65535)), 30'000u);
    // Many do not starve each other.
    for (uint16_t k = 0; k < 100; ++k) {
        put16(other, 20, 5000u + k);
        put16(data, 20, 5000u + k);
        w.out(other);
        w.out(data);
    }
    EXPECT_EQ(w.in(segment(false, ack, 901, 81'101, 65535)), 5840u);
}

TEST(ip_tcp_help, connections_that_began_before_are_left_alone)
{
    watched w;
    EXPECT_EQ(w.in(segment(false, ack, 901, 1101, 65535)), 65535u);
    w.in(segment(false, syn | ack, 900, 101, 65000, 7));
    EXPECT_EQ(w.in(segment(false, ack, 901, 1101, 65535)), 65535u);
}

TEST(ip_tcp_help, a_delivered_segment_is_repeated_when_the_far_side_was_heard_or_late)
{
    watched w;
    w.open(7, 7);
    const auto data = segment(true, ack, 101, 901, 64000, -1, 1000);
    const auto key = *ip::key_of_segment(*ip::read_packet(data.data(), data.size()));
    EXPECT_FALSE(w.flows.under_way(w.now, key));
    w.flows.sent(key);
    EXPECT_TRUE(w.flows.under_way(w.now, key));
    w.now = 10s;
    w.flows.settled(w.now, key, true);
    w.now = 69s;
    EXPECT_TRUE(w.flows.under_way(w.now, key));
    w.now = 70s;
    EXPECT_FALSE(w.flows.under_way(w.now, key));
    w.flows.sent(key);
    w.flows.settled(w.now, key, true);
    EXPECT_TRUE(w.flows.under_way(w.now, key));
    w.now = 71s;
    w.in(segment(false, ack, 901, 101)); // without it: it was lost after the far node
    EXPECT_FALSE(w.flows.under_way(w.now, key));
    w.flows.sent(key);
    w.flows.settled(w.now, key, false);
    EXPECT_FALSE(w.flows.under_way(w.now, key));
}

TEST(ip_tcp_help, the_connection_used_longest_ago_gives_way)
{
    const auto lowered = [](size_t others) {
        watched w;
        w.open(0, 0);
        for (size_t k = 0; k < others; ++k) {
            w.now += 1ms;
            octets v = segment(true, syn, 5, 0, 64000, 0);
            put16(v, 20, unsigned(5000 + k));
            w.out(v);
        }
        return w.in(segment(false, ack, 901, 1101, 65535)) < 65535;
    };
    EXPECT_TRUE(lowered(1023)) << "1024 are remembered";
    EXPECT_FALSE(lowered(1024));
}

TEST(ip_tcp_help, old_segments_give_way_to_new_ones)
{
    watched w;
    const auto deliver = [&w](uint32_t seq) {
        const auto v = segment(true, ack, seq, 901, 64000, -1, 10);
        const auto key = *ip::key_of_segment(*ip::read_packet(v.data(), v.size()));
        w.flows.sent(key);
        w.flows.settled(w.now, key, true);
        return w.flows.under_way(w.now, key);
    };
    // As many as are remembered, and one more within half of the repeat wait.
    for (uint32_t k = 0; k < 8192; ++k)
        ASSERT_TRUE(deliver(k * 10)) << k;
    w.now = 30s - 1ns;
    EXPECT_FALSE(deliver(90'000));
    w.now = 30s;
    EXPECT_TRUE(deliver(100'000));
}

TEST(ip_tcp_help, fuzz)
{
    std::mt19937 rng(3);
    watched w;
    size_t lowered = 0;
    for (int k = 0; k < 200'000; ++k) {
        const bool near = rng() % 2;
        octets v = segment(near,
                           uint8_t(rng() % 4   ? rng()
                                   : rng() % 2 ? syn
                                               : ack),
                           uint32_t(rng()),
                           uint32_t(rng()),
                           uint16_t(rng()),
                           rng() % 3 ? int(rng() % 16) : -1,
                           rng() % 30);
        put16(v, near ? 20 : 22, unsigned(rng() % 1500)); // more than are kept
        if (rng() % 8 == 0)
            for (size_t n = 1 + rng() % 3; n > 0; --n)
                v[20 + rng() % (v.size() - 20)] = uint8_t(rng());
        if (rng() % 32 == 0)
            v.resize(20 + rng() % (v.size() - 20));
        if (rng() % 16) {
            put16(v, 2, unsigned(v.size()));
            put16(v, 10, 0);
            put16(v, 10, ip::checksum_fold(ip::checksum_add(0, v.data(), 20)));
        }
        w.now += from_seconds((rng() % 100) / 100.0);
        const auto p = ip::read_packet(v.data(), v.size());
        if (!p)
            continue;
        if (near)
            w.flows.from_host(w.now, *p);
        else
            lowered += w.flows.from_hf(w.now, v);
        if (const auto key = ip::key_of_segment(*p)) {
            if (rng() % 2)
                w.flows.sent(*key);
            w.flows.settled(w.now, *key, rng() % 2);
            w.flows.under_way(w.now, *key);
        }
    }
    EXPECT_GT(lowered, 100u);
}

} // namespace
} // namespace gr::hf::test

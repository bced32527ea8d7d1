/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ip/packet_queue.h"
#include "ip/packets.h"

#include <gtest/gtest.h>

#include <random>

namespace gr::hf::test {
namespace {

using namespace ip;
using namespace std::chrono_literals;

constexpr uint8_t syn = 2, ack_flag = 16;

made tcp(uint16_t port, uint32_t seq, uint32_t ack, uint8_t flags, size_t payload)
{
    made m;
    m.protocol = proto_tcp;
    m.upper.assign(20 + payload, 0);
    put16(m.upper, 0, port);
    put16(m.upper, 2, 80);
    put16(m.upper, 4, seq >> 16);
    put16(m.upper, 6, seq & 0xffff);
    put16(m.upper, 8, ack >> 16);
    put16(m.upper, 10, ack & 0xffff);
    m.upper[12] = 5 << 4;
    m.upper[13] = flags;
    return m;
}

struct one {
    explicit one(const queue_config& c = {}) : q(c, stats) {}
    void put(const made& m, dedup d = dedup::none)
    {
        waiting_packet w;
        w.packet = m.packet();
        w.since = now;
        q.put(now, std::move(w), d);
    }
    //! Source port of the packet that goes next.
    int next_port()
    {
        if (q.next(now) == nullptr)
            return -1;
        const auto w = q.take();
        const auto v = read_packet(w.packet.data(), w.packet.size());
        return v->src_port;
    }
    queue_stats stats;
    packet_queue q;
    station_time now{};
};

TEST(queue, flows_take_turns_and_a_new_one_comes_first)
{
    one x;
    for (uint32_t k = 0; k < 20; ++k)
        x.put(tcp(1, 1400 * k, 0, ack_flag, 1400));
    EXPECT_EQ(x.next_port(), 1);
    EXPECT_EQ(x.next_port(), 1); // 1440 of 1500 octets: one more
    for (uint32_t k = 0; k < 20; ++k)
        x.put(tcp(2, 1400 * k, 0, ack_flag, 1400));
    EXPECT_EQ(x.next_port(), 2);
    x.put(tcp(3, 0, 0, ack_flag, 10));
    int served[4] = {};
    for (int k = 0; k < 12; ++k)
        ++served[x.next_port()];
    EXPECT_EQ(served[3], 1);
    EXPECT_NEAR(served[1], served[2], 1);
}

TEST(queue, the_other_policy_keeps_the_order_and_flushes_all)
{
    queue_config c;
    c.policy = queue_policy::whole;
    c.octets_max = 10'000;
    one x(c);
    for (const uint16_t port : { 1, 2, 1, 3, 3 })
        x.put(tcp(port, 0, 0, ack_flag, 1000));
    for (const int port : { 1, 2, 1, 3 })
        EXPECT_EQ(x.next_port(), port);
    for (uint32_t k = 0; k < 9; ++k)
        x.put(tcp(4, k, 0, ack_flag, 1000));
    EXPECT_TRUE(x.q.empty());
    EXPECT_EQ(x.stats.flushed_queues, 1u);
    EXPECT_EQ(x.stats.flushed_packets, 10u);
}

TEST(queue, the_longest_flow_pays_for_too_much)
{
    queue_config c;
    c.octets_max = 20'000;
    one x(c);
    x.put(tcp(2, 0, 0, ack_flag, 500));
    for (uint32_t k = 0; k < 30; ++k)
        x.put(tcp(1, 1400 * k, 0, ack_flag, 1400));
    EXPECT_LE(x.q.octets_waiting(), 20'000u);
    EXPECT_GT(x.q.octets_waiting(), 18'000u);
    EXPECT_GT(x.stats.overflowed, 10u);
    bool seen = false;
    for (int port = x.next_port(); port > 0; port = x.next_port())
        seen = seen || port == 2;
    EXPECT_TRUE(seen);
    EXPECT_EQ(x.q.octets_waiting(), 0u);
}

TEST(queue, old_packets_go_one_by_one)
{
    one x;
    x.put(tcp(1, 0, 0, ack_flag, 100));
    x.now = 200s;
    x.put(tcp(1, 100, 0, ack_flag, 100));
    x.put(tcp(2, 0, 0, ack_flag, 100));
    EXPECT_EQ(x.q.expires(), 300s);
    x.now = 301s;
    x.q.expire(x.now);
    EXPECT_EQ(x.stats.overflowed, 1u);
    EXPECT_EQ(x.q.expires(), 500s);
}

TEST(queue, standing_delay_is_marked_or_costs_a_packet)
{
    for (const bool ecn : { false, true }) {
        one x;
        uint32_t k = 0;
        // One more packet arrives than leaves: 60 of them wait.
        for (; k < 60; ++k) {
            made m = tcp(1, 1400 * k, 0, ack_flag, 1400);
            m.tos = ecn ? 2 : 0;
            x.put(m);
        }
        for (int s = 0; s < 3000; s += 2) {
            x.now += 2s;
            made m = tcp(1, 1400 * k++, 0, ack_flag, 1400);
            m.tos = ecn ? 2 : 0;
            x.put(m);
            x.next_port();
        }
        EXPECT_EQ(x.stats.marked > 0, ecn);
        EXPECT_EQ(x.stats.delay_dropped > 0, !ecn);
        // About sqrt law: a handful in 50 minutes, not a massacre.
        EXPECT_LT(x.stats.marked + x.stats.delay_dropped, 60u);
    }
}

TEST(queue, delay_never_costs_the_last_packet_of_a_flow)
{
    queue_config c;
    c.age_max = 24h;
    one x(c);
    x.put(tcp(1, 0, 0, ack_flag, 1400));
    for (int k = 0; k < 100; ++k) {
        x.now += 60s;
        ASSERT_NE(x.q.next(x.now), nullptr) << to_seconds(x.now) << " s";
    }
    EXPECT_EQ(x.stats.delay_dropped, 0u);
    EXPECT_EQ(x.next_port(), 1);
    // With a second one after it the first may leave.
    for (uint32_t k = 0; k < 2; ++k)
        x.put(tcp(2, 1400 * k, 0, ack_flag, 1400));
    for (int k = 0; k < 100; ++k) {
        x.now += 60s;
        ASSERT_NE(x.q.next(x.now), nullptr) << to_seconds(x.now) << " s";
    }
    EXPECT_EQ(x.stats.delay_dropped, 1u);
}

TEST(queue, a_mark_keeps_the_checksum_right)
{
    made m = tcp(1, 0, 0, ack_flag, 10);
    octets v = m.packet();
    EXPECT_FALSE(mark_congestion(v));
    m.tos = 0xb8 | 1;
    v = m.packet();
    EXPECT_TRUE(mark_congestion(v));
    EXPECT_EQ(v[1], 0xb8 | 3);
    EXPECT_TRUE(read_packet(v.data(), v.size()));
    m.src = "fd00::1";
    m.dst = "fd00::2";
    v = m.packet();
    EXPECT_TRUE(mark_congestion(v));
    EXPECT_EQ(read_packet(v.data(), v.size())->traffic_class, 0xb8 | 3);
}

TEST(queue, acks_are_thinned_and_repeats_do_not_wait_twice)
{
    one x;
    for (uint32_t k = 1; k <= 10; ++k)
        x.put(tcp(1, 5, 1000 * k, ack_flag, 0));
    EXPECT_EQ(x.stats.acks_thinned, 9u);
    // Duplicate ACKs mean something: they stay.
    x.put(tcp(1, 5, 10'000, ack_flag, 0));
    x.put(tcp(1, 5, 10'000, ack_flag, 0));
    EXPECT_EQ(x.q.octets_waiting(), 3u * 40);
    for (int k = 0; k < 5; ++k)
        x.put(tcp(2, 7, 0, syn, 0));
    EXPECT_EQ(x.stats.repeats_dropped, 4u);
    for (int k = 0; k < 3; ++k)
        x.put(tcp(3, 100, uint32_t(k), ack_flag, 500));
    EXPECT_EQ(x.stats.repeats_dropped, 6u);
    // Another connection with the same numbers is another one.
    x.put(tcp(4, 100, 0, ack_flag, 500));
    EXPECT_EQ(x.stats.repeats_dropped, 6u);
    queue_config off;
    off.thin_acks = off.drop_repeats = false;
    one y(off);
    for (uint32_t k = 1; k <= 10; ++k)
        y.put(tcp(1, 5, 1000 * k, ack_flag, 0));
    EXPECT_EQ(y.q.octets_waiting(), 400u);
}

TEST(queue, ack_numbers_wrap)
{
    one x;
    for (const uint32_t ack : { 0xfffff000u, 0xffffffffu, 0u, 0x1000u })
        x.put(tcp(1, 5, ack, ack_flag, 0));
    EXPECT_EQ(x.stats.acks_thinned, 3u);
    // An older one, which came late, does not replace the newest.
    x.put(tcp(1, 5, 0xfffff800, ack_flag, 0));
    EXPECT_EQ(x.stats.acks_thinned, 3u);
    EXPECT_EQ(x.q.octets_waiting(), 2u * 40);
    ASSERT_NE(x.q.next(x.now), nullptr);
    const auto first = x.q.take();
    const auto v = read_packet(first.packet.data(), first.packet.size());
    EXPECT_EQ(tcp_of(*v)->ack, 0x1000u);
}

TEST(queue, flows_beyond_the_limit_share_one)
{
    one x;
    // A port scan.
    for (uint16_t port = 1; port <= 1030; ++port)
        x.put(tcp(port, 1, 0, syn, 0));
    const auto flows = x.q.flows();
    EXPECT_EQ(flows.size(), 1025u);
    const auto shared = std::find_if(
        flows.begin(), flows.end(), [](const auto& f) { return f.protocol == 0; });
    ASSERT_NE(shared, flows.end());
    EXPECT_EQ(shared->packets, 6u);
}

TEST(queue, many_flows_and_random_work_stay_consistent)
{
    queue_config c;
    c.octets_max = 50'000;
    c.age_max = 100s;
    one x(c);
    std::mt19937 rng(1);
    size_t out = 0;
    for (int k = 0; k < 50'000; ++k) {
        x.now += std::chrono::milliseconds(rng() % 100);
        if (rng() % 2)
            x.put(tcp(uint16_t(1 + rng() % 3000),
                      rng() % 4,
                      rng() % 4,
                      rng() % 2 ? ack_flag : syn,
                      rng() % 3 * 100));
        else
            out += x.next_port() > 0;
        ASSERT_LE(x.q.octets_waiting(), 50'000u);
        ASSERT_EQ(x.q.empty(), x.q.peek() == nullptr);
        ASSERT_EQ(x.q.empty(), !x.q.expires());
    }
    EXPECT_GT(out, 10'000u);
    x.q.flush();
    EXPECT_TRUE(x.q.empty());
}

TEST(fragments, are_what_rfc_791_says)
{
    made m;
    m.upper.resize(3000);
    for (size_t k = 0; k < m.upper.size(); ++k)
        m.upper[k] = uint8_t(k * 7);
    const octets whole = m.packet();
    const auto v = read_packet(whole.data(), whole.size());
    const auto all = fragments(*v, 1000);
    ASSERT_EQ(all.size(), 4u);
    octets together;
    for (size_t k = 0; k < all.size(); ++k) {
        ASSERT_LE(all[k].size(), 1000u);
        const auto part = read_packet(all[k].data(), all[k].size());
        ASSERT_TRUE(part);
        EXPECT_EQ(part->later_fragment, k > 0);
        const unsigned field = unsigned(all[k][6] << 8 | all[k][7]);
        EXPECT_EQ((field & 0x1fff) * 8, together.size());
        EXPECT_EQ((field & 0x2000) != 0, k + 1 < all.size());
        together.insert(together.end(), all[k].begin() + 20, all[k].end());
    }
    EXPECT_EQ(together, m.upper);
    // A fragment can be cut again.
    const auto first = read_packet(all[1].data(), all[1].size());
    const auto again = fragments(*first, 600);
    ASSERT_EQ(again.size(), 2u);
    EXPECT_EQ((again[1][6] << 8 | again[1][7]) & 0x2000, 0x2000);
    m.dont_fragment = true;
    const octets fixed = m.packet();
    EXPECT_TRUE(fragments(*read_packet(fixed.data(), fixed.size()), 1000).empty());
}

TEST(filter_words, say_what_the_fields_say)
{
    const auto r = parse_filter_rule("name=clock proto=udp port=123-124 to=10.0.0.0/8 "
                                     "action=send mode=non-arq priority=4 repeats=2 "
                                     "class=interactive dedup=payload length_max=100");
    EXPECT_EQ(r.name, "clock");
    EXPECT_EQ(r.protocol, proto_udp);
    EXPECT_EQ(r.port_last, 124);
    EXPECT_EQ(r.arq, false);
    EXPECT_EQ(r.repeats, 2);
    EXPECT_TRUE(r.interactive);
    EXPECT_EQ(r.duplicates, dedup::payload);
    made m;
    m.ports(5000, 123);
    m.dst = "10.1.2.3";
    const octets v = m.packet();
    EXPECT_TRUE(r.matches(*read_packet(v.data(), v.size())));
    for (const char* wrong : { "colour=red",
                               "port=0",
                               "port=9-3",
                               "proto=ipx",
                               "icmp=300",
                               "priority=16",
                               "mode=fast",
                               "to=10.0.0",
                               "action=",
                               "version=5" })
        try {
            parse_filter_rule(wrong);
            ADD_FAILURE() << wrong;
        } catch (const std::invalid_argument& e) {
            EXPECT_NE(std::string(e.what()).find(wrong), std::string::npos) << e.what();
        }
}

} // namespace
} // namespace gr::hf::test

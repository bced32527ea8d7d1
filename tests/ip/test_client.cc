/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ip/client.h"
#include "ip/packets.h"
#include "slep/fake_sis.h"

#include <gtest/gtest.h>

namespace gr::hf::test {
namespace {

using s5066::address;
using namespace std::chrono_literals;

ip::client_config base()
{
    ip::client_config c;
    c.table = { { ip::prefix("10.66.0.2/32"), address("1.0.0.2") },
                { ip::prefix("10.66.0.3/32"), address("1.0.0.3") },
                { ip::prefix("fd00::2/128"), address("1.0.0.2") },
                { ip::prefix("239.0.0.0/8"), address::broadcast() } };
    c.own = { ip::address("10.66.0.1"), ip::address("fd00::1") };
    return c;
}

//! A client alone, with the node played by the test.
struct lone {
    explicit lone(const ip::client_config& c = base()) : ip(c)
    {
        drain();
        in(s5066::s_bind_accepted{ 9, 2048 });
    }
    void in(const s5066::s_primitive& p)
    {
        const auto v = s5066::encode(p);
        ip.sis_in(now, v.data(), v.size());
    }
    void packet(const octets& v) { ip.on_packet(now, v.data(), v.size()); }
    void from_hf(const char* node, const octets& v)
    {
        s5066::s_unidata_indication u;
        u.dst_sap = u.src_sap = 9;
        u.src = address(node);
        u.u_pdu = v;
        in(u);
    }
    std::vector<s5066::s_unidata_request> drain()
    {
        std::vector<s5066::s_unidata_request> all;
        while (auto v = ip.poll_sis()) {
            const auto p = s5066::decode_primitive(*v);
            if (const auto* u = std::get_if<s5066::s_unidata_request>(&*p))
                all.push_back(*u);
        }
        return all;
    }
    void confirm(const s5066::s_unidata_request& u)
    {
        in(s5066::s_unidata_request_confirm{ false, u.dst_sap, u.dst, u.u_pdu });
    }
    std::vector<octets> to_host()
    {
        std::vector<octets> all;
        while (auto v = ip.poll_packet())
            all.push_back(*v);
        return all;
    }
    station_time now{};
    ip::client ip;
};

TEST(ip_client, icmp_errors_are_counted_for_as_many_hosts_as_fit)
{
    auto c = base();
    c.icmp_burst = 1;
    lone x(c);
    // Datagrams of this host to nowhere, in the name of other hosts.
    const auto from = [&x](size_t host) {
        made m = udp(1, 2);
        m.src = "172.16." + std::to_string(host / 256) + "." + std::to_string(host % 256);
        m.dst = "192.0.2.1";
        x.now += 1ms;
        x.packet(m.packet());
        return x.to_host().size();
    };
    EXPECT_EQ(from(0), 1u);
    EXPECT_EQ(from(0), 0u);
    for (size_t k = 1; k <= 255; ++k)
        EXPECT_EQ(from(k), 1u);
    EXPECT_EQ(from(0), 0u) << "still known";
    for (size_t k = 256; k <= 511; ++k)
        EXPECT_EQ(from(k), 1u);
    EXPECT_EQ(from(0), 1u) << "forgotten, since 256 others came after it";
    EXPECT_EQ(from(511), 0u);
}

TEST(ip_client, one_datagram_per_u_pdu_both_ways)
{
    fake_subnet net;
    auto cb = base();
    cb.table = { { ip::prefix("10.66.0.1/32"), address("1.0.0.1") } };
    ip::client a(base()), b(cb);
    net.attach(address("1.0.0.1"), a);
    net.attach(address("1.0.0.2"), b);
    net.settle();
    const octets p = udp(1000, 2000, octets(500, 3)).packet();
    a.on_packet(net.now(), p.data(), p.size());
    net.run_for(10);
    const auto got = b.poll_packet();
    ASSERT_TRUE(got);
    octets expected = p;
    ip::decrement_hops(expected);
    EXPECT_EQ(*got, expected);
    EXPECT_FALSE(b.poll_packet());
    EXPECT_EQ(a.stats().confirmed, 1u);
    EXPECT_EQ(b.stats().received_octets, p.size());
}

TEST(ip_client, service_of_annex_f12)
{
    lone x;
    made m = udp(1, 2);
    m.tos = 0xb8; // EF
    x.packet(m.packet());
    made g = udp(1, 2);
    g.dst = "239.1.1.1";
    x.packet(g.packet());
    made six = udp(1, 2);
    six.src = "fd00::1";
    six.dst = "fd00::2";
    six.tos = 0x40;
    x.packet(six.packet());
    const auto all = x.drain();
    ASSERT_EQ(all.size(), 3u);
    for (const auto& u : all)
        EXPECT_EQ(u.dst_sap, 9);
    const auto to_group = std::find_if(
        all.begin(), all.end(), [](const auto& u) { return u.dst.is_group(); });
    ASSERT_NE(to_group, all.end());
    EXPECT_EQ(to_group->mode.mode, s5066::transmission_mode::non_arq);
    EXPECT_EQ(to_group->mode.confirmation, s5066::delivery_confirmation::none);
    int found = 0;
    for (const auto& u : all) {
        if (u.dst.is_group())
            continue;
        EXPECT_EQ(u.dst, address("1.0.0.2"));
        EXPECT_EQ(u.mode.mode, s5066::transmission_mode::arq);
        EXPECT_EQ(u.mode.confirmation, s5066::delivery_confirmation::node);
        EXPECT_EQ(u.mode.order, s5066::delivery_order::as_they_arrive);
        EXPECT_EQ(u.ttl, 150u); // 300 s
        found += u.priority == (u.u_pdu[0] >> 4 == 4 ? 10 : 4);
    }
    EXPECT_EQ(found, 2);
    for (int p = 0; p < 8; ++p)
        EXPECT_EQ(ip::default_dscp().at(size_t(p << 3 | 5)), 2 * p);
}

TEST(ip_client, service_by_dscp_table_and_tos)
{
    auto c = base();
    c.dscp[46] = 14;
    c.use_tos = true;
    c.multicast_repeats = 2;
    lone x(c);
    const auto sent = [&](uint8_t tos, const char* dst) {
        made m = udp(1, 2);
        m.tos = tos;
        m.dst = dst;
        x.packet(m.packet());
        const auto all = x.drain();
        EXPECT_EQ(all.size(), 1u);
        return all.at(0);
    };
    EXPECT_EQ(sent(46 << 2, "10.66.0.2").priority, 14);
    EXPECT_EQ(sent(40 << 2, "10.66.0.2").priority, 10);
    using s5066::transmission_mode;
    EXPECT_EQ(sent(0x10, "10.66.0.2").mode.mode, transmission_mode::non_arq); // delay
    EXPECT_EQ(sent(0x02, "10.66.0.2").mode.mode, transmission_mode::non_arq); // cost
    EXPECT_EQ(sent(0x08, "10.66.0.2").mode.mode, transmission_mode::arq);
    EXPECT_EQ(sent(0x12, "10.66.0.2").mode.mode, transmission_mode::arq);
    EXPECT_EQ(sent(0, "239.1.1.1").mode.retransmissions, 2);
    EXPECT_EQ(sent(0x12, "239.1.1.1").mode.mode, transmission_mode::non_arq);
}

TEST(ip_client, a_segment_that_arq_still_carries_is_not_sent_again)
{
    made m;
    m.protocol = ip::proto_tcp;
    m.upper.assign(120, 0);
    put16(m.upper, 0, 4000);
    put16(m.upper, 2, 80);
    m.upper[12] = 5 << 4;
    m.upper[13] = 16;
    for (const bool fair : { true, false }) {
        auto c = base();
        c.queue.policy = fair ? ip::queue_policy::fair : ip::queue_policy::whole;
        lone x(c);
        x.packet(m.packet());
        const auto first = x.drain();
        ASSERT_EQ(first.size(), 1u);
        x.packet(m.packet());
        EXPECT_EQ(x.drain().size(), fair ? 0u : 1u);
        x.confirm(first[0]);
        // The far host has it, too, as far as anybody knows.
        x.packet(m.packet());
        EXPECT_EQ(x.drain().size(), fair ? 0u : 1u);
        x.now += 61s;
        x.packet(m.packet());
        EXPECT_EQ(x.drain().size(), 1u);
    }
}

TEST(ip_client, cuts_what_is_too_big_and_may_be_cut)
{
    lone x;
    x.packet(udp(1, 2, octets(1600)).packet());
    const auto sent = x.drain();
    ASSERT_EQ(sent.size(), 2u);
    EXPECT_EQ(sent[0].u_pdu.size() + sent[1].u_pdu.size(), 20u + 20 + 8 + 1600);
    EXPECT_EQ(x.ip.stats().fragmented, 1u);
}

TEST(ip_client, echo_passes_bulk_that_fills_sis)
{
    auto c = base();
    c.queue_octets = 32'000;
    lone x(c);
    for (int k = 0; k < 40; ++k)
        x.packet(udp(1, 2, octets(1400, uint8_t(k))).packet());
    x.drain();
    ASSERT_GT(x.ip.waiting(address("1.0.0.2")), 1000u);
    made ping;
    ping.protocol = ip::proto_icmp;
    x.packet(ping.echo(8, 1, 1).packet());
    const auto now = x.drain();
    ASSERT_EQ(now.size(), 1u);
    EXPECT_EQ(now[0].priority, 6);
}

TEST(ip_client, drops_what_a_fresh_host_sends_unasked)
{
    lone x;
    std::vector<octets> unasked;
    const auto add = [&](made m) { unasked.push_back(m.packet()); };
    const auto with = [](made m, const char* src, const char* dst) {
        m.src = src;
        m.dst = dst;
        return m;
    };
    made nd;
    nd.protocol = ip::proto_icmp6;
    for (const uint8_t type : { 130, 131, 133, 134, 135, 136, 143 }) {
        nd.upper.assign(24, 0);
        nd.upper[0] = type;
        add(with(nd, "fe80::1", "ff02::2"));
        add(with(nd, "fd00::1", "fd00::2"));
    }
    made igmp;
    igmp.protocol = ip::proto_igmp;
    add(with(igmp, "10.66.0.1", "224.0.0.22"));
    for (const uint16_t port :
         { 5353, 5355, 1900, 137, 138, 67, 68, 546, 3702, 123, 520 })
        add(udp(port, port));
    add(with(udp(5353, 5353), "10.66.0.1", "224.0.0.251"));
    add(with(udp(40000, 9), "10.66.0.1", "255.255.255.255"));
    add(with(udp(40000, 9), "10.66.0.1", "169.254.1.1"));
    add(with(udp(40000, 9), "fd00::1", "fe80::9"));
    made ospf;
    ospf.protocol = ip::proto_ospf;
    add(ospf);
    for (const auto& p : unasked)
        x.packet(p);
    EXPECT_TRUE(x.drain().empty());
    EXPECT_TRUE(x.to_host().empty());
    uint64_t counted = 0;
    for (const auto n : x.ip.stats().per_rule)
        counted += n;
    EXPECT_EQ(counted, unasked.size());
    EXPECT_EQ(x.ip.stats().bad_from_host, 0u);
}

TEST(ip_client, errors_go_back_to_the_host)
{
    auto c = base();
    c.fragment = false;
    lone x(c);
    const auto answer = [&](const made& m) -> std::pair<int, int> {
        x.now += 10s;
        x.packet(m.packet());
        EXPECT_TRUE(x.drain().empty());
        const auto all = x.to_host();
        if (all.size() != 1)
            return { -1, -1 };
        const auto v = ip::read_packet(all[0].data(), all[0].size());
        return { all[0][v->upper], all[0][v->upper + 1] };
    };
    using pair = std::pair<int, int>;
    EXPECT_EQ(answer(udp(40000, 443)), pair(3, 3)); // QUIC
    made far = udp(1, 2);
    far.dst = "8.8.8.8";
    EXPECT_EQ(answer(far), pair(3, 0));
    made old = udp(1, 2);
    old.hops = 1;
    EXPECT_EQ(answer(old), pair(11, 0));
    made big = udp(1, 2, octets(1600));
    EXPECT_EQ(answer(big), pair(-1, -1)); // dropped
    big.dont_fragment = true;
    EXPECT_EQ(answer(big), pair(3, 4));
    big.src = "fd00::1";
    big.dst = "fd00::2";
    EXPECT_EQ(answer(big), pair(2, 0));
    // About packets from HF only what carries an MTU.
    far.src = "10.66.0.3";
    EXPECT_EQ(answer(far), pair(-1, -1));
    EXPECT_EQ(x.ip.stats().icmp_suppressed, 1u);
    EXPECT_EQ(x.ip.stats().too_big, 3u);
    EXPECT_EQ(x.ip.stats().no_route, 2u);
}

TEST(ip_client, errors_are_rate_limited_per_destination)
{
    lone x;
    made far = udp(1, 2);
    far.dst = "8.8.8.8";
    for (int k = 0; k < 100; ++k)
        x.packet(far.packet());
    EXPECT_EQ(x.to_host().size(), 5u);
    far.src = "10.66.7.7";
    x.packet(far.packet());
    EXPECT_EQ(x.to_host().size(), 1u);
    x.now += 2s;
    far.src = "10.66.0.1";
    for (int k = 0; k < 100; ++k)
        x.packet(far.packet());
    EXPECT_EQ(x.to_host().size(), 2u);
}

TEST(ip_client, mtu_follows_the_bind)
{
    auto c = base();
    c.mtu = 2048;
    lone x(c);
    x.in(s5066::s_unbind_indication{ 1 });
    x.now += 6s;
    x.ip.on_deadline(x.now);
    x.drain();
    x.in(s5066::s_bind_accepted{ 9, 1000 });
    made big = udp(1, 2, octets(1100));
    big.dont_fragment = true;
    x.packet(big.packet());
    const auto e = x.to_host();
    ASSERT_EQ(e.size(), 1u);
    EXPECT_EQ(e[0][26] << 8 | e[0][27], 1000);
}

TEST(ip_client, sis_is_fed_to_a_depth_and_refilled_by_confirms)
{
    auto c = base();
    c.queue_octets = 10'000;
    lone x(c);
    for (int k = 0; k < 40; ++k) {
        made m = udp(1, 2, octets(972));
        m.id = uint16_t(k);
        x.packet(m.packet());
    }
    auto first = x.drain();
    EXPECT_EQ(first.size(), 9u);
    EXPECT_EQ(x.ip.waiting(address("1.0.0.2")), 31'000u);
    x.confirm(first[3]);
    EXPECT_EQ(x.drain().size(), 1u);
    x.in(s5066::s_data_flow_off{});
    x.confirm(first[0]);
    EXPECT_TRUE(x.drain().empty());
    x.in(s5066::s_data_flow_on{});
    EXPECT_EQ(x.drain().size(), 1u);
    // Another next hop has a depth of its own.
    made other = udp(1, 2);
    other.dst = "10.66.0.3";
    x.packet(other.packet());
    EXPECT_EQ(x.drain().size(), 1u);
}

TEST(ip_client, next_hops_take_turns)
{
    auto c = base();
    c.table.push_back({ ip::prefix("10.66.0.4/32"), address("1.0.0.4") });
    lone x(c);
    const char* hosts[] = { "10.66.0.2", "10.66.0.3", "10.66.0.4" };
    for (const char* dst : hosts)
        for (uint16_t k = 0; k < 5; ++k) {
            made m = udp(1, 2, octets(1000));
            m.dst = dst;
            m.id = k;
            x.packet(m.packet());
        }
    const auto all = x.drain();
    ASSERT_EQ(all.size(), 15u);
    for (size_t k = 3; k < all.size(); ++k)
        EXPECT_EQ(all[k].dst, all[k - 3].dst) << k;
    EXPECT_NE(all[0].dst, all[1].dst);
    EXPECT_NE(all[1].dst, all[2].dst);
    EXPECT_NE(all[2].dst, all[0].dst);
}

TEST(ip_client, a_queue_too_long_or_too_old_goes_as_a_whole)
{
    auto c = base();
    c.queue_octets = 2048;
    c.queue.octets_max = 20'000;
    c.queue.policy = ip::queue_policy::whole;
    lone x(c);
    for (int k = 0; k < 18; ++k)
        x.packet(udp(1, 2, octets(1072)).packet());
    EXPECT_EQ(x.drain().size(), 1u);
    EXPECT_EQ(x.ip.stats().queues.flushed_queues, 0u);
    for (int k = 0; k < 2; ++k)
        x.packet(udp(1, 2, octets(1072)).packet());
    EXPECT_EQ(x.ip.stats().queues.flushed_queues, 1u);
    EXPECT_EQ(x.ip.waiting(address("1.0.0.2")), 0u);
    x.packet(udp(1, 2).packet());
    x.now += 299s;
    x.ip.on_deadline(x.now);
    EXPECT_GT(x.ip.waiting(address("1.0.0.2")), 0u);
    ASSERT_TRUE(x.ip.next_deadline());
    x.now = *x.ip.next_deadline();
    x.ip.on_deadline(x.now);
    EXPECT_EQ(x.now, 300s);
    EXPECT_EQ(x.ip.waiting(address("1.0.0.2")), 0u);
    EXPECT_EQ(x.ip.stats().queues.flushed_queues, 2u);
}

TEST(ip_client, acks_live_until_the_next_one_and_the_newest_comes_again)
{
    made m;
    m.protocol = ip::proto_tcp;
    m.upper.assign(20, 0);
    put16(m.upper, 0, 4000);
    put16(m.upper, 2, 80);
    m.upper[12] = 5 << 4;
    m.upper[13] = 16;
    auto c = base();
    c.queue_octets = 23'000; // of 1200 bit/s
    lone x(c);
    const auto ack = [&](unsigned number) {
        m.id = uint16_t(100 + number);
        put16(m.upper, 10, 1000 * number);
        x.packet(m.packet());
        return x.drain();
    };
    const auto expire = [&](const s5066::s_unidata_request& u) {
        x.in(s5066::s_unidata_request_rejected{ false, 1, 9, u.dst, u.u_pdu });
    };
    const auto first = ack(1);
    ASSERT_EQ(first.size(), 1u);
    EXPECT_EQ(first[0].ttl, 8u); // 17.9 s: longer than a segment of 1500 octets takes
    const auto second = ack(2);
    ASSERT_EQ(second.size(), 1u);
    expire(first[0]); // superseded
    EXPECT_TRUE(x.drain().empty());
    EXPECT_EQ(x.ip.stats().queues.acks_thinned, 1u);
    expire(second[0]);
    const auto again = x.drain();
    ASSERT_EQ(again.size(), 1u);
    EXPECT_EQ(again[0].u_pdu, second[0].u_pdu);
    EXPECT_GT(again[0].ttl, 100u);
    // The same number again reports a loss, so it gets a long time to live.
    m.id = 200;
    x.packet(m.packet());
    const auto equal = x.drain();
    ASSERT_EQ(equal.size(), 1u);
    EXPECT_GT(equal[0].ttl, 100u);
    x.confirm(equal[0]);
    x.confirm(again[0]);
    EXPECT_EQ(ack(3).at(0).ttl, 8u);
}

TEST(ip_client, one_that_became_too_old_does_not_empty_the_queue)
{
    auto c = base();
    c.queue_octets = 2048;
    lone x(c);
    for (uint16_t k = 0; k < 10; ++k)
        x.packet(udp(1, uint16_t(100 + k), octets(1000)).packet());
    const auto old = x.drain().at(0);
    const size_t waiting = x.ip.waiting(old.dst);
    ASSERT_GT(waiting, 0u);
    x.in(s5066::s_unidata_request_rejected{ false, 1, 9, old.dst, old.u_pdu });
    EXPECT_EQ(x.ip.waiting(old.dst), waiting);
    EXPECT_EQ(x.ip.stats().rejected, 1u);
    EXPECT_FALSE(x.drain().empty());
}

TEST(ip_client, a_reject_empties_the_queue_of_that_node_only)
{
    auto c = base();
    c.queue_octets = 2048;
    lone x(c);
    for (const char* dst : { "10.66.0.2", "10.66.0.3" })
        for (int k = 0; k < 10; ++k) {
            made m = udp(1, 2, octets(1400));
            m.dst = dst;
            x.packet(m.packet());
        }
    const auto sent = x.drain();
    ASSERT_EQ(sent.size(), 2u);
    const auto& lost = sent[0].dst == address("1.0.0.2") ? sent[0] : sent[1];
    x.in(s5066::s_unidata_request_rejected{ false, 3, 9, lost.dst, lost.u_pdu });
    EXPECT_EQ(x.ip.waiting(address("1.0.0.2")), 0u);
    EXPECT_GT(x.ip.waiting(address("1.0.0.3")), 10'000u);
    EXPECT_TRUE(x.drain().empty()); // and nothing is sent again
    x.packet(udp(1, 2).packet());
    EXPECT_EQ(x.drain().size(), 1u);
}

TEST(ip_client, tells_which_flows_wait_the_longest_first)
{
    auto c = base();
    c.queue_octets = 2048;
    lone x(c);
    EXPECT_TRUE(x.ip.flows(10).empty());
    for (int k = 0; k < 3; ++k)
        x.packet(udp(1, 2, octets(1000)).packet());
    for (int k = 0; k < 5; ++k) {
        made m = udp(3, 4, octets(1000));
        m.dst = "10.66.0.3";
        x.packet(m.packet());
    }
    const auto all = x.ip.flows(10);
    ASSERT_EQ(all.size(), 2u);
    // SIS has taken two of each.
    EXPECT_EQ(all[0].node, address("1.0.0.3"));
    EXPECT_FALSE(all[0].interactive);
    EXPECT_EQ(all[0].flow.dst, ip::address("10.66.0.3"));
    EXPECT_EQ(all[0].flow.protocol, ip::proto_udp);
    EXPECT_EQ(all[0].flow.src_port, 3);
    EXPECT_EQ(all[0].flow.dst_port, 4);
    EXPECT_EQ(all[0].flow.octets, x.ip.waiting(address("1.0.0.3")));
    EXPECT_EQ(all[0].flow.octets, all[0].flow.packets * 1028);
    EXPECT_EQ(all[1].flow.octets, x.ip.waiting(address("1.0.0.2")));
    EXPECT_GT(all[0].flow.octets, all[1].flow.octets);
    ASSERT_EQ(x.ip.flows(1).size(), 1u);
    EXPECT_EQ(x.ip.flows(1)[0].node, address("1.0.0.3"));
}

TEST(ip_client, echo_and_dns_repeats_do_not_pile_up)
{
    auto c = base();
    c.queue_octets = 2048;
    lone x(c);
    x.packet(udp(1, 2, octets(1400)).packet());
    x.packet(udp(1, 2, octets(1400)).packet());
    x.drain();
    made ping;
    ping.protocol = ip::proto_icmp;
    for (uint16_t seq = 1; seq <= 20; ++seq)
        x.packet(ping.echo(8, 77, seq).packet());
    x.packet(ping.echo(8, 78, 1).packet());
    for (int k = 0; k < 5; ++k) {
        made q = udp(5000, 53, { 1, 2, 3, 4 });
        q.id = uint16_t(100 + k);
        x.packet(q.packet());
    }
    EXPECT_EQ(x.ip.stats().queues.duplicates, 19u + 4);
    // They overtake waiting packets, by class and by priority.
    x.in(s5066::s_unbind_indication{ 1 });
    x.now += 6s;
    x.ip.on_deadline(x.now);
    x.drain();
    x.in(s5066::s_bind_accepted{ 9, 2048 });
    const auto all = x.drain();
    ASSERT_GE(all.size(), 3u);
    EXPECT_EQ(all[0].u_pdu[27], 20); // the newest
    EXPECT_EQ(all[0].priority, 6);
    EXPECT_EQ(all[2].priority, 12);
}

TEST(ip_client, datagrams_without_arq_are_fed_at_the_rate)
{
    auto c = base();
    c.queue_octets = 10'000;
    c.rate = 8000; // 1000 octets per second
    lone x(c);
    for (int k = 0; k < 30; ++k) {
        made g = udp(1, 2, octets(972));
        g.dst = "239.1.1.1";
        x.packet(g.packet());
    }
    EXPECT_EQ(x.drain().size(), 11u);
    size_t sent = 11;
    while (sent < 30) {
        const auto t = x.ip.next_deadline();
        ASSERT_TRUE(t);
        ASSERT_GT(*t, x.now);
        x.now = *t;
        x.ip.on_deadline(x.now);
        sent += x.drain().size();
    }
    EXPECT_NEAR(to_seconds(x.now), 19, 0.1);
}

TEST(ip_client, checks_what_comes_from_hf)
{
    lone x;
    made m = udp(1, 2);
    m.src = "10.66.0.2";
    m.dst = "10.66.0.1";
    x.from_hf("1.0.0.2", m.packet());
    EXPECT_EQ(x.to_host().size(), 1u);
    x.from_hf("1.0.0.3", m.packet());
    m.src = "8.8.8.8";
    x.from_hf("1.0.0.2", m.packet());
    EXPECT_EQ(x.ip.stats().spoofed, 2u);
    octets bad = m.packet();
    bad.push_back(0);
    x.from_hf("1.0.0.2", bad);
    x.from_hf("1.0.0.2", {});
    EXPECT_EQ(x.ip.stats().bad_from_hf, 2u);
    EXPECT_TRUE(x.to_host().empty());
    // A host that does not read costs bounded memory.
    m = udp(1, 2, octets(1400));
    m.src = "10.66.0.2";
    for (int k = 0; k < 10'000; ++k)
        x.from_hf("1.0.0.2", m.packet());
    EXPECT_GT(x.ip.stats().host_overflow, 0u);
    size_t held = 0;
    for (const auto& p : x.to_host())
        held += p.size();
    EXPECT_LE(held, size_t(1) << 22);
}

TEST(ip_client, fuzz)
{
    std::mt19937 rng(4);
    auto c = base();
    c.queue.octets_max = 50'000;
    lone x(c);
    for (int k = 0; k < 50'000; ++k) {
        made m = udp(uint16_t(rng() % 200), uint16_t(rng() % 200), octets(rng() % 300));
        m.dst = rng() % 2 ? "10.66.0.2" : "239.1.1.1";
        if (rng() % 2)
            m.src = "10.66.0.2"; // routed to the node, so that it passes from HF
        octets v = m.packet();
        for (unsigned n = rng() % 3; n > 0; --n)
            v[rng() % v.size()] ^= uint8_t(1u << (rng() % 8));
        switch (rng() % 4) {
        case 0:
            x.from_hf("1.0.0.2", v);
            break;
        case 1: {
            auto raw = s5066::encode(s5066::s_unidata_request_rejected{
                false, uint8_t(rng() % 16), 9, address("1.0.0.2"), v });
            raw[rng() % raw.size()] ^= uint8_t(rng());
            x.ip.sis_in(x.now, raw.data(), raw.size());
            break;
        }
        default:
            x.packet(v);
        }
        if (rng() % 8 == 0)
            for (const auto& u : x.drain())
                if (rng() % 2)
                    x.confirm(u);
        if (rng() % 8 == 0)
            x.to_host();
        x.now += from_seconds((rng() % 100) / 100.0);
        if (const auto t = x.ip.next_deadline(); t && *t <= x.now)
            x.ip.on_deadline(x.now);
        ASSERT_LE(x.ip.waiting(address("1.0.0.2")), 2 * 50'000u);
    }
    EXPECT_GT(x.ip.stats().sent, 5000u);
    EXPECT_GT(x.ip.stats().bad_from_host, 3000u);
}

TEST(ip_config, names_what_is_wrong)
{
    const auto throws = [](auto change) {
        auto c = base();
        change(c);
        try {
            ip::client x(c);
        } catch (const std::invalid_argument&) {
            return true;
        }
        return false;
    };
    EXPECT_FALSE(throws([](auto&) {}));
    EXPECT_TRUE(throws([](auto& c) { c.mtu = 575; }));
    EXPECT_TRUE(throws([](auto& c) { c.sap = 16; }));
    EXPECT_TRUE(throws([](auto& c) { c.rate = 0; }));
    EXPECT_FALSE(throws([](auto& c) { c.rate = 1; }));
    EXPECT_TRUE(throws([](auto& c) { c.rate = 0.99; }));
    EXPECT_FALSE(throws([](auto& c) { c.rate = 1e9; }));
    EXPECT_TRUE(throws([](auto& c) { c.rate = 1.01e9; }));
    EXPECT_FALSE(throws([](auto& c) { c.mtu = 576; }));
    EXPECT_FALSE(throws([](auto& c) { c.mtu = 2048; }));
    EXPECT_TRUE(throws([](auto& c) { c.mtu = 2049; }));
    EXPECT_FALSE(throws([](auto& c) { c.sap = 15; }));
    EXPECT_FALSE(throws([](auto& c) { c.icmp_burst = 1; }));
    EXPECT_TRUE(throws([](auto& c) { c.icmp_burst = 0; }));
    EXPECT_TRUE(throws([](auto& c) { c.table[0].node = address::broadcast(); }));
    EXPECT_TRUE(throws([](auto& c) { c.filter[0].priority = 16; }));
    EXPECT_TRUE(throws([](auto& c) {
        c.filter[0].port_first = 9;
        c.filter[0].port_last = 8;
    }));
}

} // namespace
} // namespace gr::hf::test

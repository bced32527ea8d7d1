/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Connections that come too fast, or too many of them: from applications and from peers.
#include "pep/heap.h"
#include "pep/proxy.h"
#include "s5066/pdu/s_primitive.h"

#include <gtest/gtest.h>

namespace gr::hf::test {
namespace {

using hfpep::rule_action;
using hfpep::status;
using s5066::address;
using namespace std::chrono_literals;

constexpr size_t storm = 10'000; // opens in one second
constexpr station_time storm_gap = station_time(1s) / storm;

//! An engine whose node takes everything and confirms nothing.
struct flooded {
    explicit flooded(const hfpep::proxy_config& c) : pep(c)
    {
        tell(s5066::s_bind_accepted{ 13, 2048 });
    }
    void tell(const s5066::s_primitive& p)
    {
        const auto v = s5066::encode(p);
        pep.sis_in(now, v.data(), v.size());
        drain();
    }
    void drain()
    {
        for (bool again = true; again;) {
            again = false;
            while (auto a = pep.poll_action()) {
                again = true;
                if (a->what == hfpep::action::kind::connect)
                    pep.on_connect_ok(now, a->conn);
            }
            while (auto v = pep.poll_sis()) {
                again = true;
                ++primitives;
            }
        }
    }
    //! A peer opens stream \p number at an extended address.
    void request(uint32_t node, uint8_t extended, uint8_t number)
    {
        hfpep::connect_request q;
        q.to = { ip::address("10.1.2.3"), 80 };
        slep::stream_open so;
        so.number = number;
        so.open_data = encode(q);
        slep::pdu d;
        d.extended = extended;
        d.body = so;
        s5066::s_unidata_indication u;
        u.dst = address("1.0.0.1");
        u.src = address::node(node);
        u.src_sap = u.dst_sap = 13;
        u.u_pdu = encode(d);
        tell(u);
        most = std::max(most, pep.connections().size());
    }

    hfpep::proxy pep;
    station_time now{ 1s };
    size_t primitives = 0, most = 0;
};

hfpep::proxy_config config()
{
    hfpep::proxy_config c;
    c.routes = { { ip::prefix("10.1.0.0/16"), "", address("1.0.0.2"), 13 },
                 { ip::prefix("10.2.0.0/16"), "", address("1.0.0.3"), 13 } };
    c.allow = { hfpep::reach::parse("*:*") };
    c.opens.burst = 50;
    return c;
}

const hfpep::endpoint_address client{ ip::address("192.168.0.1"), 1000 };

TEST(hfpep_limits, rate_of_one_peer_and_of_all)
{
    hfpep::open_limits l;
    l.per_second = 30;
    l.per_second_peer = 10;
    l.burst = 40;
    hfpep::open_limiter x(l);
    const address a("1.0.0.2"), b("1.0.0.3");
    const auto taken = [&](station_time now, const address& peer, int tries) {
        int n = 0;
        while (tries-- > 0)
            n += x.take(now, peer);
        return n;
    };
    EXPECT_EQ(taken(1s, a, 100), 40);
    EXPECT_EQ(taken(1s, b, 100), 0); // those of all are used up
    EXPECT_EQ(taken(2s, a, 100), 10);
    EXPECT_EQ(taken(2s, b, 100), 20); // the rest of 30
    EXPECT_EQ(taken(1s, b, 100), 0);  // a clock that steps back
    EXPECT_EQ(taken(100s, b, 100), 40);
    EXPECT_EQ(x.peers(), 2u);
}

TEST(hfpep_limits, a_limiter_remembers_only_peers_that_opened_lately)
{
    hfpep::open_limits l;
    l.per_second = 1e6;
    l.per_second_peer = 0.01;
    hfpep::open_limiter x(l);
    size_t taken = 0;
    for (uint32_t k = 0; k < 50'000; ++k)
        taken += x.take(station_time(1s) + k * 1ms, address::node(0x01000000u + k));
    EXPECT_EQ(x.peers(), hfpep::open_limiter::peers_max);
    EXPECT_EQ(taken, hfpep::open_limiter::peers_max);
    // A hundred seconds later they are forgotten one and all.
    EXPECT_TRUE(x.take(1000s, address::node(2)));
    EXPECT_LE(x.peers(), 2u);
}

TEST(hfpep_limits, a_storm_of_applications_is_refused_at_once)
{
    flooded f(config());
    const size_t before = heap_in_use();
    size_t accepted = 0;
    for (size_t k = 0; k < storm; ++k, f.now += storm_gap) {
        const bool ok =
            f.pep.on_accept(f.now, k, { ip::address("10.1.2.3"), 80 }, client) ==
            rule_action::proxy;
        accepted += ok;
        EXPECT_EQ(f.pep.refusal(), ok ? status::connected : status::too_many_connections);
        f.drain();
    }
    const auto& s = f.pep.stats();
    // The burst and what a second of 20/s adds.
    EXPECT_NEAR(double(accepted), 50 + 20, 1);
    EXPECT_EQ(s.accepted, accepted);
    EXPECT_EQ(s.rejected, storm - accepted);
    EXPECT_EQ(s.over_rate, storm - accepted);
    EXPECT_EQ(f.pep.connections().size(), accepted);
    // Nothing is kept of a refusal.
    EXPECT_LT(heap_in_use() - before, accepted * 16'384);
    // Another far station is not shut out by the storm for the first.
    EXPECT_EQ(f.pep.on_accept(f.now, storm, { ip::address("10.2.2.3"), 80 }, client),
              rule_action::proxy);
}

TEST(hfpep_limits, a_storm_of_one_peer_leaves_the_rest_alone)
{
    flooded f(config());
    const size_t before = heap_in_use();
    for (size_t k = 0; k < storm; ++k, f.now += storm_gap) {
        const size_t at = k / 128 % 9;
        f.request(0x01000002u, f.pep.config().extended[at], uint8_t(k % 128));
    }
    const auto& s = f.pep.stats();
    EXPECT_LE(s.requested - s.rejected, 50u + 20 + 1);
    EXPECT_EQ(f.most, s.requested - s.rejected);
    EXPECT_GT(s.over_rate, 1000u);
    EXPECT_LT(heap_in_use() - before, 4u << 20);
    // Applications here have a rate of their own.
    EXPECT_EQ(f.pep.on_accept(f.now, 1, { ip::address("10.1.2.3"), 80 }, client),
              rule_action::proxy);
}

TEST(hfpep_limits, a_storm_of_ten_thousand_peers_stays_within_all)
{
    flooded f(config());
    const size_t before = heap_in_use();
    for (size_t k = 0; k < storm; ++k, f.now += storm_gap)
        f.request(0x01000002u + uint32_t(k), 0, 1);
    const auto& s = f.pep.stats();
    // SLEP knows 256 peers at a time, so fewer than the rate allows.
    EXPECT_GE(f.most, 50u);
    EXPECT_LE(f.most, 50u + 100 + 1);
    EXPECT_EQ(f.most, s.requested - s.rejected);
    EXPECT_GT(s.over_rate, 50u);
    EXPECT_LT(heap_in_use() - before, 8u << 20);
}

TEST(hfpep_limits, connections_with_one_peer)
{
    auto c = config();
    c.opens.standing_peer = 3;
    flooded f(c);
    for (uint8_t k = 0; k < 5; ++k)
        f.request(0x01000002u, 0, k);
    EXPECT_EQ(f.pep.stats().over_peer, 2u);
    const auto at = [&](const char* host, hfpep::connection_id id) {
        return f.pep.on_accept(f.now, id, { ip::address(host), 80 }, client);
    };
    EXPECT_EQ(at("10.1.0.1", 1), rule_action::reject); // both directions count
    EXPECT_EQ(f.pep.refusal(), status::too_many_connections);
    EXPECT_EQ(at("10.2.0.1", 2), rule_action::proxy);
    // One that ends makes room.
    f.pep.on_tcp_error(f.now, f.pep.connections().back().id);
    EXPECT_EQ(at("10.1.0.1", 3), rule_action::proxy);
    EXPECT_EQ(f.pep.stats().over_peer, 3u);
    EXPECT_EQ(at("10.1.0.1", 5), rule_action::reject); // but for one only
    EXPECT_EQ(f.pep.stats().over_peer, 4u);
    EXPECT_EQ(at("11.0.0.1", 4), rule_action::reject);
    EXPECT_EQ(f.pep.refusal(), status::network_unreachable);
}

TEST(hfpep_limits, values_out_of_range_are_named)
{
    const auto message = [](auto change) {
        hfpep::open_limits l;
        change(l);
        try {
            l.validate();
        } catch (const std::invalid_argument& e) {
            return std::string(e.what());
        }
        return std::string();
    };
    EXPECT_EQ(message([](auto&) {}), "");
    for (const auto& text :
         { message([](auto& o) { o.per_second = o.per_second_peer = 0.01; }),
           message([](auto& o) { o.per_second = o.per_second_peer = 1e6; }),
           message([](auto& o) { o.burst = 1; }),
           message([](auto& o) { o.burst = 100'000; }),
           message([](auto& o) { o.standing_peer = 1; }),
           message([](auto& o) { o.standing_peer = 4096; }) })
        EXPECT_EQ(text, "");
    for (const auto& text : { message([](auto& o) { o.per_second = 0.009; }),
                              message([](auto& o) { o.per_second_peer = 1.1e6; }),
                              message([](auto& o) { o.burst = 0; }),
                              message([](auto& o) { o.burst = 100'001; }),
                              message([](auto& o) { o.standing_peer = 0; }),
                              message([](auto& o) { o.standing_peer = 4097; }) })
        EXPECT_NE(text.find("expected"), std::string::npos) << text;
}

} // namespace
} // namespace gr::hf::test

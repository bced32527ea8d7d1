/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Who may connect to what, how many at once, and by which rule.
#include "pep/two_proxies.h"

#include <gtest/gtest.h>

namespace gr::hf::test {
namespace {

using hfpep::rule;
using hfpep::rule_action;
using hfpep::status;
using namespace std::chrono_literals;

TEST(hfpep_rules, tls_apart_is_for_port_443_unless_said)
{
    EXPECT_TRUE(hfpep::parse_rule("tls=apart").tls_apart);
    EXPECT_EQ(hfpep::parse_rule("tls=apart").port_last, 443);
    EXPECT_EQ(hfpep::parse_rule("port=993 tls=apart").port_first, 993);
    EXPECT_EQ(hfpep::parse_rule("tls=through").port_first, 0);
    EXPECT_THROW(hfpep::parse_rule("tls=off"), std::invalid_argument);
    for (const auto& r : hfpep::default_rules())
        EXPECT_FALSE(r.tls_apart);
}

TEST(hfpep_engine, rules_and_routes_decide)
{
    hfpep::proxy_config c;
    c.routes = { { ip::prefix("10.0.0.0/8"), "", address("1.0.0.2"), 13 },
                 { ip::prefix("10.5.0.0/16"), "", address("1.0.0.3"), 13 },
                 { ip::prefix(), "example.org", address("1.0.0.2"), 13 } };
    rule no_telnet, one_at_a_time, fast_only, rest;
    no_telnet.port_first = no_telnet.port_last = 23;
    no_telnet.action = rule_action::reject;
    one_at_a_time.port_first = one_at_a_time.port_last = 21;
    one_at_a_time.max_connections = 1;
    fast_only.port_first = fast_only.port_last = 8080;
    fast_only.rate_max = 2400;
    fast_only.action = rule_action::drop;
    rest.to = ip::prefix("10.9.0.0/16");
    rest.action = rule_action::ip_client;
    c.rules = { no_telnet, one_at_a_time, fast_only, rest };
    hfpep::proxy e(c);
    const hfpep::endpoint_address me{ ip::address("192.168.0.1"), 1000 };
    const auto judge = [&](const char* host, uint16_t port) {
        const auto a = ip::address::parse(host);
        hfpep::destination d;
        d.port = port;
        if (a)
            d.host = *a;
        else
            d.host = std::string(host);
        return e.judge(d, me);
    };
    EXPECT_EQ(judge("10.1.1.1", 80), rule_action::proxy);
    EXPECT_EQ(judge("10.1.1.1", 23), rule_action::reject);
    EXPECT_EQ(judge("11.1.1.1", 80), rule_action::reject); // no route
    EXPECT_EQ(judge("fd00::1", 80), rule_action::reject);
    EXPECT_EQ(judge("10.9.1.1", 80), rule_action::ip_client);
    EXPECT_EQ(judge("www.Example.ORG", 80), rule_action::proxy);
    EXPECT_EQ(judge("badexample.org", 80), rule_action::reject);
    e.set_link_rate(1200);
    EXPECT_EQ(judge("10.1.1.1", 8080), rule_action::drop);
    e.set_link_rate(9600);
    EXPECT_EQ(judge("10.1.1.1", 8080), rule_action::proxy);
    const hfpep::destination ftp{ ip::address("10.5.1.1"), 21 };
    EXPECT_EQ(e.on_accept(0s, 1, ftp, me), rule_action::proxy);
    EXPECT_EQ(e.on_accept(0s, 2, ftp, me), rule_action::reject);
    EXPECT_EQ(e.connections().at(0).far.node, address("1.0.0.3")); // longest prefix
    e.on_tcp_error(0s, 1);
    EXPECT_EQ(e.on_accept(0s, 3, ftp, me), rule_action::proxy);
}

TEST(hfpep_engine, two_hundred_connections_at_once)
{
    two_proxies n;
    n.net.k.rate = 240'000;
    n.net.k.jitter_s = 1;
    n.b.on_server = [](auto& s) {
        s.reply_after = 1000;
        s.reply = pattern(3000, 8);
        s.eof_after_eof = true;
    };
    std::vector<hfpep::connection_id> ids;
    for (int k = 0; k < 200; ++k) {
        ids.push_back(n.a.accept(n.net.now(), "10.1.2.3", uint16_t(1000 + k)));
        auto& s = n.a.sockets[ids.back()];
        s.to_send = pattern(1000, k);
        s.eof_after_eof = false;
        s.then_eof = true;
    }
    ASSERT_TRUE(n.net.run_for(600, [&] { return n.a.pep.stats().closed == 200; }));
    for (int k = 0; k < 200; ++k)
        EXPECT_EQ(n.a.sockets[ids[k]].got, pattern(3000, 8)) << k;
    for (const auto id : n.b.connects) {
        const auto& s = n.b.sockets[id];
        EXPECT_EQ(s.got, pattern(1000, uint32_t(s.to.port - 1000)));
    }
    n.net.run_for(10);
    EXPECT_TRUE(n.b.pep.connections().empty());
}

TEST(hfpep_engine, limits_refuse_the_next_connection)
{
    auto ca = to_node("1.0.0.2"), cb = to_node("1.0.0.1");
    ca.max_connections = 5;
    cb.max_connections = 3;
    two_proxies n(ca, cb);
    std::vector<hfpep::connection_id> ids;
    for (int k = 0; k < 5; ++k)
        ids.push_back(n.a.accept(n.net.now(), "10.1.2.3", 80));
    n.a.accept(n.net.now(), "10.1.2.3", 80);
    EXPECT_EQ(n.a.verdict, rule_action::reject);
    n.net.run_for(20);
    int refused = 0;
    for (const auto id : ids)
        refused +=
            n.a.sockets[id].reset && n.a.sockets[id].why == status::too_many_connections;
    EXPECT_EQ(refused, 2);
}

TEST(hfpep_engine, a_program_with_all_connections_gives_way_to_others)
{
    auto ca = to_node("1.0.0.2");
    ca.max_connections = 8;
    hfpep::proxy pep(ca);
    station_time now{};
    hfpep::connection_id next = 1;
    const auto open = [&](const char* source) {
        now += 1s;
        return pep.on_accept(
            now, next++, { ip::address("10.1.2.3"), 80 }, { ip::address(source), 4000 });
    };
    const auto reset = [&] {
        std::vector<hfpep::connection_id> all;
        while (auto a = pep.poll_action())
            if (a->what == hfpep::action::kind::reset)
                all.push_back(a->conn);
        return all;
    };
    using ids = std::vector<hfpep::connection_id>;
    for (int k = 0; k < 8; ++k)
        EXPECT_EQ(open("10.2.0.1"), rule_action::proxy);
    EXPECT_EQ(open("10.2.0.1"), rule_action::reject); // nothing is idle for long yet
    EXPECT_TRUE(reset().empty());
    // This one was used lately. The next one has been idle for longer.
    pep.on_tcp_data(now, 1, pattern(10).data(), 10);
    for (const hfpep::connection_id victim : { 2, 3, 4, 5 }) {
        EXPECT_EQ(open("10.2.0.2"), rule_action::proxy);
        EXPECT_EQ(reset(), ids{ victim });
    }
    EXPECT_EQ(open("10.2.0.2"), rule_action::reject) << "four each";
    EXPECT_EQ(open("10.2.0.1"), rule_action::reject);
    EXPECT_TRUE(reset().empty());
    EXPECT_EQ(pep.stats().displaced, 4u);
    EXPECT_EQ(pep.stats().over_connections, 3u);
    // Idle for a minute they make room for their own source as well.
    now += 60s;
    EXPECT_EQ(open("10.2.0.1"), rule_action::proxy);
    EXPECT_EQ(reset().size(), 1u);
    EXPECT_TRUE(pep.poll_log());
}

TEST(hfpep_engine, compression_by_port_unless_a_rule_says)
{
    using hfpep::compression;
    for (const uint16_t port : { 25, 80, 8080, 5222, 5269, 40000 })
        EXPECT_TRUE(hfpep::compresses(compression::automatic, port)) << port;
    for (const uint16_t port : { 22, 443, 993, 8443 }) {
        EXPECT_FALSE(hfpep::compresses(compression::automatic, port)) << port;
        EXPECT_TRUE(hfpep::compresses(compression::on, port)) << port;
    }
    EXPECT_FALSE(hfpep::compresses(compression::off, 80));

    // The same octets to a web server and to SSH.
    const octets text(20'000, 'x');
    const auto carried = [&](uint16_t port) {
        two_proxies n(to_node("1.0.0.2"), to_node("1.0.0.1"));
        size_t octets_in_sis = 0;
        n.net.on_request = [&](const auto& u) { octets_in_sis += u.u_pdu.size(); };
        const auto c = n.a.accept(n.net.now(), "10.1.2.3", port);
        n.a.sockets[c].to_send = text;
        EXPECT_TRUE(n.net.run_for(600, [&] {
            return !n.b.connects.empty() && n.server().got.size() == text.size();
        }));
        return octets_in_sis;
    };
    EXPECT_LT(carried(80), text.size() / 20);
    EXPECT_GT(carried(22), text.size());
}

TEST(hfpep_config, names_what_is_wrong)
{
    const auto throws = [](auto change) {
        auto c = to_node("1.0.0.2");
        change(c);
        try {
            hfpep::proxy e(c);
        } catch (const std::invalid_argument&) {
            return true;
        }
        return false;
    };
    EXPECT_FALSE(throws([](auto&) {}));
    EXPECT_TRUE(throws([](auto& c) { c.max_connections = 0; }));
    EXPECT_TRUE(throws([](auto& c) { c.extended.clear(); }));
    EXPECT_TRUE(throws([](auto& c) { c.extended = { 0, 0 }; }));
    EXPECT_TRUE(throws([](auto& c) { c.routes[0].node = address::broadcast(); }));
    EXPECT_TRUE(throws([](auto& c) { c.rules[0].priority = 16; }));
    EXPECT_TRUE(throws([](auto& c) { c.slep.sap = 16; }));
}

TEST(hfpep_engine, peers_reach_nothing_that_is_not_allowed)
{
    auto cb = to_node("1.0.0.1");
    cb.allow = { hfpep::reach::parse("10.1.0.0/16:80"),
                 hfpep::reach::parse("hf.org:80") };
    auto ca = to_node("1.0.0.2");
    ca.routes.push_back({ ip::prefix("::/0"), "", address("1.0.0.2"), 13 });
    two_proxies n(ca, cb);
    const auto outcome = [&](const char* host, uint16_t port) {
        const auto c = n.a.accept(n.net.now(), host, port);
        n.a.sockets[c].then_eof = true;
        n.net.run_for(30);
        return n.a.sockets[c].reset ? n.a.sockets[c].why : status::connected;
    };
    EXPECT_EQ(outcome("10.1.2.3", 80), status::connected);
    EXPECT_EQ(outcome("10.1.2.3", 81), status::forbidden);
    EXPECT_EQ(outcome("10.2.2.3", 80), status::forbidden);
    EXPECT_EQ(outcome("::ffff:10.2.2.3", 80), status::forbidden);
    EXPECT_EQ(outcome("::ffff:10.1.2.3", 80), status::connected);
    EXPECT_EQ(outcome("www.hf.org", 80), status::connected);
    EXPECT_EQ(outcome("www.hf.org", 22), status::forbidden);
    EXPECT_EQ(n.b.connects.size(), 3u);
    cb.allow.clear();
    two_proxies closed(to_node("1.0.0.2"), cb);
    const auto c = closed.a.accept(closed.net.now(), "10.1.2.3", 80);
    closed.a.sockets[c].then_eof = true;
    ASSERT_TRUE(closed.net.run_for(60, [&] { return closed.a.sockets[c].reset; }));
    EXPECT_EQ(closed.a.sockets[c].why, status::forbidden);
    EXPECT_TRUE(closed.b.connects.empty());
}

TEST(hfpep_engine, an_entry_for_some_nodes_refuses_others_and_one_for_all_is_reported)
{
    auto cb = to_node("1.0.0.1");
    cb.allow = { hfpep::reach::parse("10.1.2.3:80 from 1.0.0.9"),
                 hfpep::reach::parse("10.1.2.4:80 from 1.0.0.1"),
                 hfpep::reach::parse("shop.example:80=127.0.0.1:8080 from 1.0.0.1") };
    two_proxies n(to_node("1.0.0.2"), cb);
    const auto outcome = [&](const char* host) {
        const auto c = n.a.accept(n.net.now(), host, 80);
        n.a.sockets[c].then_eof = true;
        n.net.run_for(30);
        return n.a.sockets[c].reset ? n.a.sockets[c].why : status::connected;
    };
    EXPECT_EQ(outcome("10.1.2.3"), status::peer_not_allowed);
    EXPECT_EQ(outcome("10.1.2.4"), status::connected);
    EXPECT_EQ(outcome("10.1.2.5"), status::forbidden);
    ASSERT_EQ(n.b.connects.size(), 1u);
    const auto conn = n.b.connects[0];
    using hfpep::nearness;
    EXPECT_TRUE(n.b.pep.may_reach(conn, ip::address("10.1.2.4"), nearness::far));
    EXPECT_FALSE(n.b.pep.may_reach(conn, ip::address("10.1.2.3"), nearness::far));
    EXPECT_FALSE(n.b.pep.may_reach(conn + 1, ip::address("10.1.2.4"), nearness::far));
    EXPECT_FALSE(n.b.pep.server_of(conn));
    const auto logged = [](const char* entry) {
        hfpep::proxy_config c;
        c.allow = { hfpep::reach::parse(entry) };
        hfpep::proxy p(c);
        return p.poll_log().value_or("");
    };
    EXPECT_NE(logged("*:80").find("private networks"), std::string::npos);
    EXPECT_EQ(logged("internet:80"), "");
}

// A rule for an IPv4 prefix is also one for the mapped addresses of a peer that wants around it.
TEST(hfpep_engine, rules_hold_for_mapped_addresses_too)
{
    auto ca = to_node("1.0.0.2"), cb = to_node("1.0.0.1");
    ca.routes.push_back({ ip::prefix("::/0"), "", address("1.0.0.2"), 13 });
    rule closed;
    closed.to = ip::prefix("10.9.0.0/16");
    closed.action = rule_action::reject;
    cb.rules = { closed };
    two_proxies n(ca, cb);
    for (const char* host : { "10.9.1.1", "::ffff:10.9.1.1" }) {
        const auto c = n.a.accept(n.net.now(), host, 80);
        n.a.sockets[c].to_send = pattern(10);
        ASSERT_TRUE(n.net.run_for(60, [&] { return n.a.sockets[c].reset; })) << host;
        EXPECT_EQ(n.a.sockets[c].why, status::forbidden) << host;
    }
    EXPECT_TRUE(n.b.connects.empty());
}

TEST(hfpep_engine, each_peer_has_the_limit_of_a_rule_for_itself)
{
    auto cb = to_node("1.0.0.1");
    cb.rules = { hfpep::parse_rule("port=80 max=2"), rule{} };
    fake_subnet net;
    sim::tcp_host a(to_node("1.0.0.2")), b(cb), other(to_node("1.0.0.2"));
    net.attach(address("1.0.0.1"), a, a.hook());
    net.attach(address("1.0.0.2"), b, b.hook());
    net.attach(address("1.0.0.3"), other, other.hook());
    net.settle();
    const auto open = [&net](sim::tcp_host& host, uint16_t port) {
        const auto c = host.accept(net.now(), "10.1.2.3", port);
        host.sockets[c].to_send = pattern(10);
        net.run_for(30);
        return host.sockets[c].reset ? host.sockets[c].why : status::connected;
    };
    EXPECT_EQ(open(a, 80), status::connected);
    EXPECT_EQ(open(a, 80), status::connected);
    EXPECT_EQ(open(a, 80), status::too_many_connections);
    EXPECT_EQ(open(a, 81), status::connected);
    EXPECT_EQ(open(other, 80), status::connected);
    EXPECT_EQ(b.connects.size(), 4u);
}

TEST(hfpep_engine, connections_over_the_limit_of_a_rule_wait)
{
    auto ca = to_node("1.0.0.2");
    ca.rules = { hfpep::parse_rule("port=21 max=1 over=wait"), rule{} };
    two_proxies n(ca);
    n.b.on_server = [](auto& s) { s.eof_after_eof = true; };
    std::vector<hfpep::connection_id> all;
    for (int k = 0; k < 3; ++k) {
        all.push_back(n.a.accept(n.net.now(), "10.1.2.3", 21));
        EXPECT_EQ(n.a.verdict, rule_action::proxy);
        n.a.sockets[all.back()].to_send = pattern(500, uint32_t(k));
    }
    const auto other = n.a.accept(n.net.now(), "10.1.2.3", 80);
    n.a.sockets[other].to_send = pattern(10);
    n.net.run_for(30);
    EXPECT_EQ(n.b.connects.size(), 2u); // one of port 21, and port 80
    EXPECT_EQ(n.a.sockets[all[1]].sent, 0u);
    n.a.abort(n.net.now(), all[1]); // one that waits gives up
    n.a.sockets[all[0]].then_eof = true;
    ASSERT_TRUE(n.net.run_for(60, [&] { return n.a.sockets[all[0]].closed; }));
    n.net.run_for(30);
    ASSERT_EQ(n.b.connects.size(), 3u);
    EXPECT_EQ(n.server(2).got, pattern(500, 2));
}

TEST(hfpep_engine, connections_wait_or_are_refused_above_a_load)
{
    for (const bool waits : { true, false }) {
        auto ca = to_node("1.0.0.2");
        ca.routes.insert(ca.routes.begin(),
                         { ip::prefix("10.9.0.0/16"), "", address("1.0.0.3"), 13 });
        ca.rules = { hfpep::parse_rule(waits ? "port=21 load_max=5000 over=wait"
                                             : "port=21 load_max=5000"),
                     rule{} };
        two_proxies n(ca);
        const auto open = [&n](const char* to, uint16_t port, size_t octets) {
            const auto c = n.a.accept(n.net.now(), to, port);
            n.a.sockets[c].to_send = pattern(octets, port);
            n.net.run_for(0.1);
            return c;
        };
        const auto state = [&n](hfpep::connection_id c) {
            for (const auto& i : n.a.pep.connections())
                if (i.id == c)
                    return std::string(i.state);
            return std::string("none");
        };
        const auto small = open("10.1.2.3", 21, 100);
        EXPECT_EQ(n.a.verdict, rule_action::proxy) << "nothing is under way";
        const auto bulk = open("10.1.2.3", 80, 200'000);
        const auto late = open("10.1.2.3", 21, 500);
        EXPECT_EQ(n.a.verdict, waits ? rule_action::proxy : rule_action::reject);
        EXPECT_EQ(state(late), waits ? "waiting" : "none");
        open("10.1.2.3", 22, 10);
        EXPECT_EQ(n.a.verdict, rule_action::proxy) << "another rule";
        const auto elsewhere = open("10.9.2.3", 21, 10);
        EXPECT_EQ(n.a.verdict, rule_action::proxy) << "another station";
        EXPECT_NE(state(elsewhere), "waiting");
        EXPECT_EQ(n.a.sockets[small].reset, false);
        const auto server_got = [&n](size_t octets) {
            return std::any_of(
                n.b.connects.begin(), n.b.connects.end(), [&](const auto& c) {
                    return n.b.sockets.at(c).got.size() == octets;
                });
        };
        ASSERT_TRUE(n.net.run_for(3600, [&] { return server_got(200'000); }));
        EXPECT_EQ(n.a.sockets[bulk].reset, false);
        EXPECT_EQ(n.net.run_for(60, [&] { return server_got(500); }), waits);
    }
}

TEST(hfpep_engine, other_rules_count_from_then_on)
{
    auto ca = to_node("1.0.0.2");
    ca.rules = { hfpep::parse_rule("port=21 max=1 over=wait"), rule{} };
    two_proxies n(ca);
    std::vector<hfpep::connection_id> all;
    for (int k = 0; k < 3; ++k) {
        all.push_back(n.a.accept(n.net.now(), "10.1.2.3", 21));
        n.a.sockets[all.back()].to_send = pattern(500, uint32_t(k));
    }
    n.net.run_for(30);
    EXPECT_EQ(n.b.connects.size(), 1u);
    n.a.pep.set_rules({ hfpep::parse_rule("port=21 max=2 over=wait"), rule{} });
    n.net.run_for(30);
    EXPECT_EQ(n.b.connects.size(), 2u);
    n.a.pep.set_rules({ hfpep::parse_rule("port=21 action=reject") });
    n.a.accept(n.net.now(), "10.1.2.3", 21);
    EXPECT_EQ(n.a.verdict, rule_action::reject);
    n.net.run_for(30);
    // What was taken before stays; no limit holds it any more.
    ASSERT_EQ(n.b.connects.size(), 3u);
    EXPECT_EQ(n.server(2).got, pattern(500, 2));
}

} // namespace
} // namespace gr::hf::test

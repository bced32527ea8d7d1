/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pep/rules.h"
#include "sim/stations/tcp_host.h"
#include "slep/slep_user.h"

#include <gtest/gtest.h>

namespace gr::hf::test {
namespace {

using hfpep::rule;
using hfpep::rule_action;
using hfpep::status;
using s5066::address;
using namespace std::chrono_literals;

hfpep::proxy_config to_node(const char* node)
{
    hfpep::proxy_config c;
    c.routes = { { ip::prefix("0.0.0.0/0"), "", address(node), 13 },
                 { ip::prefix(), ".", address(node), 13 } };
    c.allow = { hfpep::reach::parse("*:*") };
    return c;
}

struct two_proxies {
    explicit two_proxies(hfpep::proxy_config ca = to_node("1.0.0.2"),
                         hfpep::proxy_config cb = to_node("1.0.0.1"))
        : a(ca), b(cb)
    {
        net.attach(address("1.0.0.1"), a, a.hook());
        net.attach(address("1.0.0.2"), b, b.hook());
        net.settle();
    }
    sim::tcp_host::socket& server(size_t k = 0) { return b.sockets.at(b.connects.at(k)); }
    fake_subnet net;
    sim::tcp_host a, b;
};

hfpep::proxy_config apart(const char* words)
{
    auto c = to_node("1.0.0.2");
    c.rules = hfpep::rules_from({ words }, true);
    return c;
}

TEST(hfpep_engine, tls_apart_opens_after_the_hello)
{
    two_proxies n(apart("tls=apart"));
    n.b.on_server = [](auto& s) { s.reply = pattern(100, 2); };
    const auto c = n.a.accept(n.net.now(), "10.1.2.3", 443);
    EXPECT_EQ(n.a.pep.tls_of(c), hfpep::proxy::tls_end::early);
    n.net.run_for(20);
    EXPECT_TRUE(n.b.connects.empty()) << "nothing is known of the session yet";
    EXPECT_EQ(n.a.sockets[c].credit, 0u);
    n.a.pep.on_tls_hello(n.net.now(), c, { "shop.example", { "http/1.1" } });
    n.a.sockets[c].to_send = octets(20'000, 'x');
    n.a.work(n.net.now());
    ASSERT_TRUE(n.net.run_for(
        60, [&] { return !n.b.connects.empty() && n.server().got.size() == 20'000; }));
    ASSERT_TRUE(n.server().tls);
    EXPECT_EQ(n.server().tls->server_name, "shop.example");
    using hfpep::compression;
    EXPECT_TRUE(hfpep::compresses(compression::automatic, 443, true));
    EXPECT_FALSE(hfpep::compresses(compression::automatic, 443, false));
    EXPECT_FALSE(hfpep::compresses(compression::off, 443, true));
    EXPECT_EQ(n.a.pep.tls_of(n.b.connects.at(0)), hfpep::proxy::tls_end::none);
}

// With one protocol offered the answer need not name it. If it names one, that one counts.
TEST(hfpep_engine, the_protocol_named_in_the_answer_counts)
{
    for (const char* named : { "", "h2" }) {
        fake_subnet net;
        sim::tcp_host a(apart("tls=apart"));
        slep_user b(to_node("1.0.0.1").slep);
        b.accept_all = false;
        net.attach(address("1.0.0.1"), a, a.hook());
        net.attach(address("1.0.0.2"), b.link, b.hook());
        net.settle();
        const auto c = a.accept(net.now(), "10.1.2.3", 443);
        a.pep.on_tls_hello(net.now(), c, { "shop.example", { "http/1.1" } });
        a.work(net.now());
        ASSERT_TRUE(net.run_for(60, [&] { return !b.offered.empty(); }));
        hfpep::connect_answer answer;
        answer.alpn = named;
        b.link.accept(net.now(), b.offered[0], encode(answer));
        ASSERT_TRUE(net.run_for(60, [&] { return a.sockets[c].connected; }));
        EXPECT_EQ(a.sockets[c].alpn, *named ? named : "http/1.1");
    }
}

TEST(hfpep_engine, a_failure_of_tls_apart_is_logged_with_its_reason)
{
    const std::pair<status, const char*> reasons[] = {
        { status::certificate_expired, "has expired" },
        { status::certificate_not_trusted, "self signed or of an unknown issuer" },
        { status::certificate_wrong_name, "for another name" },
        { status::kind_not_supported, "that station does not have TLS apart" }
    };
    for (const auto& [why, words] : reasons) {
        two_proxies n(apart("tls=apart port=8443 accept=late"));
        n.b.on_connect = [why = why](auto&) { return why; };
        const auto c = n.a.accept(n.net.now(), "10.1.2.3", 8443);
        EXPECT_EQ(n.a.pep.tls_of(c), hfpep::proxy::tls_end::late);
        n.a.pep.on_tls_hello(n.net.now(), c, { "shop.example", { "h2", "http/1.1" } });
        n.a.work(n.net.now());
        ASSERT_TRUE(n.net.run_for(60, [&] { return n.a.sockets[c].reset; }));
        EXPECT_EQ(n.a.sockets[c].why, why);
        const auto line = n.a.pep.poll_log();
        ASSERT_TRUE(line);
        EXPECT_NE(line->find(words), std::string::npos) << *line;
        EXPECT_NE(line->find("10.1.2.3:8443"), std::string::npos) << *line;
    }
}

TEST(hfpep_engine, what_came_before_a_cut_arrives_and_then_a_reset)
{
    two_proxies n;
    const auto c = n.a.accept(n.net.now(), "10.1.2.3", 80);
    n.a.sockets[c].to_send = pattern(10);
    ASSERT_TRUE(n.net.run_for(60, [&] { return !n.b.connects.empty(); }));
    n.server().to_send = pattern(5000, 2);
    ASSERT_TRUE(n.net.run_for(60, [&] { return n.b.pep.stats().octets_out == 5000; }));
    ASSERT_LT(n.a.sockets[c].got.size(), 5000u) << "the rest is on its way";
    n.b.pep.on_tcp_cut(n.net.now(), n.b.connects.at(0));
    ASSERT_TRUE(n.net.run_for(60, [&] { return n.a.sockets[c].reset; }));
    EXPECT_EQ(n.a.sockets[c].got, pattern(5000, 2));
    EXPECT_FALSE(n.a.sockets[c].got_eof);
    EXPECT_TRUE(n.b.pep.connections().empty());
}

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

TEST(hfpep_engine, request_answer_and_close)
{
    two_proxies n;
    n.b.on_server = [](auto& s) {
        s.reply_after = 18;
        s.reply = pattern(2000, 2);
        s.eof_after_eof = true;
    };
    const auto c = n.a.accept(n.net.now(), "10.1.2.3", 80);
    auto& client = n.a.sockets[c];
    client.to_send = pattern(18);
    ASSERT_TRUE(n.net.run_for(60, [&] { return client.got.size() == 2000; }));
    EXPECT_EQ(n.server().to.to_string(), "10.1.2.3:80");
    EXPECT_EQ(n.server().got, pattern(18));
    EXPECT_EQ(client.got, pattern(2000, 2));
    EXPECT_TRUE(client.connected);
    client.then_eof = true;
    ASSERT_TRUE(n.net.run_for(60, [&] { return client.closed; }));
    n.net.run_for(10);
    EXPECT_TRUE(client.got_eof);
    EXPECT_TRUE(n.server().got_eof);
    EXPECT_TRUE(n.server().closed);
    EXPECT_EQ(n.a.pep.stats().closed, 1u);
    EXPECT_EQ(n.b.pep.stats().closed, 1u);
    EXPECT_TRUE(n.a.pep.connections().empty());
    EXPECT_TRUE(n.b.pep.connections().empty());
}

TEST(hfpep_engine, hold_time_collects_the_first_data)
{
    auto ca = to_node("1.0.0.2");
    hfpep::rule plain; // so that octets can be counted
    plain.compress = hfpep::compression::off;
    ca.rules = { plain };
    two_proxies n(ca);
    std::vector<station_time> sent;
    std::vector<size_t> sizes;
    n.net.on_request = [&](const auto& u) {
        sent.push_back(n.net.now());
        sizes.push_back(u.u_pdu.size());
    };
    // Data at once: leaves after the short silence that follows it.
    auto c = n.a.accept(n.net.now(), "10.1.2.3", 80);
    n.a.sockets[c].to_send = pattern(150);
    n.net.run_for(5);
    ASSERT_EQ(sent.size(), 3u); // notice, SO, and the SR of the other side
    EXPECT_NEAR(to_seconds(sent[1]), 0.005, 0.001);
    EXPECT_EQ(sizes[1], 150u + 11);
    // None: the request goes alone after 50 ms.
    n.net.run_for(30);
    sent.clear();
    sizes.clear();
    const station_time t0 = n.net.now();
    c = n.a.accept(t0, "10.1.2.3", 80);
    n.net.run_for(0.2);
    ASSERT_EQ(sent.size(), 1u);
    EXPECT_EQ(sizes[0], 11u);
    EXPECT_NEAR(to_seconds(sent[0] - t0), 0.05, 0.001);
    // Data that trickles: 100 ms at most.
    n.net.run_for(30);
    sent.clear();
    const station_time t1 = n.net.now();
    c = n.a.accept(t1, "10.1.2.3", 80);
    for (int k = 0; k < 40; ++k) {
        const auto more = pattern(10);
        auto& s = n.a.sockets[c];
        s.to_send.insert(s.to_send.end(), more.begin(), more.end());
        n.net.run_for(0.004);
    }
    ASSERT_GE(sent.size(), 1u);
    EXPECT_NEAR(to_seconds(sent[0] - t1), 0.1, 0.005);
}

TEST(hfpep_engine, a_file_each_way_within_bounded_memory)
{
    two_proxies n;
    n.b.on_server = [](auto& s) {
        s.to_send = pattern(1'000'000, 2);
        s.then_eof = true;
    };
    n.net.k.rate = 64'000;
    const auto c = n.a.accept(n.net.now(), "10.1.2.3", 9000);
    auto& client = n.a.sockets[c];
    client.to_send = pattern(1'000'000, 1);
    client.then_eof = true;
    size_t ahead = 0;
    ASSERT_TRUE(n.net.run_for(3600, [&] {
        if (!n.b.connects.empty())
            ahead = std::max(ahead, client.sent - n.server().got.size());
        return client.closed;
    }));
    EXPECT_EQ(client.got, pattern(1'000'000, 2));
    EXPECT_EQ(n.server().got, pattern(1'000'000, 1));
    // The application is not further ahead than the send buffer and one queue.
    EXPECT_LT(ahead, 262'144u + 168'000u + 65'536u);
    EXPECT_LT(to_seconds(n.net.now()), 1e6 * 8 / 64'000 * 1.03 + 6);
    EXPECT_EQ(n.a.pep.stats().credit_violations, 0u);
}

TEST(hfpep_engine, a_slow_application_stops_the_far_one)
{
    auto ca = to_node("1.0.0.2"), cb = to_node("1.0.0.1");
    for (auto* c : { &ca, &cb }) {
        c->slep.queue_octets = 50'000;
        c->slep.buffer_high = 100'000;
        c->slep.buffer_low = 20'000;
        c->slep.send_buffer = 65'536;
    }
    two_proxies n(ca, cb);
    n.net.k.rate = 64'000;
    n.b.on_server = [](auto& s) { s.reads = false; };
    const auto c = n.a.accept(n.net.now(), "10.1.2.3", 9000);
    n.a.sockets[c].to_send = pattern(2'000'000);
    n.a.sockets[c].then_eof = true;
    n.net.run_for(600);
    EXPECT_LE(n.server().max_unwritten, 100'000u + 2048);
    EXPECT_LT(n.a.sockets[c].sent, 450'000u);
    const auto info = n.b.pep.connections().at(0);
    EXPECT_EQ(info.unread, n.server().unwritten);
    n.server().reads = true;
    ASSERT_TRUE(n.net.run_for(3600, [&] { return n.server().got_eof; }));
    EXPECT_EQ(n.server().got, pattern(2'000'000));
}

TEST(hfpep_engine, half_close_from_either_side)
{
    for (const bool client_first : { true, false }) {
        two_proxies n;
        const auto c = n.a.accept(n.net.now(), "10.1.2.3", 9000);
        auto& client = n.a.sockets[c];
        client.to_send = pattern(100);
        n.net.run_for(10);
        auto& first = client_first ? client : n.server();
        auto& second = client_first ? n.server() : client;
        first.then_eof = true;
        n.net.run_for(10);
        EXPECT_TRUE(second.got_eof);
        EXPECT_FALSE(second.closed || first.closed);
        const auto more = pattern(50'000, 4);
        const size_t before = first.got.size();
        second.to_send.insert(second.to_send.end(), more.begin(), more.end());
        second.then_eof = true;
        ASSERT_TRUE(n.net.run_for(200, [&] { return first.closed && second.closed; }));
        EXPECT_EQ(first.got.size() - before, 50'000u);
    }
}

TEST(hfpep_engine, resets_reach_the_other_end)
{
    for (const bool client_resets : { true, false }) {
        two_proxies n;
        const auto c = n.a.accept(n.net.now(), "10.1.2.3", 9000);
        n.a.sockets[c].to_send = pattern(100);
        n.net.run_for(10);
        auto& edge = client_resets ? n.a : n.b;
        const auto id = client_resets ? c : n.b.connects.at(0);
        auto& other = client_resets ? n.server() : n.a.sockets[c];
        edge.pep.on_tcp_error(n.net.now(), id);
        n.net.run_for(10);
        EXPECT_TRUE(other.reset);
        EXPECT_EQ(other.why, status::reset_by_endpoint);
        EXPECT_TRUE(n.a.pep.connections().empty() && n.b.pep.connections().empty());
        // Calls for connections that have ended do nothing.
        edge.pep.on_tcp_data(n.net.now(), id, pattern(5).data(), 5);
        edge.pep.on_tcp_written(n.net.now(), id, 5);
        edge.pep.on_tcp_eof(n.net.now(), id);
    }
}

TEST(hfpep_engine, a_forged_segment_ends_the_connection_as_a_reset)
{
    // A third station sends one PDU of the file in the name of the first, before it.
    auto ca = to_node("1.0.0.2"), cb = to_node("1.0.0.1");
    ca.slep.instance = 1;
    cb.slep.instance = 2;
    two_proxies n(ca, cb);
    const octets file = pattern(100'000);
    int pdus = 0;
    n.net.on_request = [&](const s5066::s_unidata_request& u) {
        auto p = slep::decode(u.u_pdu);
        auto* d = p ? std::get_if<slep::stream_data>(&p->body) : nullptr;
        if (d == nullptr || u.dst != address("1.0.0.2") || ++pdus != 20)
            return;
        d->data[d->data.size() / 2] ^= 0x20;
        s5066::s_unidata_indication i;
        i.src = address("1.0.0.1");
        i.dst = u.dst;
        i.src_sap = i.dst_sap = u.dst_sap;
        i.u_pdu = slep::encode(*p);
        n.net.tell(1, i);
    };
    const auto c = n.a.accept(n.net.now(), "10.1.2.3", 9000);
    auto& client = n.a.sockets[c];
    client.to_send = { file[0] };
    n.net.run_for(20); // until the restart notice is over
    client.to_send = file;
    client.then_eof = true;
    ASSERT_TRUE(n.net.run_for(300, [&] { return n.server().reset; }));
    EXPECT_FALSE(n.server().got_eof);
    EXPECT_NE(n.server().got,
              octets(file.begin(), file.begin() + long(n.server().got.size())))
        << "the octet was forged";
    ASSERT_TRUE(n.net.run_for(60, [&] { return client.reset; }));
    EXPECT_FALSE(client.got_eof);
}

TEST(hfpep_engine, failed_connects_reset_the_client_with_their_status)
{
    for (const auto why :
         { status::refused, status::name_not_found, status::timed_out }) {
        two_proxies n;
        n.b.on_connect = [&](const auto&) { return std::optional(why); };
        const auto c = n.a.accept(n.net.now(), "host.example", 25);
        n.a.sockets[c].to_send = pattern(3000);
        n.net.run_for(20);
        EXPECT_TRUE(n.a.sockets[c].reset);
        EXPECT_EQ(n.a.sockets[c].why, why);
        EXPECT_EQ(std::get<std::string>(n.server().to.host), "host.example");
        EXPECT_TRUE(n.a.pep.connections().empty() && n.b.pep.connections().empty());
    }
}

TEST(hfpep_engine, late_accept_reads_nothing_before_the_answer)
{
    auto ca = to_node("1.0.0.2");
    rule late;
    late.late_accept = true;
    ca.rules = { late };
    two_proxies n(ca);
    const auto c = n.a.accept(n.net.now(), "10.1.2.3", 80);
    n.a.sockets[c].to_send = pattern(100);
    n.net.run_for(1.5);
    EXPECT_EQ(n.a.sockets[c].sent, 0u);
    ASSERT_TRUE(n.net.run_for(10, [&] { return n.a.sockets[c].connected; }));
    n.net.run_for(5);
    EXPECT_EQ(n.server().got, pattern(100));
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

TEST(hfpep_engine, an_application_that_does_not_read_stops_the_far_one_at_64_KiB)
{
    auto ca = to_node("1.0.0.2"), cb = to_node("1.0.0.1");
    ca.slep.queue_octets = cb.slep.queue_octets = 20'000;
    two_proxies n(ca, cb);
    n.b.on_server = [](auto& s) { s.reads = false; };
    const auto c = n.a.accept(n.net.now(), "10.1.2.3", 443);
    n.a.sockets[c].to_send = pattern(2'000'000);
    n.net.run_for(3600);
    EXPECT_LE(n.server().max_unwritten, 65'536u + 2048);
    // The octets in SIS when the stop arrived have crossed as well, and no more.
    const auto crossed = n.b.pep.link().list().at(0).unread;
    EXPECT_GE(crossed, 65'536u);
    EXPECT_LE(crossed, 65'536u + 2 * 20'000u + 8192);
}

TEST(hfpep_engine, an_edge_that_reads_beyond_its_credit_is_cut_off)
{
    two_proxies n;
    const auto c = n.a.accept(n.net.now(), "10.1.2.3", 80);
    n.net.run_for(5);
    const auto big = pattern(3'000'000);
    n.a.pep.on_tcp_data(n.net.now(), c, big.data(), big.size());
    n.net.run_for(1);
    EXPECT_TRUE(n.a.sockets[c].reset);
    EXPECT_EQ(n.a.pep.stats().credit_violations, 1u);
}

TEST(hfpep_engine, connections_live_through_an_outage_and_end_after_outage_max)
{
    two_proxies n;
    const auto web = n.a.accept(n.net.now(), "10.1.2.3", 80);
    const auto ssh = n.a.accept(n.net.now(), "10.1.2.3", 22);
    n.a.sockets[web].to_send = n.a.sockets[ssh].to_send = pattern(100);
    n.net.run_for(10);
    n.net.k.up = false;
    for (const auto id : { web, ssh }) {
        auto& s = n.a.sockets[id];
        s.to_send = pattern(20'000);
    }
    n.net.run_for(250);
    EXPECT_FALSE(n.a.sockets[web].reset || n.a.sockets[ssh].reset);
    n.net.run_for(100);
    EXPECT_TRUE(n.a.sockets[web].reset); // 300 s for web
    EXPECT_EQ(n.a.sockets[web].why, status::link_lost);
    EXPECT_FALSE(n.a.sockets[ssh].reset);
    n.net.k.up = true;
    n.net.run_for(120);
    size_t whole = 0;
    for (const auto id : n.b.connects)
        whole += n.b.sockets[id].to.port == 22 && n.b.sockets[id].got.size() == 20'000 &&
                 std::equal(n.b.sockets[id].got.begin() + 100,
                            n.b.sockets[id].got.end(),
                            pattern(20'000).begin() + 100);
    EXPECT_EQ(whole, 1u);
}

TEST(hfpep_engine, a_download_ends_when_the_far_station_is_gone)
{
    two_proxies n;
    n.b.on_server = [](auto& s) {
        s.reply_after = 18;
        s.reply = pattern(2'000'000, 2);
    };
    const auto c = n.a.accept(n.net.now(), "10.1.2.3", 80);
    n.a.sockets[c].to_send = pattern(18);
    n.net.run_for(100);
    EXPECT_GT(n.a.sockets[c].got.size(), 50'000u);
    EXPECT_FALSE(n.a.sockets[c].reset);
    n.net.k.up = false;
    // Asked after 150 s of silence, given up when nothing was heard for 300 s.
    ASSERT_TRUE(n.net.run_for(330, [&] { return n.a.sockets[c].reset; }));
    EXPECT_EQ(n.a.sockets[c].why, status::link_lost);
    EXPECT_TRUE(n.a.pep.connections().empty());
}

TEST(hfpep_engine, restart_of_the_peer_resets_its_connections)
{
    auto ca = to_node("1.0.0.2"), cb = to_node("1.0.0.1");
    ca.slep.instance = 1;
    cb.slep.instance = 7;
    fake_subnet net;
    sim::tcp_host a(ca), b(cb), b2([&] {
        auto c = cb;
        c.slep.instance = 8;
        return c;
    }());
    sim::tcp_host* current = &b;
    struct either {
        sim::tcp_host** e;
        void sis_in(station_time t, const uint8_t* p, size_t n) { (*e)->sis_in(t, p, n); }
        std::optional<octets> poll_sis() { return (*e)->poll_sis(); }
        std::optional<station_time> next_deadline() { return (*e)->next_deadline(); }
        void on_deadline(station_time t) { (*e)->on_deadline(t); }
    } any{ &current };
    net.attach(address("1.0.0.1"), a, a.hook());
    net.attach(address("1.0.0.2"), any, [&](station_time t) { current->work(t); });
    const auto c = a.accept(net.now(), "10.1.2.3", 22);
    a.sockets[c].to_send = pattern(100);
    net.run_for(10);
    EXPECT_TRUE(a.sockets[c].connected);
    current = &b2;
    a.sockets[c].to_send = pattern(300);
    net.run_for(20);
    EXPECT_TRUE(a.sockets[c].reset);
    EXPECT_EQ(a.sockets[c].why, status::peer_restarted);
    // New ones work.
    const auto d = a.accept(net.now(), "10.1.2.3", 22);
    a.sockets[d].to_send = pattern(100);
    net.run_for(20);
    EXPECT_TRUE(a.sockets[d].connected);
    EXPECT_EQ(b2.sockets[b2.connects.at(0)].got, pattern(100));
}

TEST(hfpep_engine, compressed_connections)
{
    auto ca = to_node("1.0.0.2"), cb = to_node("1.0.0.1");
    rule z;
    z.compress = hfpep::compression::on;
    ca.rules = cb.rules = { z };
    ca.slep.send_buffer = cb.slep.send_buffer = 32'768;
    two_proxies n(ca, cb);
    n.b.on_server = [](auto& s) {
        s.to_send = octets(500'000, 'x');
        s.then_eof = true;
    };
    const auto c = n.a.accept(n.net.now(), "10.1.2.3", 80);
    n.a.sockets[c].to_send = pattern(300'000); // does not shrink
    n.a.sockets[c].then_eof = true;
    ASSERT_TRUE(n.net.run_for(3600, [&] { return n.a.sockets[c].closed; }));
    EXPECT_EQ(n.server().got, pattern(300'000));
    EXPECT_EQ(n.a.sockets[c].got, octets(500'000, 'x'));
    EXPECT_EQ(n.a.pep.stats().credit_violations, 0u);
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

TEST(hfpep_engine, idle_limit)
{
    auto ca = to_node("1.0.0.2");
    rule r;
    r.idle_max = 100s;
    ca.rules = { r };
    two_proxies n(ca);
    const auto c = n.a.accept(n.net.now(), "10.1.2.3", 80);
    n.net.run_for(90);
    EXPECT_FALSE(n.a.sockets[c].reset);
    n.net.run_for(30);
    EXPECT_TRUE(n.a.sockets[c].reset);
    EXPECT_TRUE(n.server().reset);
}

TEST(hfpep_engine, random_calls_and_primitives_do_no_harm)
{
    std::mt19937 rng(11);
    two_proxies n;
    for (int k = 0; k < 20'000; ++k) {
        auto& e = (rng() % 2 ? n.a : n.b).pep;
        const station_time now = n.net.now();
        const auto ids = e.connections();
        const hfpep::connection_id id =
            ids.empty() || rng() % 8 == 0 ? rng() % 50 : ids[rng() % ids.size()].id;
        const auto data = pattern(rng() % 2000, k);
        switch (rng() % 10) {
        case 0:
            e.on_accept(now,
                        rng() % 1000 + 1000,
                        { ip::address("10.0.0.1"), uint16_t(rng()) },
                        { ip::address("10.0.0.2"), 1 });
            break;
        case 1:
            e.on_tcp_data(now, id, data.data(), data.size());
            break;
        case 2:
            e.on_tcp_eof(now, id);
            break;
        case 3:
            if (rng() % 4 == 0)
                e.on_tcp_error(now, id);
            break;
        case 4:
            e.on_connect_ok(now, id);
            break;
        case 5:
            e.on_connect_failed(now, id, status(rng() % 20));
            break;
        case 6:
            e.on_tcp_written(now, id, rng() % 100'000);
            break;
        case 7:
            e.sis_in(now, data.data(), data.size());
            break;
        case 8: {
            s5066::s_unidata_indication u;
            u.dst_sap = u.src_sap = 13;
            u.src = address(rng() % 2 ? "1.0.0.1" : "1.0.0.2");
            u.u_pdu = data;
            u.u_pdu.resize(std::min<size_t>(u.u_pdu.size(), rng() % 30));
            if (!u.u_pdu.empty())
                u.u_pdu[0] = uint8_t((rng() % 9) << 4 | rng() % 16);
            if (u.u_pdu.size() > 1)
                u.u_pdu[1] = uint8_t(rng() % 4 | (rng() % 2) << 7);
            const auto v = s5066::encode(u);
            e.sis_in(now, v.data(), v.size());
            break;
        }
        default:
            n.net.run_for((rng() % 100) / 100.0);
        }
        if (k % 16 == 0)
            n.net.run_for(0.01);
        ASSERT_LE(e.connections().size(), e.config().max_connections);
    }
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

// The far application never answers: the far proxy gives up, and the peer hears why.
TEST(hfpep_engine, a_first_call_is_given_up_when_all_of_it_has_failed)
{
    for (const bool all_fail : { false, true }) {
        sim::tcp_host a(to_node("1.0.0.2"));
        const station_time now{};
        std::vector<s5066::s_unidata_request>
            held; // by the node, which calls the station
        const auto in = [&](const s5066::s_primitive& p) {
            const octets v = s5066::encode(p);
            a.sis_in(now, v.data(), v.size());
            a.work(now);
        };
        const auto drain = [&] {
            a.work(now);
            while (auto v = a.poll_sis()) {
                const auto p = s5066::decode_primitive(*v);
                if (const auto* u = std::get_if<s5066::s_unidata_request>(&*p))
                    held.push_back(*u);
                a.work(now);
            }
        };
        const auto reject = [&](const s5066::s_unidata_request& u) {
            in(s5066::s_unidata_request_rejected{ false, 3, u.dst_sap, u.dst, u.u_pdu });
        };
        drain();
        in(s5066::s_bind_accepted{ 13, 2048 });
        const auto c = a.accept(now, "10.1.2.3", 80);
        a.sockets[c].to_send = pattern(5000);
        drain();
        a.on_deadline(*a.next_deadline());
        drain();
        ASSERT_GE(held.size(), 3u); // restart notice, open, data
        reject(held[0]);
        EXPECT_FALSE(a.sockets[c].reset) << "the rest may still arrive";
        for (size_t k = 1; k < held.size(); ++k)
            if (all_fail)
                reject(held[k]);
            else
                in(s5066::s_unidata_request_confirm{
                    false, held[k].dst_sap, held[k].dst, held[k].u_pdu });
        EXPECT_EQ(a.sockets[c].reset, all_fail);
        EXPECT_EQ(a.sockets[c].why,
                  all_fail ? status::host_unreachable : status::connected);
    }
}

TEST(hfpep_engine, a_connect_that_times_out_is_refused_to_the_peer)
{
    two_proxies n;
    n.b.on_connect = [](const auto&) { return std::optional<status>(); };
    const auto c = n.a.accept(n.net.now(), "10.1.2.3", 80);
    n.a.sockets[c].to_send = pattern(10);
    ASSERT_TRUE(n.net.run_for(600, [&] { return n.a.sockets[c].reset; }));
    EXPECT_EQ(n.a.sockets[c].why, status::timed_out);
    EXPECT_TRUE(n.a.pep.connections().empty() && n.b.pep.connections().empty());
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

TEST(hfpep_engine, a_client_that_waits_for_the_answer_hears_it)
{
    two_proxies n;
    const hfpep::destination to{ ip::address("10.1.2.3"), 80 };
    const hfpep::endpoint_address source{ ip::address("127.0.0.1"), 5555 };
    auto& s = n.a.sockets[77];
    EXPECT_EQ(n.a.pep.on_accept(n.net.now(), 77, to, source, true), rule_action::proxy);
    n.net.run_for(1);
    ASSERT_TRUE(n.net.run_for(60, [&] { return s.connected; }));
    EXPECT_GT(s.credit, 0u);
}

} // namespace
} // namespace gr::hf::test

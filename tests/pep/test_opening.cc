/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Connections open, or are refused.
#include "pep/two_proxies.h"

#include <gtest/gtest.h>

namespace gr::hf::test {
namespace {

using hfpep::rule;
using hfpep::rule_action;
using hfpep::status;

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
        { status::certificate_refused, "is not valid" },
        { status::kind_not_supported, "that station does not have TLS apart" },
        { status::general_failure, "general failure" },
        { status::forbidden, "forbidden by rule" },
        { status::network_unreachable, "network unreachable" },
        { status::host_unreachable, "host unreachable" },
        { status::refused, "connection refused" },
        { status::timed_out, "connect timed out" },
        { status::address_type_not_supported, "address type not supported" },
        { status::name_not_found, "name not found" },
        { status::too_many_connections, "too many connections" },
        { status::tls_failed, "TLS failed" },
        { status::malformed_request, "malformed request" },
        { status::going_down, "proxy going down" },
        { status::peer_not_allowed, "peer not allowed" },
        { status::reset_by_endpoint, "reset by endpoint" }
    };
    for (const auto& [why, words] : reasons) {
        two_proxies n(apart("tls=apart port=8443 accept=late"));
        EXPECT_TRUE(n.a.pep.poll_log()); // of its entry *:*
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

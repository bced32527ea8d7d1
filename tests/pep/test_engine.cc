/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Data and ends of open connections.
#include "pep/two_proxies.h"

#include <gtest/gtest.h>

namespace gr::hf::test {
namespace {

using hfpep::rule;
using hfpep::status;
using namespace std::chrono_literals;

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

} // namespace
} // namespace gr::hf::test

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// HF-PEP over SLEP, data link and emulated modems: times against the limits that waveform,
// framing and turns set.
#include "sim/transfers/exchanges.h"
#include "slep/slep_user.h"

#include <gtest/gtest.h>

namespace gr::hf::test {
namespace {

using hfpep::status;
using s5066::address;

struct exchange_case {
    const char* mode;
    size_t octets;
    // Limits in seconds: air time only, switching, decoding and software cost nothing.
    double connect_limit, total_limit, close_limit;
    // Least limit / measured.
    double connect_gate, total_gate, close_gate;
};

void PrintTo(const exchange_case& c, std::ostream* os)
{
    *os << c.mode << " " << c.octets;
}

class stack_exchange : public testing::TestWithParam<exchange_case>
{
};

TEST_P(stack_exchange, times_against_the_limit)
{
    const auto& c = GetParam();
    sim::tcp_transfer t;
    t.mode = c.mode;
    t.content = pattern(c.octets);
    const auto m = sim::measure(t);
    ASSERT_TRUE(m.complete);
    const double rate = mode::parse(c.mode).rate_bps;
    std::printf("%s %7zu B: connect %.2f s (limit %.2f), total %.2f s (limit %.2f, %.1f "
                "%%), utilisation %.1f %%, close %.2f s (limit %.2f)\n",
                c.mode,
                c.octets,
                m.connect_s,
                c.connect_limit,
                m.total_s,
                c.total_limit,
                100 * c.total_limit / m.total_s,
                100 * 8.0 * double(c.octets) / rate / m.total_s,
                m.close_s,
                c.close_limit);
    EXPECT_GE(c.connect_limit / m.connect_s, c.connect_gate);
    EXPECT_GE(c.total_limit / m.total_s, c.total_gate);
    EXPECT_GE(c.close_limit / m.close_s, c.close_gate);
}

INSTANTIATE_TEST_SUITE_P(
    modes,
    stack_exchange,
    testing::Values(
        exchange_case{ "5069-48k-240000S",
                       10'000'000,
                       0.72,
                       344.40,
                       1.44,
                       0.9,
                       0.985, // pauses in which hidden stations can call cost 0.4 %
                       0.9 },
        exchange_case{ "4539-9600S", 1'000, 1.20, 1.20, 2.40, 0.8, 0.80, 0.8 },
        exchange_case{ "4539-9600S", 10'000, 1.20, 8.76, 2.40, 0.8, 0.95, 0.8 },
        exchange_case{ "4539-9600S", 100'000, 1.20, 86.52, 2.40, 0.8, 0.95, 0.8 },
        exchange_case{ "4539-9600S", 1'000'000, 1.20, 863.39, 2.40, 0.8, 0.99, 0.8 },
        exchange_case{ "4539-1200S", 1'000, 1.80, 8.40, 2.40, 0.8, 0.95, 0.8 },
        exchange_case{ "4539-1200S", 10'000, 1.80, 69.60, 2.40, 0.8, 0.95, 0.8 },
        exchange_case{ "4539-1200S", 100'000, 1.80, 694.80, 2.40, 0.8, 0.95, 0.8 },
        exchange_case{ "4539-300S", 1'000, 3.60, 30.00, 5.40, 0.8, 0.95, 0.8 },
        exchange_case{ "4539-300S", 10'000, 3.60, 282.00, 5.40, 0.8, 0.95, 0.8 }));

TEST(stack, what_is_known_of_the_losses_helps_later_transfers)
{
    // The third of three, at BER 1e-6: the longest segments lose least, and one transmission holds
    // all of it.
    double sum = 0;
    constexpr unsigned runs = 10;
    for (unsigned seed = 1; seed <= runs; ++seed) {
        sim::tcp_transfer t;
        t.mode = "4539-9600S";
        t.content = pattern(100'000);
        t.on_path.ber = 1e-6;
        t.seed = seed;
        t.earlier = 2;
        const auto m = sim::measure(t);
        ASSERT_TRUE(m.complete);
        sum += m.total_s;
    }
    EXPECT_GE(8 * 100'000 * runs / 9600.0 / sum, 0.93);
}

TEST(stack, many_connections_both_ways_over_a_bad_channel)
{
    sim::air_path p;
    p.ber = 1e-5;
    p.loss = 0.1;
    sim::proxy_pair n("4539-9600S", p, 3);
    std::vector<std::pair<sim::tcp_host*, hfpep::connection_id>> all;
    for (auto* x : { &n.pa, &n.pb })
        x->edge().on_server = [](auto& s) {
            s.reply_after = 1500;
            s.reply = pattern(3000, 8);
            s.eof_after_eof = true;
        };
    for (int k = 0; k < 20; ++k) {
        auto& e = (k % 2 ? n.pa : n.pb).edge();
        const auto id = e.accept(n.s.now(), "10.0.0.1", uint16_t(1000 + k));
        e.sockets[id].to_send = pattern(1500, k);
        e.sockets[id].then_eof = true;
        all.push_back({ &e, id });
    }
    n.pa.drain();
    n.pb.drain();
    ASSERT_TRUE(n.run_for(3600, [&] {
        return n.pa.edge().pep.stats().closed + n.pb.edge().pep.stats().closed == 40;
    }));
    for (const auto& x : all)
        EXPECT_EQ(x.first->sockets[x.second].got, pattern(3000, 8));
    std::printf("20 connections of 1500 + 3000 octets: %.1f s\n", to_seconds(n.s.now()));
}

TEST(stack, connections_survive_a_dead_channel_and_a_node_restart)
{
    sim::proxy_pair n("4539-9600S");
    const auto id = n.pa.edge().accept(n.s.now(), "10.0.0.1", 22);
    auto& client = n.pa.edge().sockets[id];
    client.to_send = pattern(200'000);
    client.then_eof = true;
    n.pb.edge().on_server = [](auto& s) { s.eof_after_eof = true; };
    n.pa.drain();
    n.run_for(30, [] { return false; });
    sim::air_path dead;
    dead.loss = 1;
    n.air.set_default_path(dead);
    n.run_for(500, [] { return false; });
    EXPECT_FALSE(client.reset);
    n.air.set_default_path({});
    n.run_for(100, [] { return false; });
    // The node of one side restarts, its proxy does not.
    n.a.restart(77);
    n.pa.reattach();
    ASSERT_TRUE(n.run_for(3600, [&] { return client.closed; }));
    EXPECT_EQ(n.pb.edge().sockets[n.pb.edge().connects.at(0)].got, pattern(200'000));
    EXPECT_GT(n.pa.edge().pep.link().stats().pdus_resent, 0u);
}

TEST(stack, a_station_that_does_not_exist_is_reported_within_a_minute)
{
    for (const char* mode : { "4539-75S", "4539-300S", "4539-600S", "4539-9600S" }) {
        sim::proxy_pair::changes change;
        change.pep = [](hfpep::proxy_config& c) {
            c.routes.push_back({ ip::prefix("10.9.0.0/16"), "", address("1.9.0.0"), 13 });
        };
        sim::proxy_pair n(mode, {}, 1, change);
        sim::tcp_host& a = n.pa.edge();
        const auto warning = a.pep.poll_log();
        ASSERT_TRUE(warning);
        EXPECT_NE(warning->find("an entry for every address"), std::string::npos);
        constexpr double limit_s = 60;
        const auto attempt = [&] {
            const station_time begin = n.s.now();
            const auto id = a.accept(begin, "10.9.0.1", 80);
            n.pa.drain();
            auto& client = a.sockets[id];
            EXPECT_TRUE(n.run_for(300, [&] { return client.reset; })) << mode;
            EXPECT_EQ(client.why, status::host_unreachable);
            return to_seconds(n.s.now() - begin);
        };
        const double first_s = attempt();
        EXPECT_LT(attempt(), 1) << "it was called a moment ago";
        n.run_for(20, [] { return false; });
        const auto before = n.a.node().stats().transmissions;
        const double again_s = attempt();
        EXPECT_GT(n.a.node().stats().transmissions, before) << "it is called again";
        std::printf(
            "%s: no answer after %.1f s, again after %.1f s\n", mode, first_s, again_s);
        EXPECT_LE(std::max(first_s, again_s), limit_s);
        const auto line = a.pep.poll_log();
        ASSERT_TRUE(line);
        EXPECT_NE(line->find("no answer from 1.9.0.0"), std::string::npos) << *line;
        EXPECT_NE(line->find("10.9.0.1:80"), std::string::npos) << *line;
        // It is not called for ever.
        n.run_for(1200, [] { return false; });
        const auto sent = n.a.node().stats().transmissions;
        n.run_for(3600, [] { return false; });
        EXPECT_EQ(n.a.node().stats().transmissions, sent) << mode;
        // One that does exist is reached, and waited for when its channel is bad for a time.
        const auto id = a.accept(n.s.now(), "10.0.0.1", 22);
        auto& client = a.sockets[id];
        n.pa.drain();
        ASSERT_TRUE(n.run_for(120, [&] { return client.connected; })) << mode;
        sim::air_path dead;
        dead.loss = 1;
        n.air.set_default_path(dead);
        const auto later = a.accept(n.s.now(), "10.0.0.1", 22);
        n.pa.drain();
        n.run_for(400, [] { return false; });
        n.air.set_default_path({});
        ASSERT_TRUE(n.run_for(300, [&] { return a.sockets[later].connected; })) << mode;
    }
}

} // namespace
} // namespace gr::hf::test

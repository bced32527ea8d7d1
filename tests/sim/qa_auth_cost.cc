/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// What proofs of the sender cost: time on the air of a page and of a short text.
#include "sim/stations/pep_station.h"
#include "two_stations.h"

#include <gtest/gtest.h>

using namespace gr::hf;
using namespace gr::hf::sim;
using namespace std::chrono_literals;

namespace {

s5066::auth_config keys()
{
    s5066::auth_config c;
    c.keys[0].fill(1);
    c.start_minutes = 30000000;
    return c;
}

//! D_PDU octets that both stations send for a page of 10 kB through the proxies.
double octets_of_page(const s5066::auth_config& auth, uint64_t seed)
{
    proxy_pair net("4539-9600S",
                   {},
                   seed,
                   { [&](s5066::node_config& c) { c.auth = auth; },
                     [](hfpep::proxy_config& c) { c.slep.segment_octets = 1023; } });
    octets page(10000);
    std::mt19937_64 random(seed); // no octet can be compressed away
    std::generate(page.begin(), page.end(), [&] { return uint8_t(random()); });
    tcp_host& far = net.edge(1);
    far.on_connect = [&](const hfpep::destination&) {
        auto& s = far.sockets[far.connects.back()];
        s.reply = page;
        s.reply_after = 300;
        s.eof_after_eof = true;
        return std::optional(hfpep::status::connected);
    };
    const auto id = net.edge(0).accept(net.now(), "10.0.0.1", 80);
    auto& s = net.edge(0).sockets[id];
    s.to_send = octets(300, 7);
    s.then_eof = true;
    EXPECT_TRUE(net.run_for(600, [&] { return s.closed; }));
    EXPECT_EQ(s.got, page);
    return double(net.node(0).stats().octets_sent + net.node(1).stats().octets_sent);
}

//! Time on the air of a text of 100 octets, s.
double seconds_of_text(const s5066::auth_config& auth, const char* m)
{
    auto a = test_config(1, m), b = test_config(2, m);
    a.auth = b.auth = auth;
    two_stations net(a, b);
    net.source_a.send(net.b.address(), 100, 100);
    net.s.run_until([&] { return net.sink_b.octets() == 100; }, 600s);
    EXPECT_EQ(net.sink_b.octets(), 100u);
    return to_seconds(net.a.node().stats().tx_time);
}

} // namespace

TEST(auth_cost, a_page_of_10_kb_costs_one_percent_at_most)
{
    double with = 0, without = 0;
    for (uint64_t seed = 1; seed <= 10; ++seed) {
        with += octets_of_page(keys(), seed);
        without += octets_of_page({}, seed);
    }
    std::printf("page of 10 kB: %.0f octets with keys, %.0f without, %.2f %%\n",
                with / 10,
                without / 10,
                100 * (with / without - 1));
    EXPECT_GT(with, without);
    EXPECT_LE(with / without, 1.01);
}

TEST(auth_cost, a_text_of_100_octets_at_75_bit_s_costs_1_3_s_at_most)
{
    const double with = seconds_of_text(keys(), "4539-75Z");
    const double without = seconds_of_text({}, "4539-75Z");
    std::printf(
        "100 octets at 75 bit/s: %.2f s with keys, %.2f s without\n", with, without);
    EXPECT_GT(with, without);
    EXPECT_LE(with - without, 1.3);
}

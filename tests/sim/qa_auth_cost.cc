/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// What proofs of the sender cost: time on the air of a page and of a short text.
#include "sim/stations/pep_station.h"
#include "two_stations.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

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

//! Time from the request for a page until its last octet, s.
double seconds_of_page(const s5066::auth_config& auth, size_t n)
{
    proxy_pair net("4539-9600S",
                   {},
                   1,
                   { [&](s5066::node_config& c) { c.auth = auth; },
                     [](hfpep::proxy_config& c) { c.slep.segment_octets = 1023; } });
    octets page(n);
    std::mt19937_64 random(1); // no octet can be compressed away
    std::generate(page.begin(), page.end(), [&] { return uint8_t(random()); });
    tcp_host& far = net.edge(1);
    far.on_connect = [&](const hfpep::destination&) {
        auto& s = far.sockets[far.connects.back()];
        s.reply = page;
        s.reply_after = 300;
        s.eof_after_eof = true;
        return std::optional(hfpep::status::connected);
    };
    const auto begin = net.now();
    const auto id = net.edge(0).accept(begin, "10.0.0.1", 80);
    auto& s = net.edge(0).sockets[id];
    s.to_send = octets(300, 7);
    s.then_eof = true;
    net.drain();
    EXPECT_TRUE(net.run_for(600, [&] { return s.closed; }));
    EXPECT_EQ(s.got, page);
    return to_seconds(s.last_at - begin);
}

//! Time from the request to send a text until it arrives, s.
double seconds_of_text(const s5066::auth_config& auth, size_t n)
{
    auto a = test_config(1, "4539-75Z"), b = test_config(2, "4539-75Z");
    a.auth = b.auth = auth;
    two_stations net(a, b);
    net.source_a.send(net.b.address(), n, n);
    net.s.run_until([&] { return net.sink_b.octets() == n; }, 600s);
    EXPECT_EQ(net.sink_b.octets(), n);
    return to_seconds(net.sink_b.last() - net.source_a.began());
}

//! Means over sizes around \p n, so that no border of a block or segment decides.
std::pair<double, double>
means(double (*seconds_of)(const s5066::auth_config&, size_t), size_t n, size_t step)
{
    double with = 0, without = 0;
    constexpr int sizes = 21;
    for (int k = 0; k < sizes; ++k) {
        const size_t size = n + step * size_t(k) - step * (sizes / 2);
        with += seconds_of(keys(), size) / sizes;
        without += seconds_of({}, size) / sizes;
    }
    return { with, without };
}

} // namespace

TEST(auth_cost, a_page_of_10_kb_costs_one_percent_at_most)
{
    const auto [with, without] = means(seconds_of_page, 10000, 103);
    std::printf(
        "page of 10 kB at 9600 bit/s: %.2f s with keys, %.2f s without, %.2f %%\n",
        with,
        without,
        100 * (with / without - 1));
    EXPECT_GT(with, without);
    EXPECT_LE(with / without, 1.01);
}

TEST(auth_cost, a_text_of_100_octets_at_75_bit_s_costs_1_3_s_at_most)
{
    const auto [with, without] = means(seconds_of_text, 100, 1);
    std::printf("100 octets at 75 bit/s: %.2f s with keys, %.2f s without, %.2f s more\n",
                with,
                without,
                with - without);
    EXPECT_GT(with, without);
    EXPECT_LE(with - without, 1.3);
}

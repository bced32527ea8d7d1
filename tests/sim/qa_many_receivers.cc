/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Data without ARQ to many silent receivers: repeats travel in different transmissions.
#include "two_stations.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <gtest/gtest.h>

using namespace gr::hf;
using namespace gr::hf::sim;
using namespace gr::hf::s5066;
using std::chrono::hours;
using std::chrono::seconds;

namespace {

delivery_mode non_arq(unsigned repeats)
{
    delivery_mode m;
    m.mode = transmission_mode::non_arq;
    m.retransmissions = static_cast<uint8_t>(repeats);
    return m;
}

//! A sender on SAP 3 and 20 silent receivers.
struct broadcast_net {
    static constexpr size_t count = 20;

    explicit broadcast_net(unsigned repeats, uint64_t seed = 1, double loss = 0)
        : air(s, seed), from(s, air, test_config(100, "4539-2400S")),
          source(s, from, 3, non_arq(repeats)), chat(s, from, 4)
    {
        air_path path;
        path.loss = loss;
        air.set_default_path(path);
        air.on_transmission = [this](const transmission_record& t) { sent.push_back(t); };
        for (size_t k = 0; k < count; ++k) {
            to.push_back(std::make_unique<station>(
                s, air, test_config(static_cast<int>(k) + 1, "4539-2400S")));
            sinks.push_back(std::make_unique<bulk_sink>(s, *to.back(), 3));
        }
        s.run_until(std::chrono::milliseconds(1));
    }
    void run(station_time longer) { s.run_until(s.now() + longer); }
    uint64_t delivered() const
    {
        uint64_t sum = 0;
        for (const auto& k : sinks)
            sum += k->u_pdus();
        return sum;
    }

    scheduler s;
    emulated_air air;
    std::vector<transmission_record> sent;
    station from;
    bulk_source source;
    bulk_source chat;
    std::vector<std::unique_ptr<station>> to;
    std::vector<std::unique_ptr<bulk_sink>> sinks;
};

} // namespace

// With p of the transmissions lost, 1 - p^(r + 1) of the U_PDUs arrive with r repeats.
TEST(many_receivers, delivery_with_repeats_is_that_of_independent_losses)
{
    constexpr unsigned u_pdus = 150;
    for (const double lost : { 0.1, 0.3 }) {
        for (unsigned repeats = 0; repeats < 3; ++repeats) {
            broadcast_net net(repeats, 1 + repeats, lost);
            for (unsigned k = 0; k < u_pdus; ++k) {
                net.source.send(address::broadcast(), 500, 500);
                net.run(seconds(60));
            }
            EXPECT_EQ(net.sent.size(), u_pdus * (repeats + 1));
            const double theory = 1 - std::pow(lost, repeats + 1);
            const double n = u_pdus * broadcast_net::count;
            const double share = static_cast<double>(net.delivered()) / n;
            // Six cells: 2.6 standard deviations leave them all inside 19 times of 20.
            EXPECT_NEAR(share, theory, 2.6 * std::sqrt(theory * (1 - theory) / n))
                << lost << " lost, repeats: " << repeats;
            for (const auto& k : net.sinks)
                EXPECT_EQ(k->repeated(), 0u);
        }
    }
}

TEST(many_receivers, repeats_of_a_long_queue_go_behind_the_first_copies)
{
    constexpr unsigned u_pdus = 300, runs = 10; // 150 kB: five transmissions
    double missing = 0;
    for (unsigned seed = 1; seed <= runs; ++seed) {
        broadcast_net net(2, seed, 0.1);
        net.source.send(address::broadcast(), 500 * u_pdus, 500);
        net.run(hours(2));
        EXPECT_GE(net.sent.size(), 12u);
        EXPECT_LE(net.sent.size(), 20u);
        missing += static_cast<double>(20 * u_pdus - net.delivered());
        for (const auto& k : net.sinks)
            EXPECT_EQ(k->repeated(), 0u);
    }
    // One of a thousand is lost with three transmissions. Those of a transmission are lost
    // together: of 1000 transmissions to a receiver 4 at most, 99.6 times of 100.
    EXPECT_LE(missing / (20.0 * u_pdus * runs), 4e-3);
}

// A transmission of this length holds more C_PDUs than a receiver remembers, and more than
// there are numbers.
TEST(many_receivers, small_u_pdus_are_repeated_but_not_delivered_twice)
{
    constexpr unsigned u_pdus = 5000, repeats = 2;
    for (const unsigned size : { 8u, 500u }) {
        const char* m = size == 8 ? "5069-12k-19200S" : "5069-48k-240000S";
        scheduler s;
        emulated_air air(s, 5);
        std::vector<transmission_record> sent;
        air.on_transmission = [&sent](const auto& t) { sent.push_back(t); };
        station from(s, air, test_config(100, m));
        station to(s, air, test_config(1, m));
        bulk_source source(s, from, 3, non_arq(repeats));
        bulk_sink sink(s, to, 3);
        s.run_until(std::chrono::milliseconds(1));
        source.send(address::broadcast(), size_t(size) * u_pdus, size);
        s.run_until(hours(4));
        EXPECT_EQ(sink.u_pdus(), u_pdus);
        EXPECT_EQ(sink.repeated(), 0u);
        constexpr size_t non_arq_data = 7;
        EXPECT_GE(from.node().stats().d_pdus_sent[non_arq_data], (repeats + 1) * u_pdus);
        for (const auto& t : sent)
            EXPECT_GT(t.octets, 0u);
    }
}

TEST(many_receivers, repeats_are_apart_but_not_later_than_their_time_to_live)
{
    broadcast_net net(2);
    net.source.ttl = 30;
    net.source.send(address::broadcast(), 500, 500);
    net.run(seconds(100));
    ASSERT_EQ(net.sent.size(), 3u);
    const auto block = kernel::timing_of(net.sent[0].m).block_end(1) -
                       kernel::timing_of(net.sent[0].m).block_begin(1);
    for (size_t k = 1; k < 3; ++k)
        EXPECT_GE(net.sent[k].begin, net.sent[k - 1].end + block);
    EXPECT_LT(net.sent.back().begin, seconds(30));

    // Copies for which no other transmission is possible in time travel in one.
    constexpr std::array<size_t, 4> transmissions = { 1, 2, 2, 3 };
    for (uint32_t ttl = 1; ttl <= transmissions.size(); ++ttl) {
        broadcast_net hurried(2);
        hurried.source.ttl = ttl;
        hurried.source.send(address::broadcast(), 50, 50);
        hurried.run(seconds(100));
        ASSERT_EQ(hurried.sent.size(), transmissions[ttl - 1]) << ttl;
        size_t octets = 0;
        for (const auto& tx : hurried.sent)
            octets += tx.octets;
        constexpr size_t d_pdu_octets = 82;
        EXPECT_EQ(octets, 3 * d_pdu_octets) << ttl;
        EXPECT_LT(hurried.sent.back().begin, seconds(sis_ttl_unit_s * ttl)) << ttl;
        EXPECT_EQ(hurried.delivered(), 20u);
    }
}

TEST(many_receivers, repeats_delay_neither_arq_nor_urgent_data)
{
    broadcast_net net(15);
    net.source.send(address::broadcast(), 60000, 500);
    net.run(seconds(20));
    bulk_sink reader(net.s, *net.to[3], 4);
    net.chat.priority = 5;
    net.chat.send(net.to[3]->address(), 200, 200);
    station_time arrived{};
    reader.on_new = [&](station_time now, const auto&) { arrived = now; };
    net.run(hours(1));
    EXPECT_EQ(reader.u_pdus(), 1u);
    // After the end of the transmission under way.
    EXPECT_LT(arrived, net.sent[0].end + seconds(30));

    // Of the same priority: it gets its turn among the repeats.
    broadcast_net equal(15);
    equal.source.send(address::broadcast(), 60000, 500);
    equal.run(seconds(20));
    bulk_sink other(equal.s, *equal.to[3], 4);
    equal.chat.send(equal.to[3]->address(), 200, 200);
    other.on_new = reader.on_new;
    equal.run(hours(1));
    EXPECT_EQ(other.u_pdus(), 1u);
    EXPECT_LT(arrived, equal.sent[2].end + seconds(30));
    EXPECT_EQ(equal.delivered(), 20u * 120);
}

TEST(many_receivers, others_get_the_channel_between_repeats)
{
    broadcast_net net(15);
    net.source.send(address::broadcast(), 20000, 500);
    net.run(seconds(10));
    bulk_source report(net.s, *net.to[0], 4, non_arq(0));
    bulk_sink reader(net.s, net.from, 5);
    bulk_source to_from(net.s, *net.to[1], 6, non_arq(0), uint8_t{ 5 });
    to_from.send(net.from.address(), 300, 300);
    station_time arrived{};
    reader.on_new = [&](station_time now, const auto&) { arrived = now; };
    net.run(hours(1));
    EXPECT_EQ(reader.u_pdus(), 1u);
    EXPECT_LT(arrived, net.sent[0].end + seconds(60));
    EXPECT_EQ(net.delivered(), 20u * 40);
}

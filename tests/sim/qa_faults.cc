/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Lost link requests and ACKs, restarts, crossed calls, several stations, long runs.
#include "two_stations.h"

#include <gtest/gtest.h>

using namespace gr::hf;
using namespace gr::hf::sim;
using namespace gr::hf::s5066;
using std::chrono::hours;
using std::chrono::seconds;

namespace {

air_path dropping(std::function<bool(uint64_t)> f)
{
    air_path p;
    p.drop = std::move(f);
    return p;
}

void expect_everything_once(const two_stations& net, uint64_t octets)
{
    EXPECT_EQ(net.sink_b.octets(), octets);
    EXPECT_EQ(net.sink_b.repeated(), 0u);
    EXPECT_EQ(net.sink_b.altered(), 0u);
    EXPECT_EQ(net.sink_b.out_of_order(), 0u);
    EXPECT_EQ(net.a.node().stats().resets + net.b.node().stats().resets, 0u);
}

delivery_mode arq(delivery_confirmation c, delivery_order o = delivery_order::in_order)
{
    delivery_mode m;
    m.confirmation = c;
    m.order = o;
    return m;
}

} // namespace

TEST(link, request_lost_twice)
{
    two_stations net("4539-2400S");
    net.air.set_path(
        net.a.modem(), net.b.modem(), dropping([](uint64_t n) { return n < 2; }));
    net.goodput(5000, 1000, 120);
    expect_everything_once(net, 5000);
    EXPECT_EQ(net.a.node().stats().links_made, 1u);
    EXPECT_EQ(net.b.node().stats().links_made, 1u);
    EXPECT_LT(to_seconds(net.sink_b.last()), 70.0);
}

TEST(link, answer_to_the_request_lost)
{
    // The data after the request have arrived: the repeated request must not reset them.
    two_stations net("4539-2400S");
    net.air.set_path(
        net.b.modem(), net.a.modem(), dropping([](uint64_t n) { return n < 2; }));
    net.goodput(5000, 1000, 120);
    net.s.run_until(net.s.now() + seconds(60));
    expect_everything_once(net, 5000);
    EXPECT_EQ(net.b.node().stats().links_made, 1u);
}

TEST(link, fails_when_nobody_answers)
{
    two_stations net("4539-2400S", air_path(), 1, arq(delivery_confirmation::node));
    net.air.set_path(
        net.a.modem(), net.b.modem(), dropping([](uint64_t) { return true; }));
    net.goodput(3000, 1000, 400);
    EXPECT_EQ(net.source_a.rejected(), 3u);
    EXPECT_EQ(net.a.node().stats().links_failed, 1u);
    // Half as many calls as for a node that was heard.
    EXPECT_EQ(net.a.node().stats().transmissions, net.a.node().config().link_tries / 2);
    EXPECT_EQ(net.a.node().state().links, 0u);
    net.air.set_path(net.a.modem(), net.b.modem(), air_path());
    net.goodput(3000, 1000, 120);
    // Until the client is notified and the link has ended.
    net.s.run_until(net.s.now() + seconds(120));
    ASSERT_EQ(net.a.node().stats().links_made, 1u);
    ASSERT_EQ(net.a.node().state().links, 0u);
    const auto before = net.a.node().stats().transmissions;
    net.air.set_path(
        net.a.modem(), net.b.modem(), dropping([](uint64_t) { return true; }));
    net.goodput(3000, 1000, 600);
    EXPECT_EQ(net.a.node().stats().links_failed, 2u);
    EXPECT_EQ(net.a.node().stats().transmissions - before,
              net.a.node().config().link_tries);
}

TEST(link, ends_when_idle_and_is_made_again)
{
    two_stations net("4539-2400S");
    net.goodput(1000, 1000, 60);
    net.s.run_until(net.s.now() + seconds(60));
    EXPECT_EQ(net.a.node().state().links + net.b.node().state().links, 0u);
    net.goodput(1000, 1000, 60);
    net.s.run_until(net.s.now() + seconds(10));
    EXPECT_EQ(net.sink_b.octets(), 2000u);
    EXPECT_EQ(net.a.node().stats().links_made, 2u);
    EXPECT_FALSE(net.a.node().next_deadline() > net.s.now() + hours(1));
}

TEST(link, break_answer_lost)
{
    two_stations net("4539-2400S");
    net.goodput(1000, 1000, 60);
    net.s.run_until(net.s.now() + seconds(10));
    net.air.set_path(
        net.b.modem(), net.a.modem(), dropping([](uint64_t) { return true; }));
    net.s.run_until(net.s.now() + seconds(300));
    EXPECT_EQ(net.a.node().state().links + net.b.node().state().links, 0u);
    EXPECT_FALSE(net.a.node().next_deadline().has_value());
}

TEST(arq, every_second_answer_lost)
{
    two_stations net("4539-4800S");
    net.air.set_path(
        net.b.modem(), net.a.modem(), dropping([](uint64_t n) { return n % 2 == 0; }));
    net.goodput(300000, 2042, 3000);
    expect_everything_once(net, 300000);
    // A lost answer costs a short transmission, not all data once more.
    EXPECT_LT(net.a.node().stats().d_pdus_repeated, 40u);
}

TEST(link, broken_while_the_acknowledgement_of_data_is_lost)
{
    for (const auto order :
         { delivery_order::in_order, delivery_order::as_they_arrive }) {
        two_stations net(
            "4539-2400S", air_path(), 1, arq(delivery_confirmation::node, order));
        net.goodput(2000, 1000, 60);
        net.air.set_path(net.a.modem(), net.b.modem(), dropping([&net](uint64_t) {
                             const double t = to_seconds(net.s.now());
                             return t > 20 && t < 95;
                         }));
        net.s.run_until(seconds(20));
        net.source_b.send(net.a.address(), 5000, 1000);
        net.s.run_until(seconds(90));
        EXPECT_EQ(net.sink_a.octets(), 5000u);
        EXPECT_EQ(net.source_b.confirmed(), 0u);
        EXPECT_GE(net.b.node().stats().silent_rounds, 3u);
        // A breaks the link and repeats its acknowledgement.
        net.s.run_until(hours(1));
        EXPECT_EQ(net.source_b.confirmed(), 5u);
        EXPECT_EQ(net.sink_a.repeated(), 0u);
        EXPECT_EQ(net.b.node().stats().links_made, 1u);
    }
}

TEST(link, forgotten_by_one_side_after_the_break_was_not_heard)
{
    // The other side still has the link, and data whose acknowledgement it never heard.
    two_stations net("4539-2400S", air_path(), 1, arq(delivery_confirmation::node));
    net.goodput(2000, 1000, 60);
    net.air.set_path(net.a.modem(), net.b.modem(), dropping([&net](uint64_t) {
                         const double t = to_seconds(net.s.now());
                         return t > 20 && t < 150;
                     }));
    net.s.run_until(seconds(20));
    net.source_b.send(net.a.address(), 5000, 1000);
    net.s.run_until([&] { return net.a.node().state().links == 0; }, seconds(149));
    EXPECT_EQ(net.a.node().state().links, 0u);
    EXPECT_EQ(net.b.node().state().links, 1u);
    net.s.run_until(hours(1));
    EXPECT_EQ(net.source_b.confirmed(), 5u);
    EXPECT_EQ(net.sink_a.octets(), 5000u);
    EXPECT_EQ(net.sink_a.repeated(), 0u);
}

TEST(link, two_that_call_each_other_collide_once)
{
    for (const char* mode : { "4539-75S", "4539-2400S", "4539-9600S", "4539-600L" }) {
        for (uint64_t seed = 1; seed <= 10; ++seed) {
            auto ca = test_config(1, mode), cb = test_config(2, mode);
            ca.seed = seed;
            cb.seed = seed + 100;
            two_stations net(ca, cb);
            net.source_a.send(net.b.address(), 3000, 1000);
            net.source_b.send(net.a.address(), 3000, 1000);
            net.s.run_until(
                [&] {
                    return net.sink_a.octets() >= 3000 && net.sink_b.octets() >= 3000;
                },
                hours(2));
            expect_everything_once(net, 3000);
            EXPECT_EQ(net.sink_a.octets(), 3000u);
            EXPECT_EQ(net.air.collisions(), 1u) << mode << " " << seed;
        }
    }
}

TEST(arq, end_of_message_never_recognised)
{
    air_path p;
    p.eom_loss = 1;
    two_stations net("4539-2400S", p);
    net.goodput(50000, 2042, 600);
    expect_everything_once(net, 50000);
    EXPECT_EQ(net.air.collisions(), 0u);
}

TEST(arq, both_directions_at_once)
{
    air_path p;
    p.ber = 1e-5;
    p.loss = 0.05;
    two_stations net("4539-4800S", p, 3);
    net.source_a.send(net.b.address(), 200000, 2042);
    net.source_b.send(net.a.address(), 200000, 2042);
    ASSERT_TRUE(net.s.run_until(
        [&] { return net.sink_a.octets() >= 200000 && net.sink_b.octets() >= 200000; },
        hours(1)));
    expect_everything_once(net, 200000);
    EXPECT_EQ(net.sink_a.repeated() + net.sink_a.out_of_order(), 0u);
    const double rate = 8 * 400000 / to_seconds(net.s.now());
    std::printf("both directions, 4800S, BER 1e-5, loss 5 %%: %.1f %% of the line rate\n",
                rate / 48);
    EXPECT_GT(rate, 0.6 * 4800);
}

TEST(arq, as_they_arrive_delivers_past_gaps)
{
    air_path p;
    p.ber = 2e-5;
    two_stations net("4539-4800S",
                     p,
                     5,
                     arq(delivery_confirmation::node, delivery_order::as_they_arrive));
    net.goodput(200000, 1000, 2000);
    net.s.run_until(net.s.now() + seconds(60));
    EXPECT_EQ(net.sink_b.octets(), 200000u);
    EXPECT_EQ(net.sink_b.repeated() + net.sink_b.altered(), 0u);
    EXPECT_GT(net.sink_b.out_of_order(), 0u);
    EXPECT_EQ(net.source_a.confirmed(), 200u);
}

TEST(arq, client_confirmations)
{
    two_stations net("4539-4800S", air_path(), 5, arq(delivery_confirmation::client));
    net.goodput(50000, 1000, 2000);
    net.s.run_until(net.s.now() + seconds(300));
    EXPECT_EQ(net.source_a.confirmed(), 50u);
    EXPECT_EQ(net.source_a.rejected(), 0u);
}

// The wait for the remote client starts when the remote node has the U_PDU, however long
// that took.
TEST(arq, client_confirmations_over_a_slow_link)
{
    two_stations net("4539-75S", air_path(), 5, arq(delivery_confirmation::client));
    net.goodput(10000, 2000, 5000); // longer than client_confirm_s
    net.s.run_until(net.s.now() + seconds(1000));
    EXPECT_EQ(net.source_a.confirmed(), 5u);
    EXPECT_EQ(net.source_a.rejected(), 0u);
}

TEST(arq, time_to_live)
{
    two_stations net("4539-300S", air_path(), 5, arq(delivery_confirmation::node));
    net.source_a.ttl = 30; // a minute
    net.goodput(20000, 1000, 900);
    net.s.run_until(net.s.now() + seconds(300));
    const auto& s = net.a.node().stats();
    EXPECT_GT(s.u_pdus_expired, 5u);
    EXPECT_EQ(net.source_a.rejected(), s.u_pdus_expired);
    EXPECT_EQ(net.source_a.confirmed() + net.source_a.rejected(), 20u);
    EXPECT_GE(net.sink_b.u_pdus(), net.source_a.confirmed());
    EXPECT_LE(net.sink_b.u_pdus(), 6u);
}

TEST(restart, of_the_receiver)
{
    two_stations net("4539-4800S", air_path(), 5, arq(delivery_confirmation::node));
    net.source_a.send(net.b.address(), 200000, 1000);
    net.s.run_until(seconds(150));
    const auto before = net.sink_b.octets();
    ASSERT_GT(before, 0u);
    net.b.restart(4711);
    net.sink_b.rebind();
    net.source_b.rebind();
    net.s.run_until([&] { return net.source_a.confirmed() >= 200; }, hours(1));
    EXPECT_EQ(net.source_a.confirmed(), 200u);
    EXPECT_EQ(net.source_a.rejected(), 0u);
    EXPECT_EQ(net.sink_b.octets(), 200000u);
    EXPECT_EQ(net.sink_b.altered(), 0u);
    // Delivered but not acknowledged when the power failed.
    EXPECT_LT(net.sink_b.repeated(), 130u);
}

TEST(restart, of_the_sender)
{
    two_stations net("4539-4800S");
    net.source_a.send(net.b.address(), 200000, 1000);
    net.s.run_until(seconds(150));
    net.a.restart(4712);
    net.sink_a.rebind();
    net.source_a.rebind();
    const auto at = net.sink_b.octets();
    net.source_a.send(net.b.address(), 50000, 1000);
    net.s.run_until(net.s.now() + hours(1));
    EXPECT_GT(net.sink_b.octets(), at + 50000);
    EXPECT_EQ(net.sink_b.altered() + net.sink_b.repeated(), 0u);
}

TEST(stations, one_serves_two)
{
    scheduler s;
    emulated_air air(s, 3);
    station a(s, air, test_config(1, "4539-2400S"));
    station b(s, air, test_config(2, "4539-2400S"));
    station c(s, air, test_config(3, "4539-2400S"));
    bulk_source to_b(s, a, 3), to_c(s, a, 4), from_c(s, c, 5);
    bulk_sink at_b(s, b, 3), at_c(s, c, 4), at_b2(s, b, 5);
    s.run_until(seconds(1));
    to_b.send(b.address(), 60000, 1000);
    to_c.send(c.address(), 60000, 1000);
    from_c.send(b.address(), 60000, 1000);
    ASSERT_TRUE(s.run_until(
        [&] {
            return at_b.octets() == 60000 && at_c.octets() == 60000 &&
                   at_b2.octets() == 60000;
        },
        hours(1)));
    std::printf("three stations, three transfers: %.0f s, %llu collisions\n",
                to_seconds(s.now()),
                static_cast<unsigned long long>(air.collisions()));
    EXPECT_EQ(at_b.repeated() + at_c.repeated() + at_b2.repeated(), 0u);
    EXPECT_LT(to_seconds(s.now()), 1.6 * 180000 * 8 / 2400);
}

TEST(stations, broadcast_reaches_all)
{
    scheduler s;
    air_path p;
    p.ber = 2e-5;
    emulated_air air(s, 3);
    air.set_default_path(p);
    station a(s, air, test_config(1, "4539-1200S"));
    station b(s, air, test_config(2, "4539-1200S"));
    station c(s, air, test_config(3, "4539-1200S"));
    delivery_mode m;
    m.mode = transmission_mode::non_arq;
    m.retransmissions = 3;
    bulk_source from(s, a, 3, m);
    bulk_sink at_b(s, b, 3), at_c(s, c, 3);
    from.send(address::broadcast(), 20000, 1000);
    s.run_until(hours(1));
    EXPECT_EQ(at_b.u_pdus(), 20u);
    EXPECT_EQ(at_c.u_pdus(), 20u);
    EXPECT_EQ(at_b.repeated() + at_c.repeated() + at_b.altered(), 0u);
    EXPECT_EQ(b.node().stats().transmissions + c.node().stats().transmissions, 0u);
    EXPECT_FALSE(a.node().next_deadline().has_value());
}

TEST(soak, a_day_of_bad_channel)
{
    air_path p;
    p.ber = 3e-5;
    p.loss = 0.1;
    p.eom_loss = 0.05;
    auto ca = test_config(1, "4539-2400S"), cb = test_config(2, "4539-2400S");
    ca.max_silent_rounds = cb.max_silent_rounds = 20;
    ca.link_tries = cb.link_tries = 20;
    two_stations net(ca, cb, p, 11);
    // Bursts in both directions with pauses, so that links come and go.
    uint64_t to_b = 0, to_a = 0;
    for (int i = 0; i < 60; ++i) {
        const size_t n = 1000 * static_cast<size_t>(1 + i * 37 % 100);
        net.source_a.send(net.b.address(), n, 1500);
        to_b += n;
        if (i % 3 == 0) {
            net.source_b.send(net.a.address(), n / 2, 700);
            to_a += n / 2;
        }
        net.s.run_until(net.s.now() + std::chrono::minutes(24));
        ASSERT_LE(net.a.node().state().queued_octets, 400000u);
        ASSERT_LT(net.s.pending(), 1000u);
    }
    std::printf("soak: %.1f h, %llu transmissions, %llu silent rounds, %llu links\n",
                to_seconds(net.s.now()) / 3600,
                static_cast<unsigned long long>(net.air.transmissions()),
                static_cast<unsigned long long>(net.a.node().stats().silent_rounds),
                static_cast<unsigned long long>(net.a.node().stats().links_made));
    expect_everything_once(net, to_b);
    EXPECT_EQ(net.sink_a.octets(), to_a);
    EXPECT_EQ(net.sink_a.repeated() + net.sink_a.altered(), 0u);
    EXPECT_EQ(net.a.node().stats().out_of_sync + net.b.node().stats().out_of_sync, 0u);
    EXPECT_EQ(net.a.node().stats().links_failed + net.b.node().stats().links_failed, 0u);
}

// D_PDUs with a window edge in a late or repeated block would look like those of a peer
// that has lost its numbers.
TEST(faults, blocks_out_of_order_and_twice_cause_no_resets)
{
    for (const double share : { 0.02, 0.2 }) {
        for (const char* mode : { "4539-2400S", "4539-9600US" }) {
            air_path p;
            p.reorder = p.duplicate = share;
            two_stations net(mode, p, 5);
            net.source_a.send(net.b.address(), 100000, 200);
            net.s.run_until(seconds(30)); // no crossed calls
            net.source_b.send(net.a.address(), 100000, 200);
            net.s.run_until(hours(1));
            EXPECT_EQ(net.sink_b.octets(), 100000u);
            EXPECT_EQ(net.sink_a.octets(), 100000u);
            EXPECT_EQ(net.sink_a.repeated() + net.sink_b.repeated(), 0u);
            for (station* s : { &net.a, &net.b }) {
                const auto& n = s->node().stats();
                EXPECT_EQ(n.resets + n.out_of_sync, 0u) << mode << ", " << share;
                EXPECT_EQ(n.d_pdus_repeated, 0u) << mode << ", " << share;
                EXPECT_EQ(n.segment_crc_errors, 0u) << mode << ", " << share;
            }
        }
    }
}

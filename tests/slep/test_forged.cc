/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Forged PDUs end streams at most. Nothing of them remains, and no stream waits for ever.
#include "slep/endpoints.h"

#include <gtest/gtest.h>

namespace gr::hf::test {
namespace {

//! Gives node \p victim (0: 1.0.0.1) a PDU in the name of the other one.
void forge(pair_of& n,
           size_t victim,
           slep::pdu_body body,
           s5066::transmission_mode mode = s5066::transmission_mode::arq)
{
    s5066::s_unidata_indication u;
    u.dst_sap = u.src_sap = 13;
    u.mode = mode;
    u.src = address(victim == 0 ? "1.0.0.2" : "1.0.0.1");
    u.dst = address(victim == 0 ? "1.0.0.1" : "1.0.0.2");
    u.u_pdu = slep::encode({ 0, std::move(body) });
    n.net.tell(victim, u);
    n.net.settle();
}

slep::stream_abort restart_of(uint16_t instance)
{
    return { 0, slep::reason_peer_restarted, instance };
}

//! A stream from a to b with data and both ends.
bool exchange(pair_of& n, double limit_s)
{
    n.b().finish_after_fin = true;
    const auto s = n.a().link.open(n.net.now(), n.to_b(), { 1 }, pattern(500), true);
    n.net.run_for(limit_s, [&] {
        return n.a().streams[*s].closed || n.a().streams[*s].aborted ||
               n.a().streams[*s].refused;
    });
    return n.a().streams[*s].closed;
}

TEST(slep_forged, a_restart_at_the_responder_costs_one_open)
{
    pair_of n;
    ASSERT_TRUE(exchange(n, 60));
    forge(n, 1, restart_of(77));
    EXPECT_FALSE(exchange(n, 60)) << "refused, since it is of another start";
    EXPECT_TRUE(exchange(n, 60));
    EXPECT_TRUE(exchange(n, 60));
}

TEST(slep_forged, a_restart_at_the_opener_costs_the_time_of_a_probe)
{
    pair_of n;
    ASSERT_TRUE(exchange(n, 60));
    forge(n, 0, restart_of(77));
    const station_time begin = n.net.now();
    EXPECT_TRUE(exchange(n, 300));
    EXPECT_GT(n.net.now() - begin, 130s);
    EXPECT_TRUE(exchange(n, 60));
}

TEST(slep_forged, a_restart_at_both_sides_costs_one_open_and_a_probe)
{
    for (const bool opener_first : { false, true }) {
        pair_of n;
        ASSERT_TRUE(exchange(n, 60));
        forge(n, opener_first ? 0 : 1, restart_of(77));
        forge(n, opener_first ? 1 : 0, restart_of(78));
        EXPECT_FALSE(exchange(n, 300));
        EXPECT_TRUE(exchange(n, 300));
        EXPECT_TRUE(exchange(n, 60));
    }
}

//! A stream from a, all or one of whose data PDUs are confirmed though nobody gets them.
struct swallowed_data {
    swallowed_data()
    {
        n.net.run_for(60);
        n.net.swallows = [this](const s5066::s_unidata_request& u) {
            const auto p = slep::decode(u.u_pdu);
            const bool data = std::holds_alternative<slep::stream_data>(p->body);
            return data && (count++ == 0 || always);
        };
    }
    void send(size_t octets_sent, bool end)
    {
        n.a().send(s, pattern(octets_sent), end);
        n.a().work(n.net.now());
    }

    pair_of n;
    slep::stream_id s = *n.a().link.open(n.net.now(), n.to_b(), { 1 }, pattern(100));
    bool always = false;
    unsigned count = 0;
};

// Somebody else has used the numbers of the data link that the data had: the far node
// confirms them, and nobody gets them.
TEST(slep_forged, a_confirmed_pdu_that_nobody_got_is_sent_again)
{
    for (const bool end : { false, true }) {
        swallowed_data x;
        x.send(500, end);
        const auto& far = x.n.b().streams.begin()->second;
        EXPECT_TRUE(x.n.net.run_for(1200, [&] { return far.data.size() == 600; })) << end;
        EXPECT_EQ(x.n.a().link.stats().pdus_resent, 1u);
        x.n.net.run_for(1200);
        EXPECT_FALSE(far.aborted);
        EXPECT_EQ(far.fin, end);
    }
}

// Later data show the receiver at once that one is missing.
TEST(slep_forged, a_missing_pdu_before_others_is_asked_for_within_minutes)
{
    swallowed_data x;
    x.send(20000, true);
    const auto begin = x.n.net.now();
    const auto& far = x.n.b().streams.begin()->second;
    EXPECT_TRUE(x.n.net.run_for(600, [&] { return far.fin; }));
    EXPECT_LT(x.n.net.now() - begin, 300s);
    EXPECT_EQ(far.data.size(), 20100u);
    EXPECT_EQ(x.n.a().link.stats().pdus_resent, 1u);
    EXPECT_FALSE(far.aborted);
}

TEST(slep_forged, a_pdu_that_never_arrives_ends_the_stream)
{
    for (const bool end : { false, true }) {
        swallowed_data x;
        x.always = true;
        x.send(500, end);
        const auto& far = x.n.b().streams.begin()->second;
        EXPECT_TRUE(x.n.net.run_for(4 * 1200, [&] { return far.aborted; }));
        EXPECT_EQ(x.count, 4u) << "three repeats";
        EXPECT_EQ(far.data.size(), 100u);
        EXPECT_FALSE(far.fin);
        EXPECT_TRUE(x.n.a().streams[x.s].aborted);
        EXPECT_EQ(x.n.a().streams[x.s].code, slep::reason_protocol_error);
        x.n.net.run_for(60);
        EXPECT_EQ(x.n.a().link.streams() + x.n.b().link.streams(), 0u);
    }
}

// A reader that is slow for hours misses nothing.
TEST(slep_forged, a_slow_reader_ends_nothing)
{
    for (const size_t octets_sent : { 5'000u, 200'000u }) {
        pair_of n;
        n.b().read_all = false;
        const auto s = *n.a().link.open(n.net.now(), n.to_b(), { 1 });
        n.a().send(s, pattern(octets_sent), true);
        n.net.run_for(3 * 3600);
        ASSERT_FALSE(n.a().streams[s].aborted);
        ASSERT_EQ(n.b().streams.size(), 1u);
        const auto t = n.b().offered.at(0);
        n.b().read_all = true;
        n.b().link.consumed(n.net.now(), t, n.b().streams[t].unread);
        n.net.run_for(600);
        EXPECT_EQ(n.b().streams[t].data, pattern(octets_sent));
        EXPECT_FALSE(n.b().streams[t].aborted);
    }
}

TEST(slep_forged, streams_and_reliable_datagrams_without_arq_are_dropped)
{
    using s5066::transmission_mode;
    for (const auto mode :
         { transmission_mode::non_arq, transmission_mode::non_arq_with_errors }) {
        pair_of n;
        slep::stream_open o;
        o.number = 5;
        forge(n, 1, o, mode);
        slep::reliable_datagram d;
        d.data = { 1 };
        forge(n, 1, d, mode);
        EXPECT_TRUE(n.b().offered.empty());
        EXPECT_TRUE(n.b().datagrams.empty());
        EXPECT_EQ(n.b().link.stats().bad_pdus, 2u);
        forge(n, 1, slep::unreliable_datagram{ false, { 1 } }, mode);
        EXPECT_EQ(n.b().datagrams.size(), 1u);
    }
}

} // namespace
} // namespace gr::hf::test

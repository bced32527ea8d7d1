/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// docs/conformance.md, row X.5: access to a channel that others use (Annex K, S5066-EP6).
#include "scripted_peer.h"

#include <gtest/gtest.h>

using namespace gr::hf;
using namespace gr::hf::s5066;

namespace {

//! A D_PDU from one other node to another.
d_pdu between_others(uint8_t eot = 1)
{
    auto d = scripted_peer::data(0);
    d.src = address("1.3.0.0");
    d.dst = address("1.4.0.0");
    d.eot = eot;
    return d;
}

//! Seconds from now until the node keys.
double until_keyed(scripted_peer& p, double limit = 60)
{
    const station_time begin = p.now;
    EXPECT_TRUE(p.wait(limit));
    return to_seconds(p.now - begin);
}

} // namespace

TEST(Conformance, RowX_05_SilentWhileTheChannelIsBusy)
{
    scripted_peer p;
    p.bind(1, 3);
    rx_start s;
    s.m = mode::parse(p.d_config.mode);
    p.n.on_rx_start(p.now, s);
    p.submit(1, 100);
    for (int block = 0; block < 100; ++block) { // however long it lasts
        p.n.on_rx_octets(p.now, { std::vector<uint8_t>(38) });
        ASSERT_FALSE(p.wait(1));
    }
    rx_end e;
    e.air_end = p.now;
    p.n.on_rx_end(p.now, e);
    EXPECT_TRUE(p.wait(10));
}

TEST(Conformance, RowX_05_TheSenderOfABroadcastLeavesItsListenersAChance)
{
    // Both nodes have data for each other, and neither knows that. The sender of a
    // broadcast draws a slot as its listener does. So both are first now and then.
    std::vector<double> waits;
    constexpr int rounds = 24;
    for (int k = 0; k < rounds; ++k) {
        node_config c;
        c.seed = static_cast<uint64_t>(k + 1);
        scripted_peer p(c);
        p.bind(1, 3);
        s_unidata_request r;
        r.dst = address::broadcast();
        r.dst_sap = 3;
        r.mode.mode = transmission_mode::non_arq;
        r.priority = 9;
        r.u_pdu.resize(20);
        p.send(1, r);
        p.submit(1, 100);
        const auto d = p.transmission();
        ASSERT_FALSE(d.empty());
        ASSERT_EQ(d[0].dst, address::broadcast());
        waits.push_back(until_keyed(p));
    }
    const double first_slot = *std::min_element(waits.begin(), waits.end());
    const auto sender_later =
        std::count_if(waits.begin(), waits.end(), [first_slot](double wait) {
            return wait > first_slot + 0.5;
        });
    EXPECT_GE(sender_later, rounds / 4);
    EXPECT_LE(sender_later, rounds * 3 / 4);
}

TEST(Conformance, RowX_05_BlindStationsRepeatAfterLongerPauses)
{
    // Three stations. Without a carrier detector the calls of two may meet again and again.
    for (const bool senses : { false, true }) {
        node_config c;
        c.link_tries = 10; // half of them for a station never heard
        scripted_peer p(c);
        p.bind(1, 3);
        if (senses)
            p.n.on_carrier(p.now, false);
        for (const char* who : { "1.3.0.0", "1.4.0.0" }) {
            auto d = between_others();
            d.src = address(who);
            d.dst = address("1.5.0.0");
            p.receive({ d });
        }
        p.submit(1, 100);
        std::vector<double> pauses;
        for (int k = 0; k < 5; ++k) {
            pauses.push_back(until_keyed(p, 300));
            p.send_out();
        }
        // The first repeats come at once.
        EXPECT_LT(pauses[1], 25) << senses;
        EXPECT_LT(pauses[2], 25) << senses;
        if (senses) {
            EXPECT_LT(pauses[3], 30);
            EXPECT_LT(pauses[4], 30);
        } else {
            EXPECT_GE(pauses[3], 30);
            EXPECT_GE(pauses[4], 100);
        }
    }
}

TEST(Conformance, RowX_05_SilentUntilTheHeardEotRanOutAlsoOfOthers)
{
    scripted_peer p;
    p.bind(1, 3);
    p.submit(1, 100);
    p.receive({ between_others(20) }, rx_end_reason::lost); // 10 s from its start
    EXPECT_GE(until_keyed(p), 9.0);
}

TEST(Conformance, RowX_05_SlotOrderIsKept)
{
    for (const unsigned slot : { 1u, 2u, 3u }) {
        node_config c;
        c.slot = slot;
        scripted_peer p(c);
        p.bind(1, 3);
        p.submit(1, 100);
        p.receive({ between_others() });
        EXPECT_NEAR(until_keyed(p), 3.0 * (slot + 1), 0.02) << slot; // 6, 9, 12 s
    }
}

TEST(Conformance, RowX_05_AnyActivityStartsTheSlotsAnew)
{
    node_config c;
    c.slot = 2;
    scripted_peer p(c);
    p.bind(1, 3);
    p.submit(1, 100);
    p.receive({ between_others() });
    EXPECT_FALSE(p.wait(8));
    p.receive({ between_others() });
    EXPECT_NEAR(until_keyed(p), 9.0, 0.02);
}

TEST(Conformance, RowX_05_ReplyRightIsHonoured)
{
    for (const unsigned slot : { 0u, 4u }) {
        node_config c;
        c.slot = slot;
        // Addressed: answers at once, whatever its slot.
        scripted_peer p(c);
        p.receive({ scripted_peer::link(c_pdu_type::link_request) });
        EXPECT_LE(until_keyed(p), 0.12);
        // Not addressed: leaves the other station its turnaround and preamble.
        scripted_peer q(c);
        q.bind(1, 3);
        q.submit(1, 100);
        q.receive({ between_others() });
        EXPECT_GE(until_keyed(q), slot ? 15.0 - 0.02 : 0.2 + 0.6);
    }
}

TEST(Conformance, RowX_05_SilentWhileATransmissionIsSensedThatIsNotReceived)
{
    scripted_peer p;
    p.bind(1, 3);
    p.n.on_carrier(p.now, false);
    p.submit(1, 100);
    p.n.on_carrier(p.now, true);
    EXPECT_FALSE(p.wait(127.5));
    EXPECT_EQ(p.n.state().phase, node_phase::other_signal);
    EXPECT_FALSE(p.n.state().phase_ends);
    p.n.on_carrier(p.now, false);
    EXPECT_EQ(p.n.state().phase, node_phase::holding);
    const auto ends = p.n.state().phase_ends;
    ASSERT_TRUE(ends);
    // The addressed station answers first: its turnaround, and the time to notice it.
    const auto begin = p.now;
    const double s = until_keyed(p);
    EXPECT_GE(s, 0.1 + 0.6);
    EXPECT_LE(s, 5);
    EXPECT_NEAR(s, to_seconds(*ends - begin), 0.02);
}

TEST(Conformance, RowX_05_InterferenceDoesNotSilenceForEver)
{
    scripted_peer p;
    p.bind(1, 3);
    p.submit(1, 100);
    p.n.on_carrier(p.now, true);
    EXPECT_NEAR(until_keyed(p, 300), 180, 1);
}

TEST(Conformance, RowX_05_ReplyRightDoesNotWaitForACarrier)
{
    scripted_peer p;
    p.receive({ scripted_peer::link(c_pdu_type::link_request) });
    p.n.on_carrier(p.now, true);
    EXPECT_LE(until_keyed(p), 0.12);
}

TEST(Conformance, RowX_05_AnAnswerThatIsSensedIsWaitedFor)
{
    for (const bool sensed : { false, true }) {
        scripted_peer p;
        p.n.on_carrier(p.now, false);
        p.bind(1, 3);
        p.make_link();
        p.submit(1, 100);
        ASSERT_FALSE(p.transmission().empty());
        EXPECT_FALSE(p.wait(1));
        EXPECT_EQ(p.n.state().phase, node_phase::waiting_answer);
        EXPECT_GT(p.n.state().phase_ends, p.now);
        if (sensed) {
            p.n.on_carrier(p.now, true);
        }
        p.wait(20); // a long transmission whose preamble we have missed
        EXPECT_EQ(p.n.stats().silent_rounds, sensed ? 0u : 1u);
        if (sensed) {
            p.n.on_carrier(p.now, false);
            EXPECT_TRUE(p.wait(10));
            EXPECT_EQ(p.n.stats().silent_rounds, 1u);
        }
    }
}

// A modem senses carriers only between receptions. So one that is reported before the end
// of a reception is a new transmission, and the end was missed.
TEST(Conformance, RowX_05_ACarrierAheadOfTheEndOfAReceptionCounts)
{
    for (const bool sensed : { false, true }) {
        scripted_peer p;
        p.n.on_carrier(p.now, false);
        p.bind(1, 3);
        p.submit(1, 100);
        rx_start s;
        s.m = mode::parse("4539-2400S");
        p.n.on_rx_start(p.now, s);
        p.n.on_carrier(p.now, sensed);
        p.n.on_rx_end(p.now, { rx_end_reason::lost, p.now });
        EXPECT_NE(p.wait(20), sensed);
        p.n.on_carrier(p.now, false);
        EXPECT_EQ(p.wait(5), sensed);
    }
}

// Our data would be lost. Owed answers are different: the peer waits for them.
TEST(Conformance, RowX_05_DataInOurTurnWaitForACarrierToGo)
{
    for (const bool sensed : { false, true }) {
        scripted_peer p;
        p.n.on_carrier(p.now, false);
        p.bind(1, 3);
        p.submit(1, 100);
        ASSERT_FALSE(p.transmission().empty());
        p.receive({ scripted_peer::link(c_pdu_type::link_accepted, 0) });
        p.n.on_carrier(p.now, sensed);
        EXPECT_NE(p.wait(2), sensed);
        p.n.on_carrier(p.now, false);
        EXPECT_EQ(p.wait(5), sensed);
    }
}

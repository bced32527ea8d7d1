/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Link establishment (ALE) decides when and for whom the channel may be used.
#include "s5066/scripted_peer.h"

#include <gtest/gtest.h>

namespace gr::hf::test {
namespace {

using namespace s5066;

TEST(channel_grant, data_wait_until_the_channel_is_open)
{
    scripted_peer p;
    p.bind(1, 3);
    p.n.set_grant(p.now, false, {});
    EXPECT_FALSE(p.n.wanted());
    p.submit(1, 10);
    EXPECT_FALSE(p.wait(120));
    EXPECT_EQ(p.n.state().phase, node_phase::no_channel);
    ASSERT_TRUE(p.n.wanted());
    EXPECT_FALSE(p.n.active());
    EXPECT_FALSE(p.answer<s_subnet_availability>()); // clients notice nothing
    p.n.set_grant(p.now, true, p.n.wanted());
    EXPECT_TRUE(p.n.active());
    EXPECT_TRUE(p.wait(5));
}

TEST(channel_grant, data_for_others_wait)
{
    scripted_peer p;
    p.bind(1, 3);
    p.n.set_grant(p.now, true, address("9.9.9.9"));
    p.submit(1, 10);
    EXPECT_FALSE(p.wait(120));
    EXPECT_TRUE(p.n.wanted());
    EXPECT_FALSE(p.n.active());
}

TEST(channel_grant, waits_without_an_answer_are_counted)
{
    scripted_peer p;
    p.bind(1, 3);
    p.make_link();
    p.submit(1, 10);
    ASSERT_FALSE(p.transmission().empty());
    EXPECT_EQ(p.n.unanswered(), 0u);
    ASSERT_FALSE(p.transmission(60).empty());
    EXPECT_EQ(p.n.unanswered(), 1u);
    ASSERT_FALSE(p.transmission(60).empty());
    EXPECT_EQ(p.n.unanswered(), 2u);
    p.n.set_grant(p.now, true, address("9.9.9.9"));
    EXPECT_EQ(p.n.unanswered(), 0u) << "of a peer without a grant";
    p.n.set_grant(p.now, true, {});
    p.receive({ scripted_peer::ack(1) });
    EXPECT_EQ(p.n.unanswered(), 0u);
}

TEST(channel_grant, silence_counts_while_data_of_the_peer_are_incomplete)
{
    for (const bool incomplete : { false, true }) {
        scripted_peer p;
        p.bind(1, 3);
        p.make_link();
        auto first = scripted_peer::data(0);
        first.arq.end = !incomplete;
        p.receive({ first });
        p.transmission(); // the acknowledgement
        EXPECT_EQ(p.n.unanswered(), 0u);
        EXPECT_FALSE(p.wait(20));
        EXPECT_EQ(p.n.unanswered() >= 2, incomplete);
        p.n.on_carrier(p.now, true);
        EXPECT_EQ(p.n.unanswered(), 0u);
    }
}

TEST(channel_grant, silence_counts_after_a_transmission_that_broke_off)
{
    scripted_peer p;
    p.bind(1, 3);
    p.make_link();
    auto octets = encode(scripted_peer::data(0));
    octets.insert(octets.end(), 400, 0x55); // nothing that can be read
    p.receive_octets(octets, rx_end_reason::lost);
    p.transmission(); // the acknowledgement
    EXPECT_FALSE(p.wait(20));
    EXPECT_GE(p.n.unanswered(), 2u);
}

// A transmission of the peer with one D_PDU that lasts as long.
void receive_for(scripted_peer& p, int seconds, const d_pdu& d)
{
    rx_start s;
    s.m = p.tx_mode;
    p.n.on_rx_start(p.now, s);
    p.now += std::chrono::seconds(seconds);
    rx_octets o;
    o.octets = encode(d);
    p.n.on_rx_octets(p.now, o);
    rx_end e;
    e.reason = rx_end_reason::eom;
    e.air_end = p.now;
    p.n.on_rx_end(p.now, e);
}

// A peer that sends much has more.
TEST(channel_grant, silence_counts_after_a_long_transmission_that_follows_ours)
{
    for (const int seconds : { 1, 20 })
        for (const int pause : { 0, 20 }) {
            scripted_peer p;
            p.bind(1, 3);
            p.make_link();
            EXPECT_FALSE(pause > 0 && p.wait(pause));
            receive_for(p, seconds, scripted_peer::data(0));
            p.transmission(); // the acknowledgement
            EXPECT_FALSE(p.wait(20));
            EXPECT_EQ(p.n.unanswered() >= 2, seconds == 20 && pause == 0)
                << seconds << " s, pause " << pause << " s";
            receive_for(p, 1, scripted_peer::data(1));
            EXPECT_EQ(p.n.unanswered(), 0u);
        }
}

// A channel that died teaches nothing about the next one.
TEST(channel_grant, a_new_channel_starts_without_the_silence_of_the_last_one)
{
    node_config c;
    c.mode = "auto";
    scripted_peer p(c);
    p.peer_mode = mode::parse("4539-600S");
    p.snr_db = 10;
    p.bind(1, 3);
    p.make_link();
    p.submit(1, 1500);
    ASSERT_FALSE(p.transmission(30).empty());
    ASSERT_FALSE(p.transmission(60).empty());
    ASSERT_FALSE(p.transmission(60).empty());
    const auto fallen = p.tx_mode.rate_bps;
    while (p.n.unanswered() < 3)
        ASSERT_FALSE(p.wait(0.1));
    p.n.set_grant(p.now, false, {});
    EXPECT_FALSE(p.wait(1));
    p.n.set_grant(p.now, true, {});
    ASSERT_TRUE(p.wait(1)); // without the pause of a repeat
    EXPECT_GT(p.tx_mode.rate_bps, fallen);
}

} // namespace
} // namespace gr::hf::test

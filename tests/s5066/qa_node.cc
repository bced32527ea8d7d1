/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Behaviour of a node towards a peer that follows a script: the items of the conformance list.
#include "scripted_peer.h"

#include <gtest/gtest.h>

using namespace gr::hf;
using namespace gr::hf::s5066;
using t = d_pdu_type;

namespace {

delivery_mode confirmed()
{
    delivery_mode m;
    m.confirmation = delivery_confirmation::node;
    return m;
}

} // namespace

TEST(links, request_with_data_behind_it_is_answered_at_once)
{
    scripted_peer p;
    p.bind(1, 3);
    p.receive({ scripted_peer::link(c_pdu_type::link_request), scripted_peer::data(0) });
    EXPECT_TRUE(p.answer<s_unidata_indication>());
    const sim_time heard = p.now;
    const auto d = p.transmission();
    ASSERT_GE(d.size(), 2u);
    EXPECT_EQ(d[0].type, t::expedited_non_arq_data);
    EXPECT_EQ(d[0].segment, std::vector<uint8_t>{ 0x20 });
    EXPECT_EQ(d[1].type, t::ack_only);
    EXPECT_EQ(d[1].ack.rx_lwe, 1);
    // Turnaround 0.1 s, and what the transmission took.
    EXPECT_LE(to_seconds(p.now - heard - p.air_time), 0.1 + 0.61 + 0.02);
}

TEST(links, exclusive_request_is_rejected)
{
    scripted_peer p;
    p.receive({ scripted_peer::link(c_pdu_type::link_request, 1, 1) });
    const auto d = p.transmission();
    ASSERT_FALSE(d.empty());
    EXPECT_EQ(d[0].segment, std::vector<uint8_t>{ 0x30 });
    EXPECT_EQ(p.n.state().links, 0u);
}

TEST(links, break_is_confirmed_with_and_without_a_link)
{
    for (const bool linked : { true, false }) {
        scripted_peer p;
        if (linked) {
            p.make_link();
            EXPECT_EQ(p.n.state().links, 1u);
        }
        p.receive({ scripted_peer::link(c_pdu_type::link_break, 5, 4) });
        const auto d = p.transmission();
        ASSERT_FALSE(d.empty());
        EXPECT_EQ(d[0].segment, std::vector<uint8_t>{ 0x50 });
        EXPECT_EQ(p.n.state().links, 0u);
    }
}

TEST(links, no_data_in_time_drops_the_link_silently)
{
    scripted_peer p;
    p.receive({ scripted_peer::link(c_pdu_type::link_request) });
    p.transmission();
    EXPECT_EQ(p.n.state().links, 1u);
    EXPECT_FALSE(p.wait(70));
    EXPECT_EQ(p.n.state().links, 0u);
}

TEST(links, rejected_request_rejects_the_data)
{
    scripted_peer p;
    p.bind(1, 3);
    p.submit(1, 100, confirmed());
    ASSERT_FALSE(p.transmission().empty());
    p.receive({ scripted_peer::link(c_pdu_type::link_rejected, 1, 3) });
    const auto r = p.answer<s_unidata_request_rejected>();
    ASSERT_TRUE(r);
    EXPECT_EQ(r->reason, static_cast<uint8_t>(unidata_reject_reason::not_responding));
}

TEST(arq_exchange, higher_priority_first)
{
    scripted_peer p;
    p.bind(1, 3);
    p.make_link();
    for (const uint8_t prio : { 2, 9, 2, 15 }) {
        p.submit(1, 100, delivery_mode(), prio);
    }
    const auto d = of_type(p.transmission(), t::data_only);
    ASSERT_GE(d.size(), 4u);
    EXPECT_EQ(d[0].segment.back(), 15);
    EXPECT_EQ(d[1].segment.back(), 9);
    EXPECT_EQ(d[2].segment.back(), 2);
}

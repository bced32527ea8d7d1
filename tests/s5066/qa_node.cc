/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Behaviour of a node towards a peer that follows a script: the items of the conformance list.
#include "scripted_peer.h"

#include <cmath>
#include <gtest/gtest.h>
#include <set>

using namespace gr::hf;
using namespace gr::hf::s5066;
using t = d_pdu_type;

namespace {

node_config segments_of(size_t octets)
{
    node_config c;
    c.segment_octets = octets;
    return c;
}

delivery_mode confirmed()
{
    delivery_mode m;
    m.confirmation = delivery_confirmation::node;
    return m;
}

} // namespace

TEST(warning, connection_related_d_pdus_without_a_link)
{
    for (const auto type : { t::data_only,
                             t::ack_only,
                             t::data_ack,
                             t::reset,
                             t::expedited_data_only,
                             t::expedited_ack_only }) {
        scripted_peer p;
        p.receive({ scripted_peer::from_peer(type) });
        const auto w = of_type(p.transmission(), t::warning);
        ASSERT_FALSE(w.empty()) << to_string(type);
        EXPECT_EQ(w[0].warning.received_type, static_cast<uint8_t>(type));
        EXPECT_EQ(w[0].warning.reason, 1);
        EXPECT_EQ(w[0].dst, address("1.2.0.0"));
    }
}

TEST(warning, unknown_type)
{
    scripted_peer p;
    p.receive({ scripted_peer::from_peer(static_cast<t>(10)) });
    const auto w = of_type(p.transmission(), t::warning);
    ASSERT_FALSE(w.empty());
    EXPECT_EQ(w[0].warning.received_type, 10);
    EXPECT_EQ(w[0].warning.reason, 0);
}

TEST(warning, none_for_others_or_for_warnings_or_bad_headers)
{
    scripted_peer p;
    auto other = scripted_peer::from_peer(static_cast<t>(10));
    other.dst = address("1.3.0.0");
    auto w = scripted_peer::from_peer(t::warning);
    w.warning.reason = 2;
    p.receive({ other, w });
    auto bad = encode(scripted_peer::data(0));
    bad[16] ^= 1;
    p.receive_octets(bad);
    EXPECT_FALSE(p.wait(5));
    EXPECT_EQ(p.n.stats().warnings_received, 1u);
    EXPECT_EQ(p.n.stats().d_pdus_for_others, 1u);
}

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

TEST(arq_exchange, acknowledges_gaps)
{
    scripted_peer p;
    p.make_link();
    p.receive({ scripted_peer::data(0),
                scripted_peer::data(1),
                scripted_peer::data(3),
                scripted_peer::data(4),
                scripted_peer::data(5) });
    const auto d = p.transmission();
    ASSERT_FALSE(d.empty());
    EXPECT_EQ(d[0].type, t::ack_only);
    EXPECT_EQ(d[0].ack.rx_lwe, 2);
    EXPECT_EQ(d[0].ack.selective, std::vector<uint8_t>{ 0x07 });
    for (const auto& q : d) {
        EXPECT_EQ(q.ack.rx_lwe, 2);
    }
}

TEST(arq_exchange, damaged_segment_is_not_acknowledged_but_dropped_one_is)
{
    scripted_peer p;
    p.make_link();
    auto bad = encode(scripted_peer::data(0));
    bad.back() ^= 1;
    p.receive_octets(bad);
    auto d = p.transmission();
    ASSERT_FALSE(d.empty());
    EXPECT_EQ(d[0].ack.rx_lwe, 0);
    EXPECT_TRUE(d[0].ack.selective.empty());
    auto drop = scripted_peer::data(0);
    drop.arq.drop = true;
    bad = encode(drop);
    bad.back() ^= 1;
    p.receive_octets(bad);
    d = p.transmission();
    ASSERT_FALSE(d.empty());
    EXPECT_EQ(d[0].ack.rx_lwe, 1);
}

TEST(arq_exchange, duplicates_are_acknowledged_and_delivered_once)
{
    scripted_peer p;
    p.bind(1, 3);
    p.make_link();
    p.receive({ scripted_peer::data(0), scripted_peer::data(0) });
    EXPECT_TRUE(p.answer<s_unidata_indication>());
    p.transmission();
    p.receive({ scripted_peer::data(0) });
    EXPECT_TRUE(p.primitives().empty());
    const auto d = p.transmission();
    ASSERT_FALSE(d.empty());
    EXPECT_EQ(d[0].ack.rx_lwe, 1);
    EXPECT_EQ(p.n.stats().d_pdus_duplicate, 3u); // one of them made the link
}

TEST(arq_exchange, segments_flags_and_eot)
{
    scripted_peer p(segments_of(200));
    p.bind(1, 3);
    p.make_link();
    p.submit(1, 2048, confirmed());
    const auto d = of_type(p.transmission(), t::data_only);
    ASSERT_GE(d.size(), 11u); // 2052 octets
    for (size_t i = 0; i < 11; ++i) {
        EXPECT_EQ(d[i].segment.size(), i < 10 ? 200u : 52u);
        EXPECT_EQ(d[i].arq.start, i == 0);
        EXPECT_EQ(d[i].arq.end, i == 10);
        EXPECT_EQ(d[i].arq.fsn, i);
        EXPECT_EQ(d[i].arq.uwe, true); // each is the last new one when it goes out
        EXPECT_EQ(d[i].arq.lwe, i == 0);
        EXPECT_LE(d[i].eot, i ? d[i - 1].eot : 255);
    }
    EXPECT_EQ(d[0].eot, std::ceil(2 * to_seconds(p.air_time) - 1e-9));
    // Only what is missing is repeated, with the flags as they are now.
    p.receive(
        { scripted_peer::ack(3, { 0xbe, 0x00 }) }); // has 5 to 9 and 11: out of sync
    EXPECT_EQ(p.n.stats().out_of_sync, 1u);
}

TEST(arq_exchange, repeats_only_what_is_missing)
{
    scripted_peer p(segments_of(200));
    p.bind(1, 3);
    p.make_link();
    p.submit(1, 2048, confirmed());
    p.transmission();
    p.receive({ scripted_peer::ack(3, { 0x7e }) }); // 3 and 4 are missing, 5 to 10 there
    const auto d = of_type(p.transmission(), t::data_only);
    std::set<int> numbers;
    for (const auto& q : d) {
        numbers.insert(q.arq.fsn);
        EXPECT_EQ(q.arq.lwe, q.arq.fsn == 3);
        EXPECT_FALSE(q.arq.uwe);
    }
    EXPECT_EQ(numbers, (std::set<int>{ 3, 4 }));
    EXPECT_TRUE(p.primitives().empty());
    p.receive({ scripted_peer::ack(11) });
    EXPECT_TRUE(p.answer<s_unidata_request_confirm>());
    EXPECT_FALSE(p.wait(5));
}

TEST(arq_exchange, window_and_numbers_wrap)
{
    auto c = segments_of(50);
    c.window = 100;
    scripted_peer p(c);
    p.bind(1, 3);
    p.make_link();
    for (int i = 0; i < 40; ++i) {
        p.submit(1, 496, confirmed()); // 10 segments each
    }
    unsigned next = 0;
    while (next < 400) {
        const auto list = p.transmission();
        std::set<int> numbers;
        for (const auto& q : list) {
            if (q.type == t::data_only) {
                numbers.insert(q.arq.fsn);
            }
        }
        ASSERT_FALSE(numbers.empty());
        ASSERT_LE(numbers.size(), 100u);
        for (size_t i = 0; i < numbers.size(); ++i) {
            EXPECT_TRUE(numbers.count((next + i) % 256));
        }
        next += static_cast<unsigned>(numbers.size());
        p.receive({ scripted_peer::ack(static_cast<uint8_t>(next)) });
    }
    EXPECT_EQ(next, 400u);
    EXPECT_EQ(p.primitives().size(), 40u);
}

TEST(arq_exchange, own_data_carry_the_acknowledgement)
{
    scripted_peer p;
    p.bind(1, 3);
    p.make_link();
    p.submit(1, 20);
    p.receive({ scripted_peer::data(0) });
    const auto d = p.transmission();
    ASSERT_FALSE(d.empty());
    EXPECT_EQ(d[0].type, t::data_ack);
    EXPECT_EQ(d[0].ack.rx_lwe, 1);
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

TEST(turns, silent_until_the_heard_eot_when_the_end_was_lost)
{
    scripted_peer p;
    p.make_link();
    auto d = scripted_peer::data(0);
    d.eot = 20;
    const sim_time heard = p.now + std::chrono::milliseconds(600);
    p.receive({ d }, rx_end_reason::lost);
    ASSERT_TRUE(p.wait(30));
    EXPECT_GE(to_seconds(p.now - heard), 9.0);
    EXPECT_LE(to_seconds(p.now - heard), 10.3);
}

TEST(turns, other_stations_traffic_is_waited_for)
{
    scripted_peer p;
    p.bind(1, 3);
    auto d = scripted_peer::data(0);
    d.dst = address("1.3.0.0");
    p.submit(1, 100);
    p.receive({ d });
    const sim_time heard = p.now;
    ASSERT_TRUE(p.wait(10));
    // The station addressed may answer first: two turnarounds, its preamble.
    EXPECT_GE(to_seconds(p.now - heard), 0.2 + 0.6);
}

TEST(resets, full_reset)
{
    scripted_peer p;
    p.bind(1, 3);
    p.make_link();
    p.receive({ scripted_peer::data(0) });
    p.transmission();
    auto r = scripted_peer::from_peer(t::reset);
    r.reset.full = true;
    r.reset.frame_id = 7;
    p.receive({ r, r });
    auto d = of_type(p.transmission(), t::reset);
    ASSERT_FALSE(d.empty());
    EXPECT_TRUE(d[0].reset.ack);
    EXPECT_EQ(d[0].reset.frame_id, 0);
    EXPECT_EQ(d[0].reset.new_rx_lwe, 0);
    p.primitives();
    p.receive({ scripted_peer::data(0) }); // is new again
    EXPECT_TRUE(p.answer<s_unidata_indication>());
    p.transmission();
    p.receive({ r }); // a repeat: answered, not acted upon
    EXPECT_FALSE(of_type(p.transmission(), t::reset).empty());
    p.receive({ scripted_peer::data(0) });
    EXPECT_TRUE(p.primitives().empty());
}

TEST(resets, windows_can_be_moved)
{
    scripted_peer p;
    p.bind(1, 3);
    p.make_link();
    p.submit(1, 20);
    p.transmission();
    p.receive({ scripted_peer::ack(1) });
    auto r = scripted_peer::from_peer(t::reset);
    r.reset.tx_rqst = true;
    r.reset.frame_id = 2;
    p.receive({ r });
    auto d = of_type(p.transmission(), t::reset);
    ASSERT_FALSE(d.empty());
    EXPECT_TRUE(d[0].reset.rx_cmnd);
    EXPECT_EQ(d[0].reset.new_rx_lwe, 1);
    r = scripted_peer::from_peer(t::reset);
    r.reset.ack = true;
    r.reset.frame_id = d[0].reset.frame_id;
    p.receive({ r });
    r = scripted_peer::from_peer(t::reset);
    r.reset.rx_cmnd = true;
    r.reset.new_rx_lwe = 33;
    r.reset.frame_id = 3;
    p.receive({ r });
    d = of_type(p.transmission(), t::reset);
    ASSERT_FALSE(d.empty());
    EXPECT_TRUE(d[0].reset.ack);
    EXPECT_EQ(d[0].reset.frame_id, 3);
    p.receive({ scripted_peer::data(33) });
    EXPECT_TRUE(p.answer<s_unidata_indication>());
}

TEST(resets, out_of_sync_leads_to_one_and_data_flow_again)
{
    scripted_peer p;
    p.bind(1, 3);
    p.make_link();
    auto far = scripted_peer::data(10);
    far.arq.lwe = true; // but 0 to 9 have not been received
    p.receive({ far });
    EXPECT_EQ(p.n.stats().out_of_sync, 1u);
    auto d = of_type(p.transmission(), t::reset);
    ASSERT_FALSE(d.empty());
    EXPECT_TRUE(d[0].reset.tx_rqst);
    auto r = scripted_peer::from_peer(t::reset);
    r.reset.rx_cmnd = true;
    r.reset.new_rx_lwe = 10;
    r.reset.frame_id = 1;
    p.receive({ r });
    d = of_type(p.transmission(), t::reset);
    ASSERT_FALSE(d.empty());
    EXPECT_TRUE(d[0].reset.ack);
    p.receive({ far });
    EXPECT_TRUE(p.answer<s_unidata_indication>());
}

TEST(non_arq, segments_windows_and_copies)
{
    scripted_peer p(segments_of(200));
    p.bind(1, 3);
    s_unidata_request r;
    r.dst = address::broadcast();
    r.dst_sap = 3;
    r.mode.mode = transmission_mode::non_arq;
    r.mode.retransmissions = 1;
    r.u_pdu.resize(2048);
    p.send(1, r);
    const auto d = p.transmission();
    ASSERT_EQ(d.size(), 22u);
    for (size_t i = 0; i < d.size(); ++i) {
        EXPECT_EQ(d[i].type, t::non_arq_data);
        EXPECT_TRUE(d[i].non_arq.group);
        EXPECT_EQ(d[i].dst, address::broadcast());
        EXPECT_EQ(d[i].non_arq.offset, 200 * (i % 11));
        EXPECT_EQ(d[i].non_arq.c_pdu_size, 2052);
        EXPECT_EQ(d[i].non_arq.c_pdu_id, d[0].non_arq.c_pdu_id);
        EXPECT_GE(d[i].non_arq.window, d[i].eot);
        EXPECT_LE(d[i].non_arq.window, d[0].non_arq.window);
    }
    EXPECT_FALSE(p.wait(100));
}

TEST(non_arq, with_errors_lists_what_is_damaged_and_missing)
{
    scripted_peer p;
    s_bind_request b;
    b.sap = 3;
    b.service.mode = transmission_mode::non_arq_with_errors;
    p.send(1, b);
    p.primitives();
    s_pdu s;
    s.src_sap = s.dst_sap = 3;
    s.u_pdu.assign(96, 7);
    const auto c = encode(c_pdu{ c_pdu_type::data, 0, encode(s) }); // 100 octets
    std::vector<uint8_t> air;
    for (const size_t offset : { 0, 25, 75 }) { // 50 to 75 is missing
        auto d = scripted_peer::from_peer(t::non_arq_data);
        d.non_arq.c_pdu_id = 9;
        d.non_arq.c_pdu_size = 100;
        d.non_arq.offset = static_cast<uint16_t>(offset);
        d.non_arq.window = 4;
        d.segment.assign(c.begin() + static_cast<long>(offset),
                         c.begin() + static_cast<long>(offset + 25));
        auto v = encode(d);
        v[v.size() - 5] ^= offset == 25 ? 0xff : 0;
        air.insert(air.end(), v.begin(), v.end());
    }
    p.receive_octets(air);
    EXPECT_TRUE(p.primitives().empty());
    EXPECT_FALSE(p.wait(6));
    const auto i = p.answer<s_unidata_indication>();
    ASSERT_TRUE(i);
    using list = std::vector<std::pair<uint16_t, uint16_t>>;
    EXPECT_EQ(i->mode, transmission_mode::non_arq_with_errors);
    EXPECT_EQ(i->errored, (list{ { 21, 25 } }));
    EXPECT_EQ(i->missing, (list{ { 46, 25 } }));
    EXPECT_EQ(i->u_pdu.size(), 96u);
}

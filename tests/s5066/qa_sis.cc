/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// What clients see: binding, rejections, flow control, keep-alive.
#include "scripted_peer.h"

#include <gtest/gtest.h>

using namespace gr::hf;
using namespace gr::hf::s5066;

namespace {

s_bind_request bind_to(uint8_t sap, transmission_mode m = transmission_mode::arq)
{
    s_bind_request r;
    r.sap = sap;
    r.service.mode = m;
    return r;
}

} // namespace

TEST(bind, accepted_refused_and_free_again)
{
    scripted_peer p;
    p.send(1, bind_to(9));
    const auto a = p.answer<s_bind_accepted>();
    ASSERT_TRUE(a);
    EXPECT_EQ(a->sap, 9);
    EXPECT_EQ(a->mtu, 2048);
    p.send(2, bind_to(9));
    EXPECT_EQ(p.answer<s_bind_rejected>()->reason, 3);
    p.send(2, bind_to(10, transmission_mode::default_));
    EXPECT_TRUE(p.answer<s_bind_rejected>());
    p.send(1, bind_to(11)); // a second SAP on one connection
    EXPECT_TRUE(p.answer<s_bind_rejected>());
    p.send(1, s_unbind_request{});
    EXPECT_TRUE(p.primitives().empty());
    p.send(2, bind_to(9));
    EXPECT_TRUE(p.answer<s_bind_accepted>());
    p.n.client_gone(p.now, 2);
    p.send(3, bind_to(9));
    EXPECT_TRUE(p.answer<s_bind_accepted>());
    EXPECT_EQ(p.n.state().clients, 1u);
}

TEST(bind, all_sixteen_saps)
{
    scripted_peer p;
    for (uint8_t sap = 0; sap < 16; ++sap) {
        p.send(100 + sap, bind_to(sap));
        EXPECT_TRUE(p.answer<s_bind_accepted>()) << int(sap);
    }
}

TEST(unidata, refused_with_the_reason)
{
    scripted_peer p;
    p.bind(1, 3);
    p.submit(1, 2049);
    auto r = p.answer<s_unidata_request_rejected>();
    ASSERT_TRUE(r);
    EXPECT_EQ(r->reason, 4);
    EXPECT_EQ(r->u_pdu.size(), 2049u);
    s_unidata_request q;
    q.dst = address::broadcast();
    q.mode.mode = transmission_mode::arq;
    p.send(1, q);
    r = p.answer<s_unidata_request_rejected>();
    ASSERT_TRUE(r);
    EXPECT_EQ(r->reason, 5);
    q.expedited = true;
    p.send(1, q);
    r = p.answer<s_unidata_request_rejected>();
    ASSERT_TRUE(r);
    EXPECT_TRUE(r->expedited);
    EXPECT_EQ(r->reason, 5);
    EXPECT_FALSE(p.wait(3));
    p.submit(1, 2048);
    EXPECT_TRUE(p.primitives().empty());
    EXPECT_TRUE(p.wait(3));
}

TEST(unidata, default_mode_takes_the_service_of_the_bind)
{
    scripted_peer p;
    p.send(1, bind_to(3, transmission_mode::non_arq));
    p.primitives();
    delivery_mode m;
    m.mode = transmission_mode::default_;
    p.submit(1, 10, m);
    const auto d = p.transmission();
    ASSERT_FALSE(d.empty());
    EXPECT_EQ(d[0].type, d_pdu_type::non_arq_data);
}

TEST(unidata, to_the_own_address)
{
    scripted_peer p;
    p.bind(1, 3);
    p.bind(2, 4);
    s_unidata_request q;
    q.dst = address("1.1.0.0");
    q.dst_sap = 4;
    q.mode.confirmation = delivery_confirmation::client;
    q.u_pdu = { 1, 2, 3 };
    p.send(1, q);
    auto list = p.primitives();
    ASSERT_EQ(list.size(), 2u);
    EXPECT_EQ(list[0].first, 2u);
    EXPECT_EQ(std::get<s_unidata_indication>(list[0].second).u_pdu, q.u_pdu);
    EXPECT_EQ(list[1].first, 1u);
    EXPECT_TRUE(std::holds_alternative<s_unidata_request_confirm>(list[1].second));
    q.dst_sap = 5;
    p.send(1, q);
    EXPECT_EQ(p.answer<s_unidata_request_rejected>()->reason, 2);
    EXPECT_FALSE(p.wait(2));
}

TEST(unidata, client_confirmation_and_failure)
{
    scripted_peer p;
    p.bind(1, 3);
    delivery_mode m;
    m.confirmation = delivery_confirmation::client;
    p.submit(1, 50, m);
    p.submit(1, 60, m);
    const auto d = p.transmission();
    ASSERT_GE(d.size(), 3u);
    EXPECT_EQ(d[1].segment[3], 0x80); // confirmation required
    // Both accepted, one confirmed, for the other nobody was there.
    std::vector<d_pdu> list = { scripted_peer::link(c_pdu_type::link_accepted),
                                scripted_peer::ack(2) };
    for (uint8_t i = 0; i < 2; ++i) {
        s_pdu s;
        s.type = i ? s_pdu_type::delivery_fail : s_pdu_type::delivery_confirm;
        s.low = i;
        s.src_sap = s.dst_sap = 3;
        s.u_pdu.assign(i ? 60 : 50, 0);
        auto q = scripted_peer::data(i);
        q.segment = encode(c_pdu{ c_pdu_type::data, 0, encode(s) });
        list.push_back(q);
    }
    p.receive(list);
    const auto got = p.primitives();
    ASSERT_EQ(got.size(), 2u);
    EXPECT_EQ(std::get<s_unidata_request_confirm>(got[0].second).u_pdu.size(), 50u);
    EXPECT_EQ(std::get<s_unidata_request_rejected>(got[1].second).reason, 2);
}

TEST(unidata, unbound_sap_draws_a_delivery_failure)
{
    scripted_peer p;
    p.make_link();
    auto d = scripted_peer::data(0);
    d.segment[3] |= 0x80;
    p.receive({ d });
    const auto list = p.transmission();
    ASSERT_FALSE(list.empty());
    EXPECT_EQ(list[0].type, d_pdu_type::data_ack);
    EXPECT_EQ(list[0].segment[1], 0x21); // DATA DELIVERY FAIL, reason 1
    EXPECT_EQ(list[0].segment[2], 0x33);
}

TEST(flow, off_at_the_high_mark_and_on_again)
{
    node_config c;
    c.mode = "4539-2400S";
    c.queue_octets = 40000;
    scripted_peer p(c);
    p.bind(1, 3);
    int sent = 0;
    bool off = false;
    while (!off && sent < 100) {
        p.submit(1, 2000);
        ++sent;
        for (const auto& q : p.primitives()) {
            off = off || std::holds_alternative<s_data_flow_off>(q.second);
        }
    }
    EXPECT_EQ(sent, 20); // 20 C_PDUs of 2004 octets
    EXPECT_FALSE(p.n.state().flow_on);
    ASSERT_FALSE(p.transmission().empty());
    const auto got = p.primitives();
    ASSERT_FALSE(got.empty());
    EXPECT_TRUE(std::holds_alternative<s_data_flow_on>(got[0].second));
}

TEST(flow, memory_is_bounded_against_deaf_clients)
{
    node_config c;
    c.queue_octets = 40000;
    scripted_peer p(c);
    p.bind(1, 3);
    for (int i = 0; i < 2000; ++i) {
        p.submit(1, 2000);
    }
    EXPECT_LE(p.n.state().queued_octets, 40000u + (256u << 10) + 2004);
    EXPECT_GT(p.n.stats().u_pdus_overflowed, 1000u);
}

TEST(keep_alive, answered_and_asked)
{
    node_config c;
    c.keep_alive_s = 120;
    scripted_peer p(c);
    p.bind(1, 3);
    p.send(1, s_keep_alive{});
    EXPECT_TRUE(p.answer<s_keep_alive>());
    p.wait(121);
    EXPECT_TRUE(p.answer<s_keep_alive>());
    p.send(1, s_keep_alive{}); // the answer is not answered
    EXPECT_TRUE(p.primitives().empty());
    p.wait(122);
    EXPECT_TRUE(p.answer<s_keep_alive>());
    p.wait(12);
    EXPECT_EQ(p.answer<s_unbind_indication>()->reason, 2);
    EXPECT_EQ(p.n.state().clients, 0u);
}

TEST(invalid, too_many_unbind_the_client)
{
    scripted_peer p;
    p.bind(1, 3);
    for (int i = 0; i < 9; ++i) {
        p.n.sis_in(p.now, 1, { 0x90, 0xeb, 0, 0, 1, 99 });
    }
    EXPECT_TRUE(p.primitives().empty());
    p.n.sis_in(p.now, 1, { 1, 2, 3 });
    EXPECT_EQ(p.answer<s_unbind_indication>()->reason, 3);
    EXPECT_EQ(p.n.stats().invalid_primitives, 10u);
    p.bind(1, 3);
    EXPECT_EQ(p.n.state().clients, 1u);
}

TEST(invalid, management_needs_rank_15)
{
    scripted_peer p;
    p.bind(1, 3, 15);
    p.bind(2, 4, 14);
    p.send(1, s_management_msg_request{});
    EXPECT_EQ(p.n.stats().invalid_primitives, 0u);
    p.send(2, s_management_msg_request{});
    EXPECT_EQ(p.n.stats().invalid_primitives, 1u);
}

TEST(hard_links, are_answered_with_a_rejection)
{
    scripted_peer p;
    p.bind(1, 3);
    s_hard_link_establish h;
    h.link.type = 2;
    h.link.remote = address("1.2.0.0");
    p.send(1, h);
    const auto r = p.answer<s_hard_link_rejected>();
    ASSERT_TRUE(r);
    EXPECT_EQ(r->link.remote, h.link.remote);
    EXPECT_EQ(r->link.type, 2);
}

TEST(time_to_die, late_u_pdus_are_dropped)
{
    node_config c;
    c.utc_at_zero_s = 1704067200 - 10; // 2023-12-31 23:59:50
    scripted_peer p(c);
    p.bind(1, 3);
    p.make_link();
    const auto with = [](uint8_t fsn, uint8_t day, uint16_t half) {
        s_pdu s;
        s.src_sap = s.dst_sap = 3;
        s.ttd = time_to_die{ day, half };
        auto d = scripted_peer::data(fsn);
        d.segment = encode(c_pdu{ c_pdu_type::data, 0, encode(s) });
        return d;
    };
    // Day 365 = 13 modulo 16, day 1 of the next year.
    p.receive({ with(0, 13, 43199), with(1, 13, 43100), with(2, 1, 3) });
    EXPECT_EQ(p.primitives().size(), 2u);
    EXPECT_EQ(p.n.stats().u_pdus_expired, 1u);
}

TEST(configuration, bad_values_are_named)
{
    const auto message = [](auto change) {
        node_config c;
        change(c);
        try {
            node n(c);
        } catch (const std::invalid_argument& e) {
            return std::string(e.what());
        }
        return std::string();
    };
    EXPECT_NE(message([](node_config& c) { c.window = 129; }).find("window 129"),
              std::string::npos);
    EXPECT_NE(message([](node_config& c) { c.segment_octets = 1024; }).find("1023"),
              std::string::npos);
    EXPECT_NE(
        message([](node_config& c) { c.own = address::broadcast(); }).find("31.255"),
        std::string::npos);
    EXPECT_FALSE(message([](node_config& c) { c.mode = "4539-601S"; }).empty());
    EXPECT_FALSE(message([](node_config& c) { c.ack_mode = "fast"; }).empty());
    EXPECT_FALSE(message([](node_config& c) { c.turnaround_s = -1; }).empty());
    EXPECT_TRUE(message([](node_config&) {}).empty());
}

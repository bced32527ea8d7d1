/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// docs/conformance.md, section 10: S_primitives (A.2), other effects that clients see.
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

TEST(Conformance, Row10_02_BindAcceptedRefusedAndFreeAgain)
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

TEST(Conformance, Row10_02_AllSixteenSaps)
{
    scripted_peer p;
    for (uint8_t sap = 0; sap < 16; ++sap) {
        p.send(100 + sap, bind_to(sap));
        EXPECT_TRUE(p.answer<s_bind_accepted>()) << int(sap);
    }
}

TEST(Conformance, Row10_03_TooLongAndImpossibleAreRejected)
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

TEST(Conformance, Row10_04_DefaultModeTakesTheServiceOfTheBind)
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

TEST(Conformance, Row10_06_FlowOffAtTheHighMarkAndOnAgain)
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

TEST(Conformance, Row10_06_NoClientIsStoppedByWhatAnotherHasQueued)
{
    node_config c;
    c.queue_octets = 40000;
    scripted_peer p(c);
    p.bind(1, 3);
    p.bind(2, 4);
    p.primitives();
    for (int i = 0; i < 100; ++i) {
        p.submit(1, 2000); // despite S_DATA_FLOW_OFF
    }
    const auto told = p.primitives();
    ASSERT_EQ(told.size(), 1u);
    EXPECT_EQ(told[0].first, 1u);
    EXPECT_TRUE(std::holds_alternative<s_data_flow_off>(told[0].second));
    p.bind(3, 5); // a new one is not stopped either
    EXPECT_TRUE(p.primitives().empty());
    // Each has its share: a third of the mark if three have data waiting.
    p.submit(3, 100);
    int taken = 0;
    while (p.primitives().empty() && taken < 100) {
        p.submit(2, 2000);
        ++taken;
    }
    EXPECT_EQ(taken, 7); // 7 C_PDUs of 2004 octets
    // A client that reconnects inherits the backlog of its SAP.
    p.n.client_gone(p.now, 1);
    p.send(6, s_bind_request{ 3, 0, {} });
    const auto again = p.primitives();
    ASSERT_EQ(again.size(), 2u);
    EXPECT_TRUE(std::holds_alternative<s_bind_accepted>(again[0].second));
    EXPECT_TRUE(std::holds_alternative<s_data_flow_off>(again[1].second));
}

TEST(queues, are_shown_by_priority_with_the_age_of_the_oldest)
{
    scripted_peer p;
    p.bind(1, 3);
    p.n.set_emcon(p.now, true); // nothing goes out
    s_unidata_request r;
    r.dst = address("1.2.0.0");
    r.u_pdu.resize(500);
    const auto begin = p.now;
    for (const uint8_t priority : { 2, 7, 2 }) {
        r.priority = priority;
        p.send(1, r);
        p.now += from_seconds(3);
    }
    const auto queues = p.n.state().queues;
    EXPECT_EQ(queues.of(2).c_pdus, 2u);
    EXPECT_EQ(queues.of(2).octets, 2 * 504u);
    EXPECT_EQ(queues.of(2).oldest_at, begin);
    EXPECT_EQ(queues.of(7).c_pdus, 1u);
    EXPECT_EQ(queues.of(7).oldest_at, begin + from_seconds(3));
    EXPECT_EQ(queues.of(0).c_pdus, 0u);
}

// Between the marks nothing changes: a client does not get OFF and ON for every U_PDU.
TEST(Conformance, Row10_06_FlowOnOnlyBelowTheLowMark)
{
    node_config c;
    c.queue_octets = 40000; // the low mark is a sixth below
    scripted_peer p(c);
    p.bind(1, 3);
    p.n.set_emcon(p.now, true); // nothing goes out, only time passes
    p.primitives();
    s_unidata_request r;
    r.dst = address("1.2.0.0");
    r.u_pdu.resize(2000);
    for (int k = 0; k < 20; ++k) {
        r.ttl = k < 2 ? 1 : k < 4 ? 10 : 0;
        p.send(1, r);
    }
    EXPECT_TRUE(p.answer<s_data_flow_off>());
    p.now += from_seconds(5); // two have expired: 36072 octets of C_PDUs are left
    p.n.on_tick(p.now);
    EXPECT_EQ(p.n.state().queued_octets, 18 * 2004u);
    EXPECT_TRUE(p.primitives().empty());
    EXPECT_FALSE(p.n.state().flow_on);
    p.send(1, r); // despite that: no second OFF
    EXPECT_TRUE(p.primitives().empty());
    p.now += from_seconds(20); // two more: 34068, still above
    p.n.on_tick(p.now);
    EXPECT_TRUE(p.primitives().empty());
    p.n.set_emcon(p.now, false);
    p.primitives();
    ASSERT_FALSE(p.transmission(30).empty());
    EXPECT_TRUE(p.n.state().flow_on);
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

TEST(Conformance, Row10_05_KeepAliveAnsweredAndAsked)
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

// Some clients answer every S_KEEP_ALIVE, even an answer: A.2.1.17, shall (1) and (3).
TEST(clients, that_bind_again_owe_no_answer_from_before)
{
    node_config c;
    c.keep_alive_s = 300;
    scripted_peer p(c);
    p.bind(1, 3);
    p.wait(300);
    ASSERT_TRUE(p.answer<s_keep_alive>());
    p.send(1, s_unbind_request{});
    p.bind(1, 3);
    p.wait(299);
    EXPECT_TRUE(p.primitives().empty()) << "neither asked nor unbound";
    p.wait(2);
    EXPECT_TRUE(p.answer<s_keep_alive>());
}

TEST(Conformance, Row10_05_UnaskedKeepAliveIsAnsweredOnceIn120s)
{
    scripted_peer p;
    p.bind(1, 3);
    p.bind(2, 4);
    p.send(1, s_keep_alive{});
    EXPECT_TRUE(p.answer<s_keep_alive>());
    for (int k = 0; k < 1000; ++k) {
        p.send(1, s_keep_alive{});
        p.now += std::chrono::milliseconds(100);
    }
    EXPECT_TRUE(p.primitives().empty());
    p.send(2, s_keep_alive{}); // to another destination
    EXPECT_TRUE(p.answer<s_keep_alive>());
    p.now = from_seconds(119.9);
    p.send(1, s_keep_alive{});
    EXPECT_TRUE(p.primitives().empty());
    p.now = from_seconds(120);
    p.send(1, s_keep_alive{});
    EXPECT_TRUE(p.answer<s_keep_alive>());
}

TEST(Conformance, Row10_05_NoAnswerSoonAfterAsking)
{
    node_config c;
    c.keep_alive_s = 120;
    scripted_peer p(c);
    p.bind(1, 3);
    p.wait(121);
    EXPECT_TRUE(p.answer<s_keep_alive>());
    p.send(1, s_keep_alive{});
    p.send(1, s_keep_alive{}); // one more, unasked
    EXPECT_TRUE(p.primitives().empty());
}

TEST(Conformance, Row10_09_TooManyInvalidUnbindTheClient)
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

TEST(Conformance, Row10_07_ManagementNeedsRank15)
{
    scripted_peer p;
    p.bind(1, 3, 15);
    p.bind(2, 4, 14);
    p.send(1, s_management_msg_request{});
    EXPECT_EQ(p.n.stats().invalid_primitives, 0u);
    p.send(2, s_management_msg_request{});
    EXPECT_EQ(p.n.stats().invalid_primitives, 1u);
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

TEST(Conformance, Row2_06_TooManyExpeditedUnbindTheClient)
{
    node_config c;
    c.client_expedited = 3;
    scripted_peer p(c);
    p.bind(1, 3);
    s_unidata_request r;
    r.dst = address("1.2.0.0");
    r.expedited = true;
    for (int k = 0; k < 3; ++k)
        p.send(1, r);
    EXPECT_TRUE(p.primitives().empty());
    p.send(1, r);
    EXPECT_EQ(p.answer<s_unbind_indication>()->reason, 4);
    EXPECT_EQ(p.n.state().clients, 0u);
    // Flow control by rate, although each is delivered at once, to our own node.
    c.client_expedited_per_minute = 6;
    scripted_peer q(c);
    q.bind(1, 3);
    r.dst = address("1.1.0.0");
    r.dst_sap = 3;
    for (int k = 0; k < 6; ++k) {
        q.send(1, r);
        EXPECT_TRUE(q.answer<s_unidata_indication>());
    }
    q.now += std::chrono::seconds(10); // one more every tenth of a minute
    q.send(1, r);
    EXPECT_TRUE(q.answer<s_unidata_indication>());
    q.send(1, r);
    EXPECT_EQ(q.answer<s_unbind_indication>()->reason, 4);
}

TEST(Conformance, Row10_02_HigherRankDisplacesTheLowest)
{
    node_config c;
    c.max_bound = 2;
    scripted_peer p(c);
    p.bind(1, 3, 5);
    p.bind(2, 4, 4);
    auto r = bind_to(5);
    r.rank = 4;
    p.send(3, r);
    EXPECT_EQ(p.answer<s_bind_rejected>()->reason, 1);
    r.rank = 6;
    p.send(3, r);
    const auto got = p.primitives();
    ASSERT_EQ(got.size(), 2u);
    EXPECT_EQ(got[0].first, 2u);
    EXPECT_EQ(std::get<s_unbind_indication>(got[0].second).reason, 1);
    EXPECT_TRUE(std::holds_alternative<s_bind_accepted>(got[1].second));
}

// Connections and SAPs are two limits; neither keeps a higher rank out.
TEST(Conformance, Row10_02_ClientsBeyondTheLimit)
{
    node_config c;
    c.max_clients = 3;
    scripted_peer p(c);
    for (client_id k = 1; k <= 3; ++k)
        p.bind(k, uint8_t(k), 2);
    auto r = bind_to(9);
    r.rank = 2;
    p.send(4, r);
    EXPECT_EQ(p.answer<s_bind_rejected>()->reason, 1);
    EXPECT_EQ(p.n.state().clients, 3u);
    r.rank = 15;
    p.send(4, r);
    const auto got = p.primitives();
    ASSERT_EQ(got.size(), 2u);
    EXPECT_EQ(std::get<s_unbind_indication>(got[0].second).reason, 1);
    EXPECT_EQ(got[1].first, 4u);
    EXPECT_TRUE(std::holds_alternative<s_bind_accepted>(got[1].second));
    EXPECT_EQ(p.n.state().clients, 3u);
    p.n.client_gone(p.now, 4);
    r.rank = 0;
    p.send(5, r);
    EXPECT_TRUE(p.answer<s_bind_accepted>());
}

TEST(Conformance, Row10_02_WhereAllSapsAreTakenAHigherRankTakesOne)
{
    scripted_peer p;
    for (uint8_t sap = 0; sap < 16; ++sap)
        p.bind(100 + sap, sap, sap == 4 ? 15 : 3);
    auto r = bind_to(0);
    r.rank = 3;
    p.send(1, r);
    EXPECT_EQ(p.answer<s_bind_rejected>()->reason, 3);
    r.rank = 15;
    p.send(1, r);
    const auto got = p.primitives();
    ASSERT_EQ(got.size(), 2u);
    EXPECT_EQ(got[0].first, 100u);
    EXPECT_EQ(std::get<s_unbind_indication>(got[0].second).reason, 1);
    EXPECT_TRUE(std::holds_alternative<s_bind_accepted>(got[1].second));
    r.sap = 4; // of the same rank
    p.send(2, r);
    EXPECT_EQ(p.answer<s_bind_rejected>()->reason, 3);
    p.n.client_gone(p.now, 108);
    r.sap = 5; // a SAP in use stays in use while another one is free
    p.send(2, r);
    EXPECT_EQ(p.answer<s_bind_rejected>()->reason, 3);
}

TEST(Conformance, Row10_02_WhoIsNotBoundKeepsNobodyOut)
{
    node_config c;
    c.max_clients = 3;
    scripted_peer p(c);
    p.bind(100, 1);
    for (client_id k = 1; k <= 50; ++k)
        p.send(k, s_keep_alive{});
    p.primitives();
    p.send(60, bind_to(9));
    EXPECT_TRUE(p.answer<s_bind_accepted>());
    EXPECT_EQ(p.n.state().clients, 2u);
    p.send(100, s_unidata_request{}); // still bound
    EXPECT_EQ(p.n.stats().invalid_primitives, 0u);
}

TEST(Conformance, Row10_04_OtherModesOverrideTheBind)
{
    scripted_peer p;
    p.bind(1, 3); // ARQ
    delivery_mode m;
    m.mode = transmission_mode::non_arq;
    p.submit(1, 10, m);
    const auto d = p.transmission();
    ASSERT_FALSE(d.empty());
    EXPECT_EQ(d[0].type, d_pdu_type::non_arq_data);
}

TEST(Conformance, Row10_05_KeepAlivesAreNotSentOftener)
{
    node_config c;
    c.keep_alive_s = 5; // treated as 120
    scripted_peer p(c);
    p.bind(1, 3);
    p.wait(119);
    EXPECT_TRUE(p.primitives().empty());
    p.wait(3);
    EXPECT_TRUE(p.answer<s_keep_alive>());
}

TEST(Conformance, Row10_09_AnythingThatIsNoPrimitiveIsCounted)
{
    const std::vector<std::vector<uint8_t>> bad = {
        { 0x90, 0xec, 0, 0, 1, 17 },                     // preamble
        { 0x90, 0xeb, 1, 0, 1, 17 },                     // version
        { 0x90, 0xeb, 0, 0xff, 0xff, 17 },               // size
        { 0x90, 0xeb, 0, 0, 1, 28 },                     // type
        { 0x90, 0xeb, 0, 0, 2, 17, 0 },                  // longer than it is
        { 0x90, 0xeb, 0 },                               // cut off
        encode(s_bind_accepted{}),                       // wrong direction
        encode(s_hard_link_accept{}),                    // without an indication
        encode(s_management_msg_request{ 1, { 1, 2 } }), // without the rank
    };
    node_config c;
    c.max_invalid_primitives = static_cast<unsigned>(bad.size());
    scripted_peer p(c);
    p.bind(1, 3);
    for (size_t k = 0; k < bad.size(); ++k) {
        EXPECT_TRUE(p.primitives().empty()) << k;
        p.n.sis_in(p.now, 1, bad[k]);
    }
    EXPECT_EQ(p.n.stats().invalid_primitives, bad.size());
    EXPECT_EQ(p.answer<s_unbind_indication>()->reason, 3);
}

TEST(Conformance, Row10_10_BroadcastSessionIsWithoutArq)
{
    scripted_peer p;
    p.bind(1, 3);
    p.send(2, bind_to(4, transmission_mode::non_arq));
    p.make_link();
    p.primitives();
    p.n.set_broadcast(p.now, true);
    const auto got = p.primitives();
    ASSERT_EQ(got.size(), 1u);
    EXPECT_EQ(got[0].first, 1u);
    EXPECT_EQ(std::get<s_unbind_indication>(got[0].second).reason, 5);
    p.send(1, bind_to(3));
    EXPECT_EQ(p.answer<s_bind_rejected>()->reason, 4);
    p.submit(2, 10); // ARQ, despite the bind
    EXPECT_EQ(p.answer<s_unidata_request_rejected>()->reason, 5);
    const auto d = of_type(p.transmission(), d_pdu_type::expedited_non_arq_data);
    ASSERT_FALSE(d.empty());
    EXPECT_EQ(d[0].segment, std::vector<uint8_t>{ 0x42 }); // switching to broadcast
    p.n.set_broadcast(p.now, false);
    p.send(1, bind_to(3));
    EXPECT_TRUE(p.answer<s_bind_accepted>());
}

TEST(Conformance, Row10_10_BroadcastOnlyNode)
{
    node_config c;
    c.broadcast_only = true;
    c.mtu = 4096;
    scripted_peer p(c);
    p.send(1, bind_to(3));
    EXPECT_EQ(p.answer<s_bind_rejected>()->reason, 4);
    p.send(1, bind_to(3, transmission_mode::non_arq));
    EXPECT_EQ(p.answer<s_bind_accepted>()->mtu, 4096);
    c.broadcast_only = false;
    EXPECT_THROW(node{ c }, std::invalid_argument);
}

TEST(Conformance, Row10_11_TtlZeroOneAndLongest)
{
    node_config c;
    c.default_ttl_s = 20;
    c.link_tries = 100;
    scripted_peer p(c);
    p.bind(1, 3);
    p.n.set_emcon(p.now, true); // nothing goes out, only time passes
    p.primitives();
    s_unidata_request r;
    r.dst = address("1.2.0.0");
    r.mode.confirmation = delivery_confirmation::node;
    for (const uint32_t ttl : { 0u, 1u, sis_ttl_max }) {
        r.ttl = ttl;
        p.send(1, r);
    }
    const auto after = [&](double s) {
        p.now += from_seconds(s);
        p.n.on_tick(p.now);
        size_t n = 0;
        for (const auto& [client, q] : p.primitives()) {
            EXPECT_EQ(std::get<s_unidata_request_rejected>(q).reason, 1);
            ++n;
        }
        return n;
    };
    EXPECT_EQ(after(1.9), 0u);
    EXPECT_EQ(after(1.2), 1u); // 2 s
    EXPECT_EQ(after(16), 0u);
    EXPECT_EQ(after(2), 1u);       // the default maximum
    EXPECT_EQ(after(1295970), 0u); // 15 days, less half a minute
    EXPECT_EQ(after(60), 1u);
}

TEST(emcon, its_end_tells_full_duplex_where_it_is)
{
    node_config c;
    c.full_duplex = true;
    scripted_peer p(c);
    p.bind(1, 3);
    p.n.set_emcon(p.now, true);
    p.primitives();
    p.n.set_emcon(p.now, false);
    const auto a = p.answer<s_subnet_availability>();
    ASSERT_TRUE(a);
    EXPECT_EQ(a->status, uint8_t(node_status::full_duplex));
}

TEST(emcon, nothing_is_transmitted_and_clients_are_told)
{
    scripted_peer p;
    p.bind(1, 3);
    p.n.set_emcon(p.now, true);
    auto a = p.answer<s_subnet_availability>();
    ASSERT_TRUE(a);
    EXPECT_EQ(a->status, uint8_t(node_status::receive_only));
    EXPECT_EQ(a->reason, 1);
    p.submit(1, 10);
    p.receive({ scripted_peer::link(c_pdu_type::link_request), scripted_peer::data(0) });
    EXPECT_TRUE(p.answer<s_unidata_indication>());
    EXPECT_FALSE(p.wait(30));
    p.n.set_emcon(p.now, false);
    a = p.answer<s_subnet_availability>();
    ASSERT_TRUE(a);
    EXPECT_EQ(a->status, uint8_t(node_status::half_duplex));
    EXPECT_TRUE(p.wait(5));
}

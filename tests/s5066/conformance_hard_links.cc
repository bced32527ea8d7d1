/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// docs/conformance.md, section 9: hard links (A.3.2.2).
#include "hard_link_peer.h"

#include "sim/stations/station.h"

#include <gtest/gtest.h>

using namespace gr::hf;
using namespace gr::hf::s5066;
using t = d_pdu_type;
using T = s_pdu_type;
using s_pdus = hard_link_peer::s_pdus;

namespace {

hard_link link_to(uint8_t type, uint8_t priority = 0, uint8_t remote_sap = 0)
{
    return hard_link_peer::link_to(type, priority, remote_sap);
}

//! The only primitive of type P for client \p c; others are skipped.
template <class P>
std::optional<P> one(const std::vector<std::pair<client_id, s_primitive>>& list,
                     client_id c)
{
    std::optional<P> found;
    for (const auto& [who, what] : list)
        if (who == c && std::holds_alternative<P>(what)) {
            EXPECT_FALSE(found);
            found = std::get<P>(what);
        }
    return found;
}

s_unidata_request data_for(uint8_t dst_sap, const char* dst = "1.2.0.0")
{
    s_unidata_request r;
    r.dst = address(dst);
    r.dst_sap = dst_sap;
    r.u_pdu = { 1, 2, 3 };
    return r;
}

} // namespace

TEST(Conformance, Row9_08_TypeZeroCallingSide)
{
    hard_link_peer p;
    p.bind(1, 3, 5);
    p.call(1, link_to(0, 2));
    const auto d = p.transmission();
    const auto x = of_type(d, t::expedited_data_only);
    ASSERT_FALSE(x.empty());
    EXPECT_EQ(to_string(x[0].type), std::string("EXPEDITED-DATA-ONLY"));
    EXPECT_EQ(x[0].segment, (std::vector<uint8_t>{ 0x00, 0x32, 0x30 }));
    EXPECT_TRUE(p.primitives().empty());
    p.say(hard_link_peer::pdu(T::hard_link_confirm));
    const auto r = p.answer<s_hard_link_established>();
    ASSERT_TRUE(r);
    EXPECT_EQ(r->status, 1);
    EXPECT_EQ(r->link.type, 0);
    EXPECT_EQ(r->link.priority, 2);
    EXPECT_EQ(r->link.remote, address("1.2.0.0"));
    ASSERT_TRUE(p.n.state().hard_link);
}

TEST(Conformance, Row9_08_TypesZeroAndOneCalledSide)
{
    for (const uint8_t type : { 0, 1 }) {
        hard_link_peer p;
        p.bind(1, 3);
        p.called(type, 1, 7);
        EXPECT_TRUE(p.primitives().empty()); // its clients are not asked
        ASSERT_TRUE(p.n.state().hard_link);
        EXPECT_EQ(p.n.state().hard_link->type, type);
    }
}

TEST(Conformance, Row9_08_TypeTwoIndicationAndAccept)
{
    hard_link_peer p;
    p.bind(1, 3, 4);
    p.make_exclusive();
    p.receive({ p.expedited(hard_link_peer::request(2, 3, 9, 3)) });
    const auto i = p.answer<s_hard_link_indication>();
    ASSERT_TRUE(i);
    EXPECT_EQ(i->status, 1);
    EXPECT_EQ(i->link.type, 2);
    EXPECT_EQ(i->link.priority, 3);
    EXPECT_EQ(i->link.remote_sap, 9);
    EXPECT_EQ(i->link.remote, address("1.2.0.0"));
    EXPECT_TRUE(p.heard().empty()); // only an acknowledgement so far
    p.send(1, s_hard_link_accept{ i->link });
    EXPECT_EQ(p.heard(), (s_pdus{ { 0x40 } }));
    EXPECT_TRUE(p.n.state().hard_link);
}

TEST(Conformance, Row9_08_TypeTwoRejectAndSilence)
{
    for (const int reason : { 1, 2, 3 }) { // mode not supported, own priority, no answer
        hard_link_peer p;
        p.bind(1, 3);
        p.make_exclusive();
        p.receive({ p.expedited(hard_link_peer::request(2, 0, 9, 3)) });
        const auto i = p.answer<s_hard_link_indication>();
        ASSERT_TRUE(i);
        p.heard();
        if (reason < 3)
            p.send(1, s_hard_link_reject{ uint8_t(reason), i->link });
        EXPECT_EQ(p.heard(40), (s_pdus{ { uint8_t(0x50 | reason) } }));
        EXPECT_FALSE(p.n.state().hard_link);
    }
}

TEST(Conformance, Row9_08_TypeTwoToAnUnboundSap)
{
    hard_link_peer p;
    p.make_exclusive();
    p.receive({ p.expedited(hard_link_peer::request(2, 3, 3, 3)) });
    EXPECT_EQ(p.heard(), (s_pdus{ { 0x54 } }));
}

TEST(Conformance, Row9_08_RejectionsAreToldWithTheirReason)
{
    for (const uint8_t reason : { 1, 2, 3, 4 }) {
        hard_link_peer p;
        p.bind(1, 3);
        p.call(1, link_to(2, 1, 4));
        EXPECT_EQ(p.heard(), (s_pdus{ { 0x39, 0x34 } }));
        p.say(hard_link_peer::pdu(T::hard_link_rejected, reason));
        const auto r = p.answer<s_hard_link_rejected>();
        ASSERT_TRUE(r);
        EXPECT_EQ(r->reason, reason);
        EXPECT_EQ(r->link.remote_sap, 4);
    }
}

TEST(Conformance, Row9_08_NoAnswerIsNotResponding)
{
    node_config c;
    c.link_tries = 2;
    c.hard_link_response_s = 30;
    hard_link_peer p(c);
    p.bind(1, 3);
    p.send(1, s_hard_link_establish{ link_to(0) }); // no physical link
    p.transmission();
    p.transmission(20);
    EXPECT_FALSE(p.wait(30));
    EXPECT_EQ(p.answer<s_hard_link_rejected>()->reason, 3);
    p.call(1, link_to(0)); // a physical link, and then nothing
    p.heard();
    p.receive({ hard_link_peer::acknowledged() });
    EXPECT_TRUE(p.wait(40)); // breaks the physical link
    EXPECT_EQ(p.answer<s_hard_link_rejected>()->reason, 3);
}

TEST(Conformance, Row9_08_BetweenTwoNodes)
{
    sim::scheduler s;
    sim::emulated_air air(s);
    node_config ca, cb;
    ca.own = address("1.1.0.0");
    cb.own = address("1.2.0.0");
    cb.seed = 2;
    cb.hard_link_client_s = 100;
    sim::station a(s, air, ca), b(s, air, cb);
    std::vector<s_primitive> at_a, at_b;
    const auto ka = a.attach([&](station_time, const auto& x) { at_a.push_back(x); });
    const auto kb = b.attach([&](station_time, const auto& x) { at_b.push_back(x); });
    s_bind_request bind;
    bind.sap = 3;
    a.send(ka, bind);
    bind.sap = 4;
    b.send(kb, bind);
    a.send(ka, s_hard_link_establish{ link_to(2, 1, 4) });
    s.run_until(std::chrono::seconds(60));
    ASSERT_EQ(at_b.size(), 2u);
    const auto i = std::get<s_hard_link_indication>(at_b[1]);
    EXPECT_EQ(i.link.remote_sap, 3);
    b.send(kb, s_hard_link_accept{ i.link });
    s.run_until(std::chrono::seconds(120));
    ASSERT_EQ(at_a.size(), 2u);
    EXPECT_TRUE(std::holds_alternative<s_hard_link_established>(at_a[1]));
    // Kept although it is idle, and used by both.
    s.run_until(std::chrono::seconds(600));
    EXPECT_TRUE(a.node().state().hard_link && b.node().state().hard_link);
    a.send(ka, data_for(4));
    s.run_until(std::chrono::seconds(630));
    b.send(kb, data_for(3, "1.1.0.0"));
    s.run_until(std::chrono::seconds(660));
    ASSERT_EQ(at_a.size(), 3u);
    ASSERT_EQ(at_b.size(), 3u);
    EXPECT_TRUE(std::holds_alternative<s_unidata_indication>(at_b[2]));
    a.send(ka, s_hard_link_terminate{ address("1.2.0.0") });
    s.run_until(std::chrono::seconds(900));
    ASSERT_EQ(at_a.size(), 4u);
    ASSERT_EQ(at_b.size(), 4u);
    EXPECT_EQ(std::get<s_hard_link_terminated>(at_a[3]).reason, 1);
    EXPECT_EQ(std::get<s_hard_link_terminated>(at_b[3]).reason, 1);
    EXPECT_EQ(a.node().state().links + b.node().state().links, 0u);
}

TEST(Conformance, Row9_09_LowerOrEqualIsRefusedHere)
{
    hard_link_peer p;
    p.bind(1, 3, 5);
    p.bind(2, 4, 5);
    p.bind(3, 6, 4);
    p.establish(1, link_to(0, 1));
    p.send(2, s_hard_link_establish{ link_to(0, 1) });
    EXPECT_EQ(p.answer<s_hard_link_rejected>()->reason, 5); // share the one that exists
    p.send(2, s_hard_link_establish{ link_to(0, 0) });
    EXPECT_EQ(p.answer<s_hard_link_rejected>()->reason, 2);
    p.send(3, s_hard_link_establish{ link_to(2, 3, 1) }); // lower rank
    EXPECT_EQ(p.answer<s_hard_link_rejected>()->reason, 2);
    auto other = link_to(2, 1, 1);
    other.remote = address("1.3.0.0"); // of another pair of nodes: the existing one stays
    p.send(2, s_hard_link_establish{ other });
    EXPECT_EQ(p.answer<s_hard_link_rejected>()->reason, 2);
    EXPECT_EQ(p.n.state().hard_link->type, 0);
}

TEST(Conformance, Row9_09_HigherDisplacesHere)
{
    struct {
        uint8_t rank, priority, type;
    } const cases[] = { { 6, 0, 0 }, { 5, 2, 0 }, { 5, 1, 1 } };
    for (const auto& k : cases) {
        hard_link_peer p;
        p.bind(1, 3, 5);
        p.bind(2, 4, k.rank);
        p.establish(1, link_to(0, 1));
        p.send(2, s_hard_link_establish{ link_to(k.type, k.priority) });
        const auto ended = one<s_hard_link_terminated>(p.primitives(), 1);
        ASSERT_TRUE(ended);
        EXPECT_EQ(ended->reason, 2);
        EXPECT_EQ(p.heard(), (s_pdus{ { 0x62 } }));
        p.say(hard_link_peer::pdu(T::hard_link_terminate_confirm));
        const uint8_t head = uint8_t(0x30 | k.type << 2 | k.priority);
        EXPECT_EQ(p.heard(), (s_pdus{ { head, 0x40 } })); // same physical link
        p.say(hard_link_peer::pdu(T::hard_link_confirm));
        EXPECT_TRUE(one<s_hard_link_established>(p.primitives(), 2));
    }
}

TEST(Conformance, Row9_09_CalledSideRefusesAndYields)
{
    hard_link_peer p;
    p.bind(1, 3, 5);
    p.establish(1, link_to(0, 1));
    // A request from another node, whose clients count with remote_rank.
    const auto ask = [&](uint8_t rank, uint8_t priority) {
        node_config c;
        c.remote_rank = rank;
        hard_link_peer q(c);
        q.bind(1, 3, 5);
        q.establish(1, link_to(0, 1));
        auto r = scripted_peer::link(c_pdu_type::link_request, 2, 1);
        r.src = address("1.3.0.0");
        q.receive({ r });
        q.transmission();
        auto d = q.expedited(hard_link_peer::request(0, priority, 9, 0));
        d.src = address("1.3.0.0");
        d.expedited.c_pdu_id = 0;
        q.receive({ d });
        s_pdus all;
        for (int k = 0; k < 2; ++k) // terminate to one node, answer to the other
            all.merge(q.heard(20));
        const auto ended = one<s_hard_link_terminated>(q.primitives(), 1);
        if (all.count({ 0x40 })) {
            EXPECT_TRUE(all.count({ 0x62 }));
            EXPECT_TRUE(ended);
            EXPECT_EQ(ended->reason, 2);
            EXPECT_EQ(q.n.state().hard_link->remote, address("1.3.0.0"));
        } else {
            EXPECT_FALSE(ended);
        }
        return all;
    };
    EXPECT_TRUE(ask(5, 1).count({ 0x51 })); // equal: busy
    EXPECT_TRUE(ask(5, 0).count({ 0x52 }));
    EXPECT_TRUE(ask(4, 3).count({ 0x52 }));
    EXPECT_TRUE(ask(5, 2).count({ 0x40 }));
    EXPECT_TRUE(ask(6, 0).count({ 0x40 }));
}

TEST(Conformance, Row9_09_OfCrossedRequestsOneStands)
{
    sim::scheduler s;
    sim::emulated_air air(s);
    node_config ca, cb;
    ca.own = address("1.1.0.0");
    cb.own = address("1.2.0.0");
    cb.seed = 2;
    sim::station a(s, air, ca), b(s, air, cb);
    int made = 0, refused = 0;
    const auto count = [&](station_time, const s_primitive& x) {
        made += std::holds_alternative<s_hard_link_established>(x);
        refused += std::holds_alternative<s_hard_link_rejected>(x);
    };
    const auto ka = a.attach(count), kb = b.attach(count);
    a.send(ka, s_bind_request{});
    b.send(kb, s_bind_request{});
    auto l = link_to(1);
    a.send(ka, s_hard_link_establish{ l });
    l.remote = address("1.1.0.0");
    b.send(kb, s_hard_link_establish{ l });
    s.run_until(std::chrono::seconds(400));
    EXPECT_EQ(made, 1);
    EXPECT_EQ(refused, 1);
    EXPECT_TRUE(a.node().state().hard_link && b.node().state().hard_link);
}

TEST(Conformance, Row9_10_TerminatedByTheClient)
{
    hard_link_peer p;
    p.bind(1, 3);
    p.establish(1, link_to(1));
    p.send(1, s_hard_link_terminate{ address("1.2.0.0") });
    EXPECT_EQ(p.heard(), (s_pdus{ { 0x61 } }));
    EXPECT_TRUE(p.primitives().empty());
    p.say(hard_link_peer::pdu(T::hard_link_terminate_confirm));
    EXPECT_EQ(p.answer<s_hard_link_terminated>()->reason, 1);
    const auto d = of_type(p.transmission(), t::expedited_non_arq_data);
    ASSERT_FALSE(d.empty());
    EXPECT_EQ(d[0].segment, std::vector<uint8_t>{ 0x41 }); // higher layer request
}

// A.2.1.19, shall (2): only from the client that asked for it; A.2.1.22: others are not
// notified.
TEST(Conformance, Row9_10_TerminateOfAStrangerDoesNothing)
{
    hard_link_peer p;
    p.bind(1, 3);
    p.bind(2, 4);
    p.send(1, s_hard_link_terminate{ address("1.2.0.0") }); // there is no hard link
    EXPECT_TRUE(p.primitives().empty());
    p.establish(1, link_to(0));
    p.send(2, s_hard_link_terminate{ address("1.2.0.0") });
    p.send(1, s_hard_link_terminate{ address("1.3.0.0") });
    EXPECT_TRUE(p.primitives().empty());
    EXPECT_FALSE(p.wait(3));
    EXPECT_TRUE(p.n.state().hard_link);
    EXPECT_EQ(p.n.stats().invalid_primitives, 3u);
    // A second request of the same client is not invalid, and the client is notified
    // once.
    p.send(1, s_hard_link_terminate{ address("1.2.0.0") });
    p.send(1, s_hard_link_terminate{ address("1.2.0.0") });
    EXPECT_EQ(p.heard(), (s_pdus{ { 0x61 } }));
    p.say(hard_link_peer::pdu(T::hard_link_terminate_confirm));
    EXPECT_EQ(p.answer<s_hard_link_terminated>()->reason, 1);
    EXPECT_EQ(p.n.stats().invalid_primitives, 3u);
}

TEST(Conformance, Row9_10_TerminatedByThePeerWithItsReason)
{
    const uint8_t told[] = { 0, 1, 2, 0, 4 };
    for (const uint8_t reason : { 1, 2, 4 }) {
        hard_link_peer p;
        p.bind(1, 3);
        p.establish(1, link_to(0));
        p.say(hard_link_peer::pdu(T::hard_link_terminate, reason));
        EXPECT_EQ(p.answer<s_hard_link_terminated>()->reason, told[reason]);
        EXPECT_EQ(p.heard(), (s_pdus{ { 0x70 } }));
        EXPECT_FALSE(p.n.state().hard_link);
    }
}

TEST(Conformance, Row9_10_NoConfirmInTime)
{
    node_config c;
    c.hard_link_end_s = 20;
    hard_link_peer p(c);
    p.bind(1, 3);
    p.establish(1, link_to(0));
    p.send(1, s_hard_link_terminate{ address("1.2.0.0") });
    p.heard();
    p.receive({ hard_link_peer::acknowledged() });
    p.wait(25);
    EXPECT_EQ(p.answer<s_hard_link_terminated>()->reason, 3);
}

TEST(Conformance, Row9_10_PhysicalLinkLost)
{
    hard_link_peer p;
    p.bind(1, 3);
    p.establish(1, link_to(0));
    p.receive({ scripted_peer::link(c_pdu_type::link_break, 9, 1) });
    EXPECT_EQ(p.answer<s_hard_link_terminated>()->reason, 5);
    EXPECT_FALSE(p.n.state().hard_link);
}

// Nothing was established, so nothing is terminated.
TEST(Conformance, Row9_10_PhysicalLinkLostWhileRequestingRejects)
{
    hard_link_peer p;
    p.bind(1, 3, 5);
    p.call(1, link_to(0));
    p.transmission();
    p.primitives();
    p.receive({ hard_link_peer::link(c_pdu_type::link_break) });
    const auto list = p.primitives();
    const auto r = one<s_hard_link_rejected>(list, 1);
    ASSERT_TRUE(r);
    EXPECT_EQ(r->reason, uint8_t(hard_link_reject_reason::not_responding));
    EXPECT_FALSE(one<s_hard_link_terminated>(list, 1));
    EXPECT_FALSE(p.n.state().hard_link);
}

TEST(Conformance, Row9_10_ClientThatUnbindsEndsItsHardLink)
{
    hard_link_peer p;
    p.bind(1, 3);
    p.establish(1, link_to(0));
    p.send(1, s_unbind_request{});
    EXPECT_EQ(p.heard(), (s_pdus{ { 0x61 } }));
    // Called client of type 2: its SAP is no longer bound.
    hard_link_peer q;
    q.bind(1, 3);
    q.make_exclusive();
    q.receive({ q.expedited(hard_link_peer::request(2, 0, 9, 3)) });
    q.send(1, s_hard_link_accept{ q.answer<s_hard_link_indication>()->link });
    EXPECT_EQ(q.heard(), (s_pdus{ { 0x40 } }));
    q.receive({ hard_link_peer::acknowledged() });
    q.n.client_gone(q.now, 1);
    EXPECT_EQ(q.heard(), (s_pdus{ { 0x64 } }));
}

TEST(Conformance, Row9_11_OthersWaitForTheEndOfTypesOneAndTwo)
{
    for (const uint8_t type : { 0, 1, 2 }) {
        hard_link_peer p;
        p.bind(1, 3);
        p.bind(2, 4);
        p.establish(1, link_to(type, 0, 5));
        const auto off = one<s_subnet_availability>(p.told, 2);
        EXPECT_EQ(off.has_value(), type > 0);
        if (off) {
            EXPECT_EQ(off->status, uint8_t(node_status::off));
            EXPECT_EQ(off->reason, 2);
        }
        p.send(2, data_for(5));
        p.send(1, data_for(5));
        p.send(1, data_for(6));
        const auto d = of_type(p.transmission(), t::data_only);
        std::set<int> saps;
        for (const auto& x : d)
            saps.insert(x.segment.at(2));
        const std::set<int> expected[] = { { 0x45, 0x35, 0x36 },
                                           { 0x35, 0x36 },
                                           { 0x35 } };
        EXPECT_EQ(saps, expected[type]) << int(type);
    }
}

TEST(Conformance, Row9_11_HeldDataGoOutAfterwards)
{
    hard_link_peer p;
    p.bind(1, 3);
    p.bind(2, 4);
    p.establish(1, link_to(2, 0, 5));
    p.primitives();
    p.send(2, data_for(5));
    p.send(2, data_for(5, "1.3.0.0"));
    EXPECT_FALSE(p.wait(60));
    p.send(1, s_hard_link_terminate{ address("1.2.0.0") });
    p.heard();
    p.say(hard_link_peer::pdu(T::hard_link_terminate_confirm));
    const auto on = one<s_subnet_availability>(p.primitives(), 2);
    ASSERT_TRUE(on);
    EXPECT_EQ(on->status, uint8_t(node_status::half_duplex));
    bool one_went = false, other_went = false;
    for (int k = 0; k < 6; ++k) {
        for (const auto& d : of_type(p.transmission(60), t::data_only)) {
            one_went = one_went || d.dst == address("1.2.0.0");
            other_went = other_went || d.dst == address("1.3.0.0");
        }
        p.receive(
            { scripted_peer::link(c_pdu_type::link_accepted), scripted_peer::ack(1) });
    }
    EXPECT_TRUE(one_went);
    EXPECT_TRUE(other_went);
}

TEST(Conformance, Row9_11_CalledSideOfTypeOneSendsToTheRequesterOnly)
{
    hard_link_peer p;
    p.bind(1, 3);
    p.called(1, 0, 9);
    p.send(1, data_for(8));
    EXPECT_FALSE(p.wait(10));
    p.send(1, data_for(9));
    const auto d = of_type(p.transmission(), t::data_only);
    ASSERT_FALSE(d.empty());
    for (const auto& x : d)
        EXPECT_EQ(x.segment.at(2), 0x39);
}

TEST(Conformance, Row9_11_HeldDataExpire)
{
    hard_link_peer p;
    p.bind(1, 3);
    p.bind(2, 4);
    p.establish(1, link_to(1));
    p.primitives();
    auto r = data_for(5);
    r.ttl = 5; // 10 s
    r.mode.confirmation = delivery_confirmation::node;
    p.send(2, r);
    EXPECT_GT(p.n.state().queued_octets, 0u);
    EXPECT_FALSE(p.wait(12));
    EXPECT_EQ(p.answer<s_unidata_request_rejected>()->reason, 1);
    EXPECT_EQ(p.n.state().queued_octets, 0u);
}

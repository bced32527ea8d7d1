/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// U_PDUs that wait for a hard link, are withdrawn, or are never confirmed.
#include "hard_link_peer.h"
#include "s5066/between/link_report.h"

#include <gtest/gtest.h>

using namespace gr::hf;
using namespace gr::hf::s5066;
using t = d_pdu_type;

namespace {

s_unidata_request to_peer(uint8_t dst_sap, std::vector<uint8_t> u_pdu)
{
    s_unidata_request r;
    r.dst = address("1.2.0.0");
    r.dst_sap = dst_sap;
    r.mode.confirmation = delivery_confirmation::node;
    r.u_pdu = std::move(u_pdu);
    return r;
}

//! Client 1 has a hard link of its own; client 2 must wait.
void occupy(hard_link_peer& p)
{
    p.bind(1, 3);
    p.bind(2, 4);
    p.establish(1, hard_link_peer::link_to(2, 0, 5));
    p.primitives();
}

} // namespace

TEST(delivery, u_pdus_held_by_a_hard_link_are_shown_as_waiting)
{
    hard_link_peer p;
    occupy(p);
    auto r = to_peer(5, { 1, 2, 3 });
    r.priority = 7;
    p.send(2, r);
    EXPECT_EQ(p.n.state().queues.of(7).c_pdus, 1u);
    EXPECT_EQ(p.n.state().queues.of(7).oldest_at, p.now);
}

TEST(delivery, u_pdus_held_by_a_hard_link_expire)
{
    hard_link_peer p;
    occupy(p);
    auto r = to_peer(5, { 1, 2, 3 });
    r.ttl = 10; // 20 s
    p.send(2, r);
    p.wait(19);
    EXPECT_TRUE(p.primitives().empty());
    p.wait(2);
    const auto rejected = p.answer<s_unidata_request_rejected>();
    ASSERT_TRUE(rejected);
    EXPECT_EQ(rejected->reason, uint8_t(unidata_reject_reason::ttl_expired));
    EXPECT_EQ(rejected->u_pdu, r.u_pdu);
    EXPECT_EQ(p.n.stats().u_pdus_expired, 1u);
    EXPECT_EQ(p.n.state().queues.of(0).c_pdus, 0u);
}

TEST(delivery, a_client_withdraws_only_what_it_names)
{
    scripted_peer p;
    p.bind(1, 3);
    p.bind(2, 4);
    p.n.set_emcon(p.now, true); // nothing goes out
    p.primitives();
    p.send(1, to_peer(5, { 9, 8, 1 })); // meant
    p.send(1, to_peer(5, { 9, 8 }));    // meant: the head is all of it
    p.send(1, to_peer(5, { 9 }));       // shorter than the head
    p.send(1, to_peer(5, { 9, 7, 1 })); // another head
    p.send(1, to_peer(6, { 9, 8, 1 })); // to another SAP
    p.send(2, to_peer(5, { 9, 8, 1 })); // of another client
    auto other = to_peer(5, { 9, 8, 1 });
    other.dst = address("1.3.0.0");
    p.send(1, other);
    p.send(1, encode(withdrawal{ address("1.2.0.0"), 5, { { 9, 8 } } }));
    const auto told = p.primitives();
    ASSERT_EQ(told.size(), 2u);
    for (const auto& [client, what] : told) {
        EXPECT_EQ(client, 1u);
        const auto* r = std::get_if<s_unidata_request_rejected>(&what);
        ASSERT_TRUE(r);
        EXPECT_EQ(r->reason, uint8_t(unidata_reject_reason::ttl_expired));
        EXPECT_EQ(r->u_pdu[1], 8);
    }
    EXPECT_EQ(p.n.state().queues.of(0).c_pdus, 5u);
}

TEST(delivery, a_u_pdu_shorter_than_the_head_named_is_not_withdrawn)
{
    scripted_peer p;
    p.bind(1, 3);
    p.n.set_emcon(p.now, true); // nothing goes out
    p.primitives();
    p.send(1, to_peer(5, { 9 }));
    withdrawal w{ address("1.2.0.0"), 5, {} };
    for (int next = 0; next < 256; ++next) { // whatever follows it in memory
        w.heads.push_back({ 9, static_cast<uint8_t>(next) });
    }
    p.send(1, encode(w));
    EXPECT_TRUE(p.primitives().empty());
    EXPECT_EQ(p.n.state().queues.of(0).c_pdus, 1u);
}

TEST(delivery, a_confirmation_has_the_priority_of_its_u_pdu)
{
    for (const uint8_t priority : { 2, 9 }) {
        scripted_peer p;
        p.bind(1, 3);
        p.make_link();
        p.submit(1, 100, delivery_mode(), 5);
        s_pdu s;
        s.src_sap = s.dst_sap = 3;
        s.low = priority;
        s.confirm_required = true;
        s.u_pdu = { 1, 2, 3 };
        auto d = scripted_peer::data(0);
        d.segment = encode(c_pdu{ c_pdu_type::data, 0, encode(s) });
        p.receive({ d });
        std::vector<s_pdu_type> sent;
        for (const auto& x : p.transmission()) {
            if (x.segment.size() > 1) {
                const auto q = decode_s_pdu(x.segment.data() + 1, x.segment.size() - 1);
                ASSERT_TRUE(q);
                sent.push_back(q->type);
            }
        }
        ASSERT_GE(sent.size(), 2u);
        EXPECT_EQ(sent[0],
                  priority > 5 ? s_pdu_type::delivery_confirm : s_pdu_type::data);
    }
}

TEST(delivery, a_missing_confirmation_of_the_remote_client_is_reported_once)
{
    for (const bool leaves : { false, true }) {
        node_config c;
        c.client_confirm_s = 100;
        scripted_peer p(c);
        p.bind(1, 3);
        delivery_mode m;
        m.confirmation = delivery_confirmation::client;
        p.submit(1, 10, m);
        p.transmission();
        p.receive(
            { scripted_peer::link(c_pdu_type::link_accepted), scripted_peer::ack(1) });
        p.wait(90);
        EXPECT_TRUE(p.primitives().empty());
        if (leaves) {
            p.n.client_gone(p.now, 1);
        }
        for (int k = 0; k < 20; ++k) {
            p.transmission(10);
        }
        const auto rejected = p.answer<s_unidata_request_rejected>();
        EXPECT_EQ(rejected.has_value(), !leaves);
        EXPECT_EQ(p.n.stats().u_pdus_rejected, leaves ? 0u : 1u);
    }
}

TEST(delivery, to_a_sap_of_the_own_node_follows_the_confirmation_asked_for)
{
    scripted_peer p;
    p.bind(1, 3);
    p.bind(2, 4);
    const auto told = [&p](uint8_t sap, transmission_mode mode, delivery_confirmation c) {
        auto r = to_peer(sap, { 1 });
        r.dst = address("1.1.0.0");
        r.mode.mode = mode;
        r.mode.confirmation = c;
        p.send(1, r);
        int code = 0; // 1: indication, 2: confirmed, 4: rejected
        for (const auto& [client, what] : p.primitives()) {
            code += std::holds_alternative<s_unidata_indication>(what)        ? 1
                    : std::holds_alternative<s_unidata_request_confirm>(what) ? 2
                                                                              : 4;
        }
        return code;
    };
    constexpr auto arq = transmission_mode::arq, free = transmission_mode::non_arq;
    constexpr auto none = delivery_confirmation::none;
    constexpr auto node = delivery_confirmation::node,
                   client = delivery_confirmation::client;
    EXPECT_EQ(told(4, arq, none), 1);
    EXPECT_EQ(told(4, arq, node), 1 + 2);
    EXPECT_EQ(told(4, arq, client), 1 + 2);
    EXPECT_EQ(told(4, free, node), 1);
    EXPECT_EQ(told(5, arq, client), 4);
    EXPECT_EQ(told(5, arq, node), 2);
    EXPECT_EQ(told(5, arq, none), 0);
    EXPECT_EQ(told(5, free, client), 0);
}

TEST(delivery, hard_links_that_cannot_exist_are_refused_or_invalid)
{
    scripted_peer p;
    p.bind(1, 3);
    auto l = hard_link_peer::link_to(0);
    l.remote = address("1.1.0.0");
    p.send(1, s_hard_link_establish{ l });
    EXPECT_EQ(p.answer<s_hard_link_rejected>()->reason, 3);
    l.remote = address::broadcast();
    p.send(1, s_hard_link_establish{ l });
    EXPECT_TRUE(p.primitives().empty());
    EXPECT_EQ(p.n.stats().invalid_primitives, 1u);
    p.n.set_emcon(p.now, true);
    p.primitives();
    p.send(1, s_hard_link_establish{ hard_link_peer::link_to(2) });
    EXPECT_EQ(p.answer<s_hard_link_rejected>()->reason, 3);
    EXPECT_EQ(p.n.state().links, 0u);
}

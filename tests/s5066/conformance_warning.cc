/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// docs/conformance.md, section 5: WARNING D_PDUs.
#include "scripted_peer.h"

#include <gtest/gtest.h>

using namespace gr::hf;
using namespace gr::hf::s5066;
using t = d_pdu_type;

TEST(Conformance, Row5_01_ConnectionRelatedDPdusWithoutALink)
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

TEST(Conformance, Row5_02_UnknownTypeToThisNodeOnly)
{
    for (const unsigned type : { 9u, 10u, 11u, 12u, 13u, 14u }) {
        scripted_peer p;
        auto d = scripted_peer::from_peer(static_cast<t>(type));
        d.dst = address("1.3.0.0");
        p.receive({ d });
        EXPECT_FALSE(p.wait(5));
        d.dst = address("1.1.0.0");
        p.receive({ d, d });
        const auto w = of_type(p.transmission(), t::warning);
        ASSERT_FALSE(w.empty());
        EXPECT_EQ(w[0].warning.received_type, type);
        EXPECT_EQ(w[0].warning.reason, 0);
    }
}

TEST(Conformance, Row5_03_TypesThatTheStateDoesNotAllow)
{
    const auto reason_of = [](scripted_peer& p, const d_pdu& d) {
        const auto before = p.n.stats().warnings_sent;
        p.receive({ d });
        const auto w = of_type(p.transmission(), t::warning);
        EXPECT_GT(p.n.stats().warnings_sent, before);
        EXPECT_FALSE(w.empty());
        if (!w.empty()) {
            EXPECT_EQ(w[0].warning.received_type, static_cast<uint8_t>(d.type));
        }
        return w.empty() ? -1 : w[0].warning.reason;
    };
    { // IDLE(C)
        scripted_peer p;
        p.make_link();
        EXPECT_EQ(reason_of(p, scripted_peer::ack(0)), 3);
        EXPECT_EQ(p.n.state().links, 1u);
    }
    { // DATA(C)
        scripted_peer p;
        p.bind(1, 3);
        p.make_link();
        p.submit(1, 100);
        p.transmission();
        auto e = scripted_peer::ack(0);
        e.type = t::expedited_ack_only;
        EXPECT_EQ(reason_of(p, e), 3);
    }
    { // MANAGEMENT(C)
        node_config c;
        c.drc = true;
        scripted_peer p(c);
        p.make_link();
        auto m = scripted_peer::from_peer(t::management);
        m.eow = 0x144;
        m.management.valid = true;
        p.receive({ m });
        p.transmission();
        auto r = scripted_peer::from_peer(t::reset);
        r.reset.full = true;
        EXPECT_EQ(reason_of(p, r), 3);
    }
    { // A repeated acknowledgement is no reason to warn.
        scripted_peer p;
        p.bind(1, 3);
        p.make_link();
        p.submit(1, 100);
        p.transmission();
        p.receive({ scripted_peer::ack(1), scripted_peer::ack(1) });
        EXPECT_FALSE(p.wait(5));
        EXPECT_EQ(p.n.stats().warnings_sent, 0u);
    }
}

TEST(Conformance, Row5_04_NoneForWarningsOthersOrBadHeaders)
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

TEST(Conformance, Row5_05_ReceivedWarningStopsTheActionAndTellsCas)
{
    const auto warn = [](scripted_peer& p, t about, unsigned reason) {
        auto w = scripted_peer::from_peer(t::warning);
        w.warning.received_type = static_cast<uint8_t>(about);
        w.warning.reason = static_cast<uint8_t>(reason);
        p.receive({ w });
    };
    { // No link at the other side: CAS makes a new one, nothing is lost.
        scripted_peer p;
        p.bind(1, 3);
        p.make_link();
        p.submit(1, 100);
        ASSERT_FALSE(of_type(p.transmission(), t::data_only).empty());
        warn(p, t::data_only, 1);
        EXPECT_EQ(p.n.state().links, 0u);
        const auto d = p.transmission();
        ASSERT_FALSE(d.empty());
        EXPECT_EQ(d[0].type, t::expedited_non_arq_data);
        EXPECT_EQ(d[0].segment, std::vector<uint8_t>{ 0x10 });
        EXPECT_FALSE(of_type(d, t::data_only).empty());
    }
    { // The peer does not accept expedited data: the client is notified.
        scripted_peer p;
        p.bind(1, 3);
        p.make_link();
        s_unidata_request r;
        r.dst = address("1.2.0.0");
        r.expedited = true;
        r.mode.mode = transmission_mode::arq;
        r.mode.confirmation = delivery_confirmation::node;
        r.u_pdu.assign(10, 1);
        p.send(1, r);
        ASSERT_FALSE(of_type(p.transmission(), t::expedited_data_only).empty());
        warn(p, t::expedited_data_only, 0);
        EXPECT_TRUE(p.answer<s_unidata_request_rejected>());
        EXPECT_FALSE(p.wait(5));
    }
    { // The rate change is given up; data continue.
        node_config c;
        c.drc = true;
        c.mode = "4539-2400S";
        scripted_peer p(c);
        p.bind(1, 3);
        p.make_link();
        p.submit(1, 2000);
        ASSERT_FALSE(of_type(p.transmission(), t::management).empty());
        warn(p, t::management, 0);
        const auto d = p.transmission();
        EXPECT_TRUE(of_type(d, t::management).empty());
        EXPECT_FALSE(of_type(d, t::data_only).empty());
    }
}

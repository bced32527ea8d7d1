/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// docs/conformance.md, section 3: resets, resynchronisation, synchronisation tests.
#include "s5066/dts/arq/arq_receiver.h"
#include "s5066/dts/arq/arq_sender.h"
#include "scripted_peer.h"
#include "vectors.h"

#include <gtest/gtest.h>

using namespace gr::hf;
using namespace gr::hf::s5066;
using t = d_pdu_type;

namespace {

arq_header header(uint8_t fsn, bool uwe = false, bool lwe = false)
{
    arq_header h;
    h.fsn = fsn;
    h.uwe = uwe;
    h.lwe = lwe;
    h.start = h.end = true;
    return h;
}

outgoing_ptr queued(size_t octets, uint8_t value, delivery_order order)
{
    auto o = std::make_shared<outgoing>();
    o->c_pdu.assign(octets, value);
    o->mode.order = order;
    o->expires = std::chrono::hours(1);
    return o;
}

//! RX LWE 50, RX UWE 60: 50 to 59 are missing.
arq_receiver receiver_with_gap()
{
    arq_receiver r;
    r.reset(50);
    std::vector<std::vector<uint8_t>> out;
    r.take(header(60), { 1 }, true, out);
    return r;
}

struct linked : scripted_peer {
    linked()
    {
        bind(1, 3);
        make_link();
    }
};

d_pdu reset(uint8_t id)
{
    auto d = scripted_peer::from_peer(t::reset);
    d.reset.frame_id = id;
    return d;
}

//! A D_PDU of the peer that makes the node lose synchronisation.
d_pdu beyond()
{
    auto far = scripted_peer::data(10);
    far.arq.lwe = true; // but 0 to 9 have not been received
    return far;
}

} // namespace

TEST(Conformance, Row3_01_FullReset)
{
    linked p;
    p.receive({ scripted_peer::data(0) });
    p.submit(1, 20);
    p.transmission(); // FSN 0 of the node is in flight
    p.primitives();
    auto r = reset(7);
    r.reset.full = true;
    p.receive({ r, r });
    const auto list = p.transmission();
    auto d = of_type(list, t::reset);
    ASSERT_FALSE(d.empty());
    EXPECT_TRUE(d[0].reset.ack);
    EXPECT_FALSE(d[0].reset.full || d[0].reset.tx_rqst || d[0].reset.rx_cmnd);
    EXPECT_EQ(d[0].reset.frame_id, 0);
    EXPECT_EQ(d[0].reset.new_rx_lwe, 0);
    d = of_type(list, t::data_only); // starts again from 0
    ASSERT_FALSE(d.empty());
    EXPECT_EQ(d[0].arq.fsn, 0);
    EXPECT_TRUE(d[0].arq.lwe && d[0].arq.uwe);
    p.receive({ scripted_peer::data(0) }); // counts as new again
    EXPECT_TRUE(p.answer<s_unidata_indication>());
    for (const auto& g : load_golden("dts")) {
        if (g.id == "dts3-fullresetack" || g.id == "dts3-fullreset") {
            auto v = decode_d_pdu(g.hex);
            ASSERT_TRUE(v);
            d_pdu own = *v;
            own.reset = reset_header();
            own.reset.full = g.id == "dts3-fullreset";
            own.reset.ack = !own.reset.full;
            own.reset.frame_id = own.reset.full ? 1 : 0;
            EXPECT_EQ(to_hex(encode(own)), to_hex(g.hex));
        }
    }
}

TEST(Conformance, Row3_02_InitiatorSuspendsArqAndRepeatsTheSameId)
{
    linked p;
    p.receive({ beyond() });
    p.submit(1, 20);
    std::optional<uint8_t> id;
    for (int round = 0; round < 3; ++round) {
        const auto list = p.transmission(200);
        ASSERT_FALSE(list.empty());
        for (const auto& d : list) {
            ASSERT_EQ(d.type, t::reset);
            EXPECT_EQ(d.reset.frame_id, id.value_or(d.reset.frame_id));
            id = d.reset.frame_id;
        }
    }
    // Even an answer with data and acknowledgements does not end it.
    p.receive({ scripted_peer::data(0), scripted_peer::ack(0) });
    const auto list = p.transmission(200);
    ASSERT_FALSE(list.empty());
    for (const auto& d : list) {
        EXPECT_EQ(d.type, t::reset);
    }
}

TEST(Conformance, Row3_03_TxWindowRequestIsAnsweredWithTheTxLwe)
{
    linked p;
    p.submit(1, 20);
    p.transmission();
    p.receive({ scripted_peer::ack(1) });
    auto r = reset(2);
    r.reset.tx_rqst = true;
    p.receive({ r });
    const auto d = of_type(p.transmission(), t::reset);
    ASSERT_FALSE(d.empty());
    EXPECT_TRUE(d[0].reset.rx_cmnd);
    EXPECT_FALSE(d[0].reset.tx_rqst || d[0].reset.full);
    EXPECT_EQ(d[0].reset.new_rx_lwe, 1);
    // The acknowledgement ends the reset.
    auto a = reset(d[0].reset.frame_id);
    a.reset.ack = true;
    p.receive({ a });
    p.submit(1, 20);
    const auto list = p.transmission();
    EXPECT_TRUE(of_type(list, t::reset).empty());
    ASSERT_FALSE(of_type(list, t::data_only).empty());
    EXPECT_EQ(of_type(list, t::data_only)[0].arq.fsn, 1);
}

TEST(Conformance, Row3_04_RxWindowCommandMovesTheRxLwe)
{
    linked p;
    auto r = reset(3);
    r.reset.rx_cmnd = true;
    r.reset.new_rx_lwe = 33;
    p.receive({ r });
    const auto d = of_type(p.transmission(), t::reset);
    ASSERT_FALSE(d.empty());
    EXPECT_TRUE(d[0].reset.ack);
    EXPECT_EQ(d[0].reset.frame_id, 3);
    p.receive({ scripted_peer::data(33) });
    EXPECT_TRUE(p.answer<s_unidata_indication>());
    const auto a = p.transmission();
    ASSERT_FALSE(a.empty());
    EXPECT_EQ(a[0].ack.rx_lwe, 34);
}

TEST(Conformance, Row3_05_RepeatedIdIsAcknowledgedAndNotExecuted)
{
    linked p;
    auto r = reset(7);
    r.reset.full = true;
    p.receive({ r });
    p.transmission();
    p.receive({ scripted_peer::data(0) });
    p.transmission();
    EXPECT_EQ(p.primitives().size(), 1u);
    p.receive({ r });
    const auto d = of_type(p.transmission(), t::reset);
    ASSERT_FALSE(d.empty());
    EXPECT_TRUE(d[0].reset.ack);
    p.receive({ scripted_peer::data(0) }); // the window was not moved: a duplicate
    EXPECT_TRUE(p.primitives().empty());
}

TEST(Conformance, Row3_06_SynchronisationTests1To3AtEveryEdge)
{
    const auto r = receiver_with_gap();
    // 1: a new upper edge lies between RX UWE and RX LWE + 127.
    EXPECT_TRUE(r.in_sync(header(60, true)));
    EXPECT_FALSE(r.in_sync(header(59, true)));
    EXPECT_TRUE(r.in_sync(header(177, true)));
    EXPECT_FALSE(r.in_sync(header(178, true)));
    // 2: the lower edge lies between RX UWE - 127 and RX LWE.
    EXPECT_TRUE(r.in_sync(header(50, false, true)));
    EXPECT_FALSE(r.in_sync(header(51, false, true)));
    EXPECT_TRUE(r.in_sync(header(189, false, true)));
    EXPECT_FALSE(r.in_sync(header(188, false, true)));
    // 3: every number lies between RX UWE - 127 and RX LWE + 127.
    EXPECT_TRUE(r.in_sync(header(189)));
    EXPECT_TRUE(r.in_sync(header(177)));
    EXPECT_FALSE(r.in_sync(header(178)));
    EXPECT_FALSE(r.in_sync(header(188)));
}

TEST(Conformance, Row3_06_SynchronisationTests4And5AtEveryEdge)
{
    arq_sender s(128);
    s.set_segment(10, false);
    s.rewind(250);
    s.submit(queued(100, 1, delivery_order::in_order)); // 10 segments: 250 to 3
    s.begin_transmission();
    while (s.next(1000, 22, true)) {
    }
    const auto ok = [&s](uint8_t lwe, std::vector<uint8_t> bits = {}) {
        return s.in_sync(ack_header{ lwe, std::move(bits) });
    };
    // 4: RX LWE lies between TX LWE and TX UWE + 1.
    EXPECT_TRUE(ok(250));
    EXPECT_FALSE(ok(249));
    EXPECT_TRUE(ok(4));
    EXPECT_FALSE(ok(5));
    // 5: a number acknowledged by a bit lies above TX LWE, up to TX UWE.
    EXPECT_TRUE(ok(250, { 0x00, 0x01 }));  // 3
    EXPECT_FALSE(ok(250, { 0x00, 0x02 })); // 4
    EXPECT_TRUE(ok(2, { 0x01 }));
    EXPECT_FALSE(ok(3, { 0x01 }));
}

TEST(Conformance, Row3_07_OutOfSyncLeadsToAResetThenDataFlow)
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

TEST(Conformance, Row3_07_WrongAcknowledgementLeadsToAResetThenDataFlow)
{
    linked p;
    p.submit(1, 20);
    p.transmission();
    p.receive({ scripted_peer::ack(9) }); // never sent
    EXPECT_EQ(p.n.stats().out_of_sync, 1u);
    auto d = of_type(p.transmission(), t::reset);
    ASSERT_FALSE(d.empty());
    EXPECT_TRUE(d[0].reset.rx_cmnd);
    EXPECT_EQ(d[0].reset.new_rx_lwe, 0);
    auto a = reset(d[0].reset.frame_id);
    a.reset.ack = true;
    p.receive({ a });
    d = of_type(p.transmission(), t::data_only);
    ASSERT_FALSE(d.empty());
    EXPECT_EQ(d[0].arq.fsn, 0);
}

TEST(Conformance, Row3_07_SecondFailureInARowLeadsToAFullReset)
{
    linked p;
    p.receive({ beyond() });
    p.transmission();
    auto c = reset(1);
    c.reset.rx_cmnd = true;
    c.reset.new_rx_lwe = 3;
    p.receive({ c });
    p.transmission();
    p.receive({ beyond() }); // 3 to 9 are missing
    const auto d = of_type(p.transmission(), t::reset);
    ASSERT_FALSE(d.empty());
    EXPECT_TRUE(d[0].reset.full);
    EXPECT_EQ(d[0].reset.new_rx_lwe, 0);
    auto a = reset(0);
    a.reset.ack = true;
    p.receive({ a, scripted_peer::data(0) });
    EXPECT_TRUE(p.answer<s_unidata_indication>());
}

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// docs/conformance.md, section 2: expedited ARQ.
#include "s5066/dts/exchange/expedited.h"
#include "scripted_peer.h"
#include "vectors.h"

#include <gtest/gtest.h>
#include <random>
#include <set>

using namespace gr::hf;
using namespace gr::hf::s5066;
using t = d_pdu_type;

namespace {

void submit_expedited(scripted_peer& p, size_t octets, uint8_t value)
{
    s_unidata_request r;
    r.dst = address("1.2.0.0");
    r.dst_sap = 3;
    r.expedited = true;
    r.mode.mode = transmission_mode::arq;
    r.mode.confirmation = delivery_confirmation::node;
    r.u_pdu.assign(octets, value);
    p.send(1, r);
}

struct linked : scripted_peer {
    explicit linked(size_t segment = 0) : scripted_peer(with(segment))
    {
        bind(1, 3);
        make_link();
    }
    static node_config with(size_t segment)
    {
        node_config c;
        c.segment_octets = segment;
        return c;
    }
};

d_pdu segment(uint8_t id, uint8_t fsn, const octets& part, bool start, bool end)
{
    auto d = scripted_peer::from_peer(t::expedited_data_only);
    d.expedited.c_pdu_id = id;
    d.expedited.fsn = fsn;
    d.expedited.start = start;
    d.expedited.end = end;
    d.segment = part;
    return d;
}

octets c_pdu_of(uint8_t value, size_t octets_ = 10)
{
    s_pdu s;
    s.src_sap = s.dst_sap = 3;
    s.u_pdu.assign(octets_, value);
    return encode(c_pdu{ c_pdu_type::data, 0, encode(s) });
}

d_pdu expedited_ack(uint8_t rx_lwe, octets bits = {})
{
    auto d = scripted_peer::ack(rx_lwe, std::move(bits));
    d.type = t::expedited_ack_only;
    return d;
}

} // namespace

TEST(Conformance, Row2_01_OwnNumbersFromZeroAndIdModulo16)
{
    linked p(50);
    for (uint8_t n = 0; n < 18; ++n) {
        submit_expedited(p, 96, n); // 100 octets, two segments
        const auto d = of_type(p.transmission(), t::expedited_data_only);
        ASSERT_GE(d.size(), 2u);
        for (size_t i = 0; i < d.size(); ++i) {
            EXPECT_EQ(d[i].expedited.c_pdu_id, n % 16);
            EXPECT_EQ(d[i].expedited.fsn, i % 2);
            EXPECT_EQ(d[i].expedited.start, i % 2 == 0);
            EXPECT_EQ(d[i].expedited.end, i % 2 == 1);
            EXPECT_EQ(d[i].segment.size(), 50u);
            EXPECT_EQ(d[i].header_octets() - 2 - d[i].address_size, 9u);
        }
        p.receive({ expedited_ack(2), expedited_ack(2) });
        EXPECT_TRUE(p.answer<s_unidata_request_confirm>());
    }
}

TEST(Conformance, Row2_01_ReceivedIsAcknowledgedAndMarkedExpedited)
{
    linked p;
    const auto c = c_pdu_of(7, 40);
    const octets first(c.begin(), c.begin() + 20), second(c.begin() + 20, c.end());
    p.receive({ segment(0, 1, second, false, true) });
    auto d = of_type(p.transmission(), t::expedited_ack_only);
    ASSERT_FALSE(d.empty());
    EXPECT_EQ(d[0].ack.rx_lwe, 0);
    EXPECT_EQ(d[0].ack.selective, octets{ 0x01 });
    p.receive({ segment(0, 0, first, true, false), segment(0, 0, first, true, false) });
    const auto i = p.answer<s_unidata_indication>();
    ASSERT_TRUE(i);
    EXPECT_TRUE(i->expedited);
    EXPECT_EQ(i->u_pdu, octets(40, 7));
    d = of_type(p.transmission(), t::expedited_ack_only);
    ASSERT_FALSE(d.empty());
    EXPECT_EQ(d[0].ack.rx_lwe, 2);
    EXPECT_TRUE(d[0].ack.selective.empty());
    // A repeat because our answer was lost: acknowledged, not delivered again.
    p.receive({ segment(0, 0, first, true, false), segment(0, 1, second, false, true) });
    EXPECT_TRUE(p.primitives().empty());
    d = of_type(p.transmission(), t::expedited_ack_only);
    ASSERT_FALSE(d.empty());
    EXPECT_EQ(d[0].ack.rx_lwe, 2);
    // The next C_PDU starts at 0 again.
    p.receive({ segment(1, 0, c_pdu_of(8), true, true) });
    EXPECT_TRUE(p.answer<s_unidata_indication>());
    // A peer that restarts its identifications sends other data under the last number.
    p.receive({ segment(1, 0, c_pdu_of(9), true, true) });
    EXPECT_TRUE(p.answer<s_unidata_indication>());
}

TEST(Conformance, Row2_02_SecondCPduWaitsForTheAcknowledgement)
{
    linked p(50);
    submit_expedited(p, 96, 1);
    submit_expedited(p, 96, 2);
    auto d = of_type(p.transmission(), t::expedited_data_only);
    for (const auto& q : d) {
        EXPECT_EQ(q.expedited.c_pdu_id, 0);
    }
    p.receive({ expedited_ack(0, { 0x01 }) }); // only the second segment
    d = of_type(p.transmission(), t::expedited_data_only);
    ASSERT_FALSE(d.empty());
    for (const auto& q : d) {
        EXPECT_EQ(q.expedited.c_pdu_id, 0);
        EXPECT_EQ(q.expedited.fsn, 0);
    }
    p.receive({ expedited_ack(2) });
    d = of_type(p.transmission(), t::expedited_data_only);
    ASSERT_FALSE(d.empty());
    EXPECT_EQ(d[0].expedited.c_pdu_id, 1);
    // A late repeat of the first acknowledgement does not count for the second C_PDU.
    p.primitives();
    p.receive({ expedited_ack(3) });
    EXPECT_TRUE(p.primitives().empty());
}

TEST(Conformance, Row2_03_OvertakesNormalDataWhichResume)
{
    linked p(200);
    for (int i = 0; i < 20; ++i) {
        p.submit(1, 2000);
    }
    auto d = p.transmission(10);
    ASSERT_FALSE(of_type(d, t::data_only).empty());
    submit_expedited(p, 30, 1);
    p.receive({ scripted_peer::ack(0) }); // all lost
    d = p.transmission(10);
    ASSERT_GE(d.size(), 2u);
    EXPECT_EQ(d[0].type, t::expedited_data_only);
    EXPECT_FALSE(of_type(d, t::data_only).empty());
    p.receive({ expedited_ack(1), scripted_peer::ack(0) });
    d = p.transmission(10);
    ASSERT_FALSE(d.empty());
    EXPECT_EQ(d[0].type, t::data_only);
    EXPECT_EQ(d[0].arq.fsn, 0);
    EXPECT_TRUE(of_type(d, t::expedited_data_only).empty());
}

TEST(Conformance, Row2_04_ExpeditedAckHasTheLayoutOfType1)
{
    auto a = scripted_peer::ack(10, { 0x16, 0x80 });
    auto e = a;
    e.type = t::expedited_ack_only;
    auto x = encode(a), y = encode(e);
    EXPECT_EQ(x[2], 0x10);
    EXPECT_EQ(y[2], 0x50);
    y[2] = x[2];
    x.resize(x.size() - 2); // the CRC differs with the type
    y.resize(y.size() - 2);
    EXPECT_EQ(x, y);
    for (const auto& g : load_golden("dts")) {
        if (g.id == "dts5-expack") {
            const auto d = decode_d_pdu(g.hex);
            ASSERT_TRUE(d);
            EXPECT_EQ(d->type, t::expedited_ack_only);
            EXPECT_EQ(encode(*d), g.hex);
            return;
        }
    }
    ADD_FAILURE() << "no vector dts5-expack";
}

TEST(Conformance, Row2_05_LeavingTheStateDropsTheHalfReceivedCPdu)
{
    const auto c = c_pdu_of(7, 40);
    const octets first(c.begin(), c.begin() + 20), second(c.begin() + 20, c.end());
    for (const bool leave : { false, true }) {
        linked p;
        p.receive({ segment(0, 0, first, true, false) });
        p.transmission();
        if (leave) {
            auto r = scripted_peer::from_peer(t::reset);
            r.reset.full = true;
            r.reset.frame_id = 3;
            p.receive({ r });
            p.transmission();
        }
        p.receive({ segment(0, 1, second, false, true) });
        EXPECT_EQ(p.primitives().size(), leave ? 0u : 1u);
    }
}

TEST(Expedited, DamagedBeginOfTheNextCPduIsNotAcknowledgedWithTheLastOne)
{
    linked p;
    p.receive({ segment(0, 0, c_pdu_of(7), true, true) });
    p.transmission();
    p.primitives();
    auto v = encode(segment(1, 0, c_pdu_of(8), true, true));
    v.back() ^= 1;
    p.receive_octets(v);
    const auto d = of_type(p.transmission(), t::expedited_ack_only);
    ASSERT_FALSE(d.empty());
    EXPECT_EQ(d[0].ack.rx_lwe, 0);
    EXPECT_TRUE(d[0].ack.selective.empty());
}

TEST(Expedited, LossyExchangeDeliversEachOnceInOrder)
{
    std::mt19937 r(11);
    const auto chance = [&r](double p) { return r() < p * 4294967296.0; };
    for (int run = 0; run < 60; ++run) {
        const double loss = 0.8 * (run % 9) / 9;
        expedited_sender s;
        expedited_receiver q;
        std::vector<octets> out;
        std::vector<outgoing_ptr> done;
        const unsigned count = 40;
        unsigned submitted = 0;
        for (int turn = 0; turn < 4000 && (submitted < count || !s.idle()); ++turn) {
            if (submitted < count && chance(0.3)) {
                auto o = std::make_shared<outgoing>();
                o->c_pdu.assign(1 + r() % 900, static_cast<uint8_t>(submitted++));
                o->mode.order = delivery_order::in_order;
                o->expires = std::chrono::hours(1);
                s.submit(o);
            }
            s.set_segment(10 + r() % 90, r() % 2);
            s.begin_transmission();
            bool heard =
                false; // an ACK answers type 4 D_PDUs only: it does not name the C_PDU
            while (const auto o = s.next(2000, 22)) {
                if (!chance(loss)) {
                    heard = true;
                    q.take(o->header, { o->segment, o->segment + o->size }, true, out);
                }
            }
            if (heard && !chance(loss) && s.in_sync(q.ack())) {
                s.acknowledge(q.ack(), done);
            }
        }
        ASSERT_TRUE(s.idle()) << loss;
        ASSERT_EQ(out.size(), count) << loss;
        EXPECT_EQ(done.size(), count);
        EXPECT_EQ(s.unsent().total(), 0u);
        for (size_t i = 0; i < out.size(); ++i) {
            EXPECT_EQ(out[i][0], i);
            EXPECT_EQ(out[i].size(), done[i]->c_pdu.size());
        }
    }
}

namespace {

outgoing_ptr expedited_c_pdu(uint8_t value, size_t octets_, double expires_s)
{
    auto o = std::make_shared<outgoing>();
    o->c_pdu = c_pdu_of(value, octets_);
    o->expires = from_seconds(expires_s);
    o->expedited = true;
    return o;
}

} // namespace

TEST(expedited, what_is_in_flight_and_expires_makes_way_for_the_next)
{
    expedited_sender s;
    s.set_segment(50, false);
    const auto first = expedited_c_pdu(1, 120, 10), second = expedited_c_pdu(2, 20, 1000);
    s.submit(first);
    s.submit(second);
    s.begin_transmission();
    auto out = s.next(1000, 20);
    ASSERT_TRUE(out);
    EXPECT_EQ(out->header.c_pdu_id, 0);
    std::vector<outgoing_ptr> expired;
    s.expire(from_seconds(9), expired);
    EXPECT_TRUE(expired.empty());
    s.expire(from_seconds(10), expired);
    ASSERT_EQ(expired.size(), 1u);
    EXPECT_EQ(expired[0], first);
    EXPECT_EQ(s.waiting(), 1u); // only the second
    EXPECT_EQ(s.unacknowledged(), 0u);
    // No segment of the first is sent any more, and nothing expires twice.
    s.begin_transmission();
    out = s.next(1000, 20);
    ASSERT_TRUE(out);
    EXPECT_EQ(out->header.c_pdu_id, 1);
    EXPECT_EQ(out->header.fsn, 0);
    EXPECT_TRUE(out->header.start && out->header.end);
    EXPECT_EQ(octets(out->segment, out->segment + out->size), second->c_pdu);
    expired.clear();
    s.expire(from_seconds(11), expired);
    EXPECT_TRUE(expired.empty());
}

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// docs/conformance.md, section 6: data without ARQ.
#include "s5066/dts/exchange/non_arq_receiver.h"
#include "s5066/dts/exchange/non_arq_sender.h"
#include "scripted_peer.h"
#include "vectors.h"

#include <gtest/gtest.h>

using namespace gr::hf;
using namespace gr::hf::s5066;
using t = d_pdu_type;

namespace {

node_config segments_of(size_t octets_)
{
    node_config c;
    c.segment_octets = octets_;
    return c;
}

s_unidata_request request(address to, size_t octets_, unsigned copies = 0)
{
    s_unidata_request r;
    r.dst = to;
    r.dst_sap = 3;
    r.mode.mode = transmission_mode::non_arq;
    r.mode.retransmissions = static_cast<uint8_t>(copies);
    r.u_pdu.resize(octets_);
    return r;
}

octets c_pdu_of(size_t octets_, uint8_t value)
{
    s_pdu s;
    s.src_sap = s.dst_sap = 3;
    s.u_pdu.assign(octets_, value);
    return encode(c_pdu{ c_pdu_type::data, 0, encode(s) });
}

//! Octets from..to of a C_PDU as the peer sends them.
d_pdu piece(const octets& c, size_t from, size_t to, uint16_t id = 9, uint16_t window = 4)
{
    auto d = scripted_peer::from_peer(t::non_arq_data);
    d.non_arq.c_pdu_id = id;
    d.non_arq.c_pdu_size = static_cast<uint16_t>(c.size());
    d.non_arq.offset = static_cast<uint16_t>(from);
    d.non_arq.window = window;
    d.segment.assign(c.begin() + static_cast<long>(from),
                     c.begin() + static_cast<long>(to));
    return d;
}

} // namespace

TEST(Conformance, Row6_01_LayoutOfType7)
{
    unsigned compared = 0;
    for (const auto& g : load_golden("dts")) {
        if (g.id.rfind("dts7-seg-", 0) != 0) {
            continue;
        }
        const auto v = decode_d_pdu(g.hex);
        ASSERT_TRUE(v);
        EXPECT_EQ(v->header_octets() - 2 - v->address_size, 15u);
        d_pdu d = scripted_peer::from_peer(t::non_arq_data);
        d.src = v->src;
        d.dst = v->dst;
        d.eot = v->eot;
        d.eow = v->eow;
        d.address_size = v->address_size;
        d.non_arq = v->non_arq;
        d.segment = v->segment;
        EXPECT_EQ(to_hex(encode(d)), to_hex(g.hex)) << g.id;
        ++compared;
    }
    EXPECT_GE(compared, 3u);
    auto d = scripted_peer::from_peer(t::non_arq_data);
    d.non_arq.c_pdu_id = 0xabc;
    d.non_arq.c_pdu_size = 0x1234;
    d.non_arq.offset = 0x0567;
    d.non_arq.window = 0x0089;
    const auto v = encode(d);
    EXPECT_EQ(to_hex(octets(v.begin() + 13, v.begin() + 22)), "a000bc123405670089");
}

TEST(Conformance, Row6_02_SegmentsAndOffsets)
{
    scripted_peer p(segments_of(200));
    p.bind(1, 3);
    p.send(1, request(address("1.2.0.0"), 2076 - 28));
    p.send(1, request(address("1.2.0.0"), 1, 0));
    const auto d = p.transmission();
    ASSERT_GE(d.size(), 12u);
    for (size_t i = 0; i < 11; ++i) {
        EXPECT_EQ(d[i].non_arq.offset, 200 * i);
        EXPECT_EQ(d[i].non_arq.c_pdu_size, 2052);
        EXPECT_EQ(d[i].segment.size(), i < 10 ? 200u : 52u);
        EXPECT_EQ(d[i].non_arq.c_pdu_id, d[0].non_arq.c_pdu_id);
    }
    EXPECT_EQ(d[11].non_arq.offset, 0);
    // The standard's example of 2080 octets, reassembled from its 11 segments.
    const auto c = c_pdu_of(2076, 5);
    ASSERT_EQ(c.size(), 2080u);
    scripted_peer q;
    q.bind(1, 3);
    std::vector<d_pdu> list;
    for (size_t at = 0; at < c.size(); at += 200) {
        list.push_back(piece(c, at, std::min(at + 200, c.size())));
    }
    ASSERT_EQ(list.size(), 11u);
    EXPECT_EQ(list.back().non_arq.offset, 2000);
    EXPECT_EQ(list.back().segment.size(), 80u);
    q.receive(list);
    const auto i = q.answer<s_unidata_indication>();
    ASSERT_TRUE(i);
    EXPECT_EQ(i->u_pdu, octets(2076, 5));
}

TEST(Conformance, Row6_03_SeparateIdCountersModulo4096)
{
    scripted_peer p;
    p.bind(1, 3);
    std::optional<unsigned> normal, expedited;
    unsigned wraps = 0;
    for (unsigned i = 0; i < 2 * 4096 + 4; ++i) {
        auto r = request(address("1.2.0.0"), 1);
        r.expedited = i % 2 == 0;
        p.send(1, r);
        const auto d = p.transmission(10); // some after a pause for others
        ASSERT_FALSE(d.empty());
        ASSERT_EQ(d[0].type, i % 2 ? t::non_arq_data : t::expedited_non_arq_data);
        auto& last = i % 2 ? normal : expedited;
        const unsigned id = d[0].non_arq.c_pdu_id;
        if (last) {
            ASSERT_EQ(id, (*last + 1) % 4096);
            wraps += id == 0 ? 1 : 0;
        }
        last = id;
    }
    EXPECT_EQ(wraps, 2u);
}

TEST(Conformance, Row6_04_MinimumRetransmissions)
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
    auto d = p.transmission();
    EXPECT_EQ(d.size(), 11u);
    const auto again = p.transmission(10); // apart in time
    d.insert(d.end(), again.begin(), again.end());
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
    // Delivered once, whatever happens to the copies.
    scripted_peer q;
    q.bind(1, 3);
    const auto c = c_pdu_of(40, 1);
    q.receive({ piece(c, 0, 20), piece(c, 20, 44), piece(c, 0, 20), piece(c, 20, 44) });
    EXPECT_TRUE(q.answer<s_unidata_indication>());
    q.receive({ piece(c, 0, 20), piece(c, 20, 44) });
    EXPECT_TRUE(q.primitives().empty());
}

TEST(Conformance, Row6_05_GroupAddresses)
{
    node_config c;
    c.groups = { address("16.0.0.7") };
    scripted_peer p(c);
    p.bind(1, 3);
    auto d = piece(c_pdu_of(10, 1), 0, 14);
    d.dst = address("16.0.0.8"); // a group without this node
    p.receive({ d });
    EXPECT_TRUE(p.primitives().empty());
    uint16_t id = 20;
    for (const char* group : { "16.0.0.7", "31.255.255.255" }) {
        d.dst = address(std::string(group));
        d.non_arq.c_pdu_id = id++;
        EXPECT_TRUE(encode(d)[13] & 4); // group flag
        p.receive({ d });
        const auto i = p.answer<s_unidata_indication>();
        ASSERT_TRUE(i);
        EXPECT_EQ(i->dst, d.dst);
        EXPECT_EQ(i->src, address("1.2.0.0"));
    }
}

TEST(Conformance, Row6_06_IncompleteIsNotDeliveredInErrorFreeMode)
{
    scripted_peer p;
    p.bind(1, 3); // service type: ARQ by default
    const auto c = c_pdu_of(40, 1);
    p.receive({ piece(c, 0, 20) });
    EXPECT_FALSE(p.wait(10));
    EXPECT_TRUE(p.primitives().empty());
    auto damaged = encode(piece(c, 0, 44, 11));
    damaged.back() ^= 1;
    p.receive_octets(damaged);
    EXPECT_FALSE(p.wait(10));
    EXPECT_TRUE(p.primitives().empty());
}

TEST(Conformance, Row6_07_WithErrorsListsDamagedAndMissing)
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

TEST(Conformance, Row6_08_WindowCountsDownAndNothingIsSentAfterIt)
{
    scripted_peer p(segments_of(100));
    p.bind(1, 3);
    p.send(1, request(address("1.2.0.0"), 2000, 2));
    std::optional<double> end_s;
    for (unsigned round = 0; round < 3; ++round) {
        const auto d = p.transmission(10);
        ASSERT_EQ(d.size(), 21u);
        const double octet_s = 8.0 / p.tx_mode.rate_bps;
        double at = to_seconds(p.now - p.air_time);
        for (const auto& q : d) {
            const double q_end_s = at + 0.5 * q.non_arq.window;
            end_s = end_s.value_or(q_end_s);
            EXPECT_NEAR(q_end_s, *end_s, 1.1) << round;
            at += octet_s * static_cast<double>(q.octets());
        }
    }
    // The channel is busy until the window is over: the rest is not sent.
    auto c = segments_of(200);
    c.max_transmission_s = 20;
    scripted_peer q(c);
    q.bind(1, 3);
    for (int i = 0; i < 3; ++i) {
        q.send(1, request(address("1.2.0.0"), 2000));
    }
    const auto first = q.transmission();
    ASSERT_FALSE(first.empty());
    const uint16_t unfinished = first.back().non_arq.c_pdu_id;
    EXPECT_LT(first.back().non_arq.offset + 200u, first.back().non_arq.c_pdu_size);
    auto busy = scripted_peer::data(0);
    busy.dst = address("1.3.0.0");
    for (int i = 0; i < 10; ++i) {
        busy.eot = 250;
        q.receive({ busy }, rx_end_reason::lost);
        q.now += std::chrono::seconds(120);
    }
    for (const auto& x : q.transmission(200)) {
        EXPECT_NE(x.non_arq.c_pdu_id, unfinished);
    }
}

TEST(Conformance, Row6_09_SegmentsOutOfOrderAndOrderOfDelivery)
{
    for (const bool in_order : { false, true }) {
        scripted_peer p;
        p.bind(1, 3);
        const auto a = c_pdu_of(40, 1), b = c_pdu_of(40, 2);
        const auto send = [&](d_pdu d) {
            d.non_arq.in_order = in_order;
            p.receive({ d });
            return p.primitives().size();
        };
        EXPECT_EQ(send(piece(a, 20, 44, 4, 60)), 0u);
        EXPECT_EQ(send(piece(b, 20, 44, 5, 60)), 0u);
        EXPECT_EQ(send(piece(b, 0, 20, 5, 60)), in_order ? 0u : 1u);
        EXPECT_EQ(send(piece(a, 0, 20, 4, 60)), in_order ? 2u : 1u);
    }
    // In order, but not for ever: a lost C_PDU holds up the others until its window ends.
    scripted_peer p;
    p.bind(1, 3);
    const auto a = c_pdu_of(40, 1);
    auto lost = piece(a, 0, 20, 4, 4), whole = piece(a, 0, 44, 5, 60);
    lost.non_arq.in_order = whole.non_arq.in_order = true;
    p.receive({ lost, whole });
    EXPECT_TRUE(p.primitives().empty());
    EXPECT_FALSE(p.wait(7));
    EXPECT_EQ(p.primitives().size(), 1u);
}

TEST(Conformance, Row6_09_OrderOfDeliveryAcrossTheEndOfTheNumbers)
{
    struct row {
        uint16_t first, next;
        bool waits;
    };
    // 2047 numbers are later ones, 2048 are not.
    for (const row& r : { row{ 4095, 0, true },
                          row{ 4094, 2045, true },
                          row{ 4094, 2046, false },
                          row{ 0, 4095, false } }) {
        non_arq_receiver rx;
        std::vector<non_arq_c_pdu> out;
        const auto a = c_pdu_of(40, 1), b = c_pdu_of(40, 2);
        auto part = piece(a, 0, 20, r.first, 60), rest = piece(a, 20, 44, r.first, 60),
             whole = piece(b, 0, 44, r.next, 60);
        part.non_arq.in_order = rest.non_arq.in_order = whole.non_arq.in_order = true;
        rx.take({}, part, out);
        rx.take({}, whole, out);
        EXPECT_EQ(out.size(), r.waits ? 0u : 1u) << r.first << " " << r.next;
        rx.take({}, rest, out);
        ASSERT_EQ(out.size(), 2u);
        EXPECT_EQ(out[r.waits ? 0 : 1].octets, a);
        EXPECT_EQ(out[r.waits ? 1 : 0].octets, b);
    }
}

TEST(Conformance, Row6_09_IncompleteCPdusAreBounded)
{
    // A hostile station begins C_PDUs and completes none. 256 are remembered.
    non_arq_receiver rx;
    std::vector<non_arq_c_pdu> out;
    const auto c = c_pdu_of(40, 1);
    const auto at = [](unsigned k) { return std::chrono::milliseconds(k); };
    for (unsigned k = 0; k <= 256; ++k)
        rx.take(at(k), piece(c, 0, 20, uint16_t(k), 60), out);
    const auto complete = [&](unsigned k) {
        out.clear();
        rx.take(at(300), piece(c, 20, 44, uint16_t(k), 60), out);
        return !out.empty();
    };
    EXPECT_TRUE(complete(1));
    EXPECT_TRUE(complete(256));
    EXPECT_FALSE(complete(0)) << "the oldest one gave way";
    // 4 MiB of the largest ones, in segments of the largest size.
    non_arq_receiver large;
    const octets most(65535, 7);
    for (unsigned k = 0; k < 80; ++k)
        for (size_t from = 0; from + 1023 <= most.size(); from += 1023)
            large.take(at(k), piece(most, from, from + 1023, uint16_t(k), 60), out);
    std::vector<non_arq_c_pdu> ended;
    large.expire(std::chrono::hours(1), ended);
    EXPECT_LE(ended.size(), 64u);
    EXPECT_GE(ended.size(), 60u);
}

TEST(Conformance, Row6_10_BroadcastEotIsZeroUntilTheEnd)
{
    auto c = segments_of(200);
    c.broadcast_s = 600;
    scripted_peer p(c);
    p.bind(1, 3);
    for (int i = 0; i < 14; ++i) {
        p.send(1, request(address::broadcast(), 2000));
    }
    const auto d = p.transmission();
    EXPECT_GT(to_seconds(p.air_time), 300);
    const double octet_s = 8.0 / p.tx_mode.rate_bps;
    double at = 0;
    size_t zeros = 0;
    for (const auto& q : d) {
        const double left = to_seconds(p.air_time) - at;
        if (left > 128.5) {
            EXPECT_EQ(q.eot, 0);
            ++zeros;
        } else if (left < 126.5) {
            EXPECT_NEAR(q.eot, 2 * left + 0.5, 1.6);
        }
        at += octet_s * static_cast<double>(q.octets());
    }
    EXPECT_GT(zeros, 50u);
    EXPECT_LT(zeros, d.size());
}

// C_PDUs of 100 octets, sent in segments of 60. One that has started is not interrupted.
TEST(non_arq_sender, sends_by_priority_and_what_has_started_first)
{
    non_arq_sender s;
    const auto submit = [&s](uint8_t priority, uint16_t id) {
        auto o = std::make_shared<outgoing>();
        o->c_pdu.resize(100);
        o->mode.mode = transmission_mode::non_arq;
        o->priority = priority;
        s.submit(o, id);
    };
    const auto next = [&s] {
        d_pdu d;
        s.next(s.next_octets(60, 20, 1000), {}, {}, d);
        return d.non_arq.c_pdu_id;
    };
    submit(1, 1);
    submit(1, 2);
    EXPECT_EQ(next(), 1u);
    submit(9, 3);
    submit(5, 4);
    std::vector<uint16_t> order;
    while (!s.empty()) {
        order.push_back(next());
    }
    EXPECT_EQ(order, (std::vector<uint16_t>{ 1, 3, 3, 4, 4, 2, 2 }));
}

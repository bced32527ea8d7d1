/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// docs/conformance.md, section 1, receiving: acknowledgement, delivery, turns.
#include "s5066/dts/arq/arq_receiver.h"
#include "scripted_peer.h"
#include "vectors.h"

#include <gtest/gtest.h>

using namespace gr::hf;
using namespace gr::hf::s5066;
using t = d_pdu_type;

namespace {

struct linked : scripted_peer {
    linked()
    {
        bind(1, 3);
        make_link();
    }
    //! The ACK of the next transmission, in which all ACKs must be equal.
    ack_header answer_of()
    {
        const auto d = transmission();
        EXPECT_FALSE(d.empty());
        if (d.empty()) {
            return {};
        }
        for (const auto& q : d) {
            EXPECT_EQ(q.type, t::ack_only);
            EXPECT_EQ(q.ack.rx_lwe, d[0].ack.rx_lwe);
            EXPECT_EQ(q.ack.selective, d[0].ack.selective);
        }
        return d[0].ack;
    }
};

d_pdu part(uint8_t fsn, bool start, bool end, bool in_order)
{
    auto d = scripted_peer::data(fsn, 40);
    const auto half = static_cast<long>(d.segment.size() / 2);
    if (!start) {
        d.segment.erase(d.segment.begin(), d.segment.begin() + half);
    } else if (!end) {
        d.segment.erase(d.segment.begin() + half, d.segment.end());
    }
    d.arq.start = start;
    d.arq.end = end;
    d.arq.in_order = in_order;
    return d;
}

octets damaged(const d_pdu& d)
{
    auto v = encode(d);
    v.back() ^= 1;
    return v;
}

} // namespace

TEST(Conformance, Row1_09_GapsAreAcknowledgedSelectively)
{
    linked p;
    std::vector<d_pdu> list;
    for (const uint8_t n : { 0, 1, 3, 4, 5 }) {
        list.push_back(scripted_peer::data(n));
    }
    p.receive(list);
    const auto a = p.answer_of();
    EXPECT_EQ(a.rx_lwe, 2);
    EXPECT_EQ(a.selective, octets{ 0x07 });
}

TEST(Conformance, Row1_10_BitmapAcrossTheWrapNoneAndLongest)
{
    const auto take = [](arq_receiver& r, unsigned fsn) {
        arq_header h;
        h.start = h.end = true;
        h.fsn = static_cast<uint8_t>(fsn);
        std::vector<octets> out;
        return r.take(h, { 1 }, true, out);
    };
    size_t compared = 0;
    for (const auto& g : load_golden("dts")) {
        const bool full = g.id == "dts1-full";
        if (g.id != "dts1-wrap" && g.id != "dts1-noack" && !full) {
            continue;
        }
        const auto d = decode_d_pdu(g.hex);
        ASSERT_TRUE(d);
        EXPECT_EQ(d->ack.selective.size(), full ? 16u : d->ack.selective.size());
        arq_receiver r;
        r.reset(d->ack.rx_lwe);
        for (unsigned i = 0; i < 8 * d->ack.selective.size(); ++i) {
            if (d->ack.selective[i / 8] >> (i % 8) & 1) {
                EXPECT_TRUE(take(r, d->ack.rx_lwe + 1 + i));
            }
        }
        EXPECT_EQ(r.ack().rx_lwe, d->ack.rx_lwe);
        EXPECT_EQ(r.ack().selective, d->ack.selective) << g.id;
        ++compared;
    }
    EXPECT_EQ(compared, 3u);
    arq_receiver r;
    r.reset(250);
    for (const unsigned n : { 251u, 255u, 2u, 4u }) {
        EXPECT_TRUE(take(r, n));
    }
    EXPECT_EQ(r.ack().rx_lwe, 250);
    EXPECT_EQ(r.ack().selective, (octets{ 0x91, 0x02 }));
    r.reset();
    for (unsigned n = 1; n < 128; ++n) {
        EXPECT_TRUE(take(r, n));
    }
    EXPECT_FALSE(take(r, 128));
    EXPECT_EQ(r.ack().selective.size(), 16u);
    EXPECT_EQ(r.ack().selective[15], 0x7f);
    EXPECT_TRUE(take(r, 0));
    EXPECT_EQ(r.ack().rx_lwe, 128);
    EXPECT_TRUE(r.ack().selective.empty());
}

TEST(Conformance, Row1_11_DamagedSegmentIsNotAcknowledgedButItsHeaderCounts)
{
    linked p;
    p.submit(1, 20);
    p.transmission();
    auto d = scripted_peer::data(0);
    d.type = t::data_ack;
    d.ack.rx_lwe = 1; // acknowledges what the node has sent
    d.eot = 8;
    d.eow = 0x900;
    p.receive_octets(damaged(d), rx_end_reason::lost);
    EXPECT_EQ(p.n.state().unacknowledged, 0u);
    const station_time heard = p.now;
    const auto a = p.transmission(10);
    ASSERT_FALSE(a.empty());
    EXPECT_EQ(a[0].ack.rx_lwe, 0);
    EXPECT_TRUE(a[0].ack.selective.empty());
    EXPECT_EQ(a[0].eow, 0x309);
    EXPECT_GE(to_seconds(p.now - heard), 3.0); // waited for the EOT
}

TEST(Conformance, Row1_12_DroppedIsAcknowledgedEvenIfDamagedAndNotDelivered)
{
    linked p;
    p.receive({ part(0, true, false, true) });
    EXPECT_EQ(p.answer_of().rx_lwe, 1);
    auto drop = part(1, false, true, true);
    drop.arq.drop = true;
    p.receive_octets(damaged(drop));
    EXPECT_EQ(p.answer_of().rx_lwe, 2);
    EXPECT_TRUE(p.primitives().empty());
    p.receive({ scripted_peer::data(2) });
    EXPECT_TRUE(p.answer<s_unidata_indication>());
}

TEST(Conformance, Row1_16_DuplicatesAreAcknowledgedAndDeliveredOnce)
{
    linked p;
    const auto before = p.n.stats().d_pdus_duplicate;
    p.receive({ scripted_peer::data(0), scripted_peer::data(0) });
    EXPECT_TRUE(p.answer<s_unidata_indication>());
    p.transmission();
    p.receive({ scripted_peer::data(0) });
    EXPECT_TRUE(p.primitives().empty());
    EXPECT_EQ(p.answer_of().rx_lwe, 1);
    EXPECT_EQ(p.n.stats().d_pdus_duplicate, before + 2);
}

TEST(Conformance, Row1_17_InOrderOrAsTheyArrive)
{
    for (const bool in_order : { true, false }) {
        linked p;
        p.receive({ part(0, true, false, in_order), part(2, true, true, in_order) });
        EXPECT_EQ(p.primitives().size(), in_order ? 0u : 1u);
        p.transmission();
        p.receive({ part(1, false, true, in_order) });
        EXPECT_EQ(p.primitives().size(), in_order ? 2u : 1u);
    }
}

TEST(Conformance, Row1_19_SilentUntilTheHeardEotRanOut)
{
    linked p;
    auto d = scripted_peer::data(0);
    d.eot = 20;
    const station_time heard = p.now + std::chrono::milliseconds(600);
    p.receive({ d }, rx_end_reason::lost);
    ASSERT_TRUE(p.wait(30));
    EXPECT_GE(to_seconds(p.now - heard), 9.0);
    EXPECT_LE(to_seconds(p.now - heard), 10.3);
}

TEST(Conformance, Row1_19_AnEndThatTheModemMissesIsThatOfTheEot)
{
    linked p;
    auto d = scripted_peer::data(0);
    d.eot = 20;
    rx_start s;
    s.m = p.tx_mode;
    p.n.on_rx_start(p.now, s);
    p.now += std::chrono::milliseconds(600);
    rx_octets o;
    o.octets = encode(d);
    p.n.on_rx_octets(p.now, o);
    const station_time heard = p.now;
    EXPECT_FALSE(p.wait(8));
    d = scripted_peer::data(1);
    d.eot = 8; // this much is still to come, however late the modem delivers it
    o.octets = encode(d);
    p.n.on_rx_octets(p.now, o);
    ASSERT_TRUE(p.wait(30)); // the modem treats the silence as a fade
    EXPECT_GE(to_seconds(p.now - heard), 12.0);
    EXPECT_LE(to_seconds(p.now - heard), 14.0);
    const auto a = p.send_out();
    ASSERT_FALSE(a.empty());
    EXPECT_EQ(a[0].ack.rx_lwe, 2);
    // Noise that the modem still decodes is no new reception.
    const auto before = p.n.stats().receptions;
    o.octets.assign(100, 0x5a);
    p.n.on_rx_octets(p.now, o);
    EXPECT_EQ(p.n.stats().receptions, before);
    EXPECT_EQ(p.n.state().phase, node_phase::idle);
    p.n.on_rx_end(p.now, { rx_end_reason::lost, p.now });
    p.receive({ scripted_peer::data(2) });
    EXPECT_EQ(p.n.stats().receptions, before + 1);
    EXPECT_EQ(p.answer_of().rx_lwe, 3);
}

TEST(Conformance, Row1_22_FramesToOthersAreIgnoredExceptForTheirEot)
{
    scripted_peer p;
    p.bind(1, 3);
    auto d = scripted_peer::data(0);
    d.dst = address("1.3.0.0");
    d.eot = 20;
    p.submit(1, 100);
    const station_time heard = p.now + std::chrono::milliseconds(600);
    p.receive({ d }, rx_end_reason::lost);
    EXPECT_TRUE(p.primitives().empty());
    EXPECT_EQ(p.n.stats().d_pdus_for_others, 1u);
    ASSERT_TRUE(p.wait(30));
    EXPECT_GE(to_seconds(p.now - heard), 9.4);
    for (const auto& q : p.send_out()) {
        EXPECT_NE(q.type, t::warning);
        EXPECT_NE(q.type, t::ack_only);
    }
}

TEST(turns, whoever_was_addressed_may_answer_first)
{
    scripted_peer p;
    p.bind(1, 3);
    auto d = scripted_peer::data(0);
    d.dst = address("1.3.0.0");
    p.submit(1, 100);
    p.receive({ d });
    const station_time heard = p.now;
    ASSERT_TRUE(p.wait(10));
    // Two turnarounds and the preamble of the answer.
    EXPECT_GE(to_seconds(p.now - heard), 0.2 + 0.6);
}

// Room up to the end of the block costs nothing, but more copies would help nobody.
TEST(acknowledgements, fill_a_long_block_with_four_copies_at_most)
{
    node_config c;
    c.mode = "4539-600L";
    c.ack_mode = "same";
    scripted_peer p(c);
    p.bind(1, 3);
    p.make_link();
    p.receive({ scripted_peer::data(0) });
    const auto sent = p.transmission();
    EXPECT_EQ(of_type(sent, d_pdu_type::ack_only).size(), 4u);
    EXPECT_EQ(sent.size(), 4u);
    EXPECT_EQ(p.tx_mode, mode::parse("4539-600L")) << "a block of 4.8 s, 360 octets";
}

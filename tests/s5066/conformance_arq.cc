/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// docs/conformance.md, section 1, sending: framing, segments, window, EOT.
#include "s5066/pdu/crc.h"
#include "scripted_peer.h"
#include "vectors.h"

#include <cmath>
#include <gtest/gtest.h>
#include <set>

using namespace gr::hf;
using namespace gr::hf::s5066;
using t = d_pdu_type;

namespace {

node_config segments_of(size_t n)
{
    node_config c;
    c.segment_octets = n;
    return c;
}

struct linked : scripted_peer {
    explicit linked(const node_config& c = node_config()) : scripted_peer(c)
    {
        bind(1, 3);
        make_link();
    }
};

delivery_mode confirmed()
{
    delivery_mode m;
    m.confirmation = delivery_confirmation::node;
    return m;
}

std::set<int> numbers_of(const std::vector<d_pdu>& list)
{
    std::set<int> n;
    for (const auto& d : list) {
        if (d.type == t::data_only || d.type == t::data_ack) {
            n.insert(d.arq.fsn);
        }
    }
    return n;
}

octets golden_hex(const std::string& id)
{
    for (const auto& g : load_golden("dts")) {
        if (g.id == id) {
            return g.hex;
        }
    }
    ADD_FAILURE() << "no vector " << id;
    return {};
}

} // namespace

TEST(Conformance, Row1_01_SyncLeastSignificantBitFirst)
{
    linked p;
    p.submit(1, 20);
    ASSERT_TRUE(p.wait(3));
    const auto timing = kernel::timing_of(p.tx_mode);
    const auto o = p.n.pull(p.now, p.now, timing.octets_in(1));
    ASSERT_GE(o.octets.size(), 2u);
    std::string bits;
    for (size_t i = 0; i < 16; ++i) {
        bits += o.octets[i / 8] >> (i % 8) & 1 ? '1' : '0';
    }
    EXPECT_EQ(bits, "0000100111010111");
}

TEST(Conformance, Row1_02_HeaderOctets)
{
    // Built from its fields, not from a decoded copy.
    d_pdu d;
    const auto hex = golden_hex("dts0-single");
    const auto g = decode_d_pdu(hex);
    ASSERT_TRUE(g);
    d.dst = g->dst;
    d.src = g->src;
    d.eot = g->eot;
    d.address_size = g->address_size;
    d.arq = g->arq;
    d.segment = g->segment;
    const auto v = encode(d);
    EXPECT_EQ(to_hex(v), to_hex(hex));
    EXPECT_EQ(v[2], 0x00);
    EXPECT_EQ(v[3], 0x00);
    EXPECT_EQ(v[5] >> 5, d.address_size);
    EXPECT_EQ(v[5] & 31, 9);
}

TEST(Conformance, Row1_03_HeaderLengths)
{
    for (size_t a = 0; a <= 16; ++a) {
        for (const auto& [type, h] : { std::pair{ t::data_only, size_t(9) },
                                       { t::ack_only, 7 + a },
                                       { t::data_ack, 10 + a } }) {
            auto d = scripted_peer::from_peer(type);
            d.ack.selective.assign(type == t::data_only ? 0 : a, 1);
            const auto v = encode(d);
            EXPECT_EQ(v[5] & 31u, h);
            EXPECT_EQ(d.header_octets(), 2 + h + 7);
        }
    }
    auto d = scripted_peer::ack(0);
    d.ack.selective.assign(17, 1);
    EXPECT_TRUE(encode(d).empty());
}

TEST(Conformance, Row1_04_Crcs)
{
    const auto v = from_hex("f0000047056402");
    EXPECT_EQ(crc16(v.data(), v.size()), 0x1e5f);
    EXPECT_EQ(crc32(v.data(), v.size()), 0xf4178f95u);
    const auto d = golden_hex("dts15-std");
    const auto g = decode_d_pdu(d);
    ASSERT_TRUE(g);
    EXPECT_EQ(g->type, t::warning);
    EXPECT_EQ(crc16(d.data() + 2, d.size() - 2), 0); // over its own CRC
    // A segment without octets still has a CRC, of zeros.
    const auto e = encode(scripted_peer::from_peer(t::data_only));
    EXPECT_EQ(octets(e.end() - 4, e.end()), octets(4, 0));
}

TEST(Conformance, Row1_05_ShortCPduIsOneDPdu)
{
    linked p(segments_of(200));
    p.submit(1, 196); // 200 with the headers of C_PDU and S_PDU
    const auto d = of_type(p.transmission(), t::data_only);
    ASSERT_FALSE(d.empty());
    for (const auto& q : d) {
        EXPECT_EQ(q.arq.fsn, 0); // and copies of it
        EXPECT_TRUE(q.arq.start);
        EXPECT_TRUE(q.arq.end);
        EXPECT_EQ(q.segment.size(), 200u);
    }
}

TEST(Conformance, Row1_06_LongerCPduMakesEqualSegments)
{
    linked p(segments_of(200));
    p.submit(1, 2048, confirmed());
    const auto d = of_type(p.transmission(), t::data_only);
    ASSERT_GE(d.size(), 11u); // 2052 octets
    for (size_t i = 0; i < 11; ++i) {
        EXPECT_EQ(d[i].segment.size(), i < 10 ? 200u : 52u);
        EXPECT_EQ(d[i].arq.start, i == 0);
        EXPECT_EQ(d[i].arq.end, i == 10);
        EXPECT_EQ(d[i].arq.fsn, i);
    }
}

TEST(segments, fit_the_longest_transmission)
{
    auto c = segments_of(1023); // 109 s at 75 bit/s
    c.mode = "4539-75S";
    c.max_transmission_s = 60; // 562 octets
    linked p(c);
    p.submit(1, 1019, confirmed());
    const auto d = of_type(p.transmission(), t::data_only);
    ASSERT_FALSE(d.empty());
    EXPECT_GT(d.front().segment.size(), 400u);
    EXPECT_LE(d.front().segment.size(), 550u);
}

TEST(Conformance, Row1_07_NumbersWrapAndGoOnInTheNextCPdu)
{
    auto c = segments_of(50);
    c.window = 100;
    linked p(c);
    for (int i = 0; i < 40; ++i) {
        p.submit(1, 496, confirmed()); // 10 segments each
    }
    unsigned next = 0;
    while (next < 400) {
        const auto list = p.transmission();
        const auto numbers = numbers_of(list);
        ASSERT_FALSE(numbers.empty());
        ASSERT_LE(numbers.size(), 100u);
        for (size_t i = 0; i < numbers.size(); ++i) {
            EXPECT_TRUE(numbers.count((next + i) % 256));
        }
        for (const auto& d : of_type(list, t::data_only)) {
            const unsigned n = next + static_cast<uint8_t>(d.arq.fsn - next);
            EXPECT_EQ(d.arq.start, n % 10 == 0);
        }
        next += static_cast<unsigned>(numbers.size());
        p.receive({ scripted_peer::ack(static_cast<uint8_t>(next)) });
    }
    EXPECT_EQ(next, 400u);
    EXPECT_EQ(p.primitives().size(), 40u);
}

TEST(Conformance, Row1_08_WindowEdgeFlagsAlsoOnRepeats)
{
    linked p(segments_of(200));
    p.submit(1, 2048, confirmed());
    const auto d = of_type(p.transmission(), t::data_only);
    ASSERT_GE(d.size(), 11u);
    for (size_t i = 0; i < 11; ++i) {
        EXPECT_TRUE(d[i].arq.uwe); // each is the last new one when it goes out
        EXPECT_EQ(d[i].arq.lwe, i == 0);
    }
    p.receive({ scripted_peer::ack(3, { 0x3e }) }); // 3, 4 and 10 are missing
    const auto again = of_type(p.transmission(), t::data_only);
    EXPECT_EQ(numbers_of(again), (std::set<int>{ 3, 4, 10 }));
    for (const auto& q : again) {
        EXPECT_EQ(q.arq.lwe, q.arq.fsn == 3);
        EXPECT_EQ(q.arq.uwe, q.arq.fsn == 10);
    }
}

TEST(Conformance, Row1_13_OwnDataCarryTheAcknowledgement)
{
    for (const bool own : { true, false }) {
        linked p;
        if (own) {
            p.submit(1, 20);
        }
        p.receive({ scripted_peer::data(0) });
        const auto d = p.transmission();
        ASSERT_FALSE(d.empty());
        EXPECT_EQ(d[0].type, own ? t::data_ack : t::ack_only);
        EXPECT_EQ(d[0].ack.rx_lwe, 1);
    }
}

TEST(Conformance, Row1_14_OnlyMissingFramesAreRepeated)
{
    linked p(segments_of(200));
    p.submit(1, 2048, confirmed());
    p.transmission();
    p.receive({ scripted_peer::ack(3, { 0x7e }) }); // 3 and 4 are missing, 5 to 10 there
    const auto d = p.transmission();
    EXPECT_EQ(numbers_of(d), (std::set<int>{ 3, 4 }));
    EXPECT_TRUE(p.primitives().empty());
    p.receive({ scripted_peer::ack(11) });
    EXPECT_TRUE(p.answer<s_unidata_request_confirm>());
    EXPECT_FALSE(p.wait(5));
}

TEST(Conformance, Row1_15_NeverMoreThanTheWindow)
{
    for (const unsigned window : { 128u, 16u }) {
        auto c = segments_of(48);
        c.window = window;
        linked p(c);
        for (int i = 0; i < 20; ++i) {
            p.submit(1, 2000);
        }
        std::set<int> all;
        for (int round = 0; round < 3; ++round) { // nothing is acknowledged
            for (const int n : numbers_of(p.transmission(60))) {
                all.insert(n);
            }
        }
        EXPECT_EQ(all.size(), window);
        EXPECT_EQ(*all.rbegin(), static_cast<int>(window) - 1);
        EXPECT_EQ(p.n.state().unacknowledged, window);
    }
}

TEST(Conformance, Row1_18_EotCountsDownToTheEnd)
{
    linked p(segments_of(100));
    for (int i = 0; i < 40; ++i) {
        p.submit(1, 2000);
    }
    const auto d = p.transmission();
    ASSERT_GE(d.size(), 50u);
    EXPECT_EQ(d[0].eot, std::ceil(2 * to_seconds(p.air_time) - 1e-9));
    const double octet_s = 8.0 / p.tx_mode.rate_bps;
    double at = 0;
    for (size_t i = 0; i < d.size(); ++i) {
        EXPECT_LE(d[i].eot, i ? d[i - 1].eot : 255);
        const double left = to_seconds(p.air_time) - at;
        EXPECT_NEAR(d[i].eot, 2 * left + 0.5, 1.6) << i; // half a second, rounded up
        EXPECT_GE(d[i].eot + 0.1, 2 * left - 0.2);
        at += octet_s * static_cast<double>(d[i].octets());
    }
}

TEST(Conformance, Row1_20_FullDuplexEotIsZero)
{
    auto c = segments_of(200);
    c.full_duplex = true;
    linked p(c);
    p.submit(1, 2000);
    const auto d = p.transmission();
    ASSERT_FALSE(of_type(d, t::data_only).empty());
    for (const auto& q : d) {
        EXPECT_EQ(q.eot, 0);
    }
    // It sends while it receives.
    linked q(c);
    rx_start s;
    s.m = mode::parse(q.d_config.mode);
    q.n.on_rx_start(q.now, s);
    q.submit(1, 2000);
    EXPECT_TRUE(q.wait(3));
    // Data received meanwhile are acknowledged in the present transmission.
    const auto timing = kernel::timing_of(q.tx_mode);
    q.n.pull(q.now, q.now, timing.octets_in(1) / 2);
    rx_octets r;
    r.octets = encode(scripted_peer::data(0));
    q.n.on_rx_octets(q.now, r);
    rx_end e;
    e.air_end = q.now;
    q.n.on_rx_end(q.now, e);
    bool acked = false;
    for (const auto& x : of_type(q.send_out(), t::data_ack)) {
        acked = acked || x.ack.rx_lwe == 1;
    }
    EXPECT_TRUE(acked);
}

TEST(Conformance, Row1_21_LeadingZeroHalfOctetsAreDropped)
{
    const auto hex = golden_hex("dts15-odd");
    const auto g = decode_d_pdu(hex);
    ASSERT_TRUE(g);
    EXPECT_EQ(g->address_size % 2, 1);
    EXPECT_EQ(to_hex(encode(*g)), to_hex(hex));
    auto d = scripted_peer::from_peer(t::ack_only);
    d.dst = address("0.0.1.5");
    d.src = address("0.0.2.7");
    d.address_size = 3;
    auto v = encode(d);
    EXPECT_EQ(to_hex(octets(v.begin() + 6, v.begin() + 9)), "105207");
    auto r = decode_d_pdu(v);
    ASSERT_TRUE(r);
    EXPECT_EQ(r->dst, d.dst);
    EXPECT_EQ(r->src, d.src);
    d.src = address("1.2.0.0"); // trailing zeros count: both need 7 half octets
    EXPECT_TRUE(encode(d).empty());
    d.address_size = 7;
    v = encode(d);
    EXPECT_EQ(to_hex(octets(v.begin() + 6, v.begin() + 13)), "00001051020000");
}

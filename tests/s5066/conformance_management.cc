/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// docs/conformance.md, section 4: MANAGEMENT D_PDUs, data rate change, EOWs.
#include "s5066/dts/exchange/rate_change.h"
#include "s5066/pdu/eow.h"
#include "s5066/rate/adaptive_rate.h"
#include "scripted_peer.h"
#include "vectors.h"

#include <gtest/gtest.h>

using namespace gr::hf;
using namespace gr::hf::s5066;
using t = d_pdu_type;

namespace {

node_config with_drc(const char* mode = "4539-2400S")
{
    node_config c;
    c.drc = true;
    c.mode = mode;
    return c;
}

struct linked : scripted_peer {
    explicit linked(const node_config& c = with_drc()) : scripted_peer(c)
    {
        bind(1, 3);
        make_link();
    }
    std::string sent_in() const { return tx_mode.to_string(); }
};

d_pdu management(uint16_t eow, uint8_t id, bool ack = false, bool valid = true)
{
    auto d = scripted_peer::from_peer(t::management);
    d.eow = eow;
    d.management.valid = valid;
    d.management.ack = ack;
    d.management.frame_id = id;
    return d;
}
d_pdu dt_ack(uint8_t id = 0) { return management(0, id, true, false); }

constexpr uint16_t accept = 0x200, cancel = 0x240, confirm = 0x260;
uint16_t refuse(unsigned reason) { return static_cast<uint16_t>(0x220 | reason); }
//! Request for 1200 bit/s, short.
constexpr uint16_t request_1200 = 0x144;
constexpr uint16_t request_1200_equal = 0x145;

//! The node requests 2400 bit/s, short, only for its transmitter.
std::vector<d_pdu> node_asks(linked& p)
{
    for (int i = 0; i < 5; ++i) {
        p.submit(1, 2000);
    }
    return p.transmission();
}

//! The node's answer; all copies must be equal.
d_pdu only(const std::vector<d_pdu>& list)
{
    EXPECT_FALSE(list.empty());
    if (list.empty()) {
        return {};
    }
    for (const auto& d : list) {
        EXPECT_EQ(d.type, t::management);
        EXPECT_EQ(d.eow, list[0].eow);
        EXPECT_EQ(d.management.frame_id, list[0].management.frame_id);
        EXPECT_LE(d.eot, list[0].eot);
    }
    return list[0];
}

} // namespace

TEST(Conformance, Row4_01_ManagementFirstAndOneAtATime)
{
    linked p;
    const auto first = only(node_asks(p)); // data wait: only type 6 is sent
    EXPECT_EQ(first.eow, 0x154);
    EXPECT_TRUE(first.management.valid);
    // An answer without its acknowledgement: the node repeats it, and sends nothing else.
    p.receive({ scripted_peer::data(0) });
    const auto again = only(p.transmission(30));
    EXPECT_EQ(again.eow, first.eow);
    EXPECT_EQ(again.management.frame_id, first.management.frame_id);
    p.receive({ management(refuse(2), 0, true) });
    EXPECT_EQ(only(p.transmission()).eow, cancel);
    p.receive({ dt_ack() });
    const auto d = p.transmission();
    ASSERT_FALSE(d.empty());
    EXPECT_EQ(d[0].type,
              t::data_ack); // waiting data, and the acknowledgement due
    EXPECT_EQ(d[0].ack.rx_lwe, 1);
}

TEST(Conformance, Row4_02_FrameIdsAndRepeats)
{
    linked p;
    const auto q = only(node_asks(p));
    EXPECT_EQ(q.management.frame_id, 0);
    const auto repeat = only(p.transmission(30));
    EXPECT_EQ(repeat.management.frame_id, 0);
    EXPECT_EQ(repeat.eow, q.eow);
    p.receive({ management(refuse(2), 9, true) });
    EXPECT_EQ(only(p.transmission()).management.frame_id, 1);

    // Towards the node: a repeat is acknowledged and not executed.
    linked s;
    s.receive({ management(request_1200, 0), management(request_1200, 0) });
    const auto a = only(s.transmission());
    EXPECT_EQ(a.eow, accept);
    s.receive({ dt_ack() });
    EXPECT_EQ(only(s.transmission()).eow, confirm);
    s.receive({ management(request_1200, 0, true) }); // old number: only its ACK counts
    const auto d = s.transmission();
    ASSERT_FALSE(d.empty());
    EXPECT_EQ(d[0].type, t::management);
    EXPECT_FALSE(d[0].management.valid);
    EXPECT_TRUE(d[0].management.ack);
}

TEST(Conformance, Row4_03_AcceptPathWithConfirmAtTheNewRate)
{
    // As master.
    linked p;
    EXPECT_EQ(only(node_asks(p)).eow, 0x154);
    EXPECT_EQ(p.sent_in(), "4539-300S");
    p.receive({ management(accept, 0, true) });
    auto d = only(p.transmission());
    EXPECT_FALSE(d.management.valid);
    EXPECT_TRUE(d.management.ack);
    EXPECT_EQ(d.eow, 0);
    p.receive({ management(confirm, 1) });
    const auto list = p.transmission();
    ASSERT_FALSE(list.empty());
    EXPECT_EQ(list[0].type, t::management);
    EXPECT_TRUE(list[0].management.ack);
    EXPECT_EQ(p.sent_in(), "4539-2400S");
    EXPECT_FALSE(of_type(list, t::data_only).empty());

    // As slave, both directions.
    linked s;
    s.receive({ management(request_1200_equal, 0) });
    d = only(s.transmission());
    EXPECT_EQ(d.eow, accept);
    EXPECT_TRUE(d.management.ack);
    EXPECT_EQ(s.sent_in(), "4539-300S");
    s.receive({ dt_ack() });
    d = only(s.transmission());
    EXPECT_EQ(d.eow, confirm);
    EXPECT_TRUE(d.management.valid);
    EXPECT_EQ(s.sent_in(), "4539-1200S");
    s.receive({ dt_ack() });

    // Only the master's transmitter: the slave's stays.
    linked one;
    one.receive({ management(request_1200, 0) });
    one.transmission();
    one.receive({ dt_ack() });
    EXPECT_EQ(only(one.transmission()).eow, confirm);
    EXPECT_EQ(one.sent_in(), "4539-300S");

    for (const auto& g : load_golden("dts")) {
        if (g.id.rfind("dts6-drc", 0) == 0 || g.id == "dts6-dtack") {
            const auto v = decode_d_pdu(g.hex);
            ASSERT_TRUE(v) << g.id;
            EXPECT_EQ(v->type, t::management);
        }
    }
}

TEST(Conformance, Row4_04_RefuseAndCancelLeaveTheRates)
{
    linked p;
    node_asks(p);
    p.receive({ management(refuse(5), 0, true) });
    auto d = only(p.transmission());
    EXPECT_EQ(d.eow, cancel);
    EXPECT_TRUE(d.management.valid);
    EXPECT_TRUE(d.management.ack);
    p.receive({ dt_ack() });
    const auto list = p.transmission(60);
    ASSERT_FALSE(list.empty());
    EXPECT_EQ(list[0].type, t::data_only);
    EXPECT_EQ(p.sent_in(), "4539-300S");
    // As slave: accepted, then cancelled.
    linked s;
    s.receive({ management(request_1200_equal, 0) });
    EXPECT_EQ(only(s.transmission()).eow, accept);
    s.receive({ management(cancel, 1, true) });
    const auto a = s.transmission();
    ASSERT_FALSE(a.empty());
    EXPECT_EQ(a[0].type, t::management);
    EXPECT_TRUE(a[0].management.ack);
    EXPECT_FALSE(a[0].management.valid);
    EXPECT_EQ(s.sent_in(), "4539-300S");
}

TEST(Conformance, Row4_05_SlaveDoesNotChangeBeforeTheDtAck)
{
    linked s;
    s.receive({ management(request_1200_equal, 0) });
    EXPECT_EQ(only(s.transmission()).eow, accept);
    s.receive({ management(request_1200_equal, 0) }); // our answer was lost
    EXPECT_EQ(only(s.transmission(30)).eow, accept);
    EXPECT_EQ(s.sent_in(), "4539-300S");
    s.receive({ dt_ack() });
    EXPECT_EQ(only(s.transmission()).eow, confirm);
    EXPECT_EQ(s.sent_in(), "4539-1200S");
}

TEST(Conformance, Row4_06_ReasonFiveOnlyAgainstLessRobustModes)
{
    rate_change::limits l;
    l.advised = mode::parse("4539-150S");
    const auto answer_to = [&l](const char* m) {
        rate_change r;
        management_exchange x;
        r.on_message(*encode_rate_request(mode::parse(m), rate_other::equal), l, x);
        return x.take().eow;
    };
    EXPECT_EQ(answer_to("4539-600S"), refuse(rate_reason_conditions));
    EXPECT_EQ(answer_to("4539-75S"), accept);
    EXPECT_EQ(answer_to("4539-300L"), accept); // 300S is the present mode
    l.advised = mode::parse("4539-2400S");
    EXPECT_EQ(answer_to("4539-600S"), accept);
    l.advised.reset();
    EXPECT_EQ(answer_to("4539-9600S"), accept);
}

TEST(Conformance, Row4_07_ConnectionLostAfterTheTries)
{
    linked p;
    auto m = delivery_mode();
    m.confirmation = delivery_confirmation::node;
    for (int i = 0; i < 5; ++i) {
        p.submit(1, 2000, m);
    }
    for (int n = 0; n < 3; ++n) {
        EXPECT_EQ(p.n.state().links, 1u);
        EXPECT_EQ(only(p.transmission(60)).eow, 0x154) << n;
    }
    EXPECT_FALSE(p.wait(20));
    EXPECT_EQ(p.n.state().links, 0u);
    EXPECT_EQ(p.primitives().size(), 5u); // rejected
}

TEST(Conformance, Row4_08_NodeWithoutDrcRefuses)
{
    for (const bool link : { true, false }) {
        scripted_peer p;
        if (link) {
            p.make_link();
        }
        auto m = management(0x158, 4);
        p.receive({ m, m });
        const auto d = of_type(p.transmission(), t::management);
        ASSERT_FALSE(d.empty());
        EXPECT_EQ(d[0].eow, refuse(4));
        EXPECT_TRUE(d[0].management.ack);
        EXPECT_TRUE(d[0].management.valid);
        p.receive({ management(cancel, 5, true) });
        const auto a = of_type(p.transmission(), t::management);
        ASSERT_FALSE(a.empty());
        EXPECT_TRUE(a[0].management.ack);
        EXPECT_FALSE(a[0].management.valid);
        EXPECT_FALSE(p.wait(20));
    }
}

TEST(Conformance, Row4_09_AllCodesAndAdvisoriesInAnyDPdu)
{
    unsigned modes = 0;
    for (unsigned contents = 0; contents < 256; ++contents) {
        const auto p =
            decode_rate_request({ make_eow(eow_type::rate_request, contents), {} });
        const bool valid = contents >> 4 < 12 && (contents >> 2 & 3) < 3;
        ASSERT_EQ(p.has_value(), valid) << contents;
        if (!p) {
            continue;
        }
        EXPECT_EQ(static_cast<unsigned>(p->other), contents & 3);
        EXPECT_EQ(p->interleaver_code, contents >> 2 & 3);
        uint8_t why = 0;
        const auto m = find_mode(*p, why);
        if (m) {
            ++modes;
            EXPECT_EQ(m->rate_bps, p->rate_bps);
            EXPECT_EQ(encode_rate_request(*m, p->other)->eow & 0xff, contents);
        } else {
            EXPECT_GE(why, 2);
            EXPECT_LE(why, 4);
        }
    }
    EXPECT_GE(modes, 4u * 22); // 11 rates, short and long
    constexpr int rates[] = { 75,   150,  300,  600,  1200, 2400,
                              3200, 3600, 4800, 6400, 8000, 9600 };
    for (unsigned i = 0; i < 12; ++i) {
        EXPECT_EQ(decode_rate_request({ make_eow(eow_type::rate_request, i << 4), {} })
                      ->rate_bps,
                  rates[i]);
    }
    // The node requests the mode that an acknowledgement advises.
    linked p;
    auto a = scripted_peer::data(255);
    a.eow = 0x134 | 2; // 600 bit/s, short
    p.receive({ a });
    p.transmission();
    EXPECT_EQ(only(node_asks(p)).eow, 0x134);
}

TEST(Conformance, Row4_10_UnknownEowIsAnsweredAndCapabilitiesTold)
{
    for (const unsigned kind : { 5u, 8u, 9u, 14u }) {
        linked p;
        auto a = scripted_peer::data(255);
        a.eow = static_cast<uint16_t>(kind << 8 | 0x21);
        p.receive({ a });
        const auto d = p.transmission();
        ASSERT_FALSE(d.empty());
        EXPECT_EQ(d[0].eow, 0x300 | kind);
        linked q; // and in type 6
        q.receive({ management(a.eow, 0) });
        EXPECT_EQ(only(q.transmission()).eow, 0x300 | kind);
    }
    linked p;
    auto a = scripted_peer::data(255);
    a.eow = make_eow(eow_type::capability, 0xb0);
    p.receive({ a });
    const auto d = p.transmission();
    ASSERT_FALSE(d.empty());
    EXPECT_EQ(
        d[0].eow,
        make_eow(eow_type::capability,
                 capability_drc | capability_serial_tone | capability_extended_rates));
    p.receive({ a }); // reported only once
    const auto e = p.transmission();
    ASSERT_FALSE(e.empty());
    EXPECT_EQ(e[0].eow, 0);
    for (const auto& g : load_golden("dts")) {
        if (g.id == "dts1-eow-unrec" || g.id == "dts1-eow-cap") {
            const auto v = decode_d_pdu(g.hex);
            ASSERT_TRUE(v);
            EXPECT_EQ(v->eow, g.id == "dts1-eow-cap" ? 0x4b0 : 0x309);
        }
    }
}

TEST(Conformance, Row4_11_FormerSlaveSendsAnEmptyDataDPdu)
{
    for (const bool cancelled : { false, true }) {
        linked s;
        s.receive({ management(request_1200, 0) });
        s.transmission();
        if (cancelled) {
            s.receive({ management(cancel, 1, true) });
        } else {
            s.receive({ dt_ack() });
            s.transmission();
            s.receive({ dt_ack() });
        }
        const auto d = of_type(s.transmission(), t::data_only);
        ASSERT_FALSE(d.empty());
        EXPECT_TRUE(d[0].segment.empty());
        EXPECT_TRUE(d[0].arq.start && d[0].arq.end);
        s.receive({ scripted_peer::ack(1) });
        EXPECT_FALSE(s.wait(10));
    }
    // The receiver of an announcement accepts it.
    linked m;
    auto e = scripted_peer::data(0);
    e.segment.clear();
    m.receive({ e });
    EXPECT_TRUE(m.primitives().empty());
    const auto d = m.transmission();
    ASSERT_FALSE(d.empty());
    EXPECT_EQ(d[0].ack.rx_lwe, 1);
}

TEST(Conformance, Row4_12_HighRateRequest)
{
    for (const auto& g : load_golden("dts")) {
        if (g.id != "dts6-hdr") {
            continue;
        }
        const auto v = decode_d_pdu(g.hex);
        ASSERT_TRUE(v);
        EXPECT_EQ(v->header_octets() - 2 - v->address_size, 14u);
        const auto p = decode_rate_request({ v->eow, v->management.extended });
        ASSERT_TRUE(p);
        EXPECT_EQ(p->waveform, 3u);
        EXPECT_EQ(p->channels, 1u);
        EXPECT_EQ(p->rate_bps, 9600);
        EXPECT_EQ(p->interleaver_cs, 864u);
        uint8_t why = 0;
        const auto m = find_mode(*p, why);
        ASSERT_TRUE(m);
        EXPECT_EQ(m->to_string(), "4539-9600VL");
        const auto r = *encode_rate_request(*m, rate_other::independent);
        EXPECT_EQ(r.eow, v->eow);
        EXPECT_EQ(r.extended, v->management.extended);
    }
    linked p(with_drc("4539-9600VL"));
    const auto d = only(node_asks(p));
    EXPECT_EQ(d.eow, 0x719);
    EXPECT_EQ(to_hex(d.management.extended), "000025800360");
    // Refused with the reasons of EOW 7.
    const auto answer = [](uint16_t eow, const char* extended) {
        linked s;
        auto m = management(eow, 0);
        m.management.has_extended = true;
        m.management.extended = from_hex(extended);
        s.receive({ m });
        return only(s.transmission()).eow;
    };
    EXPECT_EQ(answer(0x719, "000025800360"), accept);
    EXPECT_EQ(answer(0x711, "000025800360"), refuse(2)); // STANAG 4285
    EXPECT_EQ(answer(0x71a, "000025800360"), refuse(3)); // two channels
    EXPECT_EQ(answer(0x719, "000025800361"), refuse(4)); // no such interleaver
    EXPECT_EQ(answer(0x719, "0000"), refuse(4));         // cut off
    // "Not understood" ends it for good.
    linked q(with_drc("4539-9600VL"));
    node_asks(q);
    q.receive({ management(0x307, 0, true) });
    const auto list = q.transmission();
    ASSERT_FALSE(list.empty());
    EXPECT_FALSE(of_type(list, t::data_only).empty());
    EXPECT_EQ(q.sent_in(), "4539-300S");
}

TEST(Conformance, Row4_13_StartsAt300ShortUnlessAutobaud)
{
    for (const bool drc : { true, false }) {
        auto c = with_drc();
        c.drc = drc;
        scripted_peer p(c);
        p.bind(1, 3);
        p.submit(1, 100);
        ASSERT_FALSE(p.transmission().empty());
        EXPECT_EQ(p.tx_mode.to_string(), drc ? "4539-300S" : "4539-2400S");
    }
}

TEST(Conformance, Row4_13_WidebandModesHaveNoRateChange)
{
    // 5069-3k-600S has the rate and the interleaver of 4539-600S, but must not be
    // requested by its code.
    for (const auto& m : mode::all())
        EXPECT_EQ(encode_rate_request(m, rate_other::equal).has_value(),
                  m.family != waveform_family::wideband &&
                      m.family != waveform_family::robust)
            << m.to_string();
    EXPECT_TRUE(rate_change().useless(mode::parse("5069-3k-600S")));
    management_exchange x;
    EXPECT_THROW(rate_change().start(mode::parse("5069-3k-600S"), rate_other::equal, x),
                 std::invalid_argument);
    // A station that changes rates by request must not get there later either.
    node n(with_drc("4539-600S"));
    EXPECT_THROW(n.set_mode("5069-48k-240000L"), std::invalid_argument);
    EXPECT_EQ(n.config().mode, "4539-600S");
}

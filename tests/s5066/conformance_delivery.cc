/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// docs/conformance.md, sections 7 and 8: delivery of U_PDUs, also several at once (A.3).
#include "scripted_peer.h"
#include "vectors.h"

#include "s5066/config/node_settings.h"
#include "s5066/pdu/eow.h"
#include "s5066/sis/time_to_die.h"
#include "sim/stations/station.h"

#include <gtest/gtest.h>
#include <set>

using namespace gr::hf;
using namespace gr::hf::s5066;
using t = d_pdu_type;

namespace {

delivery_mode with(delivery_confirmation c)
{
    delivery_mode m;
    m.confirmation = c;
    return m;
}

std::vector<uint8_t> golden_octets(const char* layer, const char* id)
{
    for (const auto& g : load_golden(layer))
        if (g.id == id)
            return g.hex;
    ADD_FAILURE() << "no vector " << id;
    return {};
}

//! The node's first data segment.
std::vector<uint8_t> first_segment(const std::vector<d_pdu>& list)
{
    const auto d = of_type(list, t::data_only);
    return d.empty() ? std::vector<uint8_t>() : d[0].segment;
}

} // namespace

TEST(Conformance, Row7_01_DataSPduWithAndWithoutTimeToDie)
{
    const std::string text = "HELLO HF";
    for (const bool ttd : { false, true }) {
        node_config c;
        c.send_ttd = ttd;
        // Day 100 of 2023, 10:34:56 GMT: two hours before the golden time.
        c.utc_at_zero_s = 1672531200 + 99 * 86400 + 45296 - 7200;
        scripted_peer p(c);
        p.bind(1, 5);
        s_unidata_request r;
        r.dst = address("1.2.0.0");
        r.priority = 5;
        r.dst_sap = 5;
        r.ttl = 3600;
        r.mode.confirmation =
            ttd ? delivery_confirmation::client : delivery_confirmation::none;
        r.u_pdu.assign(text.begin(), text.end());
        p.send(1, r);
        std::vector<uint8_t> c_pdu{ 0 };
        const auto g = golden_octets("spdu", ttd ? "spdu0-ttd" : "spdu0-nottd");
        c_pdu.insert(c_pdu.end(), g.begin(), g.end());
        EXPECT_EQ(to_hex(first_segment(p.transmission())), to_hex(c_pdu));
    }
}

TEST(Conformance, Row7_02_TimeToDieAndLateUPdus)
{
    node_config c;
    c.utc_at_zero_s = 1704067200 - 10; // 2023-12-31 23:59:50
    scripted_peer p(c);
    p.bind(1, 3);
    p.make_link();
    const auto with = [](uint8_t fsn, uint8_t day, uint16_t half) {
        s_pdu s;
        s.src_sap = s.dst_sap = 3;
        s.ttd = time_to_die{ day, half };
        auto d = scripted_peer::data(fsn);
        d.segment = encode(c_pdu{ c_pdu_type::data, 0, encode(s) });
        return d;
    };
    // Day 365 = 13 modulo 16, day 1 of the next year.
    p.receive({ with(0, 13, 43199), with(1, 13, 43100), with(2, 1, 3) });
    EXPECT_EQ(p.primitives().size(), 2u);
    EXPECT_EQ(p.n.stats().u_pdus_expired, 1u);
}

TEST(Conformance, Row7_02_TimeToDieIsSubmissionPlusTtl)
{
    node_config c;
    c.send_ttd = true;
    c.utc_at_zero_s = 1704067200 - 10; // 2023-12-31 23:59:50
    scripted_peer p(c);
    p.bind(1, 3);
    s_unidata_request r;
    r.dst = address("1.2.0.0");
    r.ttl = 15; // 30 s: on the next day, in the next year
    p.send(1, r);
    const auto v = first_segment(p.transmission());
    ASSERT_GE(v.size(), 6u);
    EXPECT_EQ(v[3], 0x40 | 1); // valid, day 1
    EXPECT_EQ(v[4] << 8 | v[5], 10);
}

TEST(Conformance, Row7_02_TimeToDieBySettings)
{
    const auto with = [](const node_settings& s) {
        node_config c;
        c.own = address("1.1.0.0");
        apply(s, c);
        return c;
    };
    const auto has_ttd = [](scripted_peer& p) {
        p.bind(1, 3);
        s_unidata_request r;
        r.dst = address("1.2.0.0");
        r.ttl = 15;
        p.send(1, r);
        const auto v = first_segment(p.transmission());
        return v.size() > 3 && (v[3] & 0x40) != 0;
    };
    scripted_peer told(with({ { "send_ttd", 1 }, { "utc_at_zero_s", 1704067200 } }));
    EXPECT_TRUE(has_ttd(told));
    // Uses the computer's clock after the program that runs the node has set the time.
    scripted_peer clock(with({ { "send_ttd", 1 }, { "system_utc", 1 } }));
    clock.n.set_utc(clock.now, 1704067200.4);
    EXPECT_TRUE(has_ttd(clock));
    scripted_peer not_yet(with({ { "send_ttd", 1 }, { "system_utc", 1 } }));
    EXPECT_FALSE(has_ttd(not_yet));
    // Without the time the setting is refused.
    try {
        with({ { "send_ttd", 1 } });
        ADD_FAILURE();
    } catch (const std::invalid_argument& e) {
        EXPECT_NE(std::string(e.what()).find("system_utc"), std::string::npos)
            << e.what();
    }
    EXPECT_THROW(with({ { "utc_at_zero_s", -1 } }), std::invalid_argument);
    EXPECT_THROW(with({ { "utc_at_zero_s", 1e15 } }), std::invalid_argument);
}

TEST(Conformance, Row7_02_ClockThatIsSetLaterCounts)
{
    node_config c;
    c.system_utc = true;
    scripted_peer p(c);
    p.bind(1, 3);
    p.make_link();
    const auto at = [](uint8_t fsn, int64_t utc) {
        s_pdu s;
        s.src_sap = s.dst_sap = 3;
        s.ttd = time_to_die_at(utc);
        auto d = scripted_peer::data(fsn);
        d.segment = encode(c_pdu{ c_pdu_type::data, 0, encode(s) });
        return d;
    };
    constexpr int64_t noon = 1704067200 + 43200;
    p.receive({ at(0, noon - 3600) }); // time unknown: accepted
    EXPECT_EQ(p.primitives().size(), 1u);
    p.n.set_utc(p.now, noon);
    p.receive({ at(1, noon - 3600), at(2, noon + 60) });
    EXPECT_EQ(p.primitives().size(), 1u);
    EXPECT_EQ(p.n.stats().u_pdus_expired, 1u);
}

TEST(Conformance, Row7_02_TimeToDieHasTwoSecondsOfGranularity)
{
    // The field counts pairs of seconds, rounded down. It means the end of the pair.
    const int64_t noon = 1704067200 + 43200;
    for (const int64_t at : { noon, noon + 1 }) {
        const auto ttd = time_to_die_at(at);
        EXPECT_EQ(ttd.half_gmt_s, 21600);
        EXPECT_FALSE(is_over(ttd, noon));
        EXPECT_FALSE(is_over(ttd, noon + 1)) << at;
        EXPECT_TRUE(is_over(ttd, noon + 2)) << at;
    }
    // Across midnight.
    const auto late = time_to_die_at(1704067200 - 1);
    EXPECT_FALSE(is_over(late, 1704067200 - 1));
    EXPECT_TRUE(is_over(late, 1704067200));
}

TEST(Conformance, Row7_03_NodeConfirmation)
{
    scripted_peer p;
    p.bind(1, 3);
    p.submit(1, 50, with(delivery_confirmation::node));
    EXPECT_EQ(first_segment(p.transmission()).at(3),
              0); // no confirmation of the other client requested
    p.receive({ scripted_peer::link(c_pdu_type::link_accepted), scripted_peer::ack(1) });
    const auto c = p.answer<s_unidata_request_confirm>();
    ASSERT_TRUE(c);
    EXPECT_EQ(c->dst, address("1.2.0.0"));
    EXPECT_EQ(c->dst_sap, 3);
    EXPECT_EQ(c->u_pdu.size(), 50u);
}

TEST(Conformance, Row7_03_FailureIsRejectedAsNotResponding)
{
    node_config c;
    c.link_tries = 1;
    scripted_peer p(c);
    p.bind(1, 3);
    p.submit(1, 50, with(delivery_confirmation::node));
    p.transmission();
    EXPECT_FALSE(p.wait(60));
    const auto r = p.answer<s_unidata_request_rejected>();
    ASSERT_TRUE(r);
    EXPECT_EQ(r->reason, 3);
    EXPECT_EQ(r->u_pdu.size(), 50u);
}

TEST(Conformance, Row7_04_ClientConfirmationAndFailure)
{
    scripted_peer p;
    p.bind(1, 3);
    delivery_mode m;
    m.confirmation = delivery_confirmation::client;
    p.submit(1, 50, m);
    p.submit(1, 60, m);
    const auto d = p.transmission();
    ASSERT_GE(d.size(), 3u);
    EXPECT_EQ(d[1].segment[3], 0x80); // confirmation required
    // Both are accepted; one is confirmed, the SAP of the other is not bound.
    std::vector<d_pdu> list = { scripted_peer::link(c_pdu_type::link_accepted),
                                scripted_peer::ack(2) };
    for (uint8_t i = 0; i < 2; ++i) {
        s_pdu s;
        s.type = i ? s_pdu_type::delivery_fail : s_pdu_type::delivery_confirm;
        s.low = i;
        s.src_sap = s.dst_sap = 3;
        s.u_pdu.assign(i ? 60 : 50, 0);
        auto q = scripted_peer::data(i);
        q.segment = encode(c_pdu{ c_pdu_type::data, 0, encode(s) });
        list.push_back(q);
    }
    p.receive(list);
    const auto got = p.primitives();
    ASSERT_EQ(got.size(), 2u);
    EXPECT_EQ(std::get<s_unidata_request_confirm>(got[0].second).u_pdu.size(), 50u);
    EXPECT_EQ(std::get<s_unidata_request_rejected>(got[1].second).reason, 2);
}

TEST(Conformance, Row7_04_UnboundSapDrawsADeliveryFail)
{
    scripted_peer p;
    p.make_link();
    auto d = scripted_peer::data(0);
    d.segment[3] |= 0x80;
    p.receive({ d });
    const auto list = p.transmission();
    ASSERT_FALSE(list.empty());
    EXPECT_EQ(list[0].type, d_pdu_type::data_ack);
    EXPECT_EQ(list[0].segment[1], 0x21); // DATA DELIVERY FAIL, reason 1
    EXPECT_EQ(list[0].segment[2], 0x33);
}

TEST(Conformance, Row7_04_ConfirmRepeatsTheSapsAndTheUPdu)
{
    scripted_peer p;
    p.bind(1, 5);
    p.make_link();
    const auto g = golden_octets("spdu", "spdu0-ttd");
    auto d = scripted_peer::data(0);
    d.segment = encode(c_pdu{ c_pdu_type::data, 0, g });
    p.receive({ d });
    p.primitives();
    const auto list = of_type(p.transmission(), t::data_ack);
    ASSERT_FALSE(list.empty());
    std::vector<uint8_t> expected{ 0 };
    const auto confirm = golden_octets("spdu", "spdu1-confirm");
    expected.insert(expected.end(), confirm.begin(), confirm.end());
    EXPECT_EQ(to_hex(list[0].segment), to_hex(expected));
}

TEST(Conformance, Row7_04_CompactConfirmOnlyForDataWithAnId)
{
    scripted_peer p;
    p.bind(1, 5);
    p.make_link();
    auto d = scripted_peer::data(0);
    d.segment = encode(c_pdu{ c_pdu_type::data, 0, golden_octets("spdu", "spdu8-ep9") });
    p.receive({ d });
    const auto i = p.answer<s_unidata_indication>();
    ASSERT_TRUE(i);
    EXPECT_EQ(i->u_pdu.size(), 8u);
    const auto list = of_type(p.transmission(), t::data_ack);
    ASSERT_FALSE(list.empty());
    std::vector<uint8_t> expected{ 0 };
    const auto confirm = golden_octets("spdu", "spdu9-ep9");
    expected.insert(expected.end(), confirm.begin(), confirm.end());
    EXPECT_EQ(to_hex(list[0].segment), to_hex(expected));
}

TEST(Conformance, Row7_04_CompactConfirmOnlyWithAPeerThatOffersIt)
{
    for (const bool ours : { false, true })
        for (const bool theirs : { false, true }) {
            node_config c;
            c.extensions = ours;
            scripted_peer p(c);
            p.bind(1, 3);
            p.make_link();
            auto d = scripted_peer::data(0);
            d.eow = make_eow(eow_type::extensions,
                             theirs * unsigned{ extension_compact_confirm });
            p.receive({ d });
            p.primitives();
            p.submit(1, 50, with(delivery_confirmation::client));
            std::vector<d_pdu> list;
            for (int i = 0; i < 3; ++i) // the acknowledgement may go first
                for (const auto& sent : p.transmission())
                    if (!sent.segment.empty())
                        list.push_back(sent);
            ASSERT_FALSE(list.empty()) << ours << theirs;
            const auto s =
                decode_s_pdu(list[0].segment.data() + 1, list[0].segment.size() - 1);
            ASSERT_TRUE(s) << ours << theirs;
            EXPECT_EQ(s->type,
                      ours && theirs ? s_pdu_type::data_with_id : s_pdu_type::data);
            EXPECT_EQ(s->u_pdu.size(), 50u);
            if (s->type != s_pdu_type::data_with_id)
                continue;
            s_pdu answer;
            answer.type = s_pdu_type::compact_confirm;
            answer.src_sap = answer.dst_sap = 3;
            answer.id = s->id;
            auto q = scripted_peer::data(1);
            q.segment = encode(c_pdu{ c_pdu_type::data, 0, encode(answer) });
            p.receive({ scripted_peer::ack(1), q });
            const auto confirm = p.answer<s_unidata_request_confirm>();
            ASSERT_TRUE(confirm);
            EXPECT_EQ(confirm->u_pdu.size(), 50u);
        }
}

TEST(Conformance, Row7_05_ExpeditedIndication)
{
    scripted_peer p;
    p.bind(1, 3);
    p.make_link();
    auto d = scripted_peer::from_peer(t::expedited_data_only);
    d.expedited.start = d.expedited.end = true;
    d.segment = scripted_peer::data(0).segment;
    p.receive({ d });
    const auto i = p.answer<s_unidata_indication>();
    ASSERT_TRUE(i);
    EXPECT_TRUE(i->expedited);
    EXPECT_EQ(i->priority, 0);
}

TEST(Conformance, Row7_06_DataCPduIsZeroAndTheSPdu)
{
    const auto s = golden_octets("spdu", "spdu0-nottd");
    const auto c = encode(c_pdu{ c_pdu_type::data, 0, s });
    EXPECT_EQ(to_hex(c), to_hex(golden_octets("cpdu", "cpdu0-data")));
    scripted_peer p;
    p.bind(1, 3);
    p.submit(1, 10);
    const auto v = first_segment(p.transmission());
    ASSERT_GE(v.size(), 4u);
    EXPECT_EQ(v[0], 0);
    EXPECT_EQ(v[1], 0); // DATA S_PDU, priority 0
}

TEST(Conformance, Row8_01_SeveralOutstandingBeforeTheFirstConfirmation)
{
    scripted_peer p;
    p.bind(1, 3);
    for (int k = 1; k <= 5; ++k)
        p.submit(1, size_t(10 * k), with(delivery_confirmation::node));
    std::set<int> numbers;
    for (const auto& d : of_type(p.transmission(), t::data_only))
        numbers.insert(d.arq.fsn);
    EXPECT_EQ(numbers, (std::set<int>{ 0, 1, 2, 3, 4 }));
    p.receive({ scripted_peer::link(c_pdu_type::link_accepted), scripted_peer::ack(5) });
    size_t k = 0;
    for (const auto& [client, q] : p.primitives())
        EXPECT_EQ(std::get<s_unidata_request_confirm>(q).u_pdu.size(), 10 * ++k);
    EXPECT_EQ(k, 5u);
}

TEST(Conformance, Row8_02_HigherPriorityFirstEqualInOrder)
{
    scripted_peer p;
    p.bind(1, 3);
    p.make_link();
    for (const uint8_t prio : { 2, 9, 2, 15 }) {
        p.submit(1, 100, delivery_mode(), prio);
    }
    const auto d = of_type(p.transmission(), t::data_only);
    ASSERT_GE(d.size(), 4u);
    EXPECT_EQ(d[0].segment.back(), 15);
    EXPECT_EQ(d[1].segment.back(), 9);
    EXPECT_EQ(d[2].segment.back(), 2);
}

TEST(Conformance, Row8_03_SapsAndDestinationsAlternateInTime)
{
    // One node sends to two others on a slow link; each gets its turn.
    sim::scheduler s;
    sim::emulated_air air(s);
    std::vector<std::unique_ptr<sim::station>> all;
    std::map<int, size_t> got; // by node
    for (int n = 1; n <= 3; ++n) {
        node_config c;
        c.own = address("1." + std::to_string(n) + ".0.0");
        c.seed = uint64_t(n);
        c.mode = "4539-1200S";
        c.link_alternate_s = 40;
        all.push_back(std::make_unique<sim::station>(s, air, c));
    }
    for (int n = 1; n < 3; ++n) {
        auto& st = *all[size_t(n)];
        const auto k = st.attach([&got, n](station_time, const s_primitive& p) {
            got[n] += std::holds_alternative<s_unidata_indication>(p);
        });
        s_bind_request b;
        b.sap = uint8_t(3 + n);
        st.send(k, b);
    }
    for (uint8_t sap = 1; sap <= 2; ++sap) {
        const auto k = all[0]->attach([](station_time, const s_primitive&) {});
        s_bind_request b;
        b.sap = sap;
        all[0]->send(k, b);
        for (int i = 0; i < 20; ++i) {
            s_unidata_request r;
            r.dst = address("1." + std::to_string(sap + 1) + ".0.0");
            r.dst_sap = uint8_t(3 + sap);
            r.u_pdu.resize(1500);
            all[0]->send(k, r);
        }
    }
    s.run_until(std::chrono::seconds(240));
    EXPECT_GT(got[1], 3u); // of 20 each; all together take 400 s
    EXPECT_GT(got[2], 3u);
    s.run_until(std::chrono::seconds(900));
    EXPECT_EQ(got[1], 20u);
    EXPECT_EQ(got[2], 20u);
}

TEST(Conformance, Row8_04_BothSidesSendWithType2)
{
    sim::scheduler s;
    sim::emulated_air air(s);
    node_config ca, cb;
    ca.own = address("1.1.0.0");
    cb.own = address("1.2.0.0");
    cb.seed = 2;
    sim::station a(s, air, ca), b(s, air, cb);
    size_t at_a = 0, at_b = 0;
    const auto ka = a.attach([&](station_time, const s_primitive& p) {
        at_a += std::holds_alternative<s_unidata_indication>(p);
    });
    const auto kb = b.attach([&](station_time, const s_primitive& p) {
        at_b += std::holds_alternative<s_unidata_indication>(p);
    });
    a.send(ka, s_bind_request{});
    b.send(kb, s_bind_request{});
    s_unidata_request r;
    r.u_pdu.resize(1000);
    for (int i = 0; i < 10; ++i) {
        r.dst = address("1.2.0.0");
        a.send(ka, r);
        r.dst = address("1.1.0.0");
        b.send(kb, r);
    }
    s.run_until(std::chrono::seconds(900));
    EXPECT_EQ(at_a, 10u);
    EXPECT_EQ(at_b, 10u);
    EXPECT_GT(a.node().stats().d_pdus_sent[2] + b.node().stats().d_pdus_sent[2], 0u);
}

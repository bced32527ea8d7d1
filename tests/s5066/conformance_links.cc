/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// docs/conformance.md, section 9: physical links (Annex B).
#include "s5066/cas/link_window.h"
#include "s5066/pdu/eow.h"
#include "scripted_peer.h"

#include <gtest/gtest.h>
#include <map>
#include <set>

using namespace gr::hf;
using namespace gr::hf::s5066;
using t = d_pdu_type;

namespace {

using octets = std::vector<uint8_t>;

delivery_mode confirmed()
{
    delivery_mode m;
    m.confirmation = delivery_confirmation::node;
    return m;
}

//! The D_PDU as sent by another node than the peer.
d_pdu by(const char* who, d_pdu d)
{
    d.src = address(who);
    return d;
}

//! First C_PDU of types 1 to 5 that the node sends to \p who; -1 if there is none.
int link_c_pdu(const std::vector<d_pdu>& list, const char* who = "1.2.0.0")
{
    for (const auto& d : of_type(list, t::expedited_non_arq_data))
        if (d.dst == address(who) && d.segment.size() == 1)
            return d.segment[0];
    return -1;
}

constexpr auto request = c_pdu_type::link_request;

} // namespace

TEST(Conformance, Row9_01_RequestAcceptRejectBreakConfirmByType8)
{
    scripted_peer p;
    p.bind(1, 3);
    p.submit(1, 10, confirmed());
    auto d = p.transmission();
    ASSERT_FALSE(d.empty());
    EXPECT_EQ(d[0].type, t::expedited_non_arq_data);
    EXPECT_EQ(d[0].segment, octets{ 0x10 });
    EXPECT_EQ(d[0].non_arq.c_pdu_size, 1);
    EXPECT_EQ(d[0].octets(), 29u);
    p.receive({ scripted_peer::link(c_pdu_type::link_accepted), scripted_peer::ack(1) });
    EXPECT_TRUE(p.answer<s_unidata_request_confirm>());
    EXPECT_EQ(p.n.state().links, 1u);
    EXPECT_EQ(link_c_pdu(p.transmission(40)), 0x44); // no more data
    p.receive({ scripted_peer::link(c_pdu_type::link_break_confirm) });
    EXPECT_EQ(p.n.state().links, 0u);
    // Called side.
    p.receive({ scripted_peer::link(request, 7) });
    EXPECT_EQ(link_c_pdu(p.transmission()), 0x20);
    p.receive({ scripted_peer::link(c_pdu_type::link_break, 8, 4) });
    EXPECT_EQ(link_c_pdu(p.transmission()), 0x50);
    EXPECT_EQ(p.n.state().links, 0u);
}

TEST(Conformance, Row9_01_RequestWithDataBehindItIsAnsweredAtOnce)
{
    scripted_peer p;
    p.bind(1, 3);
    p.receive({ scripted_peer::link(request), scripted_peer::data(0) });
    EXPECT_TRUE(p.answer<s_unidata_indication>());
    const station_time heard = p.now;
    const auto d = p.transmission();
    ASSERT_GE(d.size(), 2u);
    EXPECT_EQ(d[0].type, t::expedited_non_arq_data);
    EXPECT_EQ(d[0].segment, octets{ 0x20 });
    EXPECT_EQ(d[1].type, t::ack_only);
    EXPECT_EQ(d[1].ack.rx_lwe, 1);
    // Turnaround 0.1 s, and the transmission itself.
    EXPECT_LE(to_seconds(p.now - heard - p.air_time), 0.1 + 0.61 + 0.02);
}

TEST(Conformance, Row9_01_RejectedRequestRejectsTheData)
{
    scripted_peer p;
    p.bind(1, 3);
    p.submit(1, 100, confirmed());
    ASSERT_FALSE(p.transmission().empty());
    p.receive({ scripted_peer::link(c_pdu_type::link_rejected, 1, 3) });
    const auto r = p.answer<s_unidata_request_rejected>();
    ASSERT_TRUE(r);
    EXPECT_EQ(r->reason, static_cast<uint8_t>(unidata_reject_reason::not_responding));
}

TEST(Conformance, Row9_02_UnansweredRequestsThenFailure)
{
    node_config c;
    c.link_tries = 3;
    scripted_peer p(c);
    p.bind(1, 3);
    p.submit(1, 100, confirmed());
    for (int k = 0; k < 3; ++k) {
        EXPECT_TRUE(p.primitives().empty());
        EXPECT_EQ(link_c_pdu(p.transmission(300)), 0x10) << k;
    }
    EXPECT_FALSE(p.wait(400));
    const auto r = p.answer<s_unidata_request_rejected>();
    ASSERT_TRUE(r);
    EXPECT_EQ(r->reason, 3);
    EXPECT_EQ(p.n.state().links, 0u);
}

TEST(Conformance, Row9_02_UnansweredBreaksThenBrokenAnyway)
{
    node_config c;
    c.break_tries = 2;
    scripted_peer p(c);
    p.bind(1, 3);
    p.submit(1, 100, confirmed());
    p.transmission();
    p.receive({ scripted_peer::link(c_pdu_type::link_accepted), scripted_peer::ack(1) });
    for (int k = 0; k < 2; ++k) {
        EXPECT_EQ(link_c_pdu(p.transmission(60)), 0x44) << k;
        EXPECT_EQ(p.n.state().links, 1u);
    }
    EXPECT_FALSE(p.wait(120));
    EXPECT_EQ(p.n.state().links, 0u);
}

TEST(Conformance, Row9_02_LossWithoutConfirmationIsCounted)
{
    node_config c;
    c.link_tries = 1;
    scripted_peer p(c);
    p.bind(1, 3);
    p.submit(1, 100);
    p.submit(1, 100, confirmed());
    p.transmission();
    EXPECT_FALSE(p.wait(60));
    EXPECT_TRUE(p.answer<s_unidata_request_rejected>()); // only of the second
    EXPECT_EQ(p.n.stats().u_pdus_lost, 1u);
}

TEST(Conformance, Row9_03_NonexclusiveRefusedWhileExclusive)
{
    scripted_peer p;
    p.receive({ scripted_peer::link(request, 1, 1) });
    EXPECT_EQ(link_c_pdu(p.transmission()), 0x20);
    p.receive({ by("1.3.0.0", scripted_peer::link(request, 2)) });
    EXPECT_EQ(link_c_pdu(p.transmission(), "1.3.0.0"), 0x33);
    EXPECT_EQ(p.n.state().links, 1u);
}

TEST(Conformance, Row9_03_ThirdExclusiveRefused)
{
    scripted_peer p;
    p.receive({ scripted_peer::link(request, 1, 1) });
    EXPECT_EQ(link_c_pdu(p.transmission()), 0x20);
    p.receive({ by("1.3.0.0", scripted_peer::link(request, 2, 1)) });
    EXPECT_EQ(link_c_pdu(p.transmission(), "1.3.0.0"), 0x20);
    p.receive({ by("1.4.0.0", scripted_peer::link(request, 3, 1)) });
    EXPECT_EQ(link_c_pdu(p.transmission(), "1.4.0.0"), 0x33);
    EXPECT_EQ(p.n.state().links, 2u);
}

TEST(Conformance, Row9_03_MaximumOfNonexclusiveLinks)
{
    node_config c;
    c.max_links = 2;
    scripted_peer p(c);
    for (const char* who : { "1.2.0.0", "1.3.0.0" }) {
        p.receive({ by(who, scripted_peer::link(request, 1)) });
        EXPECT_EQ(link_c_pdu(p.transmission(), who), 0x20);
    }
    p.receive({ by("1.4.0.0", scripted_peer::link(request, 1)) });
    EXPECT_EQ(link_c_pdu(p.transmission(), "1.4.0.0"), 0x30);
    EXPECT_EQ(p.n.state().links, 2u);
}

TEST(Conformance, Row9_03_BroadcastOnlyNodeRefuses)
{
    node_config c;
    c.broadcast_only = true;
    scripted_peer p(c);
    for (const uint8_t kind : { 0, 1 }) {
        p.receive({ scripted_peer::link(request, 1, kind) });
        EXPECT_EQ(link_c_pdu(p.transmission()), 0x31);
    }
    EXPECT_EQ(p.n.state().links, 0u);
}

TEST(Conformance, Row9_04_RepeatedRequestIsAcceptedAgain)
{
    scripted_peer p;
    p.bind(1, 3);
    p.receive({ scripted_peer::link(request, 5) });
    EXPECT_EQ(link_c_pdu(p.transmission()), 0x20);
    p.receive({ scripted_peer::link(request, 5), scripted_peer::data(0) });
    EXPECT_TRUE(p.answer<s_unidata_indication>());
    EXPECT_EQ(link_c_pdu(p.transmission()), 0x20);
    EXPECT_EQ(p.n.state().links, 1u);
    EXPECT_EQ(p.n.stats().links_made, 1u);
    // The same request again leaves the ARQ machine alone; another one restarts it.
    p.receive({ scripted_peer::link(request, 5), scripted_peer::data(0) });
    EXPECT_TRUE(p.primitives().empty());
    p.transmission();
    p.receive({ scripted_peer::link(request, 6), scripted_peer::data(0) });
    EXPECT_TRUE(p.answer<s_unidata_indication>());
}

TEST(Conformance, Row9_05_NoDataInTimeDropsTheLinkSilently)
{
    scripted_peer p;
    p.receive({ scripted_peer::link(request) });
    p.transmission();
    EXPECT_EQ(p.n.state().links, 1u);
    EXPECT_FALSE(p.wait(70));
    EXPECT_EQ(p.n.state().links, 0u);
}

TEST(Conformance, Row9_05_DataStopTheTimer)
{
    node_config c;
    c.first_data_s = 20;
    scripted_peer p(c);
    p.make_link();
    EXPECT_FALSE(p.wait(60));
    EXPECT_EQ(p.n.state().links, 1u);
}

TEST(Conformance, Row9_06_OwnNonexclusiveLinksAreBroken)
{
    scripted_peer p;
    p.bind(1, 3);
    p.receive({ by("1.3.0.0", scripted_peer::link(request, 1)) });
    p.transmission();
    p.receive({ by("1.3.0.0", scripted_peer::data(0)) });
    p.transmission();
    EXPECT_EQ(p.n.state().links, 1u);
    s_hard_link_establish h;
    h.link.remote = address("1.2.0.0");
    p.send(1, h);
    EXPECT_EQ(link_c_pdu(p.transmission()), 0x11);
    p.receive({ scripted_peer::link(c_pdu_type::link_accepted) });
    auto acknowledged = scripted_peer::from_peer(t::expedited_ack_only);
    acknowledged.ack.rx_lwe = 1;
    std::set<int> said;
    for (int k = 0; k < 4; ++k) {
        const int c = link_c_pdu(p.transmission(30), "1.3.0.0");
        said.insert(c);
        p.receive(
            { c > 0 ? by("1.3.0.0", scripted_peer::link(c_pdu_type::link_break_confirm))
                    : acknowledged });
    }
    EXPECT_TRUE(said.count(0x43)); // higher priority link request pending
    EXPECT_EQ(p.n.state().links, 1u);
}

TEST(Conformance, Row9_07_BreakIsConfirmedWithAndWithoutALink)
{
    for (const bool linked : { true, false }) {
        scripted_peer p;
        if (linked) {
            p.make_link();
            EXPECT_EQ(p.n.state().links, 1u);
        }
        p.receive({ scripted_peer::link(c_pdu_type::link_break, 5, 4) });
        EXPECT_EQ(link_c_pdu(p.transmission()), 0x50);
        EXPECT_EQ(p.n.state().links, 0u);
    }
}

// Such a peer was asked to end the link for ever.
TEST(links, a_break_that_is_answered_but_not_confirmed_ends_the_link)
{
    node_config c;
    c.break_tries = 2;
    scripted_peer p(c);
    p.bind(1, 3);
    p.submit(1, 100, confirmed());
    p.transmission();
    p.receive({ scripted_peer::link(c_pdu_type::link_accepted), scripted_peer::ack(1) });
    for (int k = 0; k < 2; ++k) {
        EXPECT_EQ(link_c_pdu(p.transmission(60)), 0x44) << k;
        EXPECT_EQ(p.n.state().links, 1u);
        p.receive({ scripted_peer::ack(1) });
    }
    EXPECT_EQ(p.n.state().links, 0u);
    EXPECT_FALSE(p.wait(120));
}

TEST(links, a_request_that_is_answered_but_not_accepted_fails)
{
    node_config c;
    c.link_tries = 3;
    scripted_peer p(c);
    p.bind(1, 3);
    p.submit(1, 100, confirmed());
    for (int k = 0; k < 3; ++k) {
        EXPECT_TRUE(p.primitives().empty());
        EXPECT_EQ(link_c_pdu(p.transmission(60)), 0x10) << k;
        p.receive({ scripted_peer::link(c_pdu_type::link_break_confirm) });
    }
    EXPECT_TRUE(p.answer<s_unidata_request_rejected>());
    EXPECT_FALSE(p.wait(120));
}

TEST(links, nobody_else_is_called_while_one_is_exclusive)
{
    scripted_peer p;
    p.bind(1, 3);
    p.receive({ scripted_peer::link(request, 1, 1) });
    EXPECT_EQ(link_c_pdu(p.transmission()), 0x20);
    // The link ends if no data come.
    const auto repeat = [] {
        auto d = scripted_peer::data(255);
        d.arq.uwe = d.arq.lwe = false;
        return d;
    };
    p.receive({ repeat() });
    p.transmission();
    s_unidata_request r;
    r.dst = address("1.3.0.0");
    r.dst_sap = 3;
    r.u_pdu = { 1, 2, 3 };
    p.send(1, r);
    EXPECT_EQ(link_c_pdu(p.transmission(60), "1.3.0.0"), -1);
    p.receive({ scripted_peer::link(c_pdu_type::link_break, 2) });
    EXPECT_EQ(p.n.state().links, 0u);
    std::vector<d_pdu> all;
    for (int k = 0; k < 3 && link_c_pdu(all, "1.3.0.0") < 0; ++k) {
        all = p.transmission(60);
    }
    EXPECT_EQ(link_c_pdu(all, "1.3.0.0"), 0x10);
}

TEST(links, a_break_takes_back_the_warning_of_a_late_acknowledgement)
{
    scripted_peer p;
    p.receive({ scripted_peer::ack(5) }); // no link: a warning waits
    p.receive({ scripted_peer::link(c_pdu_type::link_break) });
    const auto d = p.transmission();
    EXPECT_FALSE(of_type(d, t::expedited_non_arq_data).empty());
    EXPECT_TRUE(of_type(d, t::warning).empty());
}

TEST(links, a_break_takes_back_no_other_warning)
{
    scripted_peer p;
    p.receive({ scripted_peer::data(5) });
    p.receive({ scripted_peer::link(c_pdu_type::link_break) });
    EXPECT_FALSE(of_type(p.transmission(), t::warning).empty());
}

TEST(links, the_oldest_idle_link_gives_way)
{
    node_config c;
    c.max_links = 2;
    scripted_peer p(c);
    p.bind(1, 3);
    std::map<std::string, uint8_t> numbers;
    const auto to = [&](const char* who) {
        s_unidata_request r;
        r.dst = address(who);
        r.dst_sap = 3;
        r.u_pdu.assign(10, 1);
        p.send(1, r);
        const auto d = p.transmission(60);
        const int said = link_c_pdu(d, who);
        numbers[who] = said < 0 ? numbers[who] + 1 : 1;
        p.receive({ by(who, scripted_peer::link(c_pdu_type::link_accepted)),
                    by(who, scripted_peer::ack(numbers[who])) });
        return said;
    };
    EXPECT_EQ(to("1.2.0.0"), 0x10);
    EXPECT_EQ(to("1.3.0.0"), 0x10);
    EXPECT_EQ(p.n.state().links, 2u);
    EXPECT_EQ(to("1.4.0.0"), 0x10);
    EXPECT_EQ(p.n.state().links, 2u);
    // The station spoken to last still has its link, the one before it has none.
    EXPECT_EQ(to("1.3.0.0"), -1);
    EXPECT_EQ(to("1.2.0.0"), 0x10);
}

TEST(links, abilities_of_a_peer_end_with_a_link_that_fails)
{
    node_config c;
    c.link_tries = 2;
    c.extensions = true;
    scripted_peer p(c);
    p.bind(1, 3);
    const auto window_asked = [](const std::vector<d_pdu>& list) {
        const auto d = of_type(list, t::expedited_non_arq_data);
        return d.empty() ? 0 : int(d[0].non_arq.window);
    };
    // A peer of our kind: large windows (EP5), and compact confirmations (EP9).
    auto ask = scripted_peer::link(request, 1);
    ask.non_arq.window = has_large_window;
    auto d = scripted_peer::data(0);
    d.eow = make_eow(eow_type::extensions, unsigned{ extension_compact_confirm });
    p.receive({ ask, d });
    p.transmission();
    p.receive({ scripted_peer::link(c_pdu_type::link_break, 8, 4) });
    p.transmission();
    p.primitives();
    p.submit(1, 50, confirmed());
    EXPECT_EQ(window_asked(p.transmission(60)), large_window_mark);
    EXPECT_EQ(window_asked(p.transmission(60)), large_window_mark);
    EXPECT_FALSE(p.wait(400)); // it is gone
    ASSERT_TRUE(p.answer<s_unidata_request_rejected>());
    // Another maker's software has taken its place.
    p.submit(1, 50, confirmed());
    EXPECT_EQ(window_asked(p.transmission(60)), has_large_window);
    p.receive({ scripted_peer::link(c_pdu_type::link_accepted), scripted_peer::ack(1) });
    ASSERT_TRUE(p.answer<s_unidata_request_confirm>());
    delivery_mode by_client;
    by_client.confirmation = delivery_confirmation::client;
    p.submit(1, 50, by_client);
    std::vector<d_pdu> sent;
    for (int i = 0; i < 3 && sent.empty(); ++i)
        for (const auto& x : p.transmission(30))
            if (x.segment.size() > 1)
                sent.push_back(x);
    ASSERT_FALSE(sent.empty());
    const auto s = decode_s_pdu(sent[0].segment.data() + 1, sent[0].segment.size() - 1);
    ASSERT_TRUE(s);
    EXPECT_EQ(s->type, s_pdu_type::data);
}

TEST(links, warning_that_crosses_a_request_does_not_end_the_new_link)
{
    scripted_peer p;
    p.bind(1, 3);
    p.make_link();
    auto w = scripted_peer::from_peer(t::warning);
    w.warning.reason = 1;
    p.receive({ scripted_peer::link(request, 9), w, scripted_peer::data(0) });
    EXPECT_TRUE(p.answer<s_unidata_indication>());
    EXPECT_EQ(link_c_pdu(p.transmission()), 0x20);
    EXPECT_EQ(p.n.state().links, 1u);
    // A warning about the link before is not sent on the new one.
    scripted_peer q;
    q.receive({ scripted_peer::data(0) });
    q.receive({ scripted_peer::link(request, 2) });
    const auto d = q.transmission();
    EXPECT_EQ(link_c_pdu(d), 0x20);
    EXPECT_TRUE(of_type(d, t::warning).empty());
}

TEST(links, made_again_when_the_peer_has_none_any_more)
{
    scripted_peer p;
    p.bind(1, 3);
    p.submit(1, 10, confirmed());
    p.transmission();
    p.receive({ scripted_peer::link(c_pdu_type::link_accepted), scripted_peer::ack(1) });
    p.primitives();
    p.submit(1, 20, confirmed());
    EXPECT_EQ(link_c_pdu(p.transmission()), -1);
    auto w = scripted_peer::from_peer(t::warning);
    w.warning.reason = 1;
    p.receive({ w });
    EXPECT_EQ(link_c_pdu(p.transmission()), 0x10);
    p.receive({ scripted_peer::link(c_pdu_type::link_accepted), scripted_peer::ack(1) });
    EXPECT_TRUE(p.answer<s_unidata_request_confirm>());
}

TEST(links, an_acceptance_of_another_request_makes_no_link)
{
    scripted_peer called; // shows an acceptance of ours
    called.receive({ scripted_peer::link(request, 0x123) });
    auto accept = called.transmission().at(0);
    EXPECT_EQ(accept.non_arq.c_pdu_id, 0x123);
    std::swap(accept.src, accept.dst);

    scripted_peer p;
    p.bind(1, 3);
    p.submit(1, 10, confirmed());
    const uint16_t id = p.transmission().at(0).non_arq.c_pdu_id;
    accept.non_arq.c_pdu_id = static_cast<uint16_t>(id ^ 1);
    p.receive({ accept, scripted_peer::ack(1) });
    EXPECT_FALSE(p.answer<s_unidata_request_confirm>());
    accept.non_arq.c_pdu_id = p.transmission(40).at(0).non_arq.c_pdu_id;
    EXPECT_EQ(accept.non_arq.c_pdu_id, id);
    p.receive({ accept, scripted_peer::ack(1) });
    EXPECT_TRUE(p.answer<s_unidata_request_confirm>());
}

TEST(links, data_of_a_peer_that_started_anew_are_not_mixed_with_those_before)
{
    scripted_peer p;
    p.bind(1, 3);
    p.receive({ scripted_peer::link(request, 1), scripted_peer::data(0) });
    ASSERT_TRUE(p.answer<s_unidata_indication>());
    p.transmission();
    // The first copy of its request is lost, a later one is not.
    auto other = scripted_peer::data(0, 30);
    p.receive({ other, scripted_peer::link(request, 2), scripted_peer::data(1) });
    const auto got = p.primitives();
    ASSERT_EQ(got.size(), 2u);
    EXPECT_EQ(std::get<s_unidata_indication>(got[0].second).u_pdu.size(), 30u);
    // Without any copy nothing is delivered, and the peer is warned that there is no
    // link.
    p.transmission();
    p.receive({ scripted_peer::data(0, 20), scripted_peer::data(2) });
    EXPECT_FALSE(p.answer<s_unidata_indication>());
    EXPECT_EQ(of_type(p.transmission(), t::warning).size(), 1u);
    // A repeat does not contradict.
    p.receive({ scripted_peer::link(request, 3), scripted_peer::data(0) });
    EXPECT_TRUE(p.answer<s_unidata_indication>());
    p.receive({ scripted_peer::data(0), scripted_peer::data(1) });
    EXPECT_TRUE(p.answer<s_unidata_indication>());
    EXPECT_EQ(p.n.state().links, 1u);
}

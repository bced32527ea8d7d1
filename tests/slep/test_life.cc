/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slep/endpoints.h"

#include <gtest/gtest.h>

namespace gr::hf::test {
namespace {

TEST(slep_life, a_stream_that_only_receives_ends_with_its_link)
{
    // The opener of a download, and the responder of an upload: nothing of theirs is under
    // way when the far station falls silent for good.
    for (const bool opener_waits : { true, false }) {
        auto c = with_instance(1), d = with_instance(2);
        (opener_waits ? c : d).outage_max = 300s;
        pair_of n(c, d);
        const auto s = *n.a().link.open(n.net.now(), n.to_b(), { 1 }, pattern(20));
        n.net.run_for(20);
        slep_user& waits = opener_waits ? n.a() : n.b();
        slep_user& sends = opener_waits ? n.b() : n.a();
        const auto at = opener_waits ? s : n.b().offered.at(0);
        sends.send(opener_waits ? n.b().offered.at(0) : s, pattern(500'000), true);
        n.net.run_for(60);
        EXPECT_GT(waits.streams[at].data.size(), 20'000u);
        n.net.k.up = false;
        ASSERT_TRUE(n.net.run_for(500, [&] { return waits.streams[at].aborted; }));
        EXPECT_EQ(waits.streams[at].code, slep::reason_lifetime_over);
        EXPECT_FALSE(sends.streams[opener_waits ? n.b().offered.at(0) : s].aborted)
            << "which has half an hour";
    }
}

TEST(slep_life, idle_streams_live_on_and_ask_seldom)
{
    pair_of n;
    for (int k = 0; k < 20; ++k)
        n.a().link.open(n.net.now(), n.to_b(), { 1 });
    n.net.run_for(60);
    size_t pdus = 0;
    std::vector<station_time> asked;
    n.net.on_request = [&](const auto&) {
        ++pdus;
        if (asked.empty() || n.net.now() > asked.back() + 20s)
            asked.push_back(n.net.now());
    };
    n.net.run_for(86'400);
    EXPECT_EQ(n.a().link.streams(), 20u);
    EXPECT_EQ(n.b().link.streams(), 20u);
    EXPECT_EQ(n.a().link.stats().streams_aborted, 0u);
    // Every quarter of an hour a question and an answer of each, all at the same time.
    EXPECT_GE(asked.size(), 90u);
    EXPECT_LE(asked.size(), 96u);
    EXPECT_LE(pdus, 96u * 20 * 2);
    // An outage of less than what they live through after the last sign of life, which is up to a
    // quarter of an hour old when the link fails, does nothing to them.
    n.net.k.up = false;
    n.net.run_for(850);
    n.net.k.up = true;
    n.net.run_for(7200);
    EXPECT_EQ(n.a().link.streams(), 20u);
    EXPECT_EQ(n.b().link.streams(), 20u);
}

TEST(slep_life, a_stream_that_the_peer_has_forgotten_ends_when_it_asks)
{
    lone x;
    x.in(from_a(so()));
    const auto id = x.events().at(0).stream;
    x.link.accept(x.now, id, { 0 });
    x.now += 5s;
    x.link.on_deadline(x.now);
    x.drain(); // the answer, which the node confirms
    x.now = 1200s;
    x.link.on_deadline(x.now);
    const auto said = x.drain();
    ASSERT_EQ(said.size(), 1u);
    const auto asked = slep::decode(said[0]);
    EXPECT_TRUE(std::get<slep::stream_control>(asked->body).answer_wanted);
    EXPECT_TRUE(x.events().empty());
    x.in(from_a({ 0, slep::stream_abort{ 5, slep::reason_unknown_stream, 0 } }));
    const auto e = x.events();
    ASSERT_EQ(e.size(), 1u);
    EXPECT_EQ(e[0].what, slep::event::type::aborted);
}

TEST(slep_life, a_question_for_life_is_asked_again_when_it_is_rejected)
{
    // As above, but the node rejects the SC that asks, since its link has just broken.
    slep::endpoint link(with_instance(3));
    station_time now{};
    bool link_up = true;
    std::vector<octets> said;
    const auto in = [&](const octets& v) { link.sis_in(now, v.data(), v.size()); };
    const auto drain = [&] {
        said.clear();
        while (auto v = link.poll_sis()) {
            const auto p = s5066::decode_primitive(*v);
            const auto* u = std::get_if<s5066::s_unidata_request>(&*p);
            if (u == nullptr)
                continue;
            said.push_back(u->u_pdu);
            in(link_up ? s5066::encode(s5066::s_unidata_request_confirm{
                             false, u->dst_sap, u->dst, u->u_pdu })
                       : s5066::encode(s5066::s_unidata_request_rejected{
                             false, 3, u->dst_sap, u->dst, u->u_pdu }));
        }
    };
    link.listen(0);
    drain();
    in(s5066::encode(s5066::s_bind_accepted{ 13, 2048 }));
    in(from_a(so()));
    link.accept(now, link.poll_event()->stream, { 0 });
    now += 5s;
    link.on_deadline(now);
    drain(); // the answer
    link_up = false;
    now = 1200s;
    link.on_deadline(now);
    drain();
    ASSERT_EQ(said.size(), 1u);
    link_up = true;
    now += 10s;
    link.on_deadline(now);
    drain();
    ASSERT_EQ(said.size(), 1u);
    const auto again = slep::decode(said[0]);
    EXPECT_TRUE(std::get<slep::stream_control>(again->body).answer_wanted);
    in(from_a({ 0, slep::stream_abort{ 5, slep::reason_unknown_stream, 0 } }));
    EXPECT_EQ(link.streams(), 0u);
}

TEST(slep_life, a_shut_window_is_asked_about)
{
    lone x;
    x.in(from_a(so()));
    const auto id = x.events().at(0).stream;
    x.link.accept(x.now, id, { 0 });
    const octets data = pattern(100);
    x.link.write(x.now, id, data.data(), data.size());
    x.drain();
    // The peer shuts its window, and what would open it again is lost.
    x.in(from_a({ 0, slep::stream_control{ 5, 1, slep::window_closed } }));
    x.link.write(x.now, id, data.data(), data.size());
    EXPECT_TRUE(x.drain().empty());
    x.now += 601s;
    x.link.on_deadline(x.now);
    auto said = x.drain();
    ASSERT_EQ(said.size(), 1u);
    EXPECT_TRUE(
        std::get<slep::stream_control>(slep::decode(said[0])->body).answer_wanted);
    // Still shut: asked every five minutes from now on.
    x.in(from_a({ 0, slep::stream_control{ 5, 1, slep::window_closed } }));
    for (int k = 0; k < 3; ++k) {
        x.now += 301s;
        x.link.on_deadline(x.now);
        EXPECT_EQ(x.drain().size(), 1u) << k;
    }
    x.in(from_a({ 0, slep::stream_control{ 5, 1, slep::window_unlimited } }));
    said = x.drain();
    ASSERT_EQ(said.size(), 1u);
    EXPECT_EQ(std::get<slep::stream_data>(slep::decode(said[0])->body).data, data);
}

TEST(slep_life, a_gap_ends_a_stream_only_over_a_living_link)
{
    for (const bool heard : { false, true }) {
        lone x;
        x.in(from_a(so()));
        x.link.accept(x.now, x.events().at(0).stream, { 0 });
        x.in(from_a(sd(2, { 'c' }))); // 1 is missing
        x.events();
        const station_time begin = x.now;
        while (x.now < begin + 650s) {
            x.now += 10s;
            // Of another stream of the node, or nothing at all.
            if (heard)
                x.in(from_a({ 0, slep::unreliable_datagram{ false, { 1 } } }));
            x.link.on_deadline(x.now);
        }
        EXPECT_EQ(x.link.streams(), heard ? 0u : 1u);
        if (!heard) {
            // The link is back, and the missing octets arrive.
            x.in(from_a(sd(1, { 'b' })));
            x.now += 700s;
            x.link.on_deadline(x.now);
            EXPECT_EQ(x.link.streams(), 1u);
        }
    }
}

} // namespace
} // namespace gr::hf::test

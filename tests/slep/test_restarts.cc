/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Streams and starts of stations: what belongs to an earlier one stays out, and what an end
// of a stream says.
#include "slep/endpoints.h"

#include <gtest/gtest.h>

namespace gr::hf::test {
namespace {

TEST(slep_restarts, restart_of_a_peer_ends_old_streams_on_either_side)
{
    for (const bool opener_restarts : { false, true }) {
        pair_of n;
        const auto s = *n.a().link.open(n.net.now(), n.to_b(), { 1 }, pattern(10));
        n.net.run_for(20);
        const auto t = n.b().offered.at(0);
        auto& restarted = opener_restarts ? n.ra : n.rb;
        restarted.user = std::make_unique<slep_user>(with_instance(9));
        n.net.settle();
        // The side that lives on sends data of the old stream.
        auto& living = opener_restarts ? n.b() : n.a();
        const auto old = opener_restarts ? t : s;
        living.send(old, pattern(100), false);
        n.net.run_for(200);
        EXPECT_TRUE(living.streams[old].aborted);
        EXPECT_EQ(living.streams[old].code,
                  opener_restarts ? slep::reason_peer_restarted
                                  : slep::reason_peer_restarted);
        EXPECT_EQ(living.link.streams(), 0u);
        // New streams work in both directions, numbers may repeat.
        const auto x = *n.a().link.open(n.net.now(), n.to_b(), { 7 }, pattern(20), true);
        n.net.run_for(20);
        EXPECT_TRUE(n.a().streams[x].opened);
        EXPECT_EQ(n.b().streams[n.b().offered.back()].data, pattern(20));
    }
}

TEST(slep_restarts, a_stream_opened_into_a_restart_is_not_lost)
{
    pair_of n;
    const auto s = *n.a().link.open(n.net.now(), n.to_b(), { 1 });
    n.net.run_for(20);
    n.rb.user = std::make_unique<slep_user>(with_instance(9));
    n.net.settle();
    // The answer is preceded by the notice of the new instance.
    const auto x = *n.a().link.open(n.net.now(), n.to_b(), { 2 }, pattern(20), true);
    n.net.run_for(20);
    EXPECT_TRUE(n.a().streams[s].aborted);
    EXPECT_TRUE(n.a().streams[x].opened);
    EXPECT_FALSE(n.a().streams[x].aborted);
}

TEST(slep_restarts, a_stream_that_a_restart_swallowed_is_asked_after)
{
    pair_of n;
    n.b().accept_all = false;
    const auto x = *n.a().link.open(n.net.now(), n.to_b(), { 2 }, pattern(20));
    n.net.run_for(20); // offered, not answered
    n.rb.user = std::make_unique<slep_user>(with_instance(9));
    n.net.settle();
    n.b().link.send_reliable(n.net.now(), { address("1.0.0.1"), 13, 0 }, { 1 });
    n.net.run_for(120);
    EXPECT_FALSE(n.a().streams[x].aborted);
    n.net.run_for(20);
    EXPECT_TRUE(n.a().streams[x].aborted);
    EXPECT_EQ(n.a().streams[x].code, slep::reason_unknown_stream);
}

TEST(slep_restarts, an_open_takes_only_the_answer_and_the_data_that_are_for_it)
{
    lone x;
    const slep::user_address far{ address("1.0.0.1"), 13, 0 };
    const auto id = *x.link.open(x.now, far, { 1 }, { 'q' });
    octets wire;
    for (const octets& u : x.drain())
        if (u[0] >> 4 == 4)
            wire = u;
    const auto sent = slep::decode(wire);
    const auto& opened = std::get<slep::stream_open>(sent->body);
    EXPECT_EQ(opened.instance, 3u);
    const auto of = [&](uint16_t instance, uint8_t use) {
        return slep::incarnation::of_opener(instance, opened.number, use);
    };
    const auto ours = of(3, 0), other = of(4, 0);
    const auto answer = [&](uint16_t instance, const slep::incarnation& to, char data) {
        slep::stream_accept a;
        a.sid = opened.number | 0x80;
        a.instance = instance;
        a.answers = to.name();
        a.open_data = { 0 };
        a.data = { uint8_t(data) };
        x.in(from_a({ 0, a }));
    };
    const auto more = [&](const slep::incarnation& i, unsigned number, char data) {
        slep::stream_data d{ uint8_t(opened.number | 0x80),
                             uint16_t(i.base + number),
                             false,
                             false,
                             { uint8_t(data) },
                             i.check };
        x.in(from_a({ 0, d }));
    };
    x.in(from_a({ 0, slep::stream_abort{ 0, 136, 50 } }));
    const auto here = slep::incarnation::of_responder(50, ours);
    const auto before = slep::incarnation::of_responder(49, ours);
    // Data may overtake the answer, that of earlier streams as well.
    more(slep::incarnation::of_responder(49, other), 1, 'x');
    more(before, 1, 'y');
    more(here, 2, 'c');
    answer(50, other, 'z'); // to an open of the start before: who answers is told
    EXPECT_EQ(x.drain(),
              (std::vector<octets>{ { 0x80,
                                      opened.number,
                                      129,
                                      uint8_t(other.name() >> 8),
                                      uint8_t(other.name()) } }));
    answer(49, ours, 'w'); // by an earlier start of the peer
    EXPECT_TRUE(x.events().empty());
    answer(50, ours, 'a');
    more(before, 2, 'v');
    more(here, 1, 'b');
    octets got;
    for (const auto& e : x.events()) {
        EXPECT_EQ(e.stream, id);
        got.insert(got.end(), e.data.begin(), e.data.end());
    }
    EXPECT_EQ(got, (octets{ 0, 'a', 'b', 'c' }));
    EXPECT_EQ(x.link.stats().stale, 5u);
    // Aborts and refusals of other streams change nothing.
    x.in(from_a(
        { 0, slep::stream_abort{ uint8_t(opened.number | 0x80), 15, other.name() } }));
    EXPECT_EQ(x.link.streams(), 1u);
    x.in(from_a(
        { 0, slep::stream_abort{ uint8_t(opened.number | 0x80), 15, ours.name() } }));
    EXPECT_EQ(x.link.streams(), 0u);
}

TEST(slep_restarts, an_open_of_an_earlier_start_is_refused)
{
    lone x;
    const auto open_of = [](uint16_t instance) {
        slep::stream_open o;
        o.number = 5;
        o.instance = instance;
        return slep::pdu{ 0, o };
    };
    const auto data_of = [](uint16_t instance, uint8_t octet) {
        const auto i = slep::incarnation::of_opener(instance, 5, 0);
        return slep::pdu{
            0,
            slep::stream_data{ 5, uint16_t(i.base + 1), false, false, { octet }, i.check }
        };
    };
    x.in(from_a({ 0, slep::stream_abort{ 0, 136, 2 } }));
    x.in(from_a(data_of(1, 'x'))); // early, of the start before
    x.in(from_a(open_of(1)));
    EXPECT_EQ(x.link.streams(), 0u);
    const auto no = slep::decode(x.drain().at(0));
    ASSERT_TRUE(no && std::holds_alternative<slep::stream_refuse>(no->body));
    EXPECT_EQ(std::get<slep::stream_refuse>(no->body).answers,
              slep::incarnation::of_opener(1, 5, 0).name());
    x.in(from_a(open_of(2)));
    ASSERT_EQ(x.link.streams(), 1u);
    x.in(from_a(open_of(1)));
    x.in(from_a(data_of(1, 'y')));
    x.in(from_a(data_of(2, 'b')));
    x.link.accept(x.now, x.events().at(0).stream, { 0 });
    octets got;
    for (const auto& e : x.events())
        got.insert(got.end(), e.data.begin(), e.data.end());
    EXPECT_EQ(got, octets{ 'b' });
    EXPECT_EQ(x.link.streams(), 1u);
}

TEST(slep_restarts, the_end_is_shown_when_the_peer_has_all_of_ours)
{
    for (const bool far_fails : { false, true }) {
        pair_of n;
        n.b().read_all = false;
        const auto s = *n.a().link.open(n.net.now(), n.to_b(), { 1 });
        n.a().send(s, pattern(5000), true);
        n.net.run_for(20);
        const auto t = n.b().offered.at(0);
        n.b().send(t, pattern(300), true); // both ends cross
        n.net.run_for(60);
        EXPECT_EQ(n.a().streams[s].data.size(), 300u);
        EXPECT_EQ(n.b().streams[t].data.size(), 5000u); // not consumed yet
        EXPECT_FALSE(n.a().streams[s].fin);
        if (far_fails) {
            n.rb.user = std::make_unique<slep_user>(with_instance(9));
            n.net.settle();
            n.b().link.send_reliable(n.net.now(), { address("1.0.0.1"), 13, 0 }, { 1 });
        } else {
            n.b().link.consumed(n.net.now(), t, 5000);
        }
        n.net.run_for(60);
        EXPECT_EQ(n.a().streams[s].fin, !far_fails);
        EXPECT_EQ(n.a().streams[s].closed, !far_fails);
        EXPECT_EQ(n.a().streams[s].aborted, far_fails);
        EXPECT_EQ(n.a().link.streams(), 0u);
        EXPECT_EQ(n.b().link.streams(), 0u);
    }
}

TEST(slep_restarts, a_half_closed_stream_shows_the_end_at_once)
{
    pair_of n;
    const auto s = *n.a().link.open(n.net.now(), n.to_b(), { 1 }, pattern(10));
    n.net.run_for(20);
    const auto t = n.b().offered.at(0);
    n.b().send(t, pattern(300), true);
    n.net.run_for(20);
    EXPECT_TRUE(n.a().streams[s].fin);
    n.a().send(s, pattern(5000), true);
    ASSERT_TRUE(n.net.run(1h, [&] { return n.a().streams[s].closed; }));
    EXPECT_EQ(n.b().streams[t].data.size(), 5010u);
    n.net.run_for(20);
    EXPECT_EQ(n.a().link.streams() + n.b().link.streams(), 0u);
}

} // namespace
} // namespace gr::hf::test

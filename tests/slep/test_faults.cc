/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slep/deflate.h"
#include "slep/endpoints.h"

#include <gtest/gtest.h>

namespace gr::hf::test {
namespace {

TEST(slep_faults, reordering_and_lost_confirms_change_nothing)
{
    for (uint32_t seed = 1; seed <= 5; ++seed) {
        pair_of n(with_instance(1), with_instance(2), seed);
        n.net.k.jitter_s = 30;
        n.net.k.lose_confirm = 0.1;
        n.b().reply = pattern(100'000, 2);
        n.b().finish_after_fin = true;
        const auto s = *n.a().link.open(n.net.now(), n.to_b(), { 1 });
        n.a().send(s, pattern(200'000, 1), true);
        ASSERT_TRUE(n.net.run(4h, [&] { return n.a().streams[s].closed; })) << seed;
        EXPECT_EQ(n.a().streams[s].data, pattern(100'000, 2));
        ASSERT_EQ(n.b().offered.size(), 1u);
        EXPECT_EQ(n.b().streams[n.b().offered[0]].data, pattern(200'000, 1));
        EXPECT_GT(n.b().link.stats().duplicates, 0u);
        EXPECT_GT(n.a().link.stats().pdus_resent, 0u);
        EXPECT_EQ(n.a().link.stats().unmatched_confirms, 0u);
        n.net.run_for(1200);
        EXPECT_EQ(n.a().link.streams() + n.b().link.streams(), 0u);
    }
}

TEST(slep_faults, confirms_that_return_few_octets_are_matched)
{
    pair_of n;
    n.net.k.returned_octets = 8;
    n.net.k.jitter_s = 5;
    const auto s = *n.a().link.open(n.net.now(), n.to_b(), { 1 });
    n.a().send(s, pattern(100'000), true);
    n.b().finish_after_fin = true;
    ASSERT_TRUE(n.net.run(1h, [&] { return n.a().streams[s].closed; }));
    EXPECT_EQ(n.a().link.stats().unmatched_confirms, 0u);
    EXPECT_EQ(n.a().link.outstanding(address("1.0.0.2")), 0u);
}

TEST(slep_faults, back_off_follows_the_list_and_ends_when_the_peer_is_heard)
{
    pair_of n;
    n.net.k.delay = 0s;
    n.net.k.up = false;
    std::vector<double> at;
    n.net.on_request = [&](const auto& u) {
        if (u.dst == address("1.0.0.2") && u.u_pdu.size() == 5)
            at.push_back(
                to_seconds(n.net.now())); // the restart notice leads each attempt
    };
    const auto s = *n.a().link.open(n.net.now(), n.to_b(), { 1 }, pattern(100));
    n.net.run_for(400);
    ASSERT_GE(at.size(), 7u);
    const double gaps[] = { 5, 10, 20, 40, 60, 60 };
    for (size_t k = 0; k < std::size(gaps); ++k)
        EXPECT_NEAR(at[k + 1] - at[k], gaps[k], 0.5) << k;
    // Half a minute before the next attempt the peer speaks.
    n.net.run(from_seconds(at.back() + 30));
    const size_t before = at.size();
    n.net.k.up = true;
    n.b().link.send_unreliable(n.net.now(), { address("1.0.0.1"), 13, 0 }, { 1 });
    n.net.run_for(1);
    EXPECT_EQ(at.size(), before + 1);
    n.net.run_for(1);
    EXPECT_TRUE(n.a().streams[s].opened);
}

TEST(slep_faults, streams_survive_link_breaks)
{
    pair_of n;
    n.b().finish_after_fin = true;
    const auto s = *n.a().link.open(n.net.now(), n.to_b(), { 1 });
    n.a().send(s, pattern(300'000), true);
    for (int k = 0; k < 6; ++k) {
        n.net.k.up = k % 2 == 0;
        n.net.run_for(40);
    }
    n.net.k.up = true;
    ASSERT_TRUE(n.net.run(2h, [&] { return n.a().streams[s].closed; }));
    EXPECT_EQ(n.b().streams[n.b().offered.at(0)].data, pattern(300'000));
    EXPECT_GT(n.a().link.stats().pdus_rejected, 0u);
}

TEST(slep_faults, outage_ends_streams_but_not_a_new_one)
{
    auto c = with_instance(1);
    c.outage_max = 600s;
    pair_of n(c, with_instance(2));
    const auto busy = *n.a().link.open(n.net.now(), n.to_b(), { 1 });
    const auto idle = *n.a().link.open(n.net.now(), n.to_b(), { 2 });
    n.net.run_for(20);
    n.net.k.up = false;
    n.a().send(busy, pattern(10'000), true);
    n.net.run_for(570);
    EXPECT_FALSE(n.a().streams[busy].aborted);
    EXPECT_FALSE(n.a().streams[idle].aborted);
    n.net.run_for(50);
    EXPECT_TRUE(n.a().streams[busy].aborted);
    EXPECT_EQ(n.a().streams[busy].code, slep::reason_lifetime_over);
    EXPECT_TRUE(n.a().streams[idle].aborted) << "it asked after a silence of 300 s";
    const auto fresh = *n.a().link.open(n.net.now(), n.to_b(), { 3 });
    n.net.run_for(320);
    EXPECT_FALSE(n.a().streams[fresh].aborted);
    n.net.k.up = true;
    n.net.run_for(120);
    EXPECT_TRUE(n.a().streams[fresh].opened);
}

TEST(slep_faults, flow_off_stops_everything)
{
    pair_of n;
    n.net.run_for(1);
    n.net.tell(0, s5066::s_data_flow_off{});
    size_t sent = 0;
    n.net.on_request = [&](const auto&) { ++sent; };
    const auto s = *n.a().link.open(n.net.now(), n.to_b(), { 1 });
    n.a().send(s, pattern(500'000), true);
    n.net.run_for(100);
    EXPECT_EQ(sent, 0u);
    EXPECT_LE(n.a().streams[s].sent, 262'144u);
    n.net.tell(0, s5066::s_data_flow_on{});
    ASSERT_TRUE(n.net.run(1h, [&] {
        return n.b().offered.size() == 1 && n.b().streams[n.b().offered[0]].fin;
    }));
    EXPECT_EQ(n.b().streams[n.b().offered[0]].data, pattern(500'000));
}

TEST(slep_faults, unbound_and_bound_again)
{
    pair_of n;
    const auto s = *n.a().link.open(n.net.now(), n.to_b(), { 1 });
    n.a().send(s, pattern(200'000), true);
    n.net.run_for(30);
    n.net.tell(0, s5066::s_unbind_indication{ 1 });
    EXPECT_FALSE(n.a().link.bound());
    n.net.run_for(4);
    EXPECT_FALSE(n.a().link.bound());
    n.net.run_for(2);
    EXPECT_TRUE(n.a().link.bound());
    n.a().link.sis_reset(n.net.now());
    ASSERT_TRUE(n.net.run(1h, [&] { return n.b().streams[n.b().offered.at(0)].fin; }));
    EXPECT_EQ(n.b().streams[n.b().offered[0]].data, pattern(200'000));
    EXPECT_GT(n.b().link.stats().duplicates, 0u);
}

TEST(slep_faults, both_sides_open_at_the_same_time_after_a_cold_start)
{
    pair_of n;
    const auto x = *n.a().link.open(n.net.now(), n.to_b(), { 1 }, pattern(20), true);
    const auto y = *n.b().link.open(
        n.net.now(), { address("1.0.0.1"), 13, 0 }, { 2 }, pattern(30), true);
    n.a().finish_after_fin = n.b().finish_after_fin = true;
    n.net.run_for(60);
    EXPECT_TRUE(n.a().streams[x].closed);
    EXPECT_TRUE(n.b().streams[y].closed);
}

TEST(slep_faults, data_before_its_open_waits_for_it)
{
    lone x;
    x.in(from_a({ 0, slep::stream_abort{ 0, 136, 1 } }));
    x.in(from_a(sd(2, { 'c' }, true)));
    x.in(from_a(sd(1, { 'b' })));
    EXPECT_TRUE(x.drain().empty());
    x.in(from_a(so({ 'a' })));
    const auto e = x.events();
    ASSERT_EQ(e.size(), 1u);
    x.link.accept(x.now, e[0].stream, { 0 });
    octets got;
    bool fin = false;
    for (const auto& i : x.events()) {
        if (i.what == slep::event::type::data)
            got.insert(got.end(), i.data.begin(), i.data.end());
        fin = fin || i.what == slep::event::type::fin;
    }
    EXPECT_EQ(got, (octets{ 'a', 'b', 'c' }));
    EXPECT_TRUE(fin);
}

TEST(slep_faults, orphans_are_answered_once_per_minute_after_a_wait)
{
    lone x;
    x.in(from_a({ 0, slep::stream_abort{ 0, 136, 1 } }));
    for (int k = 0; k < 10; ++k)
        x.in(from_a(sd(uint16_t(k + 1), { 'x' })));
    x.now = 121s;
    x.link.on_deadline(x.now);
    EXPECT_EQ(x.drain(), (std::vector<octets>{ { 0x80, 0x85, 129, 0, 1 } }));
    // Data of the responder's direction can only be for a stream that was opened here.
    const slep::pdu other{ 0, slep::stream_data{ 0x86, 1, false, false, { 'x' } } };
    x.in(from_a(other));
    x.in(from_a(other));
    EXPECT_EQ(x.drain(), (std::vector<octets>{ { 0x80, 6, 129, 0, 1 } }));
    x.now += 61s;
    x.in(from_a(other));
    EXPECT_EQ(x.drain().size(), 1u);
}

TEST(slep_faults, an_abort_that_overtakes_its_open_counts)
{
    lone x;
    x.in(from_a({ 0, slep::stream_abort{ 0, 136, 1 } }));
    x.in(from_a({ 0, slep::stream_abort{ 5, 15, 0 } }));
    x.in(from_a(so()));
    EXPECT_TRUE(x.events().empty());
    EXPECT_EQ(x.link.streams(), 0u);
}

TEST(slep_faults, a_late_repeat_after_the_end_is_a_duplicate_without_an_answer)
{
    lone x;
    x.in(from_a(so()));
    x.link.accept(x.now, x.events().at(0).stream, { 0 });
    x.drain();
    x.in(from_a({ 0, slep::stream_abort{ 5, 15, 0 } }));
    EXPECT_EQ(x.link.streams(), 0u);
    const uint64_t before = x.link.stats().duplicates;
    x.in(from_a(sd(1, { 1 })));
    EXPECT_EQ(x.link.stats().duplicates, before + 1);
    EXPECT_TRUE(x.drain().empty());
}

TEST(slep_faults, unread_octets_are_those_delivered_and_those_that_wait_for_a_gap)
{
    lone x;
    x.in(from_a(so()));
    const auto id = x.events().at(0).stream;
    x.link.accept(x.now, id, { 0 });
    x.in(from_a(sd(1, octets(100))));
    const size_t delivered = x.link.list().at(0).unread;
    EXPECT_GE(delivered, 100u);
    x.in(from_a(sd(3, octets(50)))); // 2 is missing
    const size_t both = x.link.list().at(0).unread;
    EXPECT_GE(both, delivered + 50);
    EXPECT_LE(both, delivered + 50 + 64); // with the allowance of a held PDU
    x.link.consumed(x.now, id, 100);
    EXPECT_EQ(x.link.list().at(0).unread, both - 100);
}

TEST(slep_faults, a_repeated_restart_notice_is_known_by_its_number)
{
    lone x;
    x.in(from_a({ 0, slep::stream_abort{ 0, 136, 77 } }));
    x.in(from_a(so()));
    EXPECT_EQ(x.link.streams(), 1u);
    x.in(from_a({ 0, slep::stream_abort{ 0, 136, 77 } }));
    EXPECT_EQ(x.link.streams(), 1u);
    x.in(from_a({ 0, slep::stream_abort{ 0, 136, 78 } }));
    EXPECT_EQ(x.link.streams(), 0u);
}

TEST(slep_faults, violations_end_the_stream)
{
    const std::vector<std::vector<slep::pdu>> cases = {
        { sd(2100, { 1 }) },                  // beyond the 2048
        { sd(1, { 1 }, true), sd(2, { 2 }) }, // data after FIN
        { sd(3, { 1 }), sd(1, { 1 }, true) }, // FIN before data
    };
    for (const auto& c : cases) {
        lone x;
        x.in(from_a(so()));
        const auto e = x.events();
        x.link.accept(x.now, e.at(0).stream, { 0 });
        for (const auto& p : c)
            x.in(from_a(p));
        const auto after = x.events();
        ASSERT_FALSE(after.empty());
        EXPECT_EQ(after.back().what, slep::event::type::aborted);
        EXPECT_EQ(after.back().code, slep::reason_protocol_error);
        EXPECT_EQ(x.link.streams(), 0u);
    }
}

TEST(slep_faults, damaged_and_exploding_deflate_streams_end_the_stream)
{
    // 1.5 MB of zeros in some 1500 octets: more than one PDU may become.
    octets bomb;
    slep::deflater z;
    const octets zeros(1'500'000, 0);
    z.run(zeros.data(), zeros.size(), slep::deflater::flush::sync, bomb);
    ASSERT_LT(bomb.size(), 2000u);
    for (const octets& bad : { bomb, pattern(500) }) {
        lone x;
        slep::stream_open o;
        o.number = 5;
        o.compressed = true;
        o.data = bad;
        x.in(from_a({ 0, o }));
        const auto e = x.events();
        x.link.accept(x.now, e.at(0).stream, { 0 });
        const auto after = x.events();
        ASSERT_FALSE(after.empty());
        EXPECT_EQ(after.back().what, slep::event::type::aborted);
        EXPECT_EQ(after.back().code, slep::reason_decompression);
    }
}

TEST(slep_faults, a_dictionary_that_is_not_here_is_refused)
{
    lone x;
    slep::stream_open o;
    o.number = 5;
    o.compressed = true;
    o.par.dictionary = 3;
    x.in(from_a({ 0, o }));
    EXPECT_TRUE(x.events().empty());
    EXPECT_EQ(x.link.streams(), 0u);
    EXPECT_EQ(x.link.stats().streams_refused, 1u);
    // As long as nothing is compressed with it, it is only an offer.
    o.number = 6;
    o.compressed = false;
    x.in(from_a({ 0, o }));
    EXPECT_EQ(x.link.streams(), 1u);
}

TEST(slep_faults, many_small_pdus_ahead_of_a_gap_are_bounded)
{
    lone x;
    x.in(from_a(so()));
    x.link.accept(x.now, x.events().at(0).stream, { 0 });
    for (uint16_t k = 2; k < 3000 && x.link.streams() == 1; ++k)
        x.in(from_a(sd(k, octets(100))));
    EXPECT_EQ(x.link.streams(), 0u);
}

TEST(slep_faults, numbers_wrap)
{
    lone x;
    x.in(from_a(so()));
    x.link.accept(x.now, x.events().at(0).stream, { 0 });
    size_t got = 0;
    for (uint32_t k = 1; k < 140'000; ++k) {
        x.in(from_a(sd(uint16_t(k), { uint8_t(k) })));
        for (const auto& e : x.events()) {
            ASSERT_EQ(e.data, octets{ uint8_t(k) });
            x.link.consumed(x.now, e.stream, 1);
            ++got;
        }
    }
    EXPECT_EQ(got, 139'999u);
}

TEST(slep_faults, fuzz)
{
    std::mt19937 rng(5);
    lone x;
    size_t opens = 0;
    for (int k = 0; k < 60'000; ++k) {
        s5066::s_unidata_indication u;
        u.dst_sap = 13;
        u.src_sap = uint8_t(12 + rng() % 2);
        u.src = address::node(rng() % 400); // more than are kept
        u.priority = uint8_t(rng() % 16);
        u.u_pdu.resize(rng() % 40);
        for (auto& o : u.u_pdu)
            o = uint8_t(rng());
        if (u.u_pdu.size() > 2 && rng() % 8) {
            u.u_pdu[0] = uint8_t((rng() % 9) << 4 | (rng() % 4) | (rng() % 8 ? 0 : 12));
            u.u_pdu[1] = uint8_t((rng() % 2) << 7 | rng() % 8);
            u.u_pdu[2] = uint8_t(rng() % 8 ? rng() % 2 : rng());
            if (u.u_pdu.size() > 3)
                u.u_pdu[3] = uint8_t(rng() % 4);
        }
        octets v = s5066::encode(u);
        if (rng() % 16 == 0)
            v[rng() % v.size()] ^= uint8_t(1u << (rng() % 8));
        x.in(v);
        if (rng() % 8 == 0) {
            s5066::s_unidata_request_rejected r{ false, 3, 13, u.src, u.u_pdu };
            x.in(s5066::encode(r));
        }
        for (const auto& e : x.events()) {
            opens += e.what == slep::event::type::open;
            const size_t what = rng() % 5;
            if (what == 0)
                x.link.accept(x.now, e.stream, { 0 });
            else if (what == 1)
                x.link.refuse(x.now, e.stream, uint8_t(rng() % 128));
            else if (what == 2)
                x.link.abort(x.now, e.stream);
            else if (what == 3)
                x.link.write(x.now, e.stream, u.u_pdu.data(), u.u_pdu.size());
        }
        if (rng() % 4 == 0)
            x.drain();
        x.now += from_seconds((rng() % 1000) / 100.0);
        if (const auto t = x.link.next_deadline(); t && *t <= x.now)
            x.link.on_deadline(x.now);
        ASSERT_LE(x.link.streams(), x.link.config().streams_max);
    }
    EXPECT_GT(opens, 500u);
}

} // namespace
} // namespace gr::hf::test

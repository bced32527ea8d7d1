/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ale/link_pair.h"
#include "ale/vectors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

namespace gr::hf::test {
namespace {

std::vector<std::string> golden(const std::string& sequence)
{
    std::vector<std::string> words;
    for (const auto& v : load_word_vectors())
        if (v.sequence == sequence)
            words.push_back(v.text);
    return words;
}

std::vector<std::string> words(const link_medium::transmission& t)
{
    std::vector<std::string> all;
    for (const auto& w : t.words)
        all.push_back(w.to_string());
    return all;
}

TEST(ale_link, frames_of_a_handshake_are_the_golden_ones)
{
    station_pair p(scanning(1));
    p.air.at(sam).call("JOE", "", p.air.now());
    ASSERT_GE(p.until(joe, kind::linked, 20s), 0);
    EXPECT_TRUE(p.linked(sam));
    p.air.at(sam).end(p.air.now());
    p.air.run(p.air.now() + 5s);
    const auto& sent = p.air.transmissions();
    ASSERT_EQ(sent.size(), 4u);
    EXPECT_EQ(words(sent[0]), golden("call_one_channel"));
    EXPECT_EQ(words(sent[1]), golden("response"));
    EXPECT_EQ(words(sent[2]), golden("call_one_channel")); // acknowledgement
    EXPECT_EQ(words(sent[3]), golden("terminate"));
    EXPECT_EQ(p.reason(joe, kind::ended), link_reason::peer);
    EXPECT_EQ(p.reason(sam, kind::ended), link_reason::ours);
}

TEST(ale_link, a_scanning_call_meets_the_scan)
{
    for (size_t first = 0; first < 10; ++first) { // phases of the called station's scan
        station_pair p(scanning(10));
        p.air.run(10s + static_cast<int>(first) * 700ms);
        p.air.at(sam).call("JOE", "", p.air.now());
        const double s = p.until(joe, kind::linked, 30s);
        ASSERT_GE(s, 0) << first;
        EXPECT_LE(s, 15.4) << first;
        ASSERT_FALSE(p.air.transmissions().empty());
        EXPECT_EQ(words(p.air.transmissions()[0]), golden("call_scanning_10")) << first;
        EXPECT_EQ(p.air.transmissions().size(), 3u) << first;
    }
}

TEST(ale_link, a_wide_peer_needs_no_scanning_call)
{
    station_pair p(wide(10));
    p.air.run(10s);
    p.air.at(sam).call("JOE", "", p.air.now());
    const double s = p.until(joe, kind::linked, 10s);
    ASSERT_GE(s, 0);
    EXPECT_LE(s, 5.5);
    EXPECT_EQ(words(p.air.transmissions()[0]), golden("call_one_channel"));
}

TEST(ale_link, calls_on_the_best_channel_first)
{
    station_pair p(scanning(4));
    p.air.at(sam).quality().heard("JOE", 1, 3, p.air.now());
    p.air.at(sam).quality().heard("JOE", 2, 25, p.air.now());
    p.air.at(sam).call("JOE", "", p.air.now());
    ASSERT_GE(p.until(joe, kind::linked, 30s), 0);
    EXPECT_EQ(p.air.of(sam, kind::linked).at(0).action.channel, 2u);
    EXPECT_EQ(p.air.at(joe).channel(), 2u);
}

TEST(ale_link, tries_the_next_channel_without_an_answer)
{
    station_pair p(scanning(3));
    p.air.snr_db[0] = p.air.snr_db[1] = -20;
    p.air.at(sam).call("JOE", "", p.air.now());
    ASSERT_GE(p.until(joe, kind::linked, 60s), 0);
    EXPECT_EQ(p.air.at(sam).channel(), 2u);
    // What failed is tried last the next time.
    EXPECT_EQ(p.air.at(sam).quality().order("JOE", 3, p.air.now())[0], 2u);
}

TEST(ale_link, gives_up_after_all_rounds)
{
    station_pair p(scanning(2));
    p.air.snr_db[0] = p.air.snr_db[1] = -20;
    p.air.at(sam).call("JOE", "", p.air.now());
    const double s = p.until(sam, kind::failed, 120s);
    ASSERT_GE(s, 0);
    EXPECT_EQ(p.reason(sam, kind::failed), link_reason::no_answer);
    EXPECT_EQ(p.air.transmissions().size(), 4u); // two channels, two rounds
    EXPECT_EQ(p.air.at(sam).state(), link_state::scanning);
    const auto& sent = p.air.transmissions();
    const auto pause = sent[2].start - sent[1].end;
    EXPECT_GE(pause, 4s);                 // pause_min
    EXPECT_LE(pause, 12s + 2s + 2s + 1s); // pause_max, Twrt, Twt
}

TEST(ale_link, waits_for_the_answer_as_long_as_the_standard_says)
{
    station_pair p(scanning(1));
    p.air.lost = [](auto&, size_t, size_t receiver) { return receiver == joe; };
    p.air.at(sam).call("JOE", "", p.air.now());
    p.air.run(p.air.now() + 60s);
    const auto failed = p.air.of(sam, kind::failed);
    ASSERT_EQ(failed.size(), 1u);
    // Tlww + Twr + Tt + 2 Trw = 392 + 653 + 131 + 784 ms.
    EXPECT_NEAR(to_seconds(failed[0].at - p.air.transmissions().back().end), 1.96, 0.01);
}

TEST(ale_link, listens_first)
{
    station_pair p(scanning(1));
    p.air.run(10s);
    frame_plan other;
    other.to = { "BOB" };
    other.from = "EDGAR";
    p.air.send(0, other);
    p.air.run(10s + 1s);
    p.air.at(sam).call("JOE", "", p.air.now());
    ASSERT_GE(p.until(joe, kind::linked, 60s), 0);
    const auto& sent = p.air.transmissions();
    EXPECT_GE(sent[1].start - sent[0].end, 1900ms); // Twt, but for the receiver's time
}

TEST(ale_link, a_channel_that_stays_busy_is_left_out)
{
    station_pair p(scanning(2));
    p.air.at(sam).busy(0, true, p.air.now());
    p.air.at(sam).call("JOE", "", p.air.now());
    ASSERT_GE(p.until(joe, kind::linked, 60s), 0);
    EXPECT_EQ(p.air.at(sam).channel(), 1u);

    station_pair q(wide(2));
    for (const size_t channel : { 0u, 1u })
        q.air.at(sam).busy(channel, true, q.air.now());
    q.air.at(sam).call("JOE", "", q.air.now());
    ASSERT_GE(q.until(sam, kind::failed, 60s), 0);
    EXPECT_EQ(q.reason(sam, kind::failed), link_reason::busy);
    EXPECT_TRUE(q.air.transmissions().empty());
}

TEST(ale_link, a_channel_that_was_busy_must_be_quiet_for_twt)
{
    station_pair p(scanning(1));
    p.air.run(10s);
    p.air.at(sam).busy(0, true, p.air.now());
    p.air.run(15s);
    p.air.at(sam).busy(0, false, p.air.now());
    p.air.at(sam).call("JOE", "", p.air.now());
    EXPECT_NEAR(p.until(sam, kind::transmit, 10s), 2, 0.02);
}

TEST(ale_link, a_lost_answer_leads_to_the_next_channel)
{
    station_pair p(wide(2));
    p.air.lost = [](auto& t, size_t, size_t receiver) {
        return receiver == sam && t.station == joe && t.channel == 0;
    };
    p.air.at(sam).call("JOE", "", p.air.now());
    ASSERT_GE(p.until(sam, kind::linked, 60s), 0);
    p.air.run(p.air.now() + 2s);
    EXPECT_TRUE(p.linked(sam));
    EXPECT_TRUE(p.linked(joe));
    EXPECT_EQ(p.air.at(joe).channel(), p.air.at(sam).channel());
}

TEST(ale_link, a_lost_acknowledgement_is_repeated)
{
    station_pair p(scanning(1));
    size_t frames = 0;
    p.air.lost = [&frames](auto& t, size_t w, size_t receiver) {
        if (t.station == sam && w == 0)
            ++frames;
        return receiver == joe && t.station == sam && frames == 2;
    };
    p.air.at(sam).call("JOE", "", p.air.now());
    ASSERT_GE(p.until(sam, kind::linked, 20s), 0);
    EXPECT_FALSE(p.linked(joe));
    const double s = p.until(joe, kind::linked, 20s);
    ASSERT_GE(s, 0);
    EXPECT_LE(s, 8);
    p.air.run(p.air.now() + 2s);
    EXPECT_TRUE(p.linked(sam));
    EXPECT_EQ(p.air.of(sam, kind::linked).size(), 1u);
}

TEST(ale_link, an_acknowledgement_is_repeated_up_to_the_setting)
{
    for (const int repeats : { 0, 1, 3 }) {
        auto s = scanning(1);
        s.repeats = repeats;
        link_medium air;
        air.add(s, book("SAM"));
        air.at(sam).call("JOE", "", air.now());
        ASSERT_TRUE(air.run_until(sam, kind::transmit, 10s));
        air.run(air.now() + 1300ms);
        for (int answers = 0; answers < 6; ++answers) { // JOE reads nothing
            air.send(0, plan_to("SAM", "JOE"));
            air.run(air.now() + 4s);
        }
        EXPECT_EQ(air.at(sam).state(), link_state::linked);
        // The call, an acknowledgement, its repetitions, and what JOE sent.
        EXPECT_EQ(air.transmissions().size(), static_cast<size_t>(2 + repeats + 6));
    }
}

TEST(ale_link, without_any_acknowledgement_both_ends_agree_within_twa)
{
    station_pair p(scanning(1));
    bool deaf = false;
    p.air.lost = [&deaf](auto& t, size_t w, size_t receiver) {
        deaf |= t.station == joe && w == 2; // the answer is over
        return deaf && receiver == joe;
    };
    p.air.at(sam).call("JOE", "", p.air.now());
    ASSERT_GE(p.until(sam, kind::linked, 20s), 0);
    ASSERT_GE(p.until(joe, kind::failed, 20s), 0);
    EXPECT_EQ(p.reason(joe, kind::failed), link_reason::no_acknowledgement);
    ASSERT_GE(p.until(sam, kind::ended, 45s), 0);
    EXPECT_EQ(p.reason(sam, kind::ended), link_reason::idle);
    p.air.run(p.air.now() + 5s);
    EXPECT_EQ(p.texts().back(), "TO JOE TWAS SAM");
}

// Whether two stations that call each other at the same time link, and agree.
bool crossing_calls_link(int rounds, uint64_t seed)
{
    link_medium air;
    auto s = scanning(1);
    s.rounds = rounds;
    air.add(s, book("SAM"), 2 * seed);
    air.add(s, book("JOE"), 2 * seed + 1);
    air.run(5s);
    air.at(sam).call("JOE", "", air.now());
    air.at(joe).call("SAM", "", air.now());
    const auto both = [&air] {
        return air.at(sam).state() == link_state::linked &&
               air.at(joe).state() == link_state::linked;
    };
    while (air.now() < 120s && !both())
        air.run(air.now() + 1s);
    air.run(air.now() + 5s);
    EXPECT_EQ(air.at(sam).peer().empty(), air.at(joe).peer().empty()) << seed;
    EXPECT_LE(air.of(sam, kind::linked).size(), 1u) << seed;
    EXPECT_LE(air.of(joe, kind::linked).size(), 1u) << seed;
    return both();
}

TEST(ale_link, both_ends_agree_within_twa_whatever_is_lost)
{
    std::mt19937_64 random(1);
    constexpr int losses = 10; // 0 to 45 % of the words
    std::array<int, losses> links{}, alone{};
    station_time longest{ 0 };
    for (int run = 0; run < 300; ++run) {
        auto s = scanning(1 + run % 3);
        s.wide = run % 2 == 1;
        station_pair p(s);
        const auto loss = static_cast<size_t>(run % losses);
        std::bernoulli_distribution lost(0.05 * static_cast<double>(loss));
        p.air.lost = [&](auto&, size_t, size_t) { return lost(random); };
        p.air.at(sam).call("JOE", "", p.air.now());
        station_time since = p.air.now();
        for (int k = 0; k < 1500; ++k) {
            p.air.run(p.air.now() + 100ms);
            if (p.air.at(sam).peer().empty() == p.air.at(joe).peer().empty())
                since = p.air.now();
            longest = std::max(longest, p.air.now() - since);
        }
        links[loss] += !p.air.of(joe, kind::linked).empty();
        alone[loss] +=
            p.air.of(joe, kind::linked).size() != p.air.of(sam, kind::linked).size();
        EXPECT_TRUE(p.air.at(sam).peer().empty());
        EXPECT_TRUE(p.air.at(joe).peer().empty());
    }
    EXPECT_EQ(links[0], 30);
    EXPECT_GE(links[2], 27); // 10 % lost
    EXPECT_EQ(alone[0] + alone[1] + alone[2], 0);
    EXPECT_LE(longest, 35s); // Twa, a repeated acknowledgement, TWAS
}

TEST(ale_link, two_calls_at_the_same_time_link_after_a_pause)
{
    // A second collision needs pauses within 0.55 s, the time to read a word: 13 % of
    // pauses that differ by up to 8 s. Five rounds: 0.03 %.
    int with_two = 0, with_five = 0;
    for (uint64_t seed = 1; seed <= 200; ++seed) {
        with_two += crossing_calls_link(2, seed);
        with_five += crossing_calls_link(5, seed);
    }
    EXPECT_GE(with_two, 160);
    EXPECT_EQ(with_five, 200);
}

TEST(ale_link, a_third_station_ends_nothing)
{
    station_pair p(scanning(1));
    p.air.at(sam).call("JOE", "", p.air.now());
    ASSERT_GE(p.until(joe, kind::linked, 20s), 0);
    std::vector<frame_plan> others(4);
    others[0].from = "JOE12"; // a sound with the same first word
    others[1].from = "BOB";
    others[1].to = { "SAM" };
    others[2].from = "JOE12";
    others[2].to = { "SAM" };
    others[3].from = "JOE"; // our peer, to another station
    others[3].to = { "BOB" };
    for (auto& o : others) {
        o.answer_wanted = false;
        p.air.send(0, o);
        p.air.run(p.air.now() + 5s);
        EXPECT_TRUE(p.linked(sam)) << o.from;
        EXPECT_TRUE(p.linked(joe)) << o.from;
    }
    // A call of a third station is not answered.
    frame_plan call;
    call.from = "BOB";
    call.to = { "SAM" };
    const size_t sent = p.air.transmissions().size();
    p.air.send(0, call);
    p.air.run(p.air.now() + 3s);
    EXPECT_EQ(p.air.transmissions().size(), sent + 1);
    EXPECT_TRUE(p.linked(sam));
}

} // namespace
} // namespace gr::hf::test

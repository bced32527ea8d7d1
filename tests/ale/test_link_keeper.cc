/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Moves to better channels, and the end of links, as a data link wants them.
#include "ale/link/link_keeper.h"
#include "ale/link_pair.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

namespace gr::hf::test {
namespace {

// A pair with keepers, and traffic whose SNR follows the channel.
struct kept_pair : station_pair {
    static double promise(double snr_db) { return std::max(0.0, snr_db); }
    link_settings settings = without_trials();
    std::array<link_keeper, 2> keepers{ link_keeper(air.at(sam), settings, promise),
                                        link_keeper(air.at(joe), settings, promise) };
    size_t seen = 0;
    std::array<link_keeper::wish, 2> wishes{ { { "JOE", true, true },
                                               { "SAM", true, true } } };

    explicit kept_pair(const link_settings& s = without_trials())
        : station_pair(s), settings(s)
    {
    }
    static link_settings without_trials()
    {
        link_settings s = scanning(3);
        s.trials = false;
        return s;
    }
    void step()
    {
        air.run(air.now() + 100ms);
        for (; seen < air.log().size(); ++seen)
            keepers[air.log()[seen].station].on_action(air.log()[seen].action, air.now());
    }
    // SAM and JOE are linked on channel 0, and channel 2 is known to be good.
    void link_on_0()
    {
        air.at(sam).quality().heard("JOE", 0, 30, air.now());
        air.at(sam).call("JOE", "", air.now());
        ASSERT_GE(until(joe, kind::linked, 20s), 0);
        air.at(sam).quality().heard("JOE", 2, 20, air.now());
        air.at(joe).quality().heard("SAM", 2, 20, air.now());
    }
    // Nothing arrives on channel 0 any longer. Both data links count waits of 7 s in vain.
    // In the first \p heard waits the peer's carrier was heard.
    // Seconds until the pair is linked elsewhere; -1: not in time.
    double die(station_time limit, unsigned heard = 0)
    {
        air.snr_db[0] = -30;
        const auto died = air.now();
        while (air.now() < died + limit) {
            step();
            for (size_t k = 0; k < 2; ++k) {
                if (linked(k) && air.at(k).channel() == 0) {
                    const auto waits = static_cast<unsigned>((air.now() - died) / 7s);
                    if (waits > wishes[k].unanswered && waits <= heard)
                        keepers[k].heard();
                    wishes[k].unanswered = waits;
                }
                keepers[k].update(wishes[k], air.now());
            }
            if (linked(sam) && linked(joe) && air.at(sam).channel() != 0)
                return to_seconds(air.now() - died);
        }
        return -1;
    }
    // Both have data for each other. A transmission arrives at each every 10 s.
    void exchange(station_time length)
    {
        for (const auto end = air.now() + length; air.now() < end;) {
            step();
            for (size_t k = 0; k < 2; ++k) {
                keepers[k].update(wishes[k], air.now());
                if (linked(sam) && linked(joe) && air.now() % 10s < 100ms) {
                    keepers[k].traffic(air.snr_db[air.at(k).channel()], air.now());
                    keepers[k].turn(air.now());
                }
            }
        }
    }
    size_t moves(size_t station)
    {
        size_t n = 0;
        for (const auto& e : air.of(station, kind::ended))
            n += e.action.reason == link_reason::better;
        return n;
    }
};

TEST(link_keeper, the_caller_moves_the_pair_to_a_better_channel)
{
    kept_pair p;
    p.air.snr_db = { { 0, 5.0f }, { 1, 5.0f }, { 2, 20.0f } };
    for (const size_t k : { sam, joe })
        p.air.at(k).quality().heard(k == sam ? "JOE" : "SAM", 0, 30, p.air.now());
    p.air.at(sam).call("JOE", "", p.air.now());
    ASSERT_GE(p.until(joe, kind::linked, 20s), 0);
    EXPECT_EQ(p.air.at(sam).channel(), 0u);
    for (const size_t k : { sam, joe })
        p.air.at(k).quality().heard(k == sam ? "JOE" : "SAM", 2, 20, p.air.now());
    p.exchange(110s);
    EXPECT_EQ(p.moves(sam), 0u); // not within two minutes
    p.exchange(60s);
    EXPECT_EQ(p.moves(sam), 1u);
    EXPECT_EQ(p.moves(joe), 0u);
    ASSERT_TRUE(p.linked(sam) && p.linked(joe));
    EXPECT_EQ(p.air.at(sam).channel(), 2u);
    EXPECT_EQ(p.air.at(joe).channel(), 2u);
    p.exchange(1h);
    EXPECT_EQ(p.moves(sam), 1u);
}

TEST(link_keeper, a_move_without_an_answer_leads_back_and_waits)
{
    kept_pair p;
    p.air.snr_db = { { 0, 5.0f }, { 1, -20.0f }, { 2, -20.0f } }; // 2 was good before
    p.air.at(sam).quality().heard("JOE", 0, 30, p.air.now());
    p.air.at(sam).call("JOE", "", p.air.now());
    ASSERT_GE(p.until(joe, kind::linked, 20s), 0);
    p.air.at(sam).quality().heard("JOE", 2, 20, p.air.now());
    p.exchange(190s);
    EXPECT_EQ(p.moves(sam), 1u);
    ASSERT_TRUE(p.linked(sam) && p.linked(joe));
    EXPECT_EQ(p.air.at(sam).channel(), 0u);
    p.air.at(sam).quality().heard("JOE", 2, 20, p.air.now()); // a stale report
    p.exchange(400s);
    EXPECT_EQ(p.moves(sam), 1u);
    p.exchange(200s); // over ten minutes after the first move
    EXPECT_EQ(p.moves(sam), 2u);
    std::vector<double> moved_s;
    for (const auto& e : p.air.of(sam, kind::ended))
        moved_s.push_back(to_seconds(e.at));
    ASSERT_EQ(moved_s.size(), 2u);
    EXPECT_NEAR(moved_s[1] - moved_s[0], 600, 15); // a turn every 10 s
}

// SAM and JOE are linked on channel 0 and exchange data. Nothing is known of the others.
struct trying_pair : kept_pair {
    trying_pair() : kept_pair(scanning(3)) {}
    void link()
    {
        air.at(sam).quality().heard("JOE", 0, 30, air.now());
        air.at(sam).call("JOE", "", air.now());
        ASSERT_GE(until(joe, kind::linked, 20s), 0);
    }
    size_t trials()
    {
        const auto ended = air.of(sam, kind::ended);
        return static_cast<size_t>(std::count_if(ended.begin(), ended.end(), [](auto& e) {
            return e.action.reason == link_reason::trial;
        }));
    }
    // From the end of each link to the next one, the longest, s.
    double longest_pause()
    {
        double longest = 0;
        for (const auto& end : air.of(sam, kind::ended))
            for (const auto& begin : air.of(sam, kind::linked))
                if (begin.at > end.at) {
                    longest = std::max(longest, to_seconds(begin.at - end.at));
                    break;
                }
        return longest;
    }
};

TEST(link_keeper, a_channel_of_which_nothing_is_known_is_tried_and_kept_if_it_is_better)
{
    trying_pair p;
    p.air.snr_db = { { 0, 5.0f }, { 1, 20.0f }, { 2, 5.0f } };
    p.link();
    p.exchange(110s);
    EXPECT_EQ(p.trials(), 0u); // not within two minutes
    p.exchange(60s);
    EXPECT_EQ(p.trials(), 1u);
    ASSERT_TRUE(p.linked(sam) && p.linked(joe));
    EXPECT_EQ(p.air.at(sam).channel(), 1u);
    EXPECT_EQ(p.air.at(joe).channel(), 1u);
    EXPECT_LT(p.longest_pause(), 15);
}

TEST(link_keeper, a_trial_of_a_channel_that_is_not_better_leads_back)
{
    trying_pair p;
    // 13 dB are more than what SAM hears here, but not half as much again.
    p.air.snr_db = { { 0, 10.0f }, { 1, 13.0f }, { 2, -20.0f } };
    p.link();
    p.exchange(200s);
    EXPECT_EQ(p.trials(), 1u);
    ASSERT_TRUE(p.linked(sam) && p.linked(joe));
    EXPECT_EQ(p.air.at(sam).channel(), 0u);
    EXPECT_EQ(p.air.at(joe).channel(), 0u);
    // Both directions of the other one are known now, and JOE has not called.
    EXPECT_EQ(p.air.at(sam).quality().score("JOE", 1, p.air.now()), 13.0);
    EXPECT_EQ(p.air.at(joe).quality().score("SAM", 1, p.air.now()), 13.0);
    EXPECT_TRUE(p.air.of(joe, kind::failed).empty());
    EXPECT_LT(p.longest_pause(), 30);
    // The next trial is ten minutes later. It meets no answer and leads to the best one.
    p.exchange(400s);
    EXPECT_EQ(p.trials(), 1u);
    p.exchange(300s);
    EXPECT_EQ(p.trials(), 2u);
    ASSERT_TRUE(p.linked(sam) && p.linked(joe));
    EXPECT_EQ(p.air.at(sam).channel(), 1u);
    EXPECT_LT(p.longest_pause(), 30);
    // Something is known of each channel for an hour.
    p.exchange(40min);
    EXPECT_EQ(p.trials(), 2u);
    p.exchange(20min);
    EXPECT_EQ(p.trials(), 3u);
}

TEST(link_keeper, a_trial_that_finds_the_old_channel_dead_takes_what_answers)
{
    trying_pair p;
    p.air.snr_db = { { 0, 10.0f }, { 1, 11.0f }, { 2, -20.0f } };
    p.link();
    while (p.trials() == 0)
        p.exchange(1s);
    p.air.snr_db[0] = -20;
    p.exchange(90s);
    ASSERT_TRUE(p.linked(sam) && p.linked(joe));
    EXPECT_EQ(p.air.at(sam).channel(), 1u);
}

TEST(link_keeper, without_trials_nothing_is_tried)
{
    kept_pair p;
    p.air.snr_db = { { 0, 5.0f }, { 1, 20.0f }, { 2, 20.0f } };
    p.air.at(sam).quality().heard("JOE", 0, 30, p.air.now());
    p.air.at(sam).call("JOE", "", p.air.now());
    ASSERT_GE(p.until(joe, kind::linked, 20s), 0);
    p.exchange(1h);
    EXPECT_EQ(p.air.of(sam, kind::ended).size(), 0u);
}

TEST(link_keeper, a_twas_that_was_lost_does_not_strand_the_called_station)
{
    kept_pair p;
    p.air.snr_db = { { 0, 5.0f }, { 1, 5.0f }, { 2, 20.0f } };
    p.air.at(sam).call("JOE", "", p.air.now());
    p.air.at(sam).quality().heard("JOE", 0, 30, p.air.now());
    ASSERT_GE(p.until(joe, kind::linked, 20s), 0);
    p.air.at(sam).quality().heard("JOE", 2, 20, p.air.now());
    p.air.lost = [](const auto& t, size_t, size_t) {
        return t.text.find("TWAS") != std::string::npos;
    };
    p.exchange(240s);
    EXPECT_EQ(p.moves(sam), 1u);
    EXPECT_TRUE(p.linked(sam) && p.linked(joe));
    EXPECT_EQ(p.air.at(sam).channel(), p.air.at(joe).channel());
}

// The called station has data, too. Seconds until it calls after such an end of the link.
double pause_of_the_called(link_reason why)
{
    kept_pair p;
    p.link_on_0();
    p.exchange(1s);
    if (why == link_reason::peer)
        p.air.at(sam).end(p.air.now());
    else
        p.air.at(joe).end(p.air.now(), why);
    while (p.air.of(joe, kind::ended).empty())
        p.step();
    EXPECT_EQ(p.reason(joe, kind::ended), why);
    const auto start = p.air.now();
    while (p.texts().back() != "TO SAM TIS JOE" && p.air.now() < start + 60s) {
        p.keepers[joe].update(p.wishes[joe], p.air.now());
        p.step();
    }
    return to_seconds(p.air.now() - start);
}

TEST(link_keeper, the_called_station_leaves_the_next_call_to_its_peer_for_30_s)
{
    for (const auto why : { link_reason::peer, link_reason::silent }) {
        EXPECT_GT(pause_of_the_called(why), 30) << to_string(why);
        EXPECT_LT(pause_of_the_called(why), 33) << to_string(why);
    }
    EXPECT_LT(pause_of_the_called(link_reason::ours), 10);
}

TEST(link_keeper, a_channel_that_dies_at_once_is_left_after_two_waits)
{
    kept_pair p;
    p.link_on_0();
    p.exchange(20s);
    for (auto& k : p.keepers) // their last transmissions
        k.keyed(true, p.air.now());
    for (auto& k : p.keepers)
        k.keyed(false, p.air.now());
    const double seconds = p.die(60s);
    EXPECT_GT(seconds, 14);
    EXPECT_LT(seconds, 28);
    EXPECT_EQ(p.air.at(joe).channel(), 2u);
    EXPECT_EQ(p.reason(sam, kind::ended), link_reason::silent);
    EXPECT_EQ(p.reason(joe, kind::ended), link_reason::silent);
    // The caller calls, and only the caller ends the link with TWAS.
    for (const auto& text : p.texts())
        EXPECT_TRUE(text != "TO SAM TWAS JOE") << text;
    p.wishes[sam].unanswered = p.wishes[joe].unanswered = 0;
    p.exchange(10min);
    EXPECT_EQ(p.air.of(sam, kind::ended).size(), 1u);
}

TEST(link_keeper, a_channel_that_dies_in_the_middle_of_an_answer_is_left_as_soon)
{
    kept_pair p;
    p.link_on_0();
    p.exchange(20s);
    const double seconds = p.die(60s, 1);
    EXPECT_GT(seconds, 14);
    EXPECT_LT(seconds, 28);
    EXPECT_EQ(p.reason(sam, kind::ended), link_reason::silent);
}

TEST(link_keeper, a_carrier_of_the_peer_keeps_the_channel)
{
    kept_pair p;
    p.link_on_0();
    p.exchange(20s);
    EXPECT_LT(p.die(50s, 99), 0); // silence counts from 60 s on
    EXPECT_TRUE(p.air.of(sam, kind::ended).empty());
}

TEST(link_keeper, without_a_number_of_waits_only_silence_counts)
{
    auto settings = kept_pair::without_trials();
    settings.unanswered = 0;
    kept_pair p(settings);
    p.link_on_0();
    p.exchange(20s);
    for (auto& k : p.keepers) {
        k.keyed(true, p.air.now());
        k.keyed(false, p.air.now());
    }
    EXPECT_LT(p.die(40s), 0); // silence counts from 60 s on
    EXPECT_TRUE(p.air.of(sam, kind::ended).empty());
    EXPECT_TRUE(p.air.of(joe, kind::ended).empty());
}

TEST(link_keeper, a_peer_that_was_never_heard_in_the_link_keeps_the_channel)
{
    kept_pair p;
    p.link_on_0();
    EXPECT_LT(p.die(50s), 0);
    EXPECT_TRUE(p.air.of(sam, kind::ended).empty());
}

TEST(link_keeper, a_wide_station_hears_that_its_peer_calls_elsewhere)
{
    station_pair p(wide(3));
    p.air.at(sam).quality().heard("JOE", 0, 30, p.air.now());
    p.air.at(sam).call("JOE", "", p.air.now());
    ASSERT_GE(p.until(joe, kind::linked, 20s), 0);
    p.air.snr_db[0] = -30;
    p.air.at(sam).end(p.air.now()); // JOE hears no TWAS
    p.air.at(sam).call("JOE", "", p.air.now(), 2);
    ASSERT_GE(p.until(joe, kind::linked, 10s), 0);
    EXPECT_TRUE(p.linked(sam));
    EXPECT_EQ(p.air.at(joe).channel(), 2u);
    EXPECT_EQ(p.reason(joe, kind::ended), link_reason::peer);
}

TEST(link_keeper, a_link_ends_with_the_link_of_the_data_link)
{
    kept_pair p;
    p.air.at(sam).call("JOE", "", p.air.now());
    ASSERT_GE(p.until(joe, kind::linked, 20s), 0);
    p.wishes = { { { "JOE", true, true }, { "", true, true } } };
    p.exchange(20s);
    p.wishes = { { { "", false, true }, { "", false, true } } }; // nothing to send
    p.exchange(25s);
    p.wishes = { { { "", true, true }, { "", true, true } } }; // its link is being ended
    p.exchange(2s);
    EXPECT_TRUE(p.linked(sam));
    p.wishes = {};
    p.exchange(2s);
    EXPECT_FALSE(p.linked(sam));
    EXPECT_EQ(p.reason(sam, kind::ended), link_reason::done);
}

} // namespace
} // namespace gr::hf::test

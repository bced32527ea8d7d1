/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Pauses around transmissions, and the stations that share a channel.
#include "station_on_channel.h"

using namespace gr::hf;
using namespace gr::hf::s5066;
using namespace gr::hf::s5066::access_test;
using namespace std::chrono_literals;

TEST(channel_access, pauses_follow_detector_and_bandwidth)
{
    station_on_channel blind({}, false);
    EXPECT_DOUBLE_EQ(blind.access.turnaround_s(), 0.1);
    EXPECT_DOUBLE_EQ(blind.access.hold_s(), 0.1);
    EXPECT_EQ(blind.access.guard_time(), 1200ms);
    EXPECT_EQ(blind.access.shared_slot(), 950ms);
    EXPECT_DOUBLE_EQ(blind.access.answer_wait_s(), 3.1);
    station_on_channel s;
    EXPECT_EQ(s.access.guard_time(), 700ms);
    EXPECT_EQ(s.access.shared_slot(), 700ms);
    s.access.set_modes(6000, 600ms);
    EXPECT_DOUBLE_EQ(s.access.turnaround_s(), 0.05);
    EXPECT_DOUBLE_EQ(s.access.hold_s(), 0.02);
    EXPECT_EQ(s.access.shared_slot(), 650ms);
    s.config.carrier_detect_s = 0.1;
    EXPECT_EQ(s.access.shared_slot(), 300ms);
    s.config.turnaround_s = 0.4;
    EXPECT_DOUBLE_EQ(s.access.turnaround_s(), 0.4);
    EXPECT_EQ(s.access.guard_time(), 500ms);
}

TEST(channel_access, a_station_that_keys_late_lengthens_the_pause_for_all)
{
    const auto guard = [](address asked, station_time keyed, bool known = true) {
        station_on_channel s(known ? std::vector<address>{ b, c }
                                   : std::vector<address>{ c });
        s.access.ended_own(10s, asked);
        s.access.timed(keyed, b, {});
        return s.access.guard_time();
    };
    EXPECT_EQ(guard(b, 10s + 500ms), 1100ms);
    EXPECT_EQ(guard(b, 12s), 2600ms);
    EXPECT_EQ(guard(b, 10s + 150ms), 700ms); // the ticks of a modem
    EXPECT_EQ(guard(b, 12s + 200ms), 700ms); // too late for an answer
    EXPECT_EQ(guard(b, 9s), 700ms);
    EXPECT_EQ(guard(c, 10s + 500ms), 700ms); // no answer
    EXPECT_EQ(guard(b, 10s + 500ms, false), 700ms);

    station_on_channel s({ b });
    for (const auto keyed : { 500ms, 300ms, 400ms }) {
        s.access.ended_own(10s, b);
        s.access.timed(10s + keyed, b, {});
    }
    EXPECT_EQ(s.access.guard_time(), 900ms); // its shortest time counts
    s.access.forget(901s);
    EXPECT_EQ(s.access.guard_time(), 700ms);
}

TEST(channel_access, two_other_stations_share_the_channel)
{
    station_on_channel s;
    s.access.heard(5s, s.config.own);
    s.access.heard(5s, address::broadcast());
    s.access.heard(5s, b);
    EXPECT_FALSE(s.access.shared());
    EXPECT_EQ(s.access.cycle_s(), 0);
    s.access.heard(7s, c);
    EXPECT_TRUE(s.access.shared());
    EXPECT_EQ(s.access.cycle_s(), 430);
    EXPECT_TRUE(s.access.newcomer_since(6s));
    EXPECT_FALSE(s.access.newcomer_since(7s));
    s.access.heard(9s, b); // known
    EXPECT_FALSE(s.access.newcomer_since(7s));
    EXPECT_TRUE(s.access.heard_since(8s, b));
    EXPECT_FALSE(s.access.heard_since(9s, b));
    s.access.forget(907s);
    EXPECT_TRUE(s.access.shared());
    s.access.forget(908s); // c was not heard for 15 minutes
    EXPECT_FALSE(s.access.shared());
    EXPECT_TRUE(s.access.heard_since(8s, b));
}

TEST(channel_access, remembers_64_stations)
{
    station_on_channel s(many(64));
    s.access.heard(5s, e);
    EXPECT_FALSE(s.access.heard_since(1s, e));
    s.access.heard(5s, address::node(1));
    EXPECT_TRUE(s.access.heard_since(1s, address::node(1)));
    station_on_channel t(many(63));
    t.access.heard(5s, e);
    EXPECT_TRUE(t.access.heard_since(1s, e));
}

TEST(channel_access, a_station_that_others_answer_is_hidden)
{
    for (const auto& contents : { acknowledges, accepts, has_data }) {
        station_on_channel s({ b });
        s.access.overheard(5s, e, contents);
        const bool hidden = !contents.data;
        EXPECT_EQ(s.access.shared(), hidden);
        EXPECT_EQ(s.access.unknown_to_hidden(), hidden);
        EXPECT_EQ(s.access.heard_since(4s, e), hidden);
    }
    station_on_channel s({ b });
    for (const auto& other : { s.config.own, address::broadcast(), b }) {
        s.access.overheard(5s, other, acknowledges);
        EXPECT_FALSE(s.access.unknown_to_hidden());
    }
    s.access.overheard(5s, e, accepts);
    s.access.overheard(6s, e, has_data);
    EXPECT_TRUE(s.access.heard_since(5s, e));
    s.access.forget(906s);
    EXPECT_TRUE(s.access.unknown_to_hidden());
    s.access.forget(907s);
    EXPECT_FALSE(s.access.unknown_to_hidden());
    s.access.overheard(908s, e, accepts);
    s.access.heard(909s, e);
    EXPECT_FALSE(s.access.unknown_to_hidden());
}

TEST(channel_access, hidden_stations_learn_of_us_by_an_answer)
{
    station_on_channel s({ b });
    s.access.overheard(5s, e, accepts);
    s.own_data(10s);
    EXPECT_FALSE(s.access.unknown_to_hidden());
    EXPECT_FALSE(s.access.contended());
    s.access.unanswered(false);
    EXPECT_TRUE(s.access.unknown_to_hidden());
    EXPECT_TRUE(s.access.contended());
    s.access.answered(20s);
    EXPECT_FALSE(s.access.unknown_to_hidden());
    s.access.unanswered(true); // no longer on the list
    s.access.answered(30s);
    EXPECT_TRUE(s.access.contended());
    EXPECT_FALSE(station_on_channel({ b }).access.contended());
}

TEST(channel_access, stations_with_data_get_equal_parts_of_the_cycle)
{
    station_on_channel s({ b });
    EXPECT_EQ(s.access.turn_length(), 127500ms);
    s.access.carried_data(b, 1s);
    EXPECT_EQ(s.access.turn_length(), 127500ms);
    for (const auto& other : { c, d, e }) {
        s.access.heard(0s, other);
        s.access.carried_data(other, 2s);
    }
    EXPECT_EQ(s.access.turn_length(), 86s); // us and four others
    s.own_data(3s);
    EXPECT_EQ(s.access.turn_length(), 86s);
    s.access.began(10s, s.config.own); // they let their turns pass
    EXPECT_EQ(s.access.turn_length(), 86s);
    s.access.forget(433s);
    EXPECT_EQ(s.access.turn_length(), 127500ms);
}

TEST(channel_access, air_time_in_one_turn_adds_up)
{
    station_on_channel s({ b, c });
    const auto transmit = [&s](station_time begin, bool in_turn) {
        if (in_turn) { // after the answer
            s.access.ended(begin - 100ms);
        }
        s.access.begin_own(begin, in_turn, true);
        s.access.end_own_data(begin + 10s, begin, true);
        return to_seconds(s.access.turn_length() - s.access.turn_left());
    };
    EXPECT_EQ(transmit(100s, false), 10);
    EXPECT_EQ(transmit(120s, true), 10); // nobody waits
    s.access.carried_data(b, 90s);
    EXPECT_EQ(transmit(140s, true), 20);
    EXPECT_EQ(transmit(160s, true), 30);
    EXPECT_EQ(transmit(180s, false), 10);
}

TEST(channel_access, a_run_without_a_pause_ends_sooner_at_first)
{
    // A pause is the guard time and three slots, 2.8 s. The first run is a longest
    // transmission and 15 pauses.
    station_on_channel alone; // it has heard nobody yet
    EXPECT_FALSE(alone.access.must_yield(100s, 69));
    EXPECT_TRUE(alone.access.must_yield(100s, 70));
    station_on_channel s({ b });
    EXPECT_FALSE(s.access.must_yield(100s, 69));
    EXPECT_TRUE(s.access.must_yield(100s, 70));
    s.access.ended(195s);
    s.access.began(196s, b); // an answer, no pause
    EXPECT_TRUE(s.access.must_yield(200s, 1));
    s.access.began(200s, b);
    EXPECT_FALSE(s.access.must_yield(400s, 74));
    EXPECT_TRUE(s.access.must_yield(400s, 76));
    s.access.heard(200s, c); // after a station that is new, as at first
    EXPECT_TRUE(s.access.must_yield(300s, 70));
    EXPECT_FALSE(s.access.must_yield(300s, 69));
}

TEST(channel_access, a_run_is_longer_if_pauses_are_long_or_stations_alone)
{
    const auto longest = [](station_on_channel& s) {
        s.access.carried_data(b, 1s);
        s.access.began(10s, b);
        s.access.began(20s, b);
        double length = 0;
        while (!s.access.must_yield(20s, length)) {
            ++length;
        }
        return length;
    };
    station_on_channel alone({ b }), slow({ b }), third({ b, c });
    alone.config.lone_run_s = third.config.lone_run_s = 5000;
    EXPECT_NEAR(longest(alone), 127.5 + 15 * 2.8 * 16, 1);
    slow.config.carrier_detect_s = 2;
    EXPECT_NEAR(longest(slow), 75 * (2.1 + 3 * 2.1), 1);
    EXPECT_NEAR(longest(third), 2 * 127.5 + 20, 1);
    third.access.forget(1000s);
    EXPECT_TRUE(third.access.must_yield(7199s, 1000));
    third.access.began(7210s, b); // the third station is forgotten after two hours
    EXPECT_FALSE(third.access.must_yield(7211s, 700));
}

TEST(channel_access, two_stations_take_turns_after_a_longest_transmission)
{
    station_on_channel s({ b });
    s.config.lone_run_s = 5000;
    s.access.carried_data(b, 1s);
    s.access.began(10s, b);
    s.access.began(20s, b);
    s.own_data(30s);
    EXPECT_FALSE(s.access.must_yield(150s, 1));
    EXPECT_TRUE(s.access.must_yield(151s, 1));
    s.access.carried_data(b, 40s); // now we have waited longer
    EXPECT_FALSE(s.access.must_yield(151s, 1));
}

TEST(channel_access, a_station_that_has_waited_longer_goes_first)
{
    const auto yields = [](double used_s, station_time newest, bool data = true) {
        station_on_channel s({ b });
        s.access.heard(newest, c);
        s.access.carried_data(b, 990s);
        s.access.begin_own(1010s, false, data);
        s.access.end_own_data(1010s + from_seconds(used_s), 1010s, true);
        return s.access.must_yield(1080s, 1);
    };
    EXPECT_FALSE(yields(63, 0s)); // less than half of a turn
    EXPECT_TRUE(yields(65, 0s));
    EXPECT_TRUE(yields(10, 900s)); // a station has just come, and more may
    EXPECT_FALSE(yields(10, 860s));
    EXPECT_TRUE(yields(10, 0s, false));

    station_on_channel s({ b, c });
    s.access.carried_data(b, 990s);
    s.access.begin_own(1010s, false, true);
    s.access.end_own_data(1020s, 1010s, true);
    EXPECT_FALSE(s.access.must_yield(1080s, 1));
    s.access.ended(1030s);
    s.access.began(1031s, b); // an answer
    EXPECT_FALSE(s.access.must_yield(1080s, 1));
    s.access.began(1050s, b); // our turn is over
    EXPECT_TRUE(s.access.must_yield(1080s, 1));
}

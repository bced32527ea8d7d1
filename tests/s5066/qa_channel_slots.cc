/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Waits before a transmission that is no answer: slots, and hidden stations.
#include "station_on_channel.h"

using namespace gr::hf;
using namespace gr::hf::s5066;
using namespace gr::hf::s5066::access_test;
using namespace std::chrono_literals;

TEST(channel_access, the_other_end_of_a_link_has_slots_for_its_peers)
{
    station_on_channel s({ b });
    EXPECT_EQ(s.slots(41s, 0), first(1));
    EXPECT_EQ(s.slots(41s, 1), first(1));
    EXPECT_EQ(s.slots(41s, 3), first(3));
    EXPECT_EQ(s.slots(41s, 40), first(16));
    EXPECT_EQ(s.slots(43s, 1), first(3)); // time for stations not heard yet
    s.config.lone_run_s = 5000;
    s.access.carried_data(b, 1s);
    s.access.began(10s, b);
    s.access.began(20s, b);
    EXPECT_EQ(s.slots(150s), first(1));
    EXPECT_EQ(s.slots(151s), first(3));
}

TEST(channel_access, stations_on_the_list_follow_those_that_are_not)
{
    station_on_channel s({ b, c });
    EXPECT_EQ(s.slots(50s), first(3));
    s.access.carried_data(b, 10s);
    s.access.carried_data(c, 20s);
    s.own_data(30s);
    EXPECT_EQ(s.slots(50s), std::set<int>{ 5 });
    s.access.carried_data(b, 40s);
    EXPECT_EQ(s.slots(50s), std::set<int>{ 4 });
}

TEST(channel_access, a_transmission_that_nobody_could_read_makes_room_for_new_stations)
{
    station_on_channel s({ b, c });
    s.access.began_unknown(10s, true);
    EXPECT_EQ(s.slots(50s), first(3));
    s.access.began_unknown(500ms, false); // within the guard time: an answer
    EXPECT_EQ(s.slots(50s), first(3));
    s.access.began_unknown(10s, false);
    EXPECT_EQ(s.slots(50s), first(8));
    // Where one is on the list, others may not expect new ones: half of the draws are
    // among the first three.
    s.access.carried_data(b, 10s);
    int low = 0;
    for (int k = 0; k < 1000; ++k) {
        low += s.wait_s(50s) < 0.7 + 2.5 * 0.7 ? 1 : 0;
    }
    EXPECT_NEAR(low, 687, 70);
    s.access.began(20s, b); // the only known station was first: there are none
    EXPECT_EQ(s.slots(50s), first(3));
}

TEST(channel_access, room_for_new_stations_lasts_for_four_turns)
{
    station_on_channel s({ b, c });
    s.access.carried_data(b, 1s);
    s.access.carried_data(c, 2s);
    s.own_data(3s);
    s.access.began(10s, d);
    for (const auto begin : { 20s, 30s, 40s, 50s }) {
        EXPECT_EQ(s.slots(60s), std::set<int>{ 10 });
        s.access.began(begin, b);
    }
    EXPECT_EQ(s.slots(60s), std::set<int>{ 5 });
}

TEST(channel_access, known_stations_have_a_slot_each_in_order_of_address)
{
    station_on_channel s({ b, c, d });
    s.access.answered(0s);
    s.access.began(10s, b);
    EXPECT_EQ(s.slots(50s), std::set<int>{ 4 }); // after c
    EXPECT_EQ(s.slots(901s), first(8));          // long not answered: perhaps unknown
    s.access.began(20s, d);
    EXPECT_EQ(s.slots(50s), std::set<int>{ 5 }); // after b and c
    s.access.carried_data(c, 20s);
    EXPECT_EQ(s.slots(50s), std::set<int>{ 4 }); // c is on the list
    s.access.unanswered(false);
    EXPECT_EQ(s.slots(50s), std::set<int>{ 4 });
    s.access.unanswered(false);
    EXPECT_NE(s.slots(50s), std::set<int>{ 4 });
}

TEST(channel_access, many_known_stations_have_as_many_slots)
{
    station_on_channel s(many(10));
    s.access.answered(0s);
    s.access.began(10s, b);
    EXPECT_EQ(s.slots(901s), first(14)); // of the others and ours
    s.own_data(11s);
    EXPECT_EQ(s.slots(50s), std::set<int>{ 13 });
}

TEST(channel_access, stations_with_little_to_send_count_as_several)
{
    for (const size_t left : { 2u, 3u, 4u }) {
        const std::vector<address> others{ b, c, d, e };
        station_on_channel s(others);
        for (size_t k = 0; k < left; ++k) {
            s.access.carried_data(others[k], 1s);
        }
        s.own_data(5s);
        s.access.begin_own(20s, false, true);
        EXPECT_EQ(s.slots(50s), std::set<int>{ left < 3 ? 3 : 8 });
        EXPECT_TRUE(s.access.had_fair_chance());
        s.access.begin_own(30s, false, true);
        EXPECT_EQ(s.access.had_fair_chance(), left < 3);
        s.access.begin_own(40s, true, true);
        EXPECT_TRUE(s.access.had_fair_chance());
    }
}

TEST(channel_access, transmissions_without_an_answer_draw_later_slots)
{
    station_on_channel s({ b, c });
    s.own_data(30s, false);
    EXPECT_EQ(s.slots(50s), (std::set<int>{ 3, 4, 5, 6 }));
    s.own_data(31s);
    s.access.unanswered(false);
    EXPECT_EQ(s.slots(50s), std::set<int>{ 3 });
    s.access.unanswered(false);
    EXPECT_EQ(s.slots(50s), (std::set<int>{ 3, 4 }));
    s.access.unanswered(true); // back to the time before this transmission
    EXPECT_EQ(s.slots(50s), (std::set<int>{ 3, 4 }));

    station_on_channel t({ b, c });
    t.access.unanswered(false);
    t.access.began_unknown(10s, false);
    EXPECT_EQ(t.slots(50s), first(8));
    t.access.unanswered(false); // lets others pass now and then
    EXPECT_EQ(t.slots(50s), first(12));
}

TEST(channel_access, a_slot_of_the_station_file_replaces_the_draw)
{
    station_on_channel s({ b, c });
    s.config.slot = 2;
    EXPECT_DOUBLE_EQ(s.wait_s(50s), 9);
    EXPECT_EQ(s.access.wait_of_heard(50s, true, 1), 9s);
    s.config.slot_s = 0.1;
    EXPECT_DOUBLE_EQ(s.wait_s(50s), 0.7);
}

TEST(channel_access, an_unknown_station_starts_in_the_pause_for_hidden_ones)
{
    station_on_channel s({ b });
    s.access.overheard(5s, e, accepts);
    EXPECT_NEAR(s.wait_s(50s), 0.1 + 0.2 + 0.6, 1e-6);
    s.access.unanswered(false);
    EXPECT_NEAR(s.wait_s(50s), 0.9, 1e-6);
    s.access.unanswered(false);
    int at_once = 0;
    for (int k = 0; k < 1000; ++k) {
        const double wait = s.wait_s(50s);
        at_once += wait < 1 ? 1 : 0;
        EXPECT_TRUE(wait < 1 || std::abs(wait - hidden_turn_s) < 1e-6) << wait;
    }
    EXPECT_NEAR(at_once, 500, 70);
    s.access.answered(40s);
    EXPECT_EQ(s.slots(50s), first(3));
    station_on_channel blind({ b }, false);
    blind.access.overheard(5s, e, accepts);
    EXPECT_NEAR(blind.wait_s(50s), 1.2, 1e-6);
}

TEST(channel_access, a_hidden_station_that_has_waited_longer_gets_a_whole_turn)
{
    station_on_channel s({ b });
    s.access.overheard(5s, e, acknowledges);
    s.own_data(10s);
    EXPECT_NEAR(s.wait_s(50s), 0.7 + 4 * 0.7 + hidden_turn_s, 1e-6);
}

TEST(channel_access, a_hidden_station_gets_time_to_answer)
{
    // Wait beyond the guard time and slots after a transmission for the hidden station.
    const auto extra = [](station_time acked, bool data) {
        station_on_channel s({ b });
        s.own_data(500ms); // before the hidden station
        s.access.overheard(acked, e, acknowledges);
        if (data) {
            s.access.overheard(acked, e, has_data);
        }
        s.access.ended(acked, e);
        return s.wait_s(acked) - 4 * 0.7;
    };
    EXPECT_NEAR(extra(60s, true), 0.7 + 3, 1e-6);
    EXPECT_NEAR(extra(60s, false), hidden_turn_s, 1e-6); // it continues
    EXPECT_NEAR(extra(70s, false), 0, 1e-6);             // it has had its turn

    station_on_channel s({ b }); // ours is not on the list, but known
    s.access.answered(0s);
    s.access.overheard(5s, e, accepts);
    s.access.ended(5s, e);
    EXPECT_GE(s.wait_s(6s), hidden_turn_s);
    s.access.overheard(7s, e, acknowledges);
    s.access.ended(7s, e);
    EXPECT_LT(s.wait_s(8s), 3);
}

TEST(channel_access, transmissions_of_a_hidden_station_in_a_row_add_up)
{
    for (const bool interrupted : { false, true }) {
        station_on_channel s({ b });
        s.own_data(500ms);
        s.access.overheard(40s, e, acknowledges);
        s.access.ended(40s, e);
        if (interrupted) {
            s.access.carried_data(b, 40s);
        }
        s.access.overheard(70s, e, acknowledges);
        s.access.ended(70s, e);
        EXPECT_NEAR(s.wait_s(70s), 2.8 + (interrupted ? hidden_turn_s : 0), 1e-6);
    }
}

TEST(channel_access, a_late_start_waits_for_a_hidden_station)
{
    station_on_channel s({ b });
    s.access.overheard(5s, e, accepts);
    s.access.ended(10s, e);
    EXPECT_EQ(s.access.clear_at(11s + 700ms, 11s), 11s + 700ms);
    EXPECT_NEAR(to_seconds(s.access.clear_at(12s, 11s)), 10 + hidden_turn_s, 1e-6);
    EXPECT_EQ(s.access.clear_at(200s, 11s), 200s);
    s.access.ended(12s, b);
    EXPECT_EQ(s.access.clear_at(20s, 13s), 20s);
}

TEST(channel_access, the_last_to_speak_needs_no_slot_with_one_other_station)
{
    station_on_channel s({ b });
    s.config.lone_run_s = 5000;
    for (int k = 0; k < 20; ++k) {
        EXPECT_EQ(s.access.wait_after_own(40s, false, 8), 700ms);
    }
    s.config.slot = 1;
    EXPECT_EQ(s.access.wait_after_own(40s, false, 8), 6s);
    s.config.slot = 0;
    const auto slots = [&s](station_time end, bool to_group) {
        std::set<station_time> waits;
        for (int k = 0; k < 200; ++k) {
            waits.insert(s.access.wait_after_own(end, to_group, 8));
        }
        return waits.size();
    };
    EXPECT_EQ(slots(40s, true), 8u);
    EXPECT_EQ(slots(50s, false), 3u); // time for stations not heard yet
    s.access.heard(0s, c);
    EXPECT_EQ(slots(40s, false), 3u);
}

TEST(channel_access, data_without_arq_may_be_followed_at_once)
{
    station_on_channel s({ b });
    EXPECT_EQ(s.access.wait_of_heard(40s, true, 1), 100ms);
    EXPECT_EQ(s.access.wait_of_heard(40s, false, 1), 700ms);
    s.own_data(30s, false); // ours want no answer either
    int at_once = 0;
    for (int k = 0; k < 1000; ++k) {
        at_once += s.access.wait_of_heard(40s, true, 1) == 100ms ? 1 : 0;
    }
    EXPECT_NEAR(at_once, 250, 60);
    station_on_channel shared({ b, c });
    EXPECT_GE(shared.access.wait_of_heard(40s, true, 1), 700ms);
}

TEST(channel_access, stations_that_call_each_other_repeat_in_different_slots)
{
    station_on_channel s({ b, c });
    const auto drawn = [&s](unsigned silent, bool later) {
        std::set<station_time::rep> all;
        for (int k = 0; k < 200; ++k) {
            const auto wait = s.access.back_off(silent, later);
            EXPECT_EQ(wait % s.access.shared_slot(), 0s);
            all.insert(wait / s.access.shared_slot());
        }
        return all;
    };
    using rep = std::set<station_time::rep>;
    EXPECT_EQ(drawn(1, false), (rep{ 0 }));
    EXPECT_EQ(drawn(1, true), (rep{ 2 }));
    EXPECT_EQ(drawn(2, false), (rep{ 0, 4 }));
    EXPECT_EQ(drawn(3, true), (rep{ 2, 6, 10, 14 }));
    EXPECT_EQ(drawn(9, false), (rep{ 0, 4, 8, 12 }));
}

TEST(channel_access, silence_counts_only_if_no_third_station_was_in_the_way)
{
    const auto fair = [](address other, station_time begin) {
        station_on_channel s({ b, c });
        s.access.ended_own(10s, b);
        s.access.began(begin, other);
        return s.access.had_fair_chance();
    };
    EXPECT_FALSE(fair(c, 10s + 500ms));
    EXPECT_TRUE(fair(b, 10s + 500ms));
    EXPECT_TRUE(fair(c, 10s + 700ms)); // after the guard time
    EXPECT_TRUE(fair(address("1.5.0.0"), 10s + 500ms));
    station_on_channel s({ b, c });
    s.access.ended_own(10s, b);
    s.access.began_unknown(10s + 500ms, true);
    s.access.began(15s, c);
    EXPECT_FALSE(s.access.had_fair_chance());
    s.access.ended_own(20s, b);
    EXPECT_TRUE(s.access.had_fair_chance());
    EXPECT_FALSE(station_on_channel({ b, c }, false).access.had_fair_chance());
    EXPECT_TRUE(station_on_channel({ b }, false).access.had_fair_chance());
}

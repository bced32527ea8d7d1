/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// The token of stations of which some do not hear each other: who gets it, and when.
#include "s5066/access/token_walk.h"
#include "station_on_channel.h"

namespace gr::hf::s5066 {
namespace {

using namespace access_test;

//! Station 1.5.0.0 beside b, c and d, of which c acknowledges the hidden station e.
struct walker {
    walker()
    {
        config.own = address("1.5.0.0");
        for (const auto& a : { b, c, d }) {
            walk.heard(0s, a, true, c);
        }
        walk.hidden(0s, e);
        walk.hidden(100s, e);
    }

    node_config config;
    std::mt19937_64 random;
    token_walk walk{ config, random };
};

} // namespace

TEST(token_walk, begins_when_a_hidden_station_is_noticed_for_a_minute)
{
    for (const auto& [at, heard] :
         { std::pair(59s, false), { 61s, false }, { 61s, true } }) {
        node_config config;
        std::mt19937_64 random;
        token_walk walk(config, random);
        walk.hidden(0s, e);
        if (heard) {
            walk.heard(30s, e, false, c);
        }
        walk.hidden(at, e);
        EXPECT_EQ(walk.active(), at > 60s && !heard);
    }
}

TEST(token_walk, ends_when_no_hidden_station_is_noticed_for_long)
{
    walker w;
    w.walk.create(100s);
    w.walk.forget(14min);
    EXPECT_TRUE(w.walk.exists());
    w.walk.forget(17min);
    EXPECT_FALSE(w.walk.active());
    EXPECT_FALSE(w.walk.holds());
}

TEST(token_walk, does_not_exist_for_stations_with_fixed_slots)
{
    node_config config;
    config.slot = 1;
    std::mt19937_64 random;
    token_walk walk(config, random);
    walk.hidden(0s, e);
    walk.hidden(100s, e);
    walk.handed(100s, b, c, 5);
    EXPECT_FALSE(walk.active());
}

TEST(token_walk, visits_the_neighbour_that_has_waited_longest)
{
    walker w;
    w.walk.create(100s);
    std::vector<address> order;
    for (station_time now = 100s; order.size() < 6; now += 100s) {
        const auto to = w.walk.next(now, {});
        ASSERT_TRUE(to);
        order.push_back(*to);
        w.walk.hand_over(now, *to, false);
        w.walk.heard(now + 1s, *to, false, w.config.own);
        w.walk.carried_data(now + 50s, *to);
        w.walk.handed(now + 60s, *to, w.config.own, w.walk.number(false, false));
    }
    EXPECT_EQ(order, (std::vector{ b, c, d, b, c, d }));
}

TEST(token_walk, passes_stations_by_that_do_not_show_that_they_know_it)
{
    walker w;
    w.walk.heard(100s, address("1.1.0.0"), false, c);
    w.walk.create(100s);
    EXPECT_EQ(w.walk.next(100s, {}), b);
    EXPECT_EQ(w.walk.next(100s, d), d) << "granted alone";
    EXPECT_FALSE(w.walk.next(100s, address("1.1.0.0")));
}

TEST(token_walk, comes_back_from_a_station_that_does_not_take_it)
{
    walker w;
    w.walk.create(100s);
    // It may be in a dialogue and not know of the token, and so is called more often.
    EXPECT_TRUE(w.walk.unaware(b));
    for (int k = 0; k < 4; ++k) {
        EXPECT_EQ(w.walk.must_be_met(100s, b), k > 0);
        EXPECT_EQ(w.walk.next(100s, {}), b) << k;
        w.walk.hand_over(100s, b, false);
        EXPECT_FALSE(w.walk.holds());
        EXPECT_EQ(w.walk.awaited(), b);
        w.walk.not_taken(103s);
        EXPECT_TRUE(w.walk.holds());
    }
    EXPECT_EQ(w.walk.next(104s, {}), c);
    EXPECT_EQ(w.walk.next(200s, {}), c) << "it waits as long as the others";
}

TEST(token_walk, a_station_that_only_answers_need_not_be_met)
{
    walker w;
    w.walk.create(100s);
    w.walk.heard(400s, b, true, w.config.own);
    w.walk.hand_over(401s, b, false);
    w.walk.not_taken(404s);
    EXPECT_FALSE(w.walk.must_be_met(404s, b));
    w.walk.heard(405s, b, true, c);
    EXPECT_TRUE(w.walk.must_be_met(406s, b)) << "in a dialogue with c";
}

TEST(token_walk, a_station_that_follows_an_invitation_knows_the_token)
{
    for (const station_time at : { 108s, 120s }) {
        walker w;
        w.walk.create(100s);
        w.walk.hand_over(100s, b, true);
        const address g("1.9.0.0");
        w.walk.heard(at, g, false, address("1.8.0.0"));
        w.walk.handed(121s, b, w.config.own, w.walk.number(true, false));
        EXPECT_EQ(w.walk.next(122s, g).has_value(), at == 108s);
    }
}

TEST(token_walk, rests_from_neighbours_without_data)
{
    walker w;
    w.walk.create(100s);
    w.walk.hand_over(100s, b, false);
    w.walk.handed(103s, b, w.config.own, w.walk.number(false, false));
    EXPECT_EQ(w.walk.next(104s, b), std::nullopt);
    EXPECT_EQ(w.walk.next(119s, b), b);
    w.walk.hand_over(119s, b, false);
    w.walk.handed(122s, b, w.config.own, w.walk.number(false, false));
    EXPECT_EQ(w.walk.next(137s, b), std::nullopt) << "twice as long";
    w.walk.carried_data(138s, b);
    EXPECT_EQ(w.walk.next(138s, b), b);
}

TEST(token_walk, passes_a_station_while_a_neighbour_with_data_has_waited_longer)
{
    walker w;
    w.walk.create(100s);
    EXPECT_GT(w.walk.left_s(b), 0);
    w.walk.sent_data(150s, b, 50s);
    EXPECT_EQ(w.walk.left_s(b), 0) << "it has had its part";
    EXPECT_GT(w.walk.left_s(c), 0);
    w.walk.hand_over(150s, b, false);
    w.walk.handed(160s, b, w.config.own, w.walk.number(false, false));
    EXPECT_GT(w.walk.left_s(b), 0);
    w.walk.hand_over(160s, c, false);
    w.walk.carried_data(161s, c);
    w.walk.handed(170s, c, w.config.own, w.walk.number(true, false));
    EXPECT_GT(w.walk.left_s(b), 0) << "c has had its turn after ours";
    w.walk.sent_data(200s, b, 30s);
    w.walk.hand_over(200s, d, false);
    w.walk.handed(203s, d, w.config.own, w.walk.number(false, false));
    EXPECT_EQ(w.walk.left_s(b), 0) << "c has waited longer";
}

TEST(token_walk, of_two_tokens_the_older_number_vanishes)
{
    walker w;
    w.walk.handed(100s, b, c, 10);
    w.walk.handed(101s, d, w.config.own, 10);
    EXPECT_FALSE(w.walk.holds());
    w.walk.handed(101s, d, w.config.own, 11);
    EXPECT_TRUE(w.walk.holds());
    w.walk.handed(102s, b, c, 9);
    EXPECT_TRUE(w.walk.holds());
    w.walk.handed(103s, b, c, 12);
    EXPECT_FALSE(w.walk.holds());
    w.walk.handed(103s, b, w.config.own, 50);
    EXPECT_FALSE(w.walk.holds()) << "numbers are of a circle of 64";
}

TEST(token_walk, is_replaced_when_nothing_is_heard_for_three_turns)
{
    walker w;
    EXPECT_EQ(w.walk.lost_at(100s), 100s) << "there was none";
    w.walk.handed(200s, b, c, 10);
    EXPECT_GE(w.walk.lost_at(300s), 300s + 161s);
    EXPECT_LE(w.walk.lost_at(300s), 300s + 215s);
    w.walk.create(500s);
    EXPECT_TRUE(w.walk.holds());
    w.walk.handed(501s, b, c, 12);
    EXPECT_TRUE(w.walk.holds()) << "the lost one is older";
}

TEST(token_walk, invites_stations_that_nobody_has_heard)
{
    walker w;
    w.walk.create(100s);
    EXPECT_TRUE(w.walk.invites(100s));
    w.walk.hand_over(100s, b, true);
    EXPECT_TRUE(w.walk.invited(101s));
    EXPECT_FALSE(w.walk.invited_slot(101s)) << "it had its turn";
    EXPECT_FALSE(w.walk.invites(129s));
    EXPECT_TRUE(w.walk.invites(130s));
    w.walk.hand_over(130s, b, true);
    EXPECT_FALSE(w.walk.invites(189s)) << "nobody followed";
    w.walk.heard(150s, e, true, c);
    EXPECT_TRUE(w.walk.invites(151s)) << "more may follow";
}

TEST(token_walk, an_invited_station_calls_in_one_of_two_slots)
{
    node_config config;
    config.own = address("1.5.0.0");
    std::mt19937_64 random;
    token_walk hub(config, random);
    hub.create(0s);
    token_walk leaf(config, random);
    leaf.handed(100s, b, c, hub.number(false, true));
    ASSERT_TRUE(leaf.invited(101s));
    EXPECT_LT(leaf.invited_slot(101s).value_or(9), token_walk::invited_slots);
    EXPECT_FALSE(leaf.invited(105s)) << "another transmission has ended since";
}

TEST(token_walk, takes_an_older_one_of_the_station_that_missed_the_newest)
{
    walker w;
    w.walk.handed(100s, c, b, 20);
    w.walk.handed(102s, b, w.config.own, 10);
    EXPECT_TRUE(w.walk.holds());
    EXPECT_EQ(w.walk.number(false, false), 21);
    w.walk.hand_over(103s, c, false);
    w.walk.handed(104s, b, w.config.own, 10);
    EXPECT_FALSE(w.walk.holds()) << "c has the newest";
}

TEST(token_walk, is_replaced_beside_a_dialogue_with_a_station_that_knows_of_none)
{
    walker w;
    w.walk.create(100s);
    w.walk.hand_over(100s, b, false);
    w.walk.heard(500s, b, true, c); // in a dialogue with a hidden station
    EXPECT_LE(w.walk.lost_at(500s), 500s) << "no silence is needed";
    w.walk.handed(510s, b, c, w.walk.number(true, false));
    EXPECT_GT(w.walk.lost_at(700s), 700s);
}

TEST(token_walk, one_that_did_not_take_it_waits_until_a_known_one_had_it)
{
    walker w;
    w.walk.create(100s);
    w.walk.hand_over(100s, b, false);
    w.walk.handed(101s, b, w.config.own, w.walk.number(true, false));
    EXPECT_EQ(w.walk.next(120s, {}), c);
    w.walk.hand_over(120s, c, false);
    w.walk.not_taken(123s);
    EXPECT_EQ(w.walk.next(124s, {}), b);
}

TEST(token_walk, begins_beside_much_that_is_not_received)
{
    for (const bool more : { false, true }) {
        node_config config;
        std::mt19937_64 random;
        token_walk walk(config, random);
        walk.unread(100s, 28s); // a collision
        if (more) {
            walk.unread(200s, 60s);
        }
        EXPECT_EQ(walk.jammed(200s), more);
        walk.starves(200s, 10s);
        EXPECT_EQ(walk.active(), more);
    }
}

} // namespace gr::hf::s5066

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
    std::array<link_keeper, 2> keepers{
        link_keeper(air.at(sam), [](double snr_db) { return std::max(0.0, snr_db); }),
        link_keeper(air.at(joe), [](double snr_db) { return std::max(0.0, snr_db); })
    };
    size_t seen = 0;
    std::array<link_keeper::wish, 2> wishes{ { { "JOE", true, true },
                                               { "SAM", true, true } } };

    kept_pair() : station_pair(scanning(3)) {}
    // Both have data for each other. A transmission arrives at each every 10 s.
    void exchange(station_time length)
    {
        for (const auto end = air.now() + length; air.now() < end;) {
            air.run(air.now() + 100ms);
            for (; seen < air.log().size(); ++seen)
                keepers[air.log()[seen].station].on_action(air.log()[seen].action,
                                                           air.now());
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

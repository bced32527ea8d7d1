/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// The emulated modem's carrier detector: signals on the channel that are not received.
#include "sim/air/emulated_modem.h"

#include <gtest/gtest.h>

#include <vector>

using namespace gr::hf;
using namespace gr::hf::sim;

namespace {

//! Sends a number of blocks when asked to, and records what it hears.
struct user : modem_user {
    void on_tick(station_time) override {}
    std::optional<mode> want_tx(station_time) override
    {
        if (!key)
            return std::nullopt;
        key = false;
        return mode::parse("4539-2400S");
    }
    tx_octets pull(station_time, station_time, size_t n) override
    {
        return { std::vector<uint8_t>(n), --blocks == 0 };
    }
    void on_tx_end(station_time) override {}
    void on_rx_start(station_time now, const rx_start&) override
    {
        starts.push_back(now);
    }
    void on_rx_octets(station_time, const rx_octets&) override {}
    void on_rx_end(station_time, const rx_end&) override {}
    void on_carrier(station_time now, bool present) override
    {
        carrier.emplace_back(to_seconds(now), present);
    }
    bool key = false;
    int blocks = 10; // of 0.6 s; with preamble and end of message 7.2 s
    std::vector<station_time> starts;
    std::vector<std::pair<double, bool>> carrier;
};

struct three_stations : testing::Test {
    void key(size_t i, double at_s)
    {
        s.at(from_seconds(at_s), [this, i] {
            users[i].key = true;
            modems[i]->poke();
        });
    }
    void run(const air_path& p)
    {
        air.set_default_path(p);
        s.run_until(from_seconds(30));
    }

    scheduler s;
    emulated_air air{ s };
    user users[3];
    std::vector<std::unique_ptr<emulated_modem>> modems = [this] {
        std::vector<std::unique_ptr<emulated_modem>> v;
        for (auto& u : users)
            v.push_back(std::make_unique<emulated_modem>(s, air, u, modem_config(), [] {
                return std::optional(station_time(-1));
            }));
        return v;
    }();
};

} // namespace

TEST_F(three_stations, a_missed_transmission_is_sensed)
{
    key(0, 1);
    air_path p;
    p.loss = 0.999999; // of preambles
    run(p);
    const auto& c = users[1].carrier;
    ASSERT_EQ(c.size(), 3u);
    EXPECT_FALSE(c[0].second); // there is a detector
    EXPECT_TRUE(c[1].second);
    EXPECT_NEAR(c[1].first, 1.3, 0.05);
    EXPECT_FALSE(c[2].second);
    EXPECT_NEAR(c[2].first, 1 + 7.2 + 0.9, 0.05);
    EXPECT_TRUE(users[1].starts.empty());
}

TEST_F(three_stations, reception_takes_over)
{
    key(0, 1);
    run(air_path());
    const auto& c = users[1].carrier;
    ASSERT_EQ(c.size(),
              2u); // sensed in the preamble; no report after the reception
    EXPECT_TRUE(c[1].second);
    EXPECT_EQ(users[1].starts.size(), 1u);
    EXPECT_EQ(users[0].carrier.size(), 1u); // its own signal is not reported
}

TEST_F(three_stations, who_collided_and_ends_first_senses_the_other)
{
    users[0].blocks = 3;
    key(0, 1);
    key(1, 1.1);
    run(air_path());
    const auto& c = users[0].carrier;
    ASSERT_EQ(c.size(), 3u);
    EXPECT_NEAR(c[1].first, 1 + 3.0 + 0.3, 0.05);
    EXPECT_NEAR(c[2].first, 1.1 + 7.2 + 0.9, 0.05);
    EXPECT_TRUE(users[0].starts.empty());
    EXPECT_TRUE(users[2].starts.empty()); // two preambles at once
    EXPECT_EQ(users[2].carrier.size(), 3u);
}

TEST_F(three_stations, nothing_is_sensed_that_is_too_weak_or_not_heard)
{
    key(0, 1);
    air_path p;
    p.snr_db = -10;
    p.loss = 1;
    run(p);
    EXPECT_EQ(users[1].carrier.size(), 1u);
}

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "radio/playback_watch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

using namespace gr::hf::kernel;

namespace {

constexpr double rate = 48000;
constexpr uint64_t block = 480;

// A sound server like PulseAudio. It takes a block each 10 ms. When empty it plays
// silence until it holds 100 ms again, without a report. The host meanwhile writes what
// it captured.
class server
{
public:
    //! Runs for this many seconds, with the host late by a few milliseconds. Returns the
    //! findings.
    std::vector<playback_watch::finding> run(double seconds, double busy_s = 0.002)
    {
        std::exponential_distribution<double> late(1 / busy_s);
        std::vector<playback_watch::finding> found;
        for (const double end = d_time + seconds; d_time < end;) {
            play();
            write(d_time + late(d_random), found);
        }
        return found;
    }
    //! The host stalls for this long, then writes all samples at once.
    std::vector<playback_watch::finding> stall(double seconds)
    {
        for (const double end = d_time + seconds; d_time < end;)
            play();
        std::vector<playback_watch::finding> found;
        write(d_time + 1e-5, found);
        return found;
    }
    double silence_s() const { return static_cast<double>(d_silent) / rate; }
    void begin()
    {
        d_captured = d_given = 4800;
        d_waits = false;
    }

private:
    void play()
    {
        d_time += block / rate;
        d_captured += block;
        const uint64_t held = d_given - d_taken;
        d_waits = d_waits ? held < 4800 : held == 0;
        const uint64_t taken = d_waits ? 0 : std::min(held, block);
        d_taken += taken;
        d_silent += block - taken;
    }
    void write(double when, std::vector<playback_watch::finding>& found)
    {
        // No sample overtakes earlier ones or is played before its time.
        const double begin = std::max(when, d_told + 1e-4);
        if (begin > d_time + block / rate)
            return;
        d_told = begin;
        d_given = d_captured;
        const double held = static_cast<double>(d_given - d_taken) / rate;
        if (const auto f = d_watch.wrote(d_given, held, begin, begin + 1e-4))
            found.push_back(f);
    }

    playback_watch d_watch{ rate, block / rate };
    double d_time = 0, d_told = 0;
    uint64_t d_captured = 0, d_given = 0, d_taken = 0, d_silent = 0;
    bool d_waits = true;
    std::mt19937 d_random{ 1 };
};

TEST(playback_watch, a_device_that_is_kept_fed_has_no_holes)
{
    server s;
    s.begin();
    EXPECT_TRUE(s.run(600).empty());
    for (const double seconds : { 0.02, 0.05, 0.08 })
        EXPECT_TRUE(s.stall(seconds).empty() && s.run(10).empty()) << seconds;
    EXPECT_EQ(s.silence_s(), 0);
}

TEST(playback_watch, a_host_that_stalls_longer_than_the_device_holds_is_told_at_once)
{
    for (const double seconds : { 0.12, 0.15, 0.3 }) {
        server s;
        s.begin();
        s.run(100);
        const auto found = s.stall(seconds);
        ASSERT_EQ(found.size(), 1u) << seconds;
        EXPECT_GT(s.silence_s(), 0);
        EXPECT_NEAR(found[0].lacked_s, s.silence_s(), 0.011) << seconds;
        EXPECT_TRUE(s.run(100).empty()) << seconds; // once
    }
}

TEST(playback_watch, a_hole_that_the_last_block_hides_is_found_by_the_clock)
{
    server s;
    s.begin();
    s.run(100);
    EXPECT_TRUE(s.stall(0.11).empty());
    EXPECT_NEAR(s.silence_s(), 0.01, 1e-9);
    const auto found = s.run(10);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].lacked_s, 0);
    EXPECT_NEAR(found[0].silent_s, s.silence_s(), 0.001);
    EXPECT_TRUE(s.run(100).empty());
}

TEST(playback_watch, a_device_that_begins_anew_was_not_silent)
{
    playback_watch w(rate, 0.01);
    EXPECT_FALSE(w.wrote(4800, 0.1, 1, 1));
    w.restart();
    EXPECT_FALSE(w.wrote(480, 0.01, 2, 2));
    EXPECT_TRUE(w.wrote(960, 0.01, 3, 3));
}

} // namespace

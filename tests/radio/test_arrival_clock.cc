/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "radio/arrival_clock.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace gr::hf::kernel;

namespace {

constexpr double rate = 48000;

// A card that delivers 480 samples at a time, with the delay of a busy host.
class card
{
public:
    explicit card(double ppm = 0) : d_step(480 / (rate * (1 + ppm * 1e-6))) {}

    //! Runs for this many seconds. Returns the total of the inserted samples.
    int64_t run(double seconds, double busy_s = 0.01)
    {
        std::exponential_distribution<double> late(1 / busy_s);
        int64_t put_in = 0;
        for (const double end = d_time + seconds; d_time < end; d_time += d_step) {
            d_samples += 480;
            // Nothing overtakes earlier samples.
            d_told = std::max(d_told, d_time + (busy_s > 0 ? late(d_random) : 0));
            const int64_t n = clock.arrived(d_samples, d_told);
            d_samples += static_cast<uint64_t>(n);
            put_in += n;
        }
        return put_in;
    }
    void lose(double seconds) { d_time += seconds; }
    //! The host stalls for this long, then gets all samples at once.
    void stall(double seconds) { d_told = d_time + seconds; }

    arrival_clock clock{ rate };

private:
    double d_step, d_time = 0, d_told = 0;
    uint64_t d_samples = 0;
    std::mt19937 d_random{ 1 };
};

TEST(arrival_clock, a_card_that_loses_nothing_gets_nothing_put_in)
{
    for (const double ppm : { -100., 0., 100. }) {
        card c(ppm);
        EXPECT_EQ(c.run(1800), 0) << ppm;
        ASSERT_TRUE(c.clock.drift_ppm());
        EXPECT_NEAR(*c.clock.drift_ppm(), ppm, 3);
    }
}

TEST(arrival_clock, lost_samples_are_put_in)
{
    card c(30);
    c.run(100);
    for (const double gap : { 0.1, 0.04, 1.0, 5.0 }) {
        c.lose(gap);
        const auto n = static_cast<double>(c.run(10)) / rate;
        EXPECT_NEAR(n, gap, 0.005) << gap;
    }
    EXPECT_EQ(c.run(100), 0);
    EXPECT_NEAR(*c.clock.drift_ppm(), 30, 5); // of the card, not of its losses
}

TEST(arrival_clock, the_loss_of_one_block_is_told_from_lateness)
{
    // The host is late by 2 ms in the mean, and by 10 ms now and then; blocks of sound systems.
    for (const double gap : { 0.006, 0.01, 256 / rate }) {
        card c(30);
        EXPECT_EQ(c.run(100, 0.002), 0);
        c.lose(gap);
        EXPECT_NEAR(static_cast<double>(c.run(10, 0.002)) / rate, gap, 0.0005) << gap;
        EXPECT_EQ(c.run(300, 0.002), 0) << gap;
    }
}

TEST(arrival_clock, a_host_that_is_late_in_bad_minutes_loses_nothing)
{
    card c;
    EXPECT_EQ(c.run(100, 0.002), 0);
    int64_t wrongly = 0;
    for (int k = 0; k < 20; ++k)
        wrongly += std::abs(c.run(30, 0.02)) + std::abs(c.run(30, 0.002));
    EXPECT_EQ(wrongly, 0);
}

TEST(arrival_clock, a_host_that_stalls_loses_nothing)
{
    card c;
    c.run(10);
    for (const double pause : { 0.1, 0.5, 1.5 }) {
        c.stall(pause);
        EXPECT_EQ(c.run(10), 0) << pause;
    }
}

// A loss counts when the next window agrees. Until then nothing is put in.
TEST(arrival_clock, one_late_window_is_no_loss)
{
    arrival_clock clock(rate);
    for (int k = 1; k < 12000; ++k) {
        const double at = 0.01 * k;
        const bool late = at > 100 && at < 103.9; // one whole window of 2 s
        ASSERT_EQ(clock.arrived(480u * static_cast<unsigned>(k), at + (late ? 0.01 : 0)),
                  0)
            << at << " s";
    }
}

TEST(arrival_clock, what_a_long_stall_made_it_put_in_is_taken_back)
{
    card c;
    c.run(10);
    c.stall(12);
    EXPECT_EQ(c.run(30), 0); // in sum
}

TEST(arrival_clock, no_drift_is_told_before_it_is_known)
{
    card c;
    c.run(30);
    EXPECT_FALSE(c.clock.drift_ppm());
}

} // namespace

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "radio/feed_regulator.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace gr::hf::kernel;

namespace {

constexpr double rate = 48000, target = 0.1;

// A device that plays 10 ms while as much is written, and a host with stalls.
class device
{
public:
    //! Runs for this many seconds. ppm: by how much it plays faster than samples arrive.
    //! Returns the samples added.
    double run(double seconds, double ppm = 0)
    {
        double added = 0;
        for (int k = 0; k < 100 * seconds; ++k) {
            d_held = std::max(0.0, d_held - 0.01 * (1 + 1e-6 * ppm)) + 0.01;
            d_written += 480;
            least = std::min(least, d_held);
            if (const auto more = regulator.reported(d_held, d_written)) {
                d_held += *more;
                added += *more;
            }
        }
        return added;
    }
    //! Nothing is written for this long, then all at once.
    void stall(double seconds)
    {
        const double silent = std::max(0.0, seconds - d_held);
        d_held += silent;
        d_written += static_cast<uint64_t>(seconds * rate);
    }
    double held() const { return d_held; }

    feed_regulator regulator{ rate, target };
    double least = 1;

private:
    double d_held = target;
    uint64_t d_written = 0;
};

TEST(feed_regulator, what_is_right_is_left_alone)
{
    device d;
    EXPECT_EQ(d.run(100), 0);
}

TEST(feed_regulator, clocks_that_differ_are_followed)
{
    for (const double ppm : { -200., 200. }) {
        device d;
        const double added = d.run(1000, ppm);
        EXPECT_NEAR(added, 0.2 * ppm / 200, 0.02);
        EXPECT_NEAR(d.held(), target, 0.02);
        EXPECT_GT(d.least, target - 0.02);
    }
}

TEST(feed_regulator, the_delay_that_a_stall_leaves_is_taken_out)
{
    device d;
    d.run(10);
    d.stall(0.4); // empty for 0.3 s, then everything at once
    EXPECT_NEAR(d.held(), 0.4, 1e-3);
    EXPECT_NEAR(d.run(5), -0.3, 0.02);
    EXPECT_NEAR(d.held(), target, 0.02);
}

TEST(feed_regulator, what_is_held_too_much_is_delay_and_taken_out)
{
    device d;
    d.run(10);
    d.stall(0.112); // 12 ms more are held from then on
    EXPECT_NEAR(d.held(), 0.112, 1e-3);
    EXPECT_NEAR(d.run(5), -0.012, 1e-3);
    EXPECT_NEAR(d.held(), target, 1e-3);
}

TEST(feed_regulator, another_target_is_reached)
{
    device d;
    d.run(10);
    d.regulator.set_target(0.25);
    EXPECT_NEAR(d.run(5), 0.15, 0.02);
    EXPECT_NEAR(d.held(), 0.25, 0.02);
}

TEST(feed_regulator, a_busy_host_that_writes_late_changes_nothing)
{
    feed_regulator r(rate, target);
    uint64_t written = 0;
    for (int k = 0; k < 1000; ++k) {
        written += 480;
        const double held = k % 10 ? 0.02 : target; // mostly late
        const auto more = r.reported(held, written);
        EXPECT_EQ(more.value_or(0), 0) << k;
    }
}

} // namespace

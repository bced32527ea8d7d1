/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/track/frequency_loop.h"

#include <gtest/gtest.h>

#include <cmath>

using gr::hf::kernel::frequency_loop;

namespace {

constexpr double frame = 287 / 2400.0, alias = 1 / frame;

/* One frame with the carrier at \p truth. Probes tell the offset up to multiples of the
 * alias. The turn within probes tells all of it. */
void step(frequency_loop& loop, double truth)
{
    const double expected = loop.predict(frame);
    const double error = truth - expected;
    loop.update(error - alias * std::round(error / alias), frame, 1);
    loop.check(truth, 2);
}

} // namespace

TEST(frequency_loop, follows_a_triangle_over_its_turning_points)
{
    frequency_loop loop(75);
    double worst = 0;
    for (int k = 0; k < 2000; ++k) {
        const double t = std::fmod(k * frame, 600 / 7.0);
        const double truth = t < 300 / 7.0 ? 75 - 3.5 * t : -75 + 3.5 * (t - 300 / 7.0);
        step(loop, truth);
        worst = std::max(worst, std::abs(loop.hz() - truth));
    }
    EXPECT_LT(worst, 1.2); // a channel estimator follows so much by itself
    EXPECT_NEAR(std::abs(loop.rate()), 3.5, 0.1);
}

TEST(frequency_loop, comes_back_from_a_lock_one_turn_per_frame_off)
{
    for (const double off : { -2 * alias, -alias, alias, 2 * alias }) {
        frequency_loop loop(off);
        for (int k = 1; k < 20; ++k)
            step(loop, 2 * k * frame);
        EXPECT_NEAR(loop.hz(), 2 * 19 * frame, 0.3) << off;
        EXPECT_NEAR(loop.rate(), 2, 0.5) << off;
    }
}

TEST(frequency_loop, a_doubtful_measure_changes_nothing)
{
    frequency_loop loop(0);
    for (int k = 0; k < 100; ++k) {
        loop.predict(frame);
        loop.check(alias, 0.01);
    }
    EXPECT_EQ(loop.hz(), 0);
}

/* With close probes a wrong lock is far away. A smaller deviation, as large as a fade
 * turns the phase, is no wrong lock. */
TEST(frequency_loop, a_fade_is_no_wrong_lock)
{
    const double close = 0.0283; // 5069-24k-1200L
    for (const double off : { 3.0, 1 / close }) {
        frequency_loop loop(0);
        for (int k = 0; k < 40; ++k) {
            loop.predict(close);
            loop.update(0, close, 1);
            loop.check(off, 2);
        }
        EXPECT_NEAR(loop.hz(), off < 1 / close ? 0 : off, 0.1);
    }
}

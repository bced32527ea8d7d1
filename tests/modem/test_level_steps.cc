/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/front/level_steps.h"
#include "modem/loopback.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

using namespace gr::hf;
using namespace gr::hf::kernel;

namespace {

std::vector<level_steps::step> steps_in(const std::string& channel)
{
    const auto sent =
        loopback::transmit(mode::parse("4539-9600VL"), loopback::random_octets(60000, 1));
    level_steps detector{ symbol_grid(2400) };
    std::vector<level_steps::step> found;
    for (const auto& x : loopback::through(sent, channel, 3, 1))
        if (const auto s = detector.push(std::norm(x)))
            found.push_back(*s);
    return found;
}

} // namespace

TEST(level_steps, finds_when_and_how_much)
{
    for (const double db : { -20.0, -10.0, 10.0, 20.0 }) {
        const auto found = steps_in("snr=30 step=" + std::to_string(db) + ":4");
        ASSERT_EQ(found.size(), 12u) << db;
        for (size_t i = 0; i < found.size(); ++i) {
            EXPECT_NEAR(static_cast<double>(found[i].sample), 38400.0 * (i + 1.0), 30)
                << db << " step " << i;
            EXPECT_NEAR(10 * std::log10(found[i].ratio), i % 2 ? -db : db, 2.2)
                << db << " step " << i;
        }
    }
}

TEST(level_steps, takes_neither_noise_nor_fading_for_steps)
{
    for (const char* channel : { "snr=10", "poor snr=20", "paths=0:0:1,2:0:1 snr=30" })
        EXPECT_TRUE(steps_in(channel).empty()) << channel;
}

TEST(level_steps, the_start_of_a_signal_is_no_step)
{
    const counter_random noise(5, 0);
    // Steps around the largest and the least one, up and down, in Gaussian noise.
    for (const auto& [ratio, step] : { std::pair{ 500.0, true },
                                       std::pair{ 2000.0, false },
                                       std::pair{ 1e6, false },
                                       std::pair{ 1 / 500.0, true },
                                       std::pair{ 1 / 2000.0, false },
                                       std::pair{ 5.0, true },
                                       std::pair{ 2.0, false } }) {
        level_steps detector{ symbol_grid(2400) };
        size_t found = 0;
        for (uint64_t k = 0; k < 9600; ++k) {
            const double level = k < 4800 ? 1.0 : ratio;
            found += detector
                         .push(static_cast<float>(
                             level * static_cast<double>(std::norm(noise.gaussian(k)))))
                         .has_value();
        }
        EXPECT_EQ(found, step ? 1u : 0u) << ratio;
    }
}

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/front/burst_finder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

namespace gr::hf::kernel {
namespace {

constexpr double rate = 48000;

burst_finder::options audio()
{
    burst_finder::options o;
    o.sample_rate = rate;
    o.average_ms = 1e3 / 1800;
    return o;
}

// Powers of 20 s of noise with bursts of 20 dB, 1 ms long, 5 a second, and a level step.
std::vector<float> powers(unsigned seed)
{
    std::mt19937 random(seed);
    std::normal_distribution<float> gaussian;
    std::vector<float> x(static_cast<size_t>(20 * rate));
    for (size_t i = 0; i < x.size(); ++i) {
        const bool hit =
            i % static_cast<size_t>(rate / 5) < static_cast<size_t>(rate / 1000);
        const float level = (i > x.size() / 2 ? 5.0f : 1.0f) * (hit ? 10.0f : 1.0f);
        x[i] = std::norm(level * gaussian(random));
    }
    return x;
}

size_t count(const std::vector<uint8_t>& hit)
{
    return static_cast<size_t>(std::count(hit.begin(), hit.end(), 1));
}

} // namespace

TEST(burst_finder, runs_of_samples_are_judged_as_sample_by_sample)
{
    for (unsigned seed = 1; seed <= 5; ++seed) {
        const auto x = powers(seed);
        burst_finder single(audio()), runs(audio());
        std::vector<uint8_t> one_by_one, in_runs(x.size());
        for (float p : x)
            one_by_one.push_back(single.push(p));
        // Lengths that are no multiple of anything.
        std::mt19937 random(seed);
        for (size_t i = 0, n; i < x.size(); i += n) {
            n = std::min<size_t>(1 + random() % 5000, x.size() - i);
            runs.push(&x[i], n, &in_runs[i]);
        }
        // The sums are rounded in another order: the edge of a skirt may move by a sample.
        const auto differ = std::inner_product(in_runs.begin(),
                                               in_runs.end(),
                                               one_by_one.begin(),
                                               0,
                                               std::plus<>(),
                                               std::not_equal_to<>());
        EXPECT_LE(differ, 2) << "seed " << seed;
        // 100 bursts of a millisecond, and their skirts of 2.7 ms on either side.
        EXPECT_NEAR(
            static_cast<double>(count(in_runs)) / rate, 0.1 * (1 + 2 * 2.7), 0.15);
    }
}

TEST(burst_finder, little_of_noise_alone_is_taken_for_bursts)
{
    std::mt19937 random(1);
    std::normal_distribution<float> gaussian;
    std::vector<float> x(static_cast<size_t>(60 * rate));
    std::generate(x.begin(), x.end(), [&] { return std::norm(gaussian(random)); });
    burst_finder finder(audio());
    std::vector<uint8_t> hit(x.size());
    finder.push(x.data(), x.size(), hit.data());
    EXPECT_LT(static_cast<double>(count(hit)), 1e-3 * static_cast<double>(x.size()));
}

} // namespace gr::hf::kernel

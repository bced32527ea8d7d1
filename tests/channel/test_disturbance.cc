/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "channel/channel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <random>
#include <vector>

using namespace gr::hf::kernel;
using cf = std::complex<float>;

namespace {

constexpr double fs = 9600;

std::vector<cf> run(const std::string& spec, std::vector<cf> x, uint64_t seed = 1)
{
    channel c(channel_spec::parse(spec), fs, seed);
    c.process(x.data(), x.data(), x.size());
    return x;
}

double power(const cf* x, size_t n)
{
    double p = 0;
    for (size_t i = 0; i < n; ++i)
        p += std::norm(x[i]);
    return p / static_cast<double>(n);
}

cf turned(double turns)
{
    return std::polar(1.0f, static_cast<float>(2 * M_PI * (turns - std::floor(turns))));
}

} // namespace

// A tone through a clock error is a tone of the changed frequency, for the whole of the
// longest transmission. At the start its delay is latency().
TEST(sample_clock, scales_time_by_ppm)
{
    constexpr double f = 1500;
    for (double ppm : { 100.0, -100.0 }) {
        const auto n = static_cast<size_t>(130 * fs);
        std::vector<cf> x(n);
        for (size_t i = 0; i < n; ++i)
            x[i] = turned(f * static_cast<double>(i) / fs);
        channel c(channel_spec::parse(ppm > 0 ? "clock=100" : "clock=-100"), fs, 1);
        c.process(x.data(), x.data(), n);
        const auto late = static_cast<double>(c.latency());
        // The fractional position is one of 1024 and the rate a float: 0.06 ppm, 0.08 samples.
        for (size_t i = 1000; i < n; i += 9601) {
            const double sent = (static_cast<double>(i) - late) * (1 + ppm * 1e-6);
            if (sent < 50)
                continue;
            const cf e = x[i] * std::conj(turned(f * sent / fs));
            ASSERT_NEAR(std::abs(e), 1, 0.01) << ppm << " " << i;
            ASSERT_LT(std::abs(std::arg(e)) / (2 * M_PI) / f * fs, 0.1)
                << ppm << " " << i;
        }
    }
}

TEST(sample_clock, delay_is_set_right_in_silence)
{
    const auto n = static_cast<size_t>(60 * fs);
    for (const char* spec : { "clock=1000", "clock=-1000" }) {
        channel c(channel_spec::parse(spec), fs, 1);
        for (int burst = 0; burst < 12; ++burst) { // 720 s: more than it can hold at once
            std::vector<cf> x(n);
            const size_t end = n - static_cast<size_t>(2.5 * fs);
            std::fill(x.begin(), x.begin() + static_cast<long>(end), 1.0f);
            c.process(x.data(), x.data(), n);
            const auto first =
                std::find_if(x.begin(), x.end(), [](cf v) { return std::abs(v) > 0.5f; });
            EXPECT_NEAR(static_cast<double>(first - x.begin()),
                        static_cast<double>(c.latency()),
                        1)
                << spec << " " << burst;
            const auto on = std::count_if(
                x.begin(), x.end(), [](cf v) { return std::abs(v) > 0.5f; });
            const double ppm = spec[6] == '-' ? -1000 : 1000;
            EXPECT_NEAR(
                static_cast<double>(on), static_cast<double>(end) / (1 + ppm * 1e-6), 3)
                << spec << " " << burst;
        }
    }
}

TEST(disturbance, impulses_have_their_rate_length_and_power)
{
    const size_t n = 3600 * 9600 / 4;
    const auto x = run("impulses=2:20:1", std::vector<cf>(n), 5);
    size_t begins = 0, on = 0;
    double p = 0;
    for (size_t i = 0; i < n; ++i) {
        const bool now = x[i] != 0.0f;
        begins += now && (i == 0 || x[i - 1] == 0.0f);
        on += now;
        p += std::norm(x[i]);
    }
    const double seconds = static_cast<double>(n) / fs, expected = 2 * seconds;
    EXPECT_NEAR(static_cast<double>(begins), expected, 4 * std::sqrt(expected));
    EXPECT_NEAR(static_cast<double>(on) / static_cast<double>(begins), 10, 0.2); // 9.6
    EXPECT_NEAR(10 * std::log10(p / static_cast<double>(on)), 20, 0.3);
    EXPECT_NE(run("impulses=2:20:1", std::vector<cf>(n), 6), x);
}

TEST(disturbance, carriers_are_where_they_should_be)
{
    const auto x = run("carriers=500:-6,-1200:-20", std::vector<cf>(9600));
    for (const auto& [f, db] : { std::pair(500.0, -6.0), std::pair(-1200.0, -20.0) }) {
        cf sum = 0;
        for (size_t i = 0; i < x.size(); ++i)
            sum += x[i] * std::conj(turned(f * static_cast<double>(i) / fs));
        EXPECT_NEAR(20 * std::log10(std::abs(sum) / 9600), db, 0.01);
    }
    EXPECT_NEAR(power(x.data(), x.size()), std::pow(10, -0.6) + 0.01, 1e-3);
}

TEST(level, steps_and_gain_control)
{
    const auto x = run("step=-20:0.5 gain=6", std::vector<cf>(19200, 1.0f));
    EXPECT_NEAR(20 * std::log10(std::abs(x[100])), 6, 0.01);
    EXPECT_NEAR(20 * std::log10(std::abs(x[4900])), -14, 0.01);
    EXPECT_NEAR(20 * std::log10(std::abs(x[9700])), 6, 0.01);

    // After a step of 20 dB the level comes back: quickly from above, slowly from below.
    const auto y = run("agc=1 step=20:5", std::vector<cf>(15 * 9600, 1.0f));
    const auto at = [&](double s) { return std::abs(y[static_cast<size_t>(s * fs)]); };
    EXPECT_NEAR(at(4.9), 1, 0.01);
    EXPECT_GT(at(5.001), 5);
    EXPECT_NEAR(at(5.5), 1, 0.05);
    EXPECT_LT(at(10.1), 0.2);
    EXPECT_NEAR(at(14.9), 1, 0.35);
}

TEST(disturbance, all_of_it_does_not_depend_on_the_chunks)
{
    const std::string spec =
        "poor snr=10 clock=-50 impulses=5:10 carriers=100:0 step=-6:0.2 agc=0.5";
    std::vector<cf> x(30000);
    for (size_t i = 0; i < 20000; ++i)
        x[i] = turned(0.07 * static_cast<double>(i));
    const auto whole = run(spec, x, 9);
    channel c(channel_spec::parse(spec), fs, 9);
    std::mt19937 rng(2);
    for (size_t i = 0; i < x.size();) {
        const size_t n = std::min<size_t>(x.size() - i, 1 + rng() % 700);
        c.process(&x[i], &x[i], n);
        i += n;
    }
    for (size_t i = 0; i < x.size(); ++i)
        ASSERT_NEAR(std::abs(x[i] - whole[i]), 0, 1e-4) << i;
}

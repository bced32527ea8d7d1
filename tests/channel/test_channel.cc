/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "channel/channel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <ctime>
#include <random>
#include <vector>

using namespace gr::hf::kernel;
using cf = std::complex<float>;

namespace {

constexpr double fs = 9600;

std::vector<cf> run(const std::string& spec, uint64_t seed, const std::vector<cf>& in)
{
    channel c(channel_spec::parse(spec), fs, seed);
    std::vector<cf> out(in.size());
    c.process(in.data(), out.data(), in.size());
    return out;
}

double power(const std::vector<cf>& x)
{
    double p = 0;
    for (cf v : x)
        p += std::norm(v);
    return p / static_cast<double>(x.size());
}

// A signal inside the 3 kHz channel: a few tones, off the edges.
std::vector<cf> tones(size_t n)
{
    std::vector<cf> x(n);
    for (size_t i = 0; i < n; ++i)
        for (double f : { -1300.0, -210.0, 470.0, 1510.0 })
            x[i] += std::polar(0.5f,
                               static_cast<float>(std::fmod(f * i / fs, 1.0) * 2 * M_PI));
    return x;
}

// \p values gains of spread \p d, 1 / (64 d) apart
std::vector<cf> fading(double d, size_t values, uint64_t seed)
{
    fading_tap tap(64 * d, d, counter_random(seed, 0));
    std::vector<cf> out(values);
    tap.produce(out.data(), values);
    return out;
}

} // namespace

TEST(channel, clear_passes_samples_unchanged)
{
    const auto x = tones(1000);
    EXPECT_EQ(run("clear", 1, x), x);
}

TEST(channel, snr_is_exact_in_3_khz)
{
    for (double snr : { -5.0, 10.0, 30.0 }) {
        const std::vector<cf> silence(200000);
        const auto noise = run("awgn snr=" + std::to_string(snr), 3, silence);
        // power in 9600 Hz; 3000 Hz of it count. 200000 samples: sigma 0.01 dB
        const double in_3k = power(noise) * 3000 / fs;
        EXPECT_NEAR(-10 * std::log10(in_3k), snr, 0.05);
    }
    // and white: neighbouring samples are independent
    const auto n = run("awgn snr=0", 4, std::vector<cf>(100000));
    cf r = 0;
    for (size_t i = 1; i < n.size(); ++i)
        r += n[i] * std::conj(n[i - 1]);
    EXPECT_LT(std::abs(r) / n.size() / power(n), 4 / std::sqrt(100000.0));
}

TEST(channel, signal_power_scales_the_noise)
{
    channel c(channel_spec::parse("snr=10"), fs, 1, 0.25);
    EXPECT_NEAR(c.noise_power(), 0.25 * 3.2 / 10, 1e-9);
}

TEST(channel, delays_are_exact)
{
    // whole samples: bit for bit
    const auto x = tones(4000);
    channel whole(channel_spec::parse("paths=2.5:0:0"), fs, 1);
    std::vector<cf> y(x.size());
    whole.process(x.data(), y.data(), x.size());
    EXPECT_EQ(whole.latency(), 0u);
    for (size_t i = 24; i < x.size(); ++i)
        ASSERT_NEAR(std::abs(y[i] - x[i - 24]), 0, 1e-6);

    // fractional: phase of each tone as the delay says (2 ms is 19.2 samples, 0.3 ms 2.88)
    for (double ms : { 2.0, 0.3 }) {
        channel c(channel_spec::parse("paths=" + std::to_string(ms) + ":0:0"), fs, 1);
        for (double f : { -1600.0, 100.0, 1600.0 }) {
            std::vector<cf> t(2000), o(2000);
            for (size_t i = 0; i < t.size(); ++i)
                t[i] = std::polar(
                    1.0f, static_cast<float>(2 * M_PI * std::fmod(f * i / fs, 1)));
            channel d(c.spec(), fs, 1);
            d.process(t.data(), o.data(), t.size());
            const cf ratio = o[1500] / t[1500];
            const double delay = ms * 1e-3 + d.latency() / fs;
            const cf expected =
                std::polar(1.0f, static_cast<float>(-2 * M_PI * f * delay));
            EXPECT_LT(std::abs(ratio - expected), 0.003) << ms << " ms, " << f << " Hz";
        }
    }
}

TEST(channel, equal_static_paths_share_the_power)
{
    const auto y = run("paths=0:0:0,2.5:-6:0", 1, std::vector<cf>(3000, 1.0f));
    const double a = std::sqrt(1 / (1 + std::pow(10, -0.6)));
    EXPECT_NEAR(y[10].real(), a, 1e-5);
    EXPECT_NEAR(y[2000].real(), a * (1 + std::pow(10, -0.3)), 1e-5);
}

TEST(channel, offset_and_drift_turn_the_phase)
{
    const std::vector<cf> x(96001, 1.0f);
    const auto y = run("offset=75 drift=-3", 1, x);
    for (size_t i : { size_t{ 960 }, size_t{ 48007 }, size_t{ 96000 } }) {
        const double t = i / fs;
        const double turns = 75 * t - 1.5 * t * t;
        EXPECT_LT(
            std::abs(y[i] - std::polar(1.0f,
                                       static_cast<float>(2 * M_PI *
                                                          (turns - std::floor(turns))))),
            2e-3);
    }
    // triangle: after a quarter of its period the offset is zero, after half it is negative
    const auto z = run("offset=75 sweep=75", 1, std::vector<cf>(48000, 1.0f));
    const auto frequency = [&](size_t i) {
        return std::arg(z[i + 1] * std::conj(z[i])) * fs / (2 * M_PI);
    };
    EXPECT_NEAR(frequency(0), 75, 0.1);
    EXPECT_NEAR(frequency(9600), 0, 0.1);
    EXPECT_NEAR(frequency(19200), -75, 0.1);
    EXPECT_NEAR(frequency(38400), 75, 0.1);
}

TEST(channel, result_does_not_depend_on_the_chunks)
{
    const auto x = tones(20000);
    const std::string spec = "paths=0:0:1,2:0:1:0.3,0.25:-3:5 snr=10 offset=20 drift=1";
    const auto whole = run(spec, 9, x);
    channel c(channel_spec::parse(spec), fs, 9);
    std::vector<cf> y(x);
    std::mt19937 rng(2);
    for (size_t i = 0; i < y.size();) {
        const size_t n = std::min<size_t>(y.size() - i, 1 + rng() % 700);
        c.process(&y[i], &y[i], n);
        i += n;
    }
    for (size_t i = 0; i < y.size(); ++i)
        ASSERT_NEAR(std::abs(y[i] - whole[i]), 0, 1e-5) << i;
    EXPECT_EQ(run(spec, 9, x), whole);
    EXPECT_NE(run(spec, 10, x), whole);
}

TEST(fading_tap, mean_power_and_rayleigh_envelope)
{
    // d T = 4000 / 64 independent stretches per unit: relative sigma of the mean power is
    // (sqrt(pi) d T)^-1/2
    const double d = 1;
    const size_t values = 64 * 20000;
    const auto g = fading(d, values, 5);
    const double dt = static_cast<double>(values) / 64;
    const double sigma = 1 / std::sqrt(std::sqrt(M_PI) * dt);
    EXPECT_NEAR(power(g), 1, 4 * sigma);

    // mean of a Rayleigh envelope of power 1 is sqrt(pi)/2; its distribution 1 - exp(-r^2)
    double mean = 0;
    std::vector<float> r;
    for (size_t i = 0; i < g.size(); ++i) {
        mean += std::abs(g[i]);
        if (i % 64 == 0) // 1/d apart: correlation exp(-pi^2/2) = 0.007
            r.push_back(std::abs(g[i]));
    }
    EXPECT_NEAR(mean / values, std::sqrt(M_PI) / 2, 4 * sigma * 0.5);
    std::sort(r.begin(), r.end());
    double ks = 0;
    for (size_t i = 0; i < r.size(); ++i)
        ks = std::max(ks, std::abs((i + 0.5) / r.size() - (1 - std::exp(-r[i] * r[i]))));
    EXPECT_LT(ks, 1.95 / std::sqrt(r.size())); // 0.1 %
}

TEST(fading_tap, autocorrelation_is_gaussian)
{
    const size_t values = 64 * 20000;
    const auto g = fading(2, values, 6);
    const double sigma = 1 / std::sqrt(std::sqrt(M_PI) * values / 64);
    for (double dt : { 0.125, 0.25, 0.5, 1.0 }) { // in units of 1 / d
        const auto lag = static_cast<size_t>(64 * dt);
        const double x = M_PI * dt;
        cf c = 0;
        for (size_t i = lag; i < g.size(); ++i)
            c += g[i] * std::conj(g[i - lag]);
        c /= static_cast<float>(g.size() - lag);
        EXPECT_NEAR(c.real(), std::exp(-x * x / 2), 4 * sigma) << dt;
        EXPECT_NEAR(c.imag(), 0, 4 * sigma) << dt;
    }
}

TEST(fading_tap, level_crossings_as_the_spectrum_says)
{
    const auto g = fading(1, 64 * 20000, 7);
    const double rho = 0.5;
    size_t crossings = 0;
    for (size_t i = 1; i < g.size(); ++i)
        crossings += std::abs(g[i - 1]) >= rho && std::abs(g[i]) < rho;
    const double seconds = static_cast<double>(g.size()) / 64;
    const double expected = std::sqrt(M_PI) * rho * std::exp(-rho * rho);
    EXPECT_NEAR(static_cast<double>(crossings) / seconds, expected, 0.05 * expected);
}

TEST(fading_tap, taps_are_independent_and_stream_equals_values)
{
    fading_tap a(fs, 5, counter_random(1, 0)), b(fs, 5, counter_random(1, 1));
    std::vector<cf> x(960000), y(x.size());
    a.produce(x.data(), x.size());
    b.produce(y.data(), y.size());
    cf c = 0, pseudo = 0;
    for (size_t i = 0; i < x.size(); ++i) {
        c += x[i] * std::conj(y[i]);
        pseudo += x[i] * x[i];
    }
    const double sigma = 1 / std::sqrt(std::sqrt(M_PI) * 5 * 100);
    EXPECT_LT(std::abs(c) / x.size(), 4 * sigma);
    EXPECT_LT(std::abs(pseudo) / x.size(), 4 * sigma * 1.5);
    const fading_tap again(fs, 5, counter_random(1, 0));
    for (uint64_t k : { 0u, 1u, 77u, 5000u })
        EXPECT_LT(std::abs(again.value(k) - x[k * again.step()]), 1e-4);
}

TEST(channel, poor_keeps_the_mean_power_over_hours)
{
    // two paths of 1 Hz, tap power only: an hour at a low sample rate
    channel c(channel_spec::parse("poor"), 2000, 11);
    double p = 0;
    std::vector<cf> x(20000);
    const int seconds = 3600;
    for (int s = 0; s < seconds; s += 10) {
        for (size_t i = 0; i < x.size(); ++i) // wide-band: paths add in power
            x[i] = (i * 2654435761u >> 7) & 1 ? 1.0f : -1.0f;
        c.process(x.data(), x.data(), x.size());
        p += power(x);
    }
    const double sigma = 1 / std::sqrt(2 * std::sqrt(M_PI) * seconds);
    EXPECT_NEAR(p / (seconds / 10), 1, 4 * sigma + 0.01);
}

TEST(channel, is_fast_enough)
{
#ifndef NDEBUG
    GTEST_SKIP() << "a build for debugging, whose speed says nothing";
#endif
    channel c(channel_spec::parse("poor snr=20 offset=10"), fs, 1);
    std::vector<cf> x(9600, 1.0f);
    const std::clock_t t0 = std::clock();
    for (int s = 0; s < 20; ++s)
        c.process(x.data(), x.data(), x.size());
    const double t = static_cast<double>(std::clock() - t0) / CLOCKS_PER_SEC;
    RecordProperty("times_real_time", static_cast<int>(20 / t));
    printf("[          ] two paths with noise: %.0f x real time\n", 20 / t);
    EXPECT_GT(20 / t, 50); // of processor time; the aim is 100 on an idle core
}

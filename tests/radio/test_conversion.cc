/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "radio/audio_to_baseband.h"
#include "radio/baseband_to_audio.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>

using namespace gr::hf::kernel;

namespace {

using value = std::complex<float>;

std::vector<value> down(audio_to_baseband c, const std::vector<float>& x)
{
    std::vector<value> y;
    c.push(x.data(), x.size(), y);
    c.finish(y);
    return y;
}

std::vector<float> up(baseband_to_audio c, const std::vector<value>& x)
{
    std::vector<float> y;
    c.push(x.data(), x.size(), y);
    c.finish(y);
    return y;
}

std::vector<float> tone(double rate, double hz, double seconds)
{
    std::vector<float> x(static_cast<size_t>(rate * seconds));
    for (size_t i = 0; i < x.size(); ++i)
        x[i] =
            static_cast<float>(std::cos(2 * M_PI * hz / rate * static_cast<double>(i)));
    return x;
}

std::vector<value> noise(size_t n, unsigned seed)
{
    std::mt19937 g(seed);
    std::normal_distribution<float> d;
    std::vector<value> x(n);
    for (auto& s : x)
        s = { d(g), d(g) };
    return x;
}

double power(const value* x, size_t n)
{
    double p = 0;
    for (size_t i = 0; i < n; ++i)
        p += std::norm(x[i]);
    return p / static_cast<double>(n);
}

// Power at one frequency, without both ends.
double power_at(const std::vector<value>& y, double rate, double hz)
{
    const size_t cut = y.size() / 10;
    std::complex<double> sum = 0;
    double weight = 0;
    for (size_t i = cut; i < y.size() - cut; ++i) {
        const double t =
            static_cast<double>(i - cut) / static_cast<double>(y.size() - 2 * cut);
        const double w = 1 - std::cos(2 * M_PI * t);
        sum += w * std::complex<double>(y[i]) *
               std::polar(1.0, -2 * M_PI * hz / rate * static_cast<double>(i));
        weight += w;
    }
    return std::norm(sum / weight);
}

} // namespace

// Bandwidths of 3, 6, 12, 24 and 48 kHz, rates with large and small ratios.
TEST(AudioToBaseband, KeepsAmplitudeTimeAndFrequency)
{
    struct set {
        double audio, modem;
    };
    for (const set& s : { set{ 8000, 9600 },
                          { 8001, 9600 },
                          { 9600, 9600 },
                          { 11025, 9600 },
                          { 44100, 9600 },
                          { 48000, 9600 },
                          { 250000, 9600 },
                          { 2000000, 9600 },
                          { 48000, 19200 },
                          { 48000, 38400 },
                          { 96000, 76800 },
                          { 192000, 153600 } }) {
        const double scale = s.modem / 9600, carrier = 1800 * scale,
                     seconds = 0.4 / scale;
        const auto y = down(audio_to_baseband(s.audio, carrier, s.modem),
                            tone(s.audio, carrier + 500 * scale, seconds));
        ASSERT_NEAR(static_cast<double>(y.size()), 0.4 * 9600, 2) << s.audio;
        // Phase 0 at time 0 says that no delay is left; the image is suppressed.
        for (size_t i = 400; i < y.size() - 400; ++i) {
            const value expected(
                std::polar(1.0, 2 * M_PI * 500 / 9600 * static_cast<double>(i)));
            ASSERT_LT(std::abs(y[i] - expected), 5e-3)
                << s.audio << " " << s.modem << " " << i;
        }
    }
}

TEST(AudioToBaseband, WhatLiesBesideTheChannelIsSuppressed)
{
    for (const double rate : { 8000.0, 9600.0, 44100.0, 48000.0 })
        for (double hz = 3800; hz < rate / 2; hz += 200) {
            const auto y = down(audio_to_baseband(rate), tone(rate, hz, 0.3));
            EXPECT_LT(power(y.data() + 400, y.size() - 800), 2e-6) << rate << " " << hz;
        }
}

TEST(AudioToBaseband, ComplexSamplesOfAnyRate)
{
    for (const double rate : { 9600.0, 19200.0, 250000.0 }) {
        std::vector<value> x(static_cast<size_t>(rate * 0.3)), y;
        for (size_t i = 0; i < x.size(); ++i)
            x[i] =
                value(std::polar(1.0, -2 * M_PI * 700 / rate * static_cast<double>(i)));
        audio_to_baseband c(rate, 0);
        c.push(x.data(), x.size(), y);
        c.finish(y);
        EXPECT_NEAR(power_at(y, 9600, -700), 1, 0.01) << rate;
        EXPECT_LT(power_at(y, 9600, 700), 1e-6) << rate;
    }
}

TEST(AudioToBaseband, TheOutputDoesNotDependOnHowTheInputIsCut)
{
    const auto n = noise(20000, 1);
    std::vector<float> x(n.size());
    for (size_t i = 0; i < x.size(); ++i)
        x[i] = n[i].real();
    for (const double rate : { 8000.0, 11025.0, 48000.0 }) {
        const auto whole = down(audio_to_baseband(rate), x);
        std::mt19937 g(2);
        audio_to_baseband c(rate);
        std::vector<value> y;
        for (size_t at = 0; at < x.size();) {
            const size_t n_now = std::min<size_t>(g() % 300, x.size() - at);
            c.push(x.data() + at, n_now, y);
            at += n_now;
        }
        c.finish(y);
        EXPECT_EQ(y.size(), whole.size());
        // The vector kernels may add up in another order at another address.
        for (size_t i = 0; i < y.size(); ++i)
            ASSERT_LT(std::abs(y[i] - whole[i]), 1e-4) << rate << " " << i;
    }
}

TEST(AudioToBaseband, BadSamplesCountAsNothing)
{
    auto x = tone(48000, 2300, 0.3);
    for (const float bad : { std::numeric_limits<float>::quiet_NaN(),
                             std::numeric_limits<float>::infinity(),
                             1e30f }) {
        x[5000] = bad;
        const auto y = down(audio_to_baseband(48000), x);
        for (const auto& s : y)
            ASSERT_LT(std::abs(s), 1.2);
    }
}

TEST(BasebandToAudio, UpAndDownAgainChangesNothing)
{
    for (const double rate : { 8000.0, 9600.0, 11025.0, 44100.0, 48000.0, 192000.0 }) {
        // Noise that ends before the edges of the channel.
        const auto taps = low_pass(1400.0 / 9600, 1690.0 / 9600, 80);
        const auto n = noise(6000, 3);
        std::vector<value> x(n.size());
        for (size_t i = taps.size(); i < n.size(); ++i)
            for (size_t k = 0; k < taps.size(); ++k)
                x[i] += taps[k] * n[i - k];
        const auto audio = up(baseband_to_audio(rate), x);
        EXPECT_NEAR(static_cast<double>(audio.size()), 6000 * rate / 9600, 1) << rate;
        const auto y = down(audio_to_baseband(rate), audio);
        double error = 0, all = 0;
        for (size_t i = 500; i < 5500; ++i) {
            error += std::norm(x[i] - y[i]);
            all += std::norm(x[i]);
        }
        EXPECT_LT(error, 2e-5 * all) << rate;
    }
}

// Complex noise on both sides of 0 Hz must not be added up in the audio.
TEST(BasebandToAudio, NoiseBesideTheChannelDoesNotFallIntoIt)
{
    std::vector<value> x(9600);
    for (size_t i = 0; i < x.size(); ++i)
        x[i] = value(std::polar(1.0, -2 * M_PI * 2500 / 9600 * static_cast<double>(i)));
    for (const double rate : { 8000.0, 9600.0, 48000.0 }) {
        const auto y = down(audio_to_baseband(rate), up(baseband_to_audio(rate), x));
        EXPECT_LT(power(y.data() + 400, y.size() - 800), 2e-6) << rate;
    }
}

// Input samples before the audio of an impulse has its peak.
size_t delay_of(baseband_to_audio c)
{
    const std::vector<value> one(1, 1.0f), more(1);
    std::vector<float> y;
    c.push(one.data(), 1, y);
    size_t k = 0;
    for (; y.empty(); ++k)
        c.push(more.data(), 1, y);
    return k;
}

TEST(BasebandToAudio, AModemsOwnSamplesWaitForAShorterFilter)
{
    EXPECT_GT(delay_of(baseband_to_audio(48000, 1800, 9600)), 60u);
    EXPECT_LT(delay_of(baseband_to_audio(48000, 1800, 9600, true)), 28u);
    std::vector<value> x(9600);
    for (const double hz : { -3000.0, 3000.0 }) {
        for (size_t i = 0; i < x.size(); ++i)
            x[i] = value(std::polar(1.0, 2 * M_PI * hz / 9600 * static_cast<double>(i)));
        const auto y = up(baseband_to_audio(48000, 1800, 9600, true), x);
        double p = 0;
        for (size_t i = 2000; i + 2000 < y.size(); ++i)
            p += y[i] * y[i];
        EXPECT_LT(p / static_cast<double>(y.size()), 2e-6) << hz;
    }
}

TEST(Conversion, NamesWhatIsWrong)
{
    const auto message = [](auto make) -> std::string {
        try {
            make();
        } catch (const std::invalid_argument& e) {
            return e.what();
        }
        return "";
    };
    const double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(message([] { audio_to_baseband c(7999); }),
              "sample rate 7999: allowed are 8000 to 2000000 samples/s");
    EXPECT_NE(message([&] { audio_to_baseband c(nan); }), "");
    EXPECT_EQ(message([] { audio_to_baseband c(48000, 24000); }),
              "subcarrier 24000 Hz: allowed is less than half of 48000 samples/s");
    EXPECT_NE(message([&] { audio_to_baseband c(48000, nan); }), "");
    EXPECT_EQ(message([] { audio_to_baseband c(48000, 1800, 9000); }),
              "modem rate 9000: allowed are 9600 to 153600 samples/s");
    EXPECT_EQ(message([] { audio_to_baseband c(48000, 12000, 76800); }),
              "sample rate 48000: allowed are 64000 to 2000000 samples/s");
    EXPECT_EQ(message([] { baseband_to_audio c(48000, 1600); }),
              "subcarrier 1600 Hz: allowed are 1650 to 22350 Hz at 48000 samples/s");
    for (const double subcarrier : { 1650.0, 22350.0 })
        EXPECT_EQ(message([&] { baseband_to_audio c(48000, subcarrier); }), "");
    for (const double subcarrier : { 1649.9, 22350.1 })
        EXPECT_NE(message([&] { baseband_to_audio c(48000, subcarrier); }), "");
}

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/loopback.h"

#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <random>

//! Other users of a channel of 3 kHz, as complex baseband of 9600 samples/s and mean power 1.
//! The middle of the channel is at 1800 Hz of audio.
namespace interferers {

using loopback::samples;
constexpr double rate = 9600, middle_hz = 1800;

inline void scale_to_power(samples& x, double power)
{
    double sum = 1e-30;
    for (const auto& v : x)
        sum += std::norm(v);
    const auto gain =
        static_cast<float>(std::sqrt(power * static_cast<double>(x.size()) / sum));
    for (auto& v : x)
        v *= gain;
}

//! Add \p other to \p x from sample \p at on, \p db above power 1.
inline void add(samples& x, const samples& other, double db, size_t at = 0)
{
    const auto gain = static_cast<float>(std::pow(10, db / 20));
    for (size_t i = 0; i < other.size() && at + i < x.size(); ++i)
        x[at + i] += gain * other[i];
}

/*! \brief Speech in upper sideband: syllables of 0.1 to 0.3 s, pauses of words and sentences,
 *         three in four voiced, through three formants.
 */
inline samples speech(size_t n, uint64_t seed)
{
    std::mt19937_64 rng(seed);
    std::normal_distribution<double> noise(0, 1);
    const auto between = [&rng](double low, double high) {
        return std::uniform_real_distribution<double>(low, high)(rng);
    };
    samples x(n);
    std::array<std::complex<double>, 3> resonance{};
    double pitch_phase = 0;
    for (size_t at = 0; at < n;) {
        const auto length = static_cast<size_t>(rate * between(0.1, 0.3));
        const double pitch = between(90, 160), bend = between(-0.2, 0.2);
        const bool voiced = between(0, 1) < 0.75;
        const std::array<double, 3> formants{ between(400, 800),
                                              between(1100, 1900),
                                              between(2300, 2800) };
        for (size_t i = 0; i < length && at < n; ++i, ++at) {
            const double part = static_cast<double>(i) / static_cast<double>(length);
            pitch_phase += pitch * (1 + bend * part) / rate;
            double source = 0.15 * noise(rng);
            if (!voiced)
                source = noise(rng);
            else if (pitch_phase >= 1)
                source += 8;
            pitch_phase -= std::floor(pitch_phase);
            std::complex<double> sum = 0;
            for (size_t f = 0; f < formants.size(); ++f) {
                // Bandwidths of 80 to 160 Hz.
                const double width = 80.0 + 40.0 * static_cast<double>(f);
                resonance[f] =
                    resonance[f] *
                        std::polar(std::exp(-M_PI * width / rate),
                                   2 * M_PI * (formants[f] - middle_hz) / rate) +
                    source;
                sum += resonance[f];
            }
            const double envelope = std::sin(M_PI * part);
            x[at] = std::complex<float>(sum * envelope * envelope);
        }
        const double pause = between(0, 1);
        at += static_cast<size_t>(rate * (pause < 0.7   ? 0.02
                                          : pause < 0.9 ? between(0.05, 0.2)
                                                        : between(0.3, 0.7)));
    }
    scale_to_power(x, 1);
    return x;
}

//! A thunderstorm: one discharge in 0.7 s, each of 3 to 12 strokes of 1 to 30 ms within 0.3 s.
inline samples lightning(size_t n, uint64_t seed)
{
    std::mt19937_64 rng(seed);
    std::normal_distribution<float> noise(0, 1);
    const auto between = [&rng](double low, double high) {
        return std::uniform_real_distribution<double>(low, high)(rng);
    };
    samples x(n);
    for (double t = 0; t * rate < static_cast<double>(n);
         t += -0.7 * std::log(between(1e-6, 1))) {
        const auto strokes = static_cast<int>(between(3, 13));
        for (int s = 0; s < strokes; ++s) {
            const auto at = static_cast<size_t>(rate * (t + between(0, 0.3)));
            const auto length = static_cast<size_t>(rate * between(0.001, 0.03));
            const auto level = static_cast<float>(std::pow(10, between(-0.5, 0.5)));
            for (size_t i = 0; i < length && at + i < n; ++i)
                x[at + i] += level * std::complex<float>(noise(rng), noise(rng));
        }
    }
    scale_to_power(x, 1);
    return x;
}

//! An over-the-horizon sounder: chirps of 20 ms across the channel, 25 per second.
inline samples sounder(size_t n)
{
    samples x(n);
    const auto period = static_cast<size_t>(rate / 25), length = period / 2;
    for (size_t i = 0; i < n; ++i) {
        const size_t k = i % period;
        if (k >= length)
            continue;
        const double t = static_cast<double>(k) / rate,
                     span = static_cast<double>(length) / rate;
        x[i] = std::polar(
            1.0f, static_cast<float>(2 * M_PI * (-1500 * t + 3000 / (2 * span) * t * t)));
    }
    scale_to_power(x, 1);
    return x;
}

} // namespace interferers

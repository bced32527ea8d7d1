/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <random>
#include <utility>
#include <vector>

namespace gr::hf::test {

/*! \brief Synthetic speech in SSB: baseband at 9600 samples/s, 1800 Hz of audio at 0 Hz, mean
 *         power 1.
 *  \details Syllables of 0.15 to 0.25 s with gliding pitch and three formants, hisses and short
 *  gaps between them, a longer gap after some. 300 to 2700 Hz of audio.
 */
class speech
{
public:
    explicit speech(uint32_t seed, double pitch_hz) : d_random(seed), d_pitch_hz(pitch_hz)
    {
    }

    std::vector<std::complex<float>> make(double seconds)
    {
        std::vector<std::complex<float>> all;
        const auto count = static_cast<size_t>(seconds * rate);
        while (all.size() < count) {
            syllable(all);
            hiss(all, between(0.04, 0.1), 0.2);
            hiss(all, between(0, 1) < 0.2 ? between(0.2, 0.5) : 0.02, 0);
        }
        all.resize(count);
        double power = 0;
        for (const auto& x : all)
            power += std::norm(x);
        for (auto& x : all)
            x /= static_cast<float>(std::sqrt(power / static_cast<double>(count)));
        return all;
    }

private:
    static constexpr double rate = 9600, middle_hz = 1800;

    double between(double a, double b)
    {
        return std::uniform_real_distribution<double>(a, b)(d_random);
    }
    void syllable(std::vector<std::complex<float>>& all)
    {
        const std::array<double, 3> formants_hz{ between(300, 800),
                                                 between(900, 2000),
                                                 between(2200, 2700) };
        const double length = between(0.15, 0.25), glide = between(-0.15, 0.15);
        const double pitch_hz = d_pitch_hz * between(0.85, 1.2);
        // Harmonics from 300 to 2700 Hz. Their gains stay for the syllable.
        std::vector<std::pair<int, double>> harmonics;
        for (int k = 1; k * pitch_hz < 2700; ++k) {
            double gain = 0;
            for (size_t f = 0; f < 3; ++f)
                gain += 1 / std::hypot(1, (k * pitch_hz - formants_hz[f]) / 80) /
                        static_cast<double>(f + 1);
            if (k * pitch_hz >= 300)
                harmonics.emplace_back(k, gain);
        }
        double phase = 0;
        for (double t = 0; t < length; t += 1 / rate) {
            phase += 2 * M_PI * pitch_hz * (1 + glide * t / length) / rate;
            std::complex<double> x;
            for (const auto& [k, gain] : harmonics)
                x += gain * std::polar(1.0, k * phase);
            x *= std::sin(M_PI * t / length);
            d_turn += 2 * M_PI * middle_hz / rate;
            all.emplace_back(x * std::polar(1.0, -d_turn));
        }
    }
    void hiss(std::vector<std::complex<float>>& all, double length, double level)
    {
        std::normal_distribution<double> normal;
        for (double t = 0; t < length; t += 1 / rate)
            all.emplace_back(
                std::complex<double>(level * normal(d_random), level * normal(d_random)));
    }

    std::mt19937 d_random;
    double d_pitch_hz, d_turn = 0;
};

} // namespace gr::hf::test

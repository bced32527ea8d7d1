/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ale/station/voice_detector.h"

// before liquid, which then uses std::complex
#include <liquid/liquid.h>
#include <volk/volk.h>

#include <algorithm>
#include <cmath>

namespace gr::hf::ale {

namespace {

// 400 to 3200 Hz of audio. The whole voice band lies within.
constexpr float edge = 1400.0f / 9600;
constexpr float stop_band_db = 50;
// Pitch of speech: 80 to 400 Hz.
constexpr double shortest_s = 2.5e-3, longest_s = 12.5e-3;
// Lags of which the lowest correlation counts start here: shorter ones are high in any band.
constexpr double near_s = 0.6e-3;
/* Share of the power that is periodic. White noise exceeds it in less than one frame of
 * 10000, noise in 2400 Hz in one of 3600 (2000 s each). */
constexpr float periodic = 0.5f;
// A single tone correlates at all lags.
constexpr float dip = 0.6f;
constexpr size_t min_to_stay = 2; // voiced frames in two seconds

} // namespace

voice_detector::voice_detector() : d_filter(taps), d_window(length)
{
    liquid_firdes_kaiser(taps, edge, stop_band_db, 0, d_filter.data());
    for (size_t i = 0; i < length; ++i)
        d_window[i] = static_cast<float>(
            0.5 - 0.5 * std::cos(2 * M_PI * static_cast<double>(i) / length));
    const auto points = static_cast<size_t>(longest_s * rate / decimation) + 2;
    for (size_t lag = 0; lag < points; ++lag) {
        float sum = 0;
        for (size_t i = lag; i < length; ++i)
            sum += d_window[i] * d_window[i - lag];
        d_overlap.push_back(sum);
    }
    reset();
}

void voice_detector::reset()
{
    d_held.assign(taps - 1, {});
    d_phase = d_at = d_count = 0;
    d_samples.clear();
    d_voiced.fill(false);
    d_present = false;
}

void voice_detector::push(const std::complex<float>* x, size_t n)
{
    for (size_t i = 0; i < n; ++i) {
        // A sample that is not a number would stay in the filter.
        d_held.push_back(std::isfinite(std::norm(x[i])) ? x[i] : std::complex<float>());
        if (++d_phase < decimation)
            continue;
        d_phase = 0;
        alignas(64) std::complex<float> y;
        volk_32fc_32f_dot_prod_32fc(
            &y, &d_held[d_held.size() - taps], d_filter.data(), taps);
        d_samples.push_back(y);
        if (d_samples.size() == length)
            frame();
    }
    if (d_held.size() > taps)
        d_held.erase(d_held.begin(),
                     d_held.end() - static_cast<std::ptrdiff_t>(taps - 1));
}

void voice_detector::frame()
{
    auto& oldest = d_voiced[d_at++ % frames];
    d_count -= oldest;
    oldest = voiced();
    d_count += oldest;
    d_present = d_count >= (d_present ? min_to_stay : min_voiced);
    d_samples.erase(d_samples.begin(), d_samples.begin() + hop);
}

bool voice_detector::voiced()
{
    auto* x = d_spectrum.data();
    std::fill_n(x, d_spectrum.size(), kernel::fourier::value());
    for (size_t i = 0; i < length; ++i)
        x[i] = d_samples[i] * d_window[i];
    d_spectrum.forward();
    // The power spectrum with zeros in the middle gives lags between the samples.
    auto* r = d_lags.data();
    std::fill_n(r, d_lags.size(), kernel::fourier::value());
    for (size_t k = 0; k < length; ++k) {
        r[k] = std::norm(x[k]);
        r[d_lags.size() - 1 - k] = std::norm(x[2 * length - 1 - k]);
    }
    d_lags.backward();
    const float all = std::abs(r[0]);
    if (!(all > 0))
        return false;
    constexpr double lags_per_s = rate / decimation * finer;
    const auto at = [](double seconds) {
        return static_cast<size_t>(std::lround(seconds * lags_per_s));
    };
    float lowest = 1, peak = 0, before = 1;
    for (size_t lag = at(near_s); lag <= at(longest_s); ++lag) {
        const size_t whole = lag / finer;
        const float part = static_cast<float>(lag % finer) / finer;
        const float overlap =
            (d_overlap[whole] * (1 - part) + d_overlap[whole + 1] * part) / d_overlap[0];
        const float c = std::abs(r[lag]) / all / overlap;
        if (lag >= at(shortest_s) && c > peak) {
            peak = c;
            before = lowest;
        }
        lowest = std::min(lowest, c);
    }
    return peak > periodic && before < dip * peak;
}

} // namespace gr::hf::ale

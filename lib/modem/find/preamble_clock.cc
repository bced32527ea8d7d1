/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/find/preamble_clock.h"

#include "modem/front/half_symbol_stream.h"
#include "modem/track/channel_estimator.h"
#include "modem/track/clock_meter.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace gr::hf::kernel {

namespace {

constexpr int64_t rows_before = 32; // before the first symbol; the filter reaches 16 back
// Longest part of the preamble that is used: the channel is known there.
constexpr double longest_s = 0.3;
// Middle of the symbols that the channel was estimated on.
constexpr double middle_s = 0.06;
// Smaller differences are left to the clock tracking during data.
constexpr double min_difference = 2e-6, min_deviations = 2;

//! Result of one stretch of the preamble.
struct stretch {
    clock_meter meter;
    float noise;
    bool any = false;
};

// Measure symbols begin to end - 1, as far as they were received, with the clock of \p a.
stretch look_at(const acquired& a, const sample_buffer& in, int64_t begin, int64_t end)
{
    const symbol_grid grid(a.waveform->symbol_rate_bd);
    const auto known = preamble_of(a);
    const auto length = static_cast<int64_t>(known.size());
    const auto belief = [&](int64_t n) {
        return n < 0 && n >= -length
                   ? symbol_belief{ known[static_cast<size_t>(n + length)], 0 }
                   : symbol_belief{ 0, 1 };
    };
    half_symbol_stream y(
        grid, a.origin, 2 * begin - rows_before, a.frequency_hz, a.clock);
    y.run(in, 2 * end + static_cast<int64_t>(a.profile.size()));
    channel_estimator estimator(estimator_options(a), a.profile, a.noise);
    stretch s{ clock_meter(grid.half_symbol_rate()), a.noise };
    double last = -1e9;
    const int64_t piece = grid.symbols(a.plan->preamble_piece_s);
    for (int64_t n = begin; n + piece <= end && 2 * (n + piece) <= y.end(); n += piece) {
        estimator.observe(y, n, n + piece, belief, true);
        const double centre = static_cast<double>(2 * n + piece) / 2;
        estimator.solve(y, centre, a.frequency_hz, 0);
        if (estimator.momentary().empty() || estimator.momentary_at() <= last)
            continue;
        last = estimator.momentary_at();
        s.meter.add(estimator.momentary(), last / grid.symbol_rate_bd(), a.clock);
        s.any = true;
    }
    s.noise = estimator.noise();
    return s;
}

} // namespace

std::vector<std::complex<float>> preamble_of(const acquired& a)
{
    if (!a.preamble.empty())
        return a.preamble;
    std::vector<std::complex<float>> points;
    for (const uint8_t number : a.waveform->preamble)
        points.push_back(a.waveform->known_points[number]);
    return points;
}

void learn_clock(acquired& a, const sample_buffer& in)
{
    const symbol_grid grid(a.waveform->symbol_rate_bd);
    const int64_t begin =
        std::max(a.read_symbol, -static_cast<int64_t>(preamble_of(a).size()));
    const int64_t end = std::min<int64_t>(0, begin + grid.symbols(longest_s));
    const auto anchor = static_cast<double>(2 * (begin + grid.symbols(middle_s)));
    const auto follow = [&](double clock) {
        a.origin -= symbol_grid::samples_per_row * (clock - a.clock) * anchor;
        a.clock = clock;
    };
    const clock_meter first = look_at(a, in, begin, end).meter;
    if (std::abs(first.difference()) <
        std::max(min_difference, min_deviations * first.deviation()))
        return;
    follow(first.difference());
    // Measure again: paths no longer drift, and the drift's error no longer counts as
    // noise.
    const stretch second = look_at(a, in, begin, end);
    follow(second.meter.difference());
    if (second.any && second.noise < a.noise) {
        a.snr_db += 10 * std::log10(a.noise / second.noise);
        a.noise = second.noise;
    }
}

} // namespace gr::hf::kernel

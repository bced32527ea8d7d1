/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/track/clock_meter.h"

#include "modem/front/pulse.h"
#include "modem/track/delay_window.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace gr::hf::kernel {

namespace {

// Initial deviation: most clocks are within 20 ppm, but 100 ppm must be found.
constexpr double usual_difference = 50e-6;
// Deviation of a shift, rows: for identical estimates, and where noise leaves half the
// likeness.
constexpr double exact_rows = 0.02, half_alike_rows = 0.5;
// Random drift of paths, rows in a second.
constexpr double wander_rows = 0.05;
// Estimates less alike than this prove nothing.
constexpr double min_alike = 0.3;
// Shifts tried: 6 steps to either side, of half a row each.
constexpr int steps = 6, parts = 2;
// Weaker taps do not count, relative to the strongest power.
constexpr float min_tap = 1e-3f;

struct some_taps {
    std::vector<size_t> at;
    channel_taps value;
};

some_taps strong_taps(const channel_taps& all)
{
    float most = 0;
    for (const auto& g : all)
        most = std::max(most, std::norm(g));
    some_taps s;
    for (size_t k = 0; k < all.size(); ++k)
        if (std::norm(all[k]) > min_tap * most) {
            s.at.push_back(k);
            s.value.push_back(all[k]);
        }
    return s;
}

// The pulse at n / parts rows from its centre. It ends at 26 rows.
float fine_pulse(long n)
{
    constexpr long reach = 26 * parts;
    static const auto table = [] {
        std::array<float, static_cast<size_t>(reach) + 1> t{};
        for (size_t i = 0; i < t.size(); ++i)
            t[i] = static_cast<float>(raised_cosine(static_cast<double>(i) / 2 / parts));
        return t;
    }();
    const long i = std::abs(n);
    return i > reach ? 0 : table[static_cast<size_t>(i)];
}

// Common power of a and b if b is \p step parts of a row later than a.
double in_common(const some_taps& a, const some_taps& b, int step)
{
    std::complex<double> sum = 0;
    for (size_t k = 0; k < a.at.size(); ++k)
        for (size_t l = 0; l < b.at.size(); ++l) {
            const long between =
                parts * (static_cast<long>(b.at[l]) - static_cast<long>(a.at[k])) - step;
            sum += std::complex<double>(std::conj(a.value[k]) * b.value[l] *
                                        fine_pulse(between));
        }
    return std::norm(sum);
}

} // namespace

clock_meter::clock_meter(double half_symbol_rate)
    : d_rate(half_symbol_rate), d_vv(std::pow(usual_difference * half_symbol_rate, 2))
{
}

double clock_meter::deviation() const { return std::sqrt(d_vv) / d_rate; }

clock_meter::shift clock_meter::shift_of(const channel_taps& a, const channel_taps& b)
{
    const some_taps from = strong_taps(a), to = strong_taps(b);
    std::array<double, 2 * steps + 1> common{};
    for (int k = -steps; k <= steps; ++k)
        common[static_cast<size_t>(k + steps)] = in_common(from, to, k);
    const auto top = static_cast<size_t>(std::max_element(common.begin(), common.end()) -
                                         common.begin());
    shift s;
    if (top == 0 || top + 1 == common.size())
        return s;
    const double both =
        std::sqrt(in_common(from, from, 0) * in_common(to, to, 0)) + 1e-300;
    s.alike = std::min(std::sqrt(common[top] / both), 1.0);
    const double curve = common[top - 1] - 2 * common[top] + common[top + 1];
    const double beside =
        curve < 0 ? 0.5 * (common[top - 1] - common[top + 1]) / curve : 0;
    s.rows = (static_cast<double>(top) - steps + beside) / parts;
    return s;
}

void clock_meter::add(const channel_taps& taps, double time_s, double followed)
{
    const auto last = std::exchange(d_last, taps);
    const double passed = time_s - std::exchange(d_time, time_s);
    if (last.empty()) {
        d_pp = exact_rows * exact_rows;
        return;
    }
    const shift s = shift_of(last, d_last);
    d_seen += s.rows + followed * d_rate * passed;
    // A shift of unknown size makes the position uncertain, not the drift.
    const double unlike = (1 - s.alike) / std::max(s.alike, 1e-3);
    const double lost = s.alike < min_alike ? 100 : 0;
    d_position += d_drift * passed;
    d_pp += 2 * passed * d_pv + passed * passed * d_vv +
            wander_rows * wander_rows * passed + lost;
    d_pv += passed * d_vv;
    const double noise =
        exact_rows * exact_rows + half_alike_rows * half_alike_rows * unlike * unlike;
    const double error = d_seen - d_position;
    const double all = d_pp + noise;
    const double by_position = d_pp / all, by_drift = d_pv / all;
    d_position += by_position * error;
    d_drift += by_drift * error;
    d_vv -= by_drift * d_pv;
    d_pv -= by_drift * d_pp;
    d_pp -= by_position * d_pp;
}

void clock_meter::move(int rows) { move_taps(d_last, rows); }

} // namespace gr::hf::kernel

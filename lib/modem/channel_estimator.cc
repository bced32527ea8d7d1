/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/channel_estimator.h"

#include "modem/delay_window.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gr::hf::kernel {

namespace {

using value = std::complex<float>;

} // namespace

channel_estimator::channel_estimator(const options& o,
                                     std::vector<float> profile,
                                     float noise)
    : d_o(o), d_profile(std::move(profile)), d_noise(noise), d_first_noise(noise),
      d_lowest_noise(noise)
{
    d_profile.resize(d_o.taps, 0);
    select();
}

void channel_estimator::observe(const half_symbol_stream& y,
                                int64_t begin,
                                int64_t end,
                                const belief_function& beliefs,
                                bool exact_rows)
{
    observation o;
    o.begin = begin;
    o.end = end;
    o.first_row = 2 * begin;
    o.last_row = exact_rows ? 2 * end : 2 * end + d_selected.back();
    o.last_row = std::min(o.last_row, y.end());
    o.first_row = std::max(o.first_row, y.begin());
    if (o.last_row <= o.first_row)
        return;
    const auto taps = static_cast<int64_t>(d_o.taps);
    const local_beliefs b(o.first_row, o.last_row, d_o.taps, beliefs);
    o.signal = known_signal(b, o.first_row - taps, o.last_row);
    o.foreign = foreign_power(b, o.first_row, o.last_row, d_profile);
    add_missing(y, o);
    o.y.assign(y.at(o.first_row), y.at(o.last_row - 1) + 1);
    o.rows = static_cast<float>(o.y.size());
    normal_equations(o);
    d_observations.push_back(std::move(o));
}

// Erased samples are one more unknown on the rows around them.
void channel_estimator::add_missing(const half_symbol_stream& y, observation& o) const
{
    if (y.erased().empty())
        return;
    const float power = std::accumulate(d_profile.begin(), d_profile.end(), 0.0f);
    for (size_t i = 0; i < o.foreign.size(); ++i)
        o.foreign[i] += power * y.missing(o.first_row + static_cast<int64_t>(i));
}

void channel_estimator::refresh(const half_symbol_stream& y, int64_t row)
{
    for (observation& o : d_observations) {
        if (o.last_row <= row || o.first_row < y.begin())
            continue;
        o.y.assign(y.at(o.first_row), y.at(o.last_row - 1) + 1);
        add_missing(y, o); // of what is near the change; more of what was erased before
        normal_equations(o);
    }
}

void channel_estimator::forget_from(int64_t n)
{
    while (!d_observations.empty() && d_observations.back().begin >= n)
        d_observations.pop_back();
}

void channel_estimator::forget_before(int64_t n)
{
    while (!d_observations.empty() && d_observations.front().end < n)
        d_observations.pop_front();
}

void channel_estimator::set_statistics(const std::vector<float>& profile, float noise)
{
    d_profile = profile;
    d_profile.resize(d_o.taps, 0);
    d_noise = noise;
}

void channel_estimator::move(int rows)
{
    move_taps(d_profile, rows);
    for (observation& o : d_observations) {
        o.first_row -= rows;
        o.last_row -= rows;
        o.moved += rows;
    }
    ++d_version;
    select();
    d_theta.assign(d_o.terms * d_selected.size(), 0);
}

void channel_estimator::normal_equations(observation& o) const
{
    o.equations.build(
        o.signal, d_o.taps, o.moved, o.y.data(), o.foreign, d_noise, d_selected);
    o.version = d_version;
}

/* What a path that is not known yet puts on the rows looks like noise; taken as such it would
 * keep that path from being found. Noise itself does not rise so quickly. */
float channel_estimator::fitting_noise() const
{
    constexpr float largest = 3, model = 3e-3f; // the model itself is not exact
    const float power = std::accumulate(d_profile.begin(), d_profile.end(), 0.0f);
    return std::min(d_noise, std::max(largest * d_lowest_noise, model * power));
}

std::complex<float> channel_estimator::reference(const half_symbol_stream& y,
                                                 double row) const
{
    const double t = (row / 2 - d_centre) / d_o.symbol_rate;
    const double turns = y.phase(row) - (d_hz + d_drift * t / 2) * t;
    return std::polar(1.0f, static_cast<float>(2 * M_PI * (turns - std::floor(turns))));
}

void channel_estimator::solve(const half_symbol_stream& y,
                              double centre,
                              double hz,
                              double drift)
{
    select(); // not later: the selection must stay that of d_theta until the next call
    const size_t s = d_selected.size(), terms = d_o.terms;
    const double c = std::pow(M_PI * d_o.spread_hz / d_o.symbol_rate, 2); // per symbol^2
    d_centre = centre;
    d_hz = hz;
    d_drift = drift;
    d_solver.resize(s * terms);
    std::vector<float> scale(s);
    for (size_t a = 0; a < s; ++a)
        scale[a] = std::sqrt(std::max(d_profile[d_selected[a]], 1e-12f));

    std::vector<double> phi(terms);
    const double window = d_o.window_s * d_o.symbol_rate;
    std::vector<std::vector<value>> sum(terms * terms);
    for (auto& m : sum)
        m.assign(s * s, 0);
    for (observation& o : d_observations) {
        const double t = time_of(o) - centre;
        if (std::abs(t) > window)
            continue;
        if (o.version != d_version)
            normal_equations(o);
        const double x = std::sqrt(c) * t;
        phi[0] = std::exp(-x * x / 2);
        for (size_t m = 1; m < terms; ++m)
            phi[m] = phi[m - 1] * x / std::sqrt(static_cast<double>(m));
        const value turn = reference(y, 2 * time_of(o));
        for (size_t m = 0; m < terms; ++m) {
            for (size_t a = 0; a < s; ++a)
                d_solver.rhs(m * s + a) +=
                    o.equations.rhs[a] * turn * (static_cast<float>(phi[m]) * scale[a]);
            for (size_t l = 0; l <= m; ++l) {
                const auto w = static_cast<float>(phi[m] * phi[l]);
                auto* into = sum[m * terms + l].data();
                for (size_t k = 0; k < s * s; ++k)
                    into[k] += w * o.equations.gram[k];
            }
        }
    }
    for (size_t m = 0; m < terms; ++m)
        for (size_t l = 0; l <= m; ++l) {
            const auto& g = sum[m * terms + l];
            for (size_t a = 0; a < s; ++a)
                for (size_t b = 0; b < (l == m ? a + 1 : s); ++b) {
                    const value v = b <= a ? g[a * s + b] : std::conj(g[b * s + a]);
                    d_solver.add(m * s + a, l * s + b, v * (scale[a] * scale[b]));
                }
        }
    for (size_t k = 0; k < s * terms; ++k)
        d_solver.add(k, k, noise_colour * fitting_noise());
    d_solver.solve();
    d_theta.assign(terms * s, 0);
    for (size_t k = 0; k < s * terms; ++k)
        d_theta[k] = d_solver.rhs(k) * scale[k % s];

    if (terms > 1) {
        double cross = 0, power = 1e-30; // of the derivative, of the taps
        for (size_t a = 0; a < s; ++a) {
            cross += (std::conj(d_theta[a]) * d_theta[s + a]).imag();
            power += std::norm(d_theta[a]);
        }
        d_frequency = std::sqrt(c) * d_o.symbol_rate * cross / power / (2 * M_PI);
        d_power = power;
    }
    update_statistics(y);
}

void channel_estimator::at(double n, channel_taps& g) const
{
    const size_t s = d_selected.size();
    const double x = M_PI * d_o.spread_hz / d_o.symbol_rate * (n - d_centre);
    g.assign(s, 0);
    double phi = std::exp(-x * x / 2);
    for (size_t m = 0; m < d_o.terms; ++m) {
        if (m > 0)
            phi *= x / std::sqrt(static_cast<double>(m));
        for (size_t a = 0; a < s; ++a)
            g[a] += d_theta[m * s + a] * static_cast<float>(phi);
    }
}

channel_estimator::slope
channel_estimator::turning_within(const observation& o, const half_symbol_stream& y) const
{
    // The taps by this stretch alone, and the noise as it was at first: with a wrong carrier
    // the common estimate means nothing.
    const float noise = std::min(d_noise, d_first_noise);
    const size_t s = d_selected.size(), rows = o.y.size();
    hermitian_solver own;
    own.resize(s);
    for (size_t a = 0; a < s; ++a) {
        for (size_t b = 0; b <= a; ++b)
            own.add(a, b, o.equations.gram[a * s + b]);
        own.add(a, a, noise_colour * noise / std::max(d_profile[d_selected[a]], 1e-12f));
        own.rhs(a) = o.equations.rhs[a];
    }
    if (!own.solve())
        return {};
    std::vector<float> weight(rows), quadrature(rows);
    float total = 1e-30f, middle = 0;
    for (size_t i = 0; i < rows; ++i) {
        value x = 0;
        for (size_t a = 0; a < s; ++a)
            if (const auto tap = static_cast<size_t>(d_selected[a] + o.moved);
                tap <= d_o.taps)
                x += own.rhs(a) * o.signal[i + d_o.taps - tap];
        const float w = d_noise / (d_noise + o.foreign[i]);
        weight[i] = w * std::norm(x);
        quadrature[i] = w * (std::conj(x) * o.y[i]).imag();
        total += weight[i];
        middle += weight[i] * static_cast<float>(i);
    }
    middle /= total;
    float cross = 0, square = 1e-30f;
    for (size_t i = 0; i < rows; ++i) {
        const float t = static_cast<float>(i) - middle;
        cross += t * quadrature[i];
        square += t * t * weight[i];
    }
    const double rows_to_hz = 2 * d_o.symbol_rate / (2 * M_PI);
    const double expected = d_hz + d_drift * (time_of(o) - d_centre) / d_o.symbol_rate;
    slope result;
    result.hz = y.frequency_at(2 * time_of(o)) + rows_to_hz * cross / square - expected;
    result.information = square / (noise_colour * noise) / (rows_to_hz * rows_to_hz);
    return result;
}

} // namespace gr::hf::kernel

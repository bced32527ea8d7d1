/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a channel_estimator finds out about noise and delays. */
#include "modem/channel_estimator.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gr::hf::kernel {

namespace {

using value = std::complex<float>;

constexpr double noise_rises_s = 8;     // by a factor of e
constexpr double profile_every_s = 0.1; // looks at all delays
/* A path that drifts comes to the next tap; one between two taps is on both. Where there is
 * much to see one that was not there soon shows. */
constexpr float next_tap_sparse = 0.2f, next_tap_dense = 1e-3f;
/* Power of what is left on a delay, against what noise would leave there, that makes it a path:
 * by chance once in some minutes. */
constexpr float path_found = 14;
constexpr int paths_at_once = 3;

} // namespace

void channel_estimator::select()
{
    const float top = *std::max_element(d_profile.begin(), d_profile.end());
    const float least = std::max(0.04f * d_noise, 2e-5f * top);
    std::vector<uint16_t> order(d_profile.size());
    std::iota(order.begin(), order.end(), uint16_t{ 0 });
    std::stable_sort(order.begin(), order.end(), [this](uint16_t a, uint16_t b) {
        return d_profile[a] > d_profile[b];
    });
    order.resize(std::min(order.size(), d_o.max_selected));
    while (order.size() > 1 && d_profile[order.back()] < least)
        order.pop_back();
    std::sort(order.begin(), order.end());
    if (order != d_selected) {
        d_selected = order;
        ++d_version;
    }
}

void channel_estimator::update_statistics(const half_symbol_stream& y)
{
    // The observation just before the centre has neighbours on both sides: a fair sample.
    const observation* o = nullptr;
    size_t used = 0;
    float rows = 0;
    for (const observation& k : d_observations) {
        if (std::abs(time_of(k) - d_centre) <= d_o.window_s * d_o.symbol_rate) {
            ++used;
            rows += k.rows;
        }
        if (time_of(k) < d_centre)
            o = &k;
    }
    if (!o && !d_observations.empty())
        o = &d_observations.front();
    if (!o || o->version != d_version || used == 0)
        return;
    channel_taps g;
    at(time_of(*o), g);
    const value turn = reference(y, 2 * time_of(*o));
    const float error = o->equations.squared_error(g.data(), turn);
    d_slope = turning_within(*o, y);
    d_explained =
        o->equations.energy > 0 ? std::max(0.0f, 1 - error / o->equations.energy) : 0.0f;

    // part of the noise was fitted
    const float freedom = static_cast<float>(d_selected.size()) * 1.3f;
    const float correction = 1 + std::min(1.0f, freedom / std::max(1.0f, 0.67f * rows));
    const float now = error / o->rows * correction;
    const float alpha = 1.0f / static_cast<float>(std::max<size_t>(4, used));
    const float power = std::accumulate(d_profile.begin(), d_profile.end(), 0.0f);
    d_noise = std::max((1 - alpha) * d_noise + alpha * now, 1e-5f * power + 1e-20f);
    const double elapsed = std::max(d_centre - d_lowest_at, 0.0) / d_o.symbol_rate;
    d_lowest_at = d_centre;
    d_lowest_noise = std::min(
        d_noise, d_lowest_noise * static_cast<float>(std::exp(elapsed / noise_rises_s)));

    const double since = (d_centre - d_profile_at) / d_o.symbol_rate;
    if (since < 0 || since >= profile_every_s) {
        d_profile_at = d_centre;
        look_at_all_delays(y, *o, since);
    }
}

/* Paths fade in and out and drift. One that was away during the preamble is not in the profile:
 * what the known taps leave shows it. */
void channel_estimator::look_at_all_delays(const half_symbol_stream& y,
                                           const observation& around,
                                           double since)
{
    const size_t taps = d_o.taps;
    std::vector<uint16_t> all(taps);
    std::iota(all.begin(), all.end(), uint16_t{ 0 });
    std::vector<value> gram(taps * taps), rhs(taps);
    const double near = 0.025 * d_o.symbol_rate; // short against any fading
    tap_equations e;
    for (const observation& k : d_observations) {
        if (std::abs(time_of(k) - time_of(around)) > near)
            continue;
        const value rotate = reference(y, 2 * time_of(k));
        e.build(k.signal, taps, k.moved, k.y.data(), k.foreign, d_noise, all);
        for (size_t a = 0; a < taps; ++a) {
            for (size_t b = 0; b <= a; ++b)
                gram[a * taps + b] += e.gram[a * taps + b];
            rhs[a] += e.rhs[a] * rotate;
        }
    }
    const float power = std::accumulate(d_profile.begin(), d_profile.end(), 0.0f);
    const float floor = 1e-4f * power / static_cast<float>(taps);
    const float sigma = noise_colour * fitting_noise();
    const float next_tap = d_o.finds_paths ? next_tap_sparse : next_tap_dense;
    std::vector<float> prior(taps);
    for (size_t a = 0; a < taps; ++a) {
        const float before = a > 0 ? d_profile[a - 1] : 0;
        const float after = a + 1 < taps ? d_profile[a + 1] : 0;
        prior[a] = std::max({ d_profile[a], next_tap * std::max(before, after), floor });
    }
    std::vector<value> g(taps);
    for (int found = 0;; ++found) {
        hermitian_solver full;
        full.resize(taps);
        for (size_t a = 0; a < taps; ++a) {
            for (size_t b = 0; b <= a; ++b)
                full.add(a, b, gram[a * taps + b]);
            full.add(a, a, sigma / prior[a]);
            full.rhs(a) = rhs[a];
        }
        if (!full.solve())
            return;
        for (size_t a = 0; a < taps; ++a)
            g[a] = full.rhs(a);
        if (!d_o.finds_paths || found == paths_at_once)
            break;
        // sigma g / prior is what the solution leaves of the right-hand side.
        size_t best = 0;
        float most = 0;
        for (size_t a = 0; a < taps; ++a) {
            const float own = gram[a * taps + a].real() + 1e-20f;
            const float left = std::norm(sigma / prior[a] * g[a]) / (own * sigma);
            if (left > most) {
                most = left;
                best = a;
            }
        }
        if (most < path_found)
            break;
        const float own = gram[best * taps + best].real();
        const float found_power = most * sigma / own;
        d_profile[best] = std::max(d_profile[best], found_power);
        prior[best] = std::max(prior[best], found_power);
        for (const size_t beside : { best - 1, best + 1 })
            if (beside < taps)
                prior[beside] = std::max(prior[beside], next_tap * found_power);
    }
    const auto beta = static_cast<float>(std::clamp(since / 0.8, 0.1, 0.4));
    for (size_t a = 0; a < taps; ++a) {
        const float posterior = 1 / (1 / prior[a] + gram[a * taps + a].real() / sigma);
        d_profile[a] = (1 - beta) * std::max(d_profile[a], floor) +
                       beta * (std::norm(g[a]) + posterior);
    }
}

} // namespace gr::hf::kernel

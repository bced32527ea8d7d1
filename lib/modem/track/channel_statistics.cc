/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The part of channel_estimator that measures noise and delays. */
#include "modem/track/channel_estimator.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gr::hf::kernel {

namespace {

using value = std::complex<float>;

// Most taps in use with sparse delays: some paths, ten taps each.
constexpr size_t max_sparse = 48;
// A delay with a smaller share of the known signal's energy has rounding errors only.
constexpr float unseen = 1e-3f;
// Largest share of the rows that counts as fitted.
constexpr float max_fitted = 0.9f;

// Assumed power of a delay without a path.
float empty_tap(const std::vector<float>& profile, const estimator_plan& plan)
{
    const float power = std::accumulate(profile.begin(), profile.end(), 0.0f);
    return plan.empty_tap * power / static_cast<float>(profile.size());
}

//! One round over pieces of a transmission, with a common delay profile.
struct profile_round {
    std::vector<float> power; // of each tap, sum over the pieces
    float left = 0, freedom = 0;

    /*! \param load noise of the rows as the taps see it
     *  \returns false if the equations of a piece have no solution
     */
    bool run(const std::vector<tap_equations>& pieces,
             const std::vector<float>& profile,
             float load)
    {
        const size_t taps = profile.size();
        power.assign(taps, 0);
        std::vector<value> g(taps);
        for (const tap_equations& e : pieces) {
            hermitian_solver solver;
            solver.resize(taps);
            for (size_t a = 0; a < taps; ++a) {
                for (size_t c = 0; c <= a; ++c)
                    solver.add(a, c, e.gram[a * taps + c]);
                solver.add(a, a, load / profile[a]);
                solver.rhs(a) = e.rhs[a];
            }
            if (!solver.solve())
                return false;
            for (size_t a = 0; a < taps; ++a) {
                g[a] = solver.rhs(a);
                const float own = e.gram[a * taps + a].real();
                power[a] += std::norm(g[a]) + 1 / (1 / profile[a] + own / load);
                freedom += own / (own + load / profile[a]);
            }
            left += e.squared_error(g.data(), 1);
        }
        return true;
    }
};

//! Equations of all delays, gram row by row, lower half, and their solution.
struct delay_equations {
    explicit delay_equations(size_t n) : taps(n), gram(n * n), rhs(n), g(n) {}

    void add(const tap_equations& e, value rotate)
    {
        for (size_t a = 0; a < taps; ++a) {
            for (size_t b = 0; b <= a; ++b)
                gram[a * taps + b] += e.gram[a * taps + b];
            rhs[a] += e.rhs[a] * rotate;
        }
    }
    bool solve(float sigma, const std::vector<float>& prior)
    {
        hermitian_solver full;
        full.resize(taps);
        for (size_t a = 0; a < taps; ++a) {
            for (size_t b = 0; b <= a; ++b)
                full.add(a, b, gram[a * taps + b]);
            full.add(a, a, sigma / prior[a]);
            full.rhs(a) = rhs[a];
        }
        if (!full.solve())
            return false;
        for (size_t a = 0; a < taps; ++a)
            g[a] = full.rhs(a);
        return true;
    }
    float own(size_t a) const { return gram[a * taps + a].real(); }
    //! The delay with the largest residual, and that residual relative to the noise.
    std::pair<size_t, float> most_left(float sigma, const std::vector<float>& prior) const
    {
        // sigma g / prior is the residual of the right-hand side.
        size_t best = 0;
        float most = 0;
        for (size_t a = 0; a < taps; ++a) {
            const float left =
                std::norm(sigma / prior[a] * g[a]) / ((own(a) + 1e-20f) * sigma);
            if (left > most) {
                most = left;
                best = a;
            }
        }
        return { best, most };
    }

    size_t taps;
    std::vector<value> gram, rhs, g;
};

} // namespace

void channel_estimator::select()
{
    const float top = *std::max_element(d_profile.begin(), d_profile.end());
    const float least =
        std::max(d_o.plan.min_tap_over_noise * d_noise.now(), d_o.plan.min_tap * top);
    std::vector<uint16_t> order(d_profile.size());
    std::iota(order.begin(), order.end(), uint16_t{ 0 });
    std::stable_sort(order.begin(), order.end(), [this](uint16_t a, uint16_t b) {
        return d_profile[a] > d_profile[b];
    });
    order.resize(std::min(order.size(), d_o.fading.max_selected));
    while (order.size() > 1 && d_profile[order.back()] < least)
        order.pop_back();
    std::sort(order.begin(), order.end());
    if (order != d_selected) {
        d_selected = order;
        ++d_version;
    }
}

int channel_estimator::learn(const half_symbol_stream& y,
                             int64_t begin,
                             int64_t end,
                             int64_t piece,
                             const belief_function& beliefs)
{
    if (d_o.taps > dense_delays)
        return 0; // the cost of equations for all delays is cubic
    const estimator_plan& plan = d_o.plan;
    const auto early = static_cast<size_t>(d_o.rows(plan.learn_early_s));
    const auto margin = static_cast<size_t>(d_o.rows(plan.learn_empty_s));
    const size_t taps = d_o.taps + early;
    std::vector<uint16_t> all(taps);
    std::iota(all.begin(), all.end(), uint16_t{ 0 });
    std::vector<tap_equations> pieces;
    float all_rows = 0, energy = 0;
    for (int64_t n = begin; n + piece <= end; n += piece) {
        const int64_t first = 2 * n, last = 2 * (n + piece);
        if (first - static_cast<int64_t>(early) < y.begin() || last > y.end())
            continue;
        const local_beliefs b(first, last, taps, beliefs);
        const auto u = known_signal(b, first - static_cast<int64_t>(taps), last);
        const std::vector<float> foreign(static_cast<size_t>(last - first), 0);
        pieces.emplace_back();
        pieces.back().build(
            u, taps, 0, y.at(first - static_cast<int64_t>(early)), foreign, 1, all);
        all_rows += static_cast<float>(last - first);
        energy += pieces.back().energy;
    }
    if (pieces.size() < 4 || !(energy > 0))
        return 0;
    const float power = energy / all_rows;
    std::vector<float> profile(taps, power / 4);
    float noise = power / 4;
    for (int round = 0; round < plan.learn_rounds; ++round) {
        profile_round r;
        if (!r.run(pieces, profile, noise_colour * noise))
            return 0;
        for (size_t a = 0; a < taps; ++a)
            profile[a] = std::max(r.power[a] / static_cast<float>(pieces.size()),
                                  plan.learn_least_tap * power);
        noise = r.left / all_rows / std::max(plan.min_freedom, 1 - r.freedom / all_rows);
        noise = std::max(noise, plan.min_noise * power);
    }
    if (noise > plan.learn_better * d_noise.now())
        return 0;
    const float least =
        plan.learn_path * *std::max_element(profile.begin(), profile.end());
    size_t path = 0;
    while (profile[path] < least)
        ++path;
    const size_t from = path < early + 2 ? path - std::min(path, margin) : early;
    d_profile.assign(profile.begin() + static_cast<long>(from),
                     profile.begin() + static_cast<long>(from + d_o.taps));
    d_noise.restart(noise);
    select();
    return static_cast<int>(from) - static_cast<int>(early);
}

// The stretch just before the centre. It has neighbours on both sides, like most.
channel_estimator::stretch channel_estimator::before_centre() const
{
    size_t end = 1;
    for (size_t i = 0; i < d_observations.size(); ++i)
        if (d_observations[i].time() < d_carrier.centre)
            end = i + 1;
    end = std::min(end, d_observations.size());
    if (end == 0)
        return { 0, 0 };
    const int64_t begin = d_observations[end - 1].begin;
    // A stretch that extends past the centre counts as a whole.
    while (end < d_observations.size() && d_observations[end].begin == begin)
        ++end;
    size_t first = end;
    while (first > 0 && d_observations[first - 1].begin == begin)
        --first;
    return { first, end };
}

void channel_estimator::update_statistics(const half_symbol_stream& y)
{
    const stretch w = before_centre();
    int64_t last_begin = INT64_MIN;
    size_t used = 0;    // stretches
    float all_rows = 0; // rows not hidden by unknown symbols
    const auto clean = [this](float foreign) {
        return d_noise.now() / (d_noise.now() + foreign);
    };
    for (const observation& k : d_observations)
        if (std::abs(k.time() - d_carrier.centre) <=
            d_o.fading.window_s * d_o.symbol_rate_bd) {
            used += k.begin != last_begin;
            last_begin = k.begin;
            for (const float f : k.foreign)
                all_rows += clean(f);
        }
    if (w.first == w.second || used == 0)
        return;
    // Unknown symbols fade, so measure the noise (left) on rows with little of them.
    float error = 0, energy = 0, left = 0, rows = 1e-20f;
    channel_taps g;
    for (size_t i = w.first; i < w.second; ++i) {
        const observation& o = d_observations[i];
        if (o.version != d_version)
            return;
        taps_at(o.time(), g);
        const value turn = reference(y, 2 * o.time());
        error += o.equations.squared_error(g.data(), turn);
        energy += o.equations.energy;
        for (size_t r = 0; r < o.y.size(); ++r) {
            const value e = o.left_of(r, turn, g, d_selected, d_o.taps);
            const float share = clean(o.foreign[r]);
            left += share * share * std::norm(e);
            rows += share;
        }
    }
    look_at_stretch(w, y);
    d_explained = energy > 0 ? std::max(0.0f, 1 - error / energy) : 0.0f;
    // the fit absorbed part of the noise
    d_fitted = static_cast<float>(d_freedom) / std::max(1.0f, all_rows);
    const float now = left / rows / std::max(d_o.plan.min_freedom, 1 - d_fitted);
    const float alpha = 1.0f / static_cast<float>(std::max<size_t>(4, used));
    const float power = std::accumulate(d_profile.begin(), d_profile.end(), 0.0f);
    d_noise.add(now,
                alpha,
                d_o.plan.min_noise * power + 1e-20f,
                d_carrier.centre,
                d_o.symbol_rate_bd,
                d_o.plan.noise_rises_s);

    const double since = (d_carrier.centre - d_profile_at) / d_o.symbol_rate_bd;
    if (since < 0 || since >= d_o.plan.profile_every_s) {
        d_profile_at = d_carrier.centre;
        const double around = d_observations[(w.first + w.second) / 2].time();
        if (d_o.taps > dense_delays)
            look_at_sparse_delays(y, around, since);
        else
            look_at_all_delays(y, around, since);
    }
}

float channel_estimator::explained_of(const half_symbol_stream& y, int64_t begin) const
{
    float error = 0, energy = 0;
    channel_taps g;
    for (const observation& o : d_observations) {
        if (o.begin != begin || o.version != d_version)
            continue;
        taps_at(o.time(), g);
        error += o.equations.squared_error(g.data(), reference(y, 2 * o.time()));
        energy += o.equations.energy;
    }
    // Rows half a symbol apart are not independent, see noise_colour.
    const float fitted = std::min(noise_colour * d_fitted, max_fitted);
    return energy > 0 ? std::max(0.0f, 1 - error / energy / (1 - fitted)) : 0.0f;
}

std::vector<float> channel_estimator::prior_of_taps() const
{
    const size_t taps = d_o.taps;
    const float floor = empty_tap(d_profile, d_o.plan);
    const float next_tap =
        d_o.finds_paths ? d_o.plan.next_tap_sparse : d_o.plan.next_tap_dense;
    std::vector<float> prior(taps);
    for (size_t a = 0; a < taps; ++a) {
        const float before = a > 0 ? d_profile[a - 1] : 0;
        const float after = a + 1 < taps ? d_profile[a + 1] : 0;
        prior[a] = std::max({ d_profile[a], next_tap * std::max(before, after), floor });
    }
    return prior;
}

/* Paths fade and drift. A path that was in a fade during the preamble is not in the
 * profile, but shows in the residual of the known taps. */
void channel_estimator::look_at_all_delays(const half_symbol_stream& y,
                                           double around,
                                           double since)
{
    const estimator_plan& plan = d_o.plan;
    const size_t taps = d_o.taps;
    std::vector<uint16_t> all(taps);
    std::iota(all.begin(), all.end(), uint16_t{ 0 });
    delay_equations equations(taps);
    // Short against the fading.
    const double near =
        std::min(plan.profile_near_s, plan.profile_near_periods / d_o.fading.spread_hz) *
        d_o.symbol_rate_bd;
    tap_equations e;
    for (const observation& k : d_observations) {
        if (std::abs(k.time() - around) > near)
            continue;
        const value rotate = reference(y, 2 * k.time());
        e.build(k.signal, taps, k.moved, k.y.data(), k.foreign, d_noise.now(), all);
        equations.add(e, rotate);
    }
    const float floor = empty_tap(d_profile, d_o.plan);
    const float sigma = noise_colour * fitting_noise();
    const float next_tap = d_o.finds_paths ? plan.next_tap_sparse : plan.next_tap_dense;
    std::vector<float> prior = prior_of_taps();
    for (int found = 0;; ++found) {
        if (!equations.solve(sigma, prior))
            return;
        if (!d_o.finds_paths || found == plan.paths_at_once)
            break;
        const auto [best, most] = equations.most_left(sigma, prior);
        if (most < plan.path_found)
            break;
        const float found_power = most * sigma / equations.own(best);
        d_profile[best] = std::max(d_profile[best], found_power);
        prior[best] = std::max(prior[best], found_power);
        for (const size_t beside : { best - 1, best + 1 })
            if (beside < taps)
                prior[beside] = std::max(prior[beside], next_tap * found_power);
    }
    const auto beta = static_cast<float>(
        std::clamp(since / plan.profile_memory_s, plan.min_share, plan.largest_share));
    for (size_t a = 0; a < taps; ++a) {
        const float posterior = 1 / (1 / prior[a] + equations.own(a) / sigma);
        d_profile[a] = (1 - beta) * std::max(d_profile[a], floor) +
                       beta * (std::norm(equations.g[a]) + posterior);
    }
}

// Observations around that time, only as many as it takes to tell delays apart.
sparse_equations channel_estimator::sparse_around(const half_symbol_stream& y,
                                                  double around) const
{
    const size_t enough = 2 * d_o.taps; // rows
    const double near = std::min(d_o.plan.profile_near_s,
                                 d_o.plan.profile_near_periods / d_o.fading.spread_hz) *
                        d_o.symbol_rate_bd;
    sparse_equations e(d_o.taps);
    for (const observation& k : d_observations) {
        if (std::abs(k.time() - around) > near || e.rows() >= enough)
            continue;
        std::vector<float> weight;
        for (const float f : k.foreign)
            weight.push_back(d_noise.now() / (d_noise.now() + f));
        e.add(k.signal, k.moved, k.y.data(), reference(y, 2 * k.time()), weight);
    }
    return e;
}

/* The same with sparse delays: solve for the delays of the profile, then look for paths
 * in the residual of all delays. */
void channel_estimator::look_at_sparse_delays(const half_symbol_stream& y,
                                              double around,
                                              double since)
{
    const size_t taps = d_o.taps;
    sparse_equations equations = sparse_around(y, around);
    const float floor = empty_tap(d_profile, d_o.plan);
    const float sigma = noise_colour * fitting_noise();
    std::vector<float> prior = prior_of_taps();
    std::vector<uint16_t> order;
    for (size_t a = 0; a < taps; ++a)
        if (prior[a] > 2 * floor)
            order.push_back(static_cast<uint16_t>(a));
    std::stable_sort(order.begin(), order.end(), [&prior](uint16_t a, uint16_t b) {
        return prior[a] > prior[b];
    });
    order.resize(std::min(order.size(), max_sparse));
    for (const uint16_t a : order)
        equations.activate(a);
    for (int found = 0;; ++found) {
        std::vector<float> load;
        for (const uint16_t a : equations.active())
            load.push_back(sigma / prior[a]);
        if (load.empty() || !equations.solve(load))
            return;
        if (!d_o.finds_paths || found == d_o.plan.paths_at_once ||
            !find_path(equations, sigma, prior))
            break;
    }
    // Taps not solved for are nearly empty.
    std::vector<float> power(taps, 0);
    for (size_t k = 0; k < equations.active().size(); ++k)
        power[equations.active()[k]] = std::norm(equations.solution()[k]);
    const auto beta = static_cast<float>(std::clamp(
        since / d_o.plan.profile_memory_s, d_o.plan.min_share, d_o.plan.largest_share));
    for (size_t a = 0; a < taps; ++a) {
        const float posterior = 1 / (1 / prior[a] + equations.own()[a] / sigma);
        d_profile[a] =
            (1 - beta) * std::max(d_profile[a], floor) + beta * (power[a] + posterior);
    }
}

// True if the residual shows a path. The path and its neighbours are then solved for too.
bool channel_estimator::find_path(sparse_equations& e,
                                  float sigma,
                                  std::vector<float>& prior)
{
    const auto& left = e.left();
    const auto& own = e.own();
    // Skip delays at which no known symbols were seen.
    const float min_own = unseen * *std::max_element(own.begin(), own.end());
    size_t best = 0;
    float most = 0;
    for (size_t a = 0; a < own.size(); ++a)
        if (const float l = std::norm(left[a]) / (own[a] * sigma);
            own[a] > min_own && l > most) {
            most = l;
            best = a;
        }
    if (most < d_o.plan.path_found)
        return false;
    const float power = most * sigma / own[best];
    d_profile[best] = std::max(d_profile[best], power);
    for (const size_t tap : { best, best - 1, best + 1 }) {
        if (tap >= own.size())
            continue;
        const float share = tap == best ? 1 : d_o.plan.next_tap_sparse;
        prior[tap] = std::max(prior[tap], share * power);
        if (!e.is_active(tap))
            e.activate(tap);
    }
    return true;
}

} // namespace gr::hf::kernel

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/track/channel_estimator.h"

#include "modem/track/delay_window.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gr::hf::kernel {

namespace {

/* Least load of the equations, over their largest diagonal element: they are summed and
 * solved in float, whose rounding is 6e-8. Without it 6 of 8 transmissions of
 * 5069-48k-240000US at 70 dB lost blocks, with 4e-7 to 5e-5 none. */
constexpr float rounding = 4e-7f;

using value = std::complex<float>;

// Functions of the series at \p x from its centre, see channel_estimator.
void series_at(double x, std::vector<double>& phi)
{
    phi[0] = std::exp(-x * x / 2);
    for (size_t m = 1; m < phi.size(); ++m)
        phi[m] = phi[m - 1] * x / std::sqrt(static_cast<double>(m));
}

std::vector<float> amplitudes(const std::vector<float>& profile,
                              const std::vector<uint16_t>& which)
{
    std::vector<float> all(which.size());
    for (size_t a = 0; a < all.size(); ++a)
        all[a] = std::sqrt(std::max(profile[which[a]], 1e-12f));
    return all;
}

// Derivative across the taps, and power of the taps, from the first two terms of \p s
// taps.
std::pair<double, double> turning_of(const std::vector<value>& theta, size_t s)
{
    double cross = 0, power = 1e-30;
    for (size_t a = 0; a < s; ++a) {
        cross += (std::conj(theta[a]) * theta[s + a]).imag();
        power += std::norm(theta[a]);
    }
    return { cross, power };
}

/* Adds the scaled equations of all terms to \p solver, lower half. sum[m * terms + l],
 * for terms m and l <= m, has a row and a column for each tap. */
void add_terms(const std::vector<std::vector<value>>& sum,
               size_t terms,
               const std::vector<float>& scale,
               hermitian_solver& solver)
{
    const size_t s = scale.size();
    for (size_t m = 0; m < terms; ++m)
        for (size_t l = 0; l <= m; ++l) {
            const auto& g = sum[m * terms + l];
            for (size_t a = 0; a < s; ++a)
                for (size_t b = 0; b < (l == m ? a + 1 : s); ++b) {
                    const value v = b <= a ? g[a * s + b] : std::conj(g[b * s + a]);
                    solver.add(m * s + a, l * s + b, v * (scale[a] * scale[b]));
                }
        }
}

// Load of the diagonal: the noise, or what rounding needs. Returns the number of unknowns
// that the observations tell.
double add_load(const std::vector<std::vector<value>>& sum,
                size_t terms,
                const std::vector<float>& scale,
                float noise,
                hermitian_solver& solver)
{
    const size_t s = scale.size();
    const auto own = [&](size_t m, size_t a) {
        return sum[m * terms + m][a * s + a].real() * scale[a] * scale[a];
    };
    float largest = 0;
    double freedom = 0;
    for (size_t a = 0; a < s; ++a)
        largest = std::max(largest, own(0, a));
    const float load = std::max(noise, rounding * largest);
    for (size_t m = 0; m < terms; ++m)
        for (size_t a = 0; a < s; ++a) {
            freedom += own(m, a) / (own(m, a) + load);
            solver.add(m * s + a, m * s + a, load);
        }
    return freedom;
}

// Rows of an observation without the known signal, referred to the expected carrier.
template <typename observation>
std::vector<value> left_of(const observation& o,
                           const channel_estimator& estimator,
                           const half_symbol_stream& y,
                           const channel_estimator::options& options)
{
    const int64_t piece = options.rows(options.plan.burst_piece_s);
    channel_taps g;
    std::vector<value> left(o.y.size());
    for (size_t i = 0; i < left.size(); ++i) {
        const int64_t row = o.first_row + static_cast<int64_t>(i);
        if (static_cast<int64_t>(i) % piece == 0)
            estimator.at(static_cast<double>(row + piece / 2) / 2, g);
        left[i] = o.left_of(i,
                            estimator.reference(y, static_cast<double>(row)),
                            g,
                            estimator.selected(),
                            options.taps);
    }
    return left;
}

} // namespace

void noise_level::add(float value,
                      float share,
                      float least,
                      double symbol,
                      double symbol_rate_bd,
                      double rises)
{
    d_now = std::max((1 - share) * d_now + share * value, least);
    const double elapsed = std::max(symbol - d_at, 0.0) / symbol_rate_bd;
    d_at = symbol;
    d_lowest = std::min(d_now, d_lowest * static_cast<float>(std::exp(elapsed / rises)));
}

channel_estimator::channel_estimator(const options& o,
                                     std::vector<float> profile,
                                     float noise)
    : d_o(o), d_profile(std::move(profile)), d_noise(noise)
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
    const int64_t first = std::max(2 * begin, y.begin());
    const int64_t last =
        std::min(exact_rows ? 2 * end : 2 * end + d_selected.back(), y.end());
    if (last <= first)
        return;
    const auto taps = static_cast<int64_t>(d_o.taps);
    const local_beliefs b(first, last, d_o.taps, beliefs);
    const auto signal = known_signal(b, first - taps, last);
    const auto foreign = foreign_power(b, first, last, d_profile);
    const auto limit = static_cast<int64_t>(d_o.fading.rows);
    const int64_t pieces = limit > 0 ? (last - first + limit - 1) / limit : 1;
    for (int64_t k = 0; k < pieces; ++k) {
        observation o;
        o.begin = begin;
        o.end = end;
        o.first_row = first + k * (last - first) / pieces;
        o.last_row = first + (k + 1) * (last - first) / pieces;
        const auto from = signal.begin() + (o.first_row - first);
        o.signal.assign(from, from + (taps + o.last_row - o.first_row));
        o.foreign.assign(foreign.begin() + (o.first_row - first),
                         foreign.begin() + (o.last_row - first));
        add_missing(y, o);
        o.y.assign(y.at(o.first_row), y.at(o.last_row - 1) + 1);
        normal_equations(o);
        d_observations.push_back(std::move(o));
    }
}

void channel_estimator::set_pace(const fading_pace& p)
{
    d_o.fading = p;
    select();
    d_theta.assign(p.terms * d_selected.size(), 0);
}

// Erased samples and interference count as unknown power on the rows around them.
void channel_estimator::add_missing(const half_symbol_stream& y, observation& o) const
{
    if (y.interference_within(o.first_row, o.last_row))
        for (size_t i = 0; i < o.foreign.size(); ++i)
            o.foreign[i] += y.interference(o.first_row + static_cast<int64_t>(i));
    if (y.erased().empty())
        return;
    const float power = std::accumulate(d_profile.begin(), d_profile.end(), 0.0f);
    for (size_t i = 0; i < o.foreign.size(); ++i)
        o.foreign[i] += power * y.missing(o.first_row + static_cast<int64_t>(i));
}

void channel_estimator::refresh(const half_symbol_stream& y,
                                int64_t first,
                                int64_t last,
                                bool erased)
{
    for (observation& o : d_observations) {
        if (o.last_row <= first || o.first_row >= last || o.first_row < y.begin())
            continue;
        o.y.assign(y.at(o.first_row), y.at(o.last_row - 1) + 1);
        if (erased)
            add_missing(y, o); // only near the change; others count as before
        normal_equations(o);
    }
}

void channel_estimator::residual(const half_symbol_stream& y,
                                 int64_t begin,
                                 int64_t end,
                                 int64_t first,
                                 std::vector<value>& rows) const
{
    for (const observation& o : d_observations) {
        if (o.begin < begin || o.end > end)
            continue;
        const std::vector<value> left = left_of(o, *this, y, d_o);
        for (size_t i = 0; i < left.size(); ++i) {
            const int64_t row = o.first_row + static_cast<int64_t>(i);
            if (row >= first && row < first + static_cast<int64_t>(rows.size()))
                rows[static_cast<size_t>(row - first)] =
                    left[i] * std::conj(reference(y, static_cast<double>(row)));
        }
    }
}

bool channel_estimator::find_interference(half_symbol_stream& y,
                                          int64_t begin,
                                          int64_t end)
{
    const auto span = static_cast<size_t>(d_o.rows(d_o.plan.burst_s));
    bool any = false;
    std::vector<float> left, expected;
    for (observation& o : d_observations) {
        if (o.begin < begin || o.end > end)
            continue;
        const size_t count = o.y.size();
        const std::vector<value> rest = left_of(o, *this, y, d_o);
        left.assign(count, 0);
        expected.assign(count, 0);
        for (size_t i = 0; i < count; ++i) {
            const int64_t row = o.first_row + static_cast<int64_t>(i);
            const float before = y.interference(row);
            left[i] = std::norm(rest[i]);
            expected[i] = d_noise.now() + o.foreign[i] - before;
        }
        bool changed = false;
        for (size_t i = 0; i < count; ++i) {
            const size_t from = i < span / 2 ? 0 : i - span / 2;
            const size_t to = std::min(i + span / 2 + 1, count);
            const float l = std::accumulate(left.begin() + from, left.begin() + to, 0.0f);
            const float e =
                std::accumulate(expected.begin() + from, expected.begin() + to, 0.0f);
            const int64_t row = o.first_row + static_cast<int64_t>(i);
            const float before = y.interference(row);
            const float limit = before > 0 ? d_o.plan.burst_known : d_o.plan.burst_found;
            const float now = l > limit * e ? (l - e) / static_cast<float>(to - from) : 0;
            if (now == 0 && before == 0)
                continue;
            changed = true;
            any = any || before == 0;
            y.set_interference(row, now);
            o.foreign[i] += now - before;
        }
        if (changed)
            normal_equations(o);
    }
    return any;
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
    d_noise.set(noise);
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
    d_theta.assign(d_o.fading.terms * d_selected.size(), 0);
}

void channel_estimator::normal_equations(observation& o) const
{
    o.equations.build(
        o.signal, d_o.taps, o.moved, o.y.data(), o.foreign, d_noise.now(), d_selected);
    o.version = d_version;
}

// Counted as noise, an unknown path would not be found.
float channel_estimator::fitting_noise() const
{
    const float power = std::accumulate(d_profile.begin(), d_profile.end(), 0.0f);
    return std::min(
        d_noise.now(),
        std::max(d_o.plan.largest_rise * d_noise.lowest(), d_o.plan.model_noise * power));
}

std::complex<float> channel_estimator::reference(const half_symbol_stream& y,
                                                 double row) const
{
    const double t = (row / 2 - d_carrier.centre) / d_o.symbol_rate_bd;
    const double turns = y.phase(row) - (d_carrier.hz + d_carrier.drift * t / 2) * t;
    return std::polar(1.0f, static_cast<float>(2 * M_PI * (turns - std::floor(turns))));
}

void channel_estimator::solve(const half_symbol_stream& y,
                              double centre,
                              double hz,
                              double drift)
{
    select(); // first, as d_theta must keep this selection until the next call
    const size_t s = d_selected.size(), terms = d_o.fading.terms;
    const double root_c = M_PI * d_o.fading.spread_hz / d_o.symbol_rate_bd; // per symbol
    // Centre on the air: a symbol arrives on the selected taps.
    d_carrier = { centre +
                      static_cast<double>(d_selected.front() + d_selected.back()) / 4,
                  hz,
                  drift };
    d_solver.resize(s * terms);
    const std::vector<float> scale = amplitudes(d_profile, d_selected);

    std::vector<double> phi(terms);
    const double window = d_o.fading.window_s * d_o.symbol_rate_bd;
    const float noise = noise_colour * fitting_noise();
    const float power = std::accumulate(d_profile.begin(), d_profile.end(), 0.0f);
    std::vector<std::vector<value>> sum(terms * terms);
    for (auto& m : sum)
        m.assign(s * s, 0);
    for (observation& o : d_observations) {
        const double t = o.time() - d_carrier.centre;
        if (std::abs(t) > window)
            continue;
        if (o.version != d_version)
            normal_equations(o);
        const double x = root_c * t;
        // What the cut series cannot follow counts as noise.
        const float sure = noise / (noise + power * beyond_series(o.time()));
        series_at(x, phi);
        const value turn = reference(y, 2 * o.time());
        for (size_t m = 0; m < terms; ++m) {
            for (size_t a = 0; a < s; ++a)
                d_solver.rhs(m * s + a) += o.equations.rhs[a] * turn *
                                           (sure * static_cast<float>(phi[m]) * scale[a]);
            for (size_t l = 0; l <= m; ++l) {
                const auto w = sure * static_cast<float>(phi[m] * phi[l]);
                auto* into = sum[m * terms + l].data();
                for (size_t k = 0; k < s * s; ++k)
                    into[k] += w * o.equations.gram[k];
            }
        }
    }
    add_terms(sum, terms, scale, d_solver);
    d_freedom = add_load(sum, terms, scale, noise, d_solver);
    d_solver.solve();
    d_theta.assign(terms * s, 0);
    for (size_t k = 0; k < s * terms; ++k)
        d_theta[k] = d_solver.rhs(k) * scale[k % s];

    if (terms > 1) {
        const auto [cross, power] = turning_of(d_theta, s);
        d_frequency = root_c * d_o.symbol_rate_bd * cross / power / (2 * M_PI);
        d_power = power;
    }
    update_statistics(y);
}

/* Share of a tap's power that the series does not hold at a time. The terms are
 * independent with variance exp(-x^2) x^2m / m!, so it is the tail of a Poisson
 * distribution. */
float channel_estimator::beyond_series(double time) const
{
    const double x =
        M_PI * d_o.fading.spread_hz / d_o.symbol_rate_bd * (time - d_carrier.centre);
    double term = std::exp(-x * x), held = 0;
    for (size_t m = 0; m < d_o.fading.terms; ++m) {
        held += term;
        term *= x * x / static_cast<double>(m + 1);
    }
    return static_cast<float>(std::max(1 - held, 0.0));
}

void channel_estimator::at(double n, channel_taps& g) const
{
    const size_t s = d_selected.size();
    const double root_c = M_PI * d_o.fading.spread_hz / d_o.symbol_rate_bd;
    g.assign(s, 0);
    for (size_t a = 0; a < s; ++a) {
        const double x = root_c * (n + d_selected[a] / 2.0 - d_carrier.centre);
        double phi = std::exp(-x * x / 2);
        for (size_t m = 0; m < d_o.fading.terms; ++m) {
            if (m > 0)
                phi *= x / std::sqrt(static_cast<double>(m));
            g[a] += d_theta[m * s + a] * static_cast<float>(phi);
        }
    }
}

// All taps at one time on the air.
void channel_estimator::taps_at(double time, channel_taps& g) const
{
    const size_t s = d_selected.size();
    const double x =
        M_PI * d_o.fading.spread_hz / d_o.symbol_rate_bd * (time - d_carrier.centre);
    g.assign(s, 0);
    double phi = std::exp(-x * x / 2);
    for (size_t m = 0; m < d_o.fading.terms; ++m) {
        if (m > 0)
            phi *= x / std::sqrt(static_cast<double>(m));
        for (size_t a = 0; a < s; ++a)
            g[a] += d_theta[m * s + a] * static_cast<float>(phi);
    }
}

/* Taps by this stretch alone, with the initial noise: with a wrong carrier the joint
 * estimate is meaningless. */
void channel_estimator::look_at_stretch(const stretch& w, const half_symbol_stream& y)
{
    const float noise = std::min(d_noise.now(), d_noise.first());
    const size_t s = d_selected.size();
    const observation &front = d_observations[w.first],
                      &back = d_observations[w.second - 1];
    hermitian_solver own;
    own.resize(s);
    for (size_t i = w.first; i < w.second; ++i) {
        const auto& e = d_observations[i].equations;
        for (size_t a = 0; a < s; ++a) {
            for (size_t b = 0; b <= a; ++b)
                own.add(a, b, e.gram[a * s + b]);
            own.rhs(a) += e.rhs[a];
        }
    }
    for (size_t a = 0; a < s; ++a)
        own.add(a, a, noise_colour * noise / std::max(d_profile[d_selected[a]], 1e-12f));
    d_newest.turning = {};
    d_newest.taps.clear();
    if (!own.solve())
        return;
    std::vector<float> weight, quadrature;
    float total = 1e-30f, middle = 0;
    for (size_t k = w.first; k < w.second; ++k) {
        const observation& o = d_observations[k];
        for (size_t i = 0; i < o.y.size(); ++i) {
            value x = 0;
            for (size_t a = 0; a < s; ++a)
                if (const auto tap = static_cast<size_t>(d_selected[a] + o.moved);
                    tap <= d_o.taps)
                    x += own.rhs(a) * o.signal[i + d_o.taps - tap];
            const float v = d_noise.now() / (d_noise.now() + o.foreign[i]);
            middle += v * std::norm(x) * static_cast<float>(weight.size());
            weight.push_back(v * std::norm(x));
            quadrature.push_back(v * (std::conj(x) * o.y[i]).imag());
            total += weight.back();
        }
    }
    middle /= total;
    float cross = 0, square = 1e-30f;
    for (size_t i = 0; i < weight.size(); ++i) {
        const float t = static_cast<float>(i) - middle;
        cross += t * quadrature[i];
        square += t * t * weight[i];
    }
    const double rows_to_hz = 2 * d_o.symbol_rate_bd / (2 * M_PI);
    const double at = (front.time() + back.time()) / 2;
    const double expected = d_carrier.at(at, d_o.symbol_rate_bd);
    d_newest.turning.hz = y.frequency_at(2 * at) + rows_to_hz * cross / square - expected;
    d_newest.turning.information =
        square / (noise_colour * noise) / (rows_to_hz * rows_to_hz);
    const value turn = reference(y, 2 * at);
    d_newest.taps.assign(d_o.taps, 0);
    for (size_t a = 0; a < s; ++a)
        d_newest.taps[d_selected[a]] = own.rhs(a) * turn;
    d_newest.at = at;
}

} // namespace gr::hf::kernel

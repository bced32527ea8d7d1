/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/channel_estimator.h"

#include "modem/delay_window.h"
#include "modem/pulse.h"
#include "modem/vector_code.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace gr::hf::kernel {

namespace {

using value = std::complex<float>;

/* Rows at half-symbol distance are not independent: the matched filter leaves 1.35 / 2 of
 * the band. Least squares that takes them as independent counts the information about
 * 1.75 times. */
constexpr float noise_colour = 1.75f;

int64_t floor_half(int64_t i) { return i >= 0 ? i / 2 : -((1 - i) / 2); }

// Beliefs about all symbols that reach into rows [first, last).
struct local_beliefs {
    local_beliefs(int64_t first_row,
                  int64_t last_row,
                  size_t taps,
                  const belief_function& f)
        : first(floor_half(first_row - static_cast<int64_t>(taps) - half_symbol_reach))
    {
        const int64_t last = floor_half(last_row + half_symbol_reach) + 1;
        for (int64_t n = first; n <= last; ++n)
            list.push_back(f(n));
    }
    int64_t first;
    std::vector<symbol_belief> list;
};

// u(j) = sum_n mean_n p(j - 2 n), j = from .. to - 1
std::vector<value> known_signal(const local_beliefs& b, int64_t from, int64_t to)
{
    std::vector<value> u(static_cast<size_t>(to - from));
    for (size_t k = 0; k < b.list.size(); ++k) {
        const value s = b.list[k].mean;
        if (s == value{})
            continue;
        const int64_t centre = 2 * (b.first + static_cast<int64_t>(k));
        for (int j = -half_symbol_reach; j <= half_symbol_reach; ++j) {
            const int64_t at = centre + j - from;
            if (at >= 0 && at < to - from)
                u[static_cast<size_t>(at)] += s * half_symbol_pulse(j);
        }
    }
    return u;
}

HF_VECTOR_CODE void add_scaled(float* to, const float* x, float scale, size_t n)
{
    for (size_t i = 0; i < n; ++i)
        to[i] += scale * x[i];
}

// Power that unknown symbols put on each row of [first, last).
std::vector<float> foreign_power(const local_beliefs& b,
                                 int64_t first,
                                 int64_t last,
                                 const std::vector<float>& profile)
{
    std::vector<float> q(profile.size() + 2 * half_symbol_reach, 0); // q[j + reach]
    std::array<float, 2 * half_symbol_reach + 1> pulse;
    for (int j = -half_symbol_reach; j <= half_symbol_reach; ++j)
        pulse[static_cast<size_t>(j + half_symbol_reach)] =
            half_symbol_pulse(j) * half_symbol_pulse(j);
    for (size_t k = 0; k < profile.size(); ++k)
        add_scaled(&q[k], pulse.data(), profile[k], pulse.size());
    std::vector<float> f(static_cast<size_t>(last - first), 0);
    for (size_t k = 0; k < b.list.size(); ++k) {
        const float v = b.list[k].variance;
        if (v <= 0)
            continue;
        const int64_t base =
            2 * (b.first + static_cast<int64_t>(k)) - half_symbol_reach - first;
        const int64_t begin = std::max<int64_t>(base, 0);
        const int64_t end = std::min(base + static_cast<int64_t>(q.size()), last - first);
        if (begin < end)
            add_scaled(&f[static_cast<size_t>(begin)],
                       &q[static_cast<size_t>(begin - base)],
                       v,
                       static_cast<size_t>(end - begin));
    }
    return f;
}

/* gram[a * s + b] (b <= a) = sum_i conj(x_a(i)) x_b(i) of s rows of n split complex
 * numbers. */
HF_VECTOR_CODE void
gram_of(size_t s, size_t n, const float* re, const float* im, value* gram)
{
    for (size_t a = 0; a < s; ++a)
        for (size_t b = 0; b <= a; ++b) {
            const float *ar = re + a * n, *ai = im + a * n;
            const float *br = re + b * n, *bi = im + b * n;
            float sr = 0, si = 0;
            for (size_t i = 0; i < n; ++i) {
                sr += ar[i] * br[i] + ai[i] * bi[i];
                si += ar[i] * bi[i] - ai[i] * br[i];
            }
            gram[a * s + b] = { sr, si };
        }
}

/* Weighted normal equations of the taps in \p which; u starts at row first - offset. A tap
 * that was outside the window before that moved is taken as having seen nothing. */
void build(const std::vector<value>& u,
           size_t offset,
           int moved,
           const value* y,
           const std::vector<float>& foreign,
           float noise,
           const std::vector<uint16_t>& which,
           std::vector<value>& gram,
           std::vector<value>& rhs,
           float& energy)
{
    const size_t s = which.size(), n = foreign.size();
    std::vector<float> re(s * n), im(s * n), w(n);
    energy = 0;
    for (size_t i = 0; i < n; ++i) {
        w[i] = std::sqrt(noise / (noise + foreign[i]));
        energy += w[i] * w[i] * std::norm(y[i]);
    }
    gram.assign(s * s, 0);
    rhs.assign(s, 0);
    for (size_t a = 0; a < s; ++a) {
        float *r = &re[a * n], *m = &im[a * n];
        const auto tap = static_cast<size_t>(which[a] + moved); // below 0: very large
        if (tap > offset)
            continue;
        value sum = 0;
        for (size_t i = 0; i < n; ++i) {
            const value x = u[i + offset - tap] * w[i];
            r[i] = x.real();
            m[i] = x.imag();
            sum += std::conj(x) * y[i] * w[i];
        }
        rhs[a] = sum;
    }
    gram_of(s, n, re.data(), im.data(), gram.data());
}

float quadratic_form(const std::vector<value>& gram, const value* g, size_t s)
{
    float q = 0;
    for (size_t a = 0; a < s; ++a) {
        q += std::norm(g[a]) * gram[a * s + a].real();
        for (size_t b = 0; b < a; ++b)
            q += 2 * (std::conj(g[a]) * gram[a * s + b] * g[b]).real();
    }
    return q;
}

float squared_error(const std::vector<value>& gram,
                    const std::vector<value>& rhs,
                    float energy,
                    const value* g,
                    value turn)
{
    float cross = 0;
    for (size_t a = 0; a < rhs.size(); ++a)
        cross += (std::conj(g[a]) * rhs[a] * turn).real();
    return std::max(0.0f, energy - 2 * cross + quadratic_form(gram, g, rhs.size()));
}

} // namespace

channel_taps estimate_static(const std::complex<float>* y,
                             int64_t y_begin,
                             int64_t first_row,
                             int64_t last_row,
                             const belief_function& beliefs,
                             const std::vector<float>& profile,
                             float noise,
                             float* residual)
{
    const size_t taps = profile.size();
    const local_beliefs b(first_row, last_row, taps, beliefs);
    const auto u = known_signal(b, first_row - static_cast<int64_t>(taps), last_row);
    const auto foreign = foreign_power(b, first_row, last_row, profile);
    std::vector<uint16_t> all(taps);
    std::iota(all.begin(), all.end(), uint16_t{ 0 });
    std::vector<value> gram, rhs;
    float energy = 0;
    build(u, taps, 0, y + (first_row - y_begin), foreign, noise, all, gram, rhs, energy);
    hermitian_solver solver;
    solver.resize(taps);
    for (size_t a = 0; a < taps; ++a) {
        for (size_t c = 0; c <= a; ++c)
            solver.add(a, c, gram[a * taps + c]);
        solver.add(a, a, noise_colour * noise / std::max(profile[a], 1e-12f));
        solver.rhs(a) = rhs[a];
    }
    solver.solve();
    channel_taps g(taps);
    for (size_t a = 0; a < taps; ++a)
        g[a] = solver.rhs(a);
    if (residual)
        *residual = squared_error(gram, rhs, energy, g.data(), 1) /
                    static_cast<float>(last_row - first_row);
    return g;
}

channel_estimator::channel_estimator(const options& o,
                                     std::vector<float> profile,
                                     float noise)
    : d_o(o), d_profile(std::move(profile)), d_noise(noise), d_first_noise(noise)
{
    d_profile.resize(d_o.taps, 0);
    select();
}

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
    build(o.signal,
          d_o.taps,
          o.moved,
          o.y.data(),
          o.foreign,
          d_noise,
          d_selected,
          o.gram,
          o.rhs,
          o.energy);
    o.version = d_version;
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
                    o.rhs[a] * turn * (static_cast<float>(phi[m]) * scale[a]);
            for (size_t l = 0; l <= m; ++l) {
                const auto w = static_cast<float>(phi[m] * phi[l]);
                auto* into = sum[m * terms + l].data();
                for (size_t k = 0; k < s * s; ++k)
                    into[k] += w * o.gram[k];
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
        d_solver.add(k, k, noise_colour * d_noise);
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
            own.add(a, b, o.gram[a * s + b]);
        own.add(a, a, noise_colour * noise / std::max(d_profile[d_selected[a]], 1e-12f));
        own.rhs(a) = o.rhs[a];
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
    const float error = squared_error(o->gram, o->rhs, o->energy, g.data(), turn);
    d_slope = turning_within(*o, y);
    d_explained = o->energy > 0 ? std::max(0.0f, 1 - error / o->energy) : 0.0f;

    // part of the noise was fitted
    const float freedom = static_cast<float>(d_selected.size()) * 1.3f;
    const float correction = 1 + std::min(1.0f, freedom / std::max(1.0f, 0.67f * rows));
    const float now = error / o->rows * correction;
    const float alpha = 1.0f / static_cast<float>(std::max<size_t>(4, used));
    const float power = std::accumulate(d_profile.begin(), d_profile.end(), 0.0f);
    d_noise = std::max((1 - alpha) * d_noise + alpha * now, 1e-5f * power + 1e-20f);

    // Now and then look at all delays: paths fade in and out and drift.
    const double since = (d_centre - d_profile_at) / d_o.symbol_rate;
    if (since >= 0 && since < 0.15)
        return;
    d_profile_at = d_centre;
    const size_t taps = d_o.taps;
    std::vector<uint16_t> all(taps);
    std::iota(all.begin(), all.end(), uint16_t{ 0 });
    hermitian_solver full;
    full.resize(taps);
    std::vector<float> information(taps, 0);
    const double near = 0.025 * d_o.symbol_rate; // short against any fading
    const double centre = time_of(*o);
    for (const observation& k : d_observations) {
        if (std::abs(time_of(k) - centre) > near)
            continue;
        const value rotate = reference(y, 2 * time_of(k));
        std::vector<value> gram, rhs;
        float energy = 0;
        build(k.signal,
              taps,
              k.moved,
              k.y.data(),
              k.foreign,
              d_noise,
              all,
              gram,
              rhs,
              energy);
        for (size_t a = 0; a < taps; ++a) {
            for (size_t b = 0; b <= a; ++b)
                full.add(a, b, gram[a * taps + b]);
            full.rhs(a) += rhs[a] * rotate;
            information[a] += gram[a * taps + a].real();
        }
    }
    const float floor = 1e-4f * power / static_cast<float>(taps);
    const float sigma = noise_colour * d_noise;
    // A path that drifts comes to the next tap, which must not be ruled out.
    constexpr float next_tap = 1e-3f;
    std::vector<float> prior(taps);
    for (size_t a = 0; a < taps; ++a) {
        const float before = a > 0 ? d_profile[a - 1] : 0;
        const float after = a + 1 < taps ? d_profile[a + 1] : 0;
        prior[a] = std::max({ d_profile[a], next_tap * std::max(before, after), floor });
        full.add(a, a, sigma / prior[a]);
    }
    if (!full.solve())
        return;
    const auto beta = static_cast<float>(std::clamp(since / 0.8, 0.1, 0.4));
    for (size_t a = 0; a < taps; ++a) {
        const float posterior = 1 / (1 / prior[a] + information[a] / sigma);
        d_profile[a] =
            (1 - beta) * prior[a] + beta * (std::norm(full.rhs(a)) + posterior);
    }
}

} // namespace gr::hf::kernel

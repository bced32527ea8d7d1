/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/track/channel_equations.h"

#include "modem/base/vector_code.h"
#include "modem/detect/linear_algebra.h"
#include "modem/front/pulse.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace gr::hf::kernel {

namespace {

using value = std::complex<float>;

int64_t floor_half(int64_t i) { return i >= 0 ? i / 2 : -((1 - i) / 2); }

HF_VECTOR_CODE void add_scaled(float* to, const float* x, float scale, size_t n)
{
    for (size_t i = 0; i < n; ++i)
        to[i] += scale * x[i];
}

// Two rows by two at once: half of the loads for each product.
HF_VECTOR_CODE void
form_gram(size_t s, size_t n, const float* re, const float* im, value* gram)
{
    for (size_t a = 0; a < s; a += 2)
        for (size_t b = 0; b <= a; b += 2) {
            const size_t a2 = std::min(a + 1, s - 1), b2 = std::min(b + 1, s - 1);
            const float *ar = re + a * n, *ai = im + a * n;
            const float *cr = re + a2 * n, *ci = im + a2 * n;
            const float *br = re + b * n, *bi = im + b * n;
            const float *dr = re + b2 * n, *di = im + b2 * n;
            float ab_re = 0, ab_im = 0, ad_re = 0, ad_im = 0;
            float cb_re = 0, cb_im = 0, cd_re = 0, cd_im = 0;
            for (size_t i = 0; i < n; ++i) {
                ab_re += ar[i] * br[i] + ai[i] * bi[i];
                ab_im += ar[i] * bi[i] - ai[i] * br[i];
                ad_re += ar[i] * dr[i] + ai[i] * di[i];
                ad_im += ar[i] * di[i] - ai[i] * dr[i];
                cb_re += cr[i] * br[i] + ci[i] * bi[i];
                cb_im += cr[i] * bi[i] - ci[i] * br[i];
                cd_re += cr[i] * dr[i] + ci[i] * di[i];
                cd_im += cr[i] * di[i] - ci[i] * dr[i];
            }
            if (b2 <= a) // else above the diagonal
                gram[a * s + b2] = { ad_re, ad_im };
            gram[a2 * s + b] = { cb_re, cb_im };
            gram[a2 * s + b2] = { cd_re, cd_im };
            gram[a * s + b] = { ab_re, ab_im };
        }
}

using pulse_powers = std::array<float, 2 * half_symbol_reach + 1>;

pulse_powers power_of_pulse()
{
    pulse_powers p;
    for (int j = -half_symbol_reach; j <= half_symbol_reach; ++j)
        p[static_cast<size_t>(j + half_symbol_reach)] =
            half_symbol_pulse(j) * half_symbol_pulse(j);
    return p;
}

/* foreign_power() for mostly empty delays: delay by delay, all symbols at once. Rows of
 * one parity are a symbol apart. */
std::vector<float> foreign_power_of_few(const local_beliefs& b,
                                        int64_t first,
                                        int64_t last,
                                        const std::vector<float>& profile)
{
    constexpr float nothing = 1e-5f; // share of all power, less than the error of the
                                     // model
    std::vector<float> f(static_cast<size_t>(last - first), 0), variance;
    bool any = false;
    for (const symbol_belief& s : b.list) {
        variance.push_back(s.variance);
        any = any || s.variance > 0;
    }
    if (!any)
        return f;
    const float least = nothing * std::accumulate(profile.begin(), profile.end(), 0.0f);
    std::vector<float> q(profile.size() + 2 * half_symbol_reach, 0); // q[j + reach]
    const auto pulse = power_of_pulse();
    for (size_t k = 0; k < profile.size(); ++k)
        if (profile[k] > least)
            add_scaled(&q[k], pulse.data(), profile[k], pulse.size());
    std::vector<float> rows[2];
    const int64_t half = (last - first + 1) / 2;
    for (auto& r : rows)
        r.assign(static_cast<size_t>(half), 0);
    for (size_t j = 0; j < q.size(); ++j) {
        if (q[j] <= least)
            continue;
        // Symbol k of the list is on row 2 k + at.
        const int64_t at =
            2 * b.first + static_cast<int64_t>(j) - half_symbol_reach - first;
        const int64_t parity = at & 1, to = (at - parity) / 2;
        const int64_t from = std::max<int64_t>(0, -to);
        const int64_t end = std::min(static_cast<int64_t>(variance.size()), half - to);
        if (from < end)
            add_scaled(&rows[parity][static_cast<size_t>(from + to)],
                       &variance[static_cast<size_t>(from)],
                       q[j],
                       static_cast<size_t>(end - from));
    }
    for (size_t i = 0; i < f.size(); ++i)
        f[i] = rows[i & 1][i / 2];
    return f;
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

} // namespace

void gram_of(size_t s, size_t n, const float* re, const float* im, value* gram)
{
    form_gram(s, n, re, im, gram);
}

local_beliefs::local_beliefs(int64_t first_row,
                             int64_t last_row,
                             size_t taps,
                             const belief_function& f)
    : first(floor_half(first_row - static_cast<int64_t>(taps) - half_symbol_reach))
{
    const int64_t last = floor_half(last_row + half_symbol_reach) + 1;
    for (int64_t n = first; n <= last; ++n)
        list.push_back(f(n));
}

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

std::vector<float> foreign_power(const local_beliefs& b,
                                 int64_t first,
                                 int64_t last,
                                 const std::vector<float>& profile)
{
    if (profile.size() > dense_delays)
        return foreign_power_of_few(b, first, last, profile);
    std::vector<float> q(profile.size() + 2 * half_symbol_reach, 0); // q[j + reach]
    const auto pulse = power_of_pulse();
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

void tap_equations::build(const std::vector<value>& u,
                          size_t offset,
                          int moved,
                          const value* y,
                          const std::vector<float>& foreign,
                          float noise,
                          const std::vector<uint16_t>& which)
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
        // negative values become very large
        const auto tap = static_cast<size_t>(which[a] + moved);
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

float tap_equations::squared_error(const value* g, value turn) const
{
    float cross = 0;
    for (size_t a = 0; a < rhs.size(); ++a)
        cross += (std::conj(g[a]) * rhs[a] * turn).real();
    return std::max(0.0f, energy - 2 * cross + quadratic_form(gram, g, rhs.size()));
}
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
    tap_equations e;
    e.build(u, taps, 0, y + (first_row - y_begin), foreign, noise, all);
    hermitian_solver solver;
    solver.resize(taps);
    for (size_t a = 0; a < taps; ++a) {
        for (size_t c = 0; c <= a; ++c)
            solver.add(a, c, e.gram[a * taps + c]);
        solver.add(a, a, noise_colour * noise / std::max(profile[a], 1e-12f));
        solver.rhs(a) = e.rhs[a];
    }
    solver.solve();
    channel_taps g(taps);
    for (size_t a = 0; a < taps; ++a)
        g[a] = solver.rhs(a);
    if (residual)
        *residual =
            e.squared_error(g.data(), 1) / static_cast<float>(last_row - first_row);
    return g;
}

} // namespace gr::hf::kernel

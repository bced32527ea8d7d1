/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/track/walsh_meter.h"

#include "modem/detect/linear_algebra.h"
#include "modem/front/pulse.h"
#include "modem/track/delay_window.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gr::hf::kernel {

namespace {

using value = std::complex<float>;

// A path between two taps appears on about five of them, so 14 taps hold three paths.
constexpr size_t max_taps = 14;
/* Power of the change within the stretch, relative to the tap: (pi d T)^2 / 12 is 0.03
 * for a spread d = 10 Hz and T = 20 ms. */
constexpr float change = 0.03f;
constexpr float min_prior = 1e-3f;     // prior power of a tap, relative to the
                                       // strongest: -30 dB
constexpr float min_equations = 0.25f; // share of the equations left for the noise
constexpr float min_noise = 1e-5f;     // of the rows' power: the model is not exact
constexpr float memory = 0.3f;         // of the profile: share of the newest stretch
constexpr float band = 0.675f; // share of independent rows: the matched filter's band
/* Neighbouring taps share their columns as rows share the noise, those at the ends of a path
 * less: right on AWGN and two paths, as `hf-lab ber snr-report` finds. */
constexpr float shared = 0.85f;

std::vector<uint16_t> strongest(const std::vector<float>& strength, size_t taps)
{
    std::vector<uint16_t> which(taps);
    std::iota(which.begin(), which.end(), uint16_t{ 0 });
    std::partial_sort(
        which.begin(),
        which.begin() + max_taps,
        which.end(),
        [&strength](uint16_t a, uint16_t b) { return strength[a] > strength[b]; });
    which.resize(max_taps);
    return which;
}

//! Normal equations of some taps, followed by those of their changes within the stretch.
struct stretch_equations {
    /*! \param u the known signal from row - \p taps on
     *  \param rows \p n of them
     *  \param which the taps, of a window of \p taps
     */
    stretch_equations(const std::vector<value>& u,
                      const value* rows,
                      size_t n,
                      const std::vector<uint16_t>& which,
                      size_t taps)
        : columns(2 * which.size()), count(n), gram(columns * columns), rhs(columns)
    {
        const size_t s = which.size();
        std::vector<float> slope(n);
        for (size_t i = 0; i < n; ++i) // of unit power
            slope[i] = (static_cast<float>(i) - (static_cast<float>(n) - 1) / 2) *
                       std::sqrt(12.0f) / static_cast<float>(n);
        std::vector<float> re(columns * n), im(columns * n);
        for (size_t a = 0; a < s; ++a)
            for (size_t i = 0; i < n; ++i) {
                const value x = u[i + taps - which[a]];
                re[a * n + i] = x.real();
                im[a * n + i] = x.imag();
                re[(s + a) * n + i] = x.real() * slope[i];
                im[(s + a) * n + i] = x.imag() * slope[i];
                rhs[a] += std::conj(x) * rows[i];
                rhs[s + a] += std::conj(x) * (rows[i] * slope[i]);
            }
        gram_of(columns, n, re.data(), im.data(), gram.data());
        for (size_t i = 0; i < n; ++i)
            energy += std::norm(rows[i]);
    }

    /*! \brief Solve for the gains \p g with the prior power of the taps.
     *  \param variance noise variance of a row
     *  \param[out] freedom numbers that were fitted
     */
    bool solve(const std::vector<float>& prior,
               float variance,
               std::vector<value>& g,
               float& freedom) const
    {
        const size_t s = prior.size();
        hermitian_solver solver;
        solver.resize(columns);
        freedom = 0;
        for (size_t a = 0; a < columns; ++a) {
            for (size_t c = 0; c <= a; ++c)
                solver.add(a, c, gram[a * columns + c]);
            const float p = a < s ? prior[a] : change * prior[a - s];
            const float load = noise_colour * variance / p;
            solver.add(a, a, load);
            solver.rhs(a) = rhs[a];
            freedom += own(a) / (own(a) + load);
        }
        if (!solver.solve())
            return false;
        for (size_t a = 0; a < columns; ++a)
            g[a] = solver.rhs(a);
        return true;
    }

    //! Residual energy with the gains \p g.
    float left_by(const std::vector<value>& g) const
    {
        float left = energy;
        for (size_t a = 0; a < columns; ++a) {
            left -= 2 * (std::conj(g[a]) * rhs[a]).real();
            left += std::norm(g[a]) * own(a);
            for (size_t c = 0; c < a; ++c)
                left += 2 * (std::conj(g[a]) * gram[a * columns + c] * g[c]).real();
        }
        return left;
    }

    float own(size_t a) const { return gram[a * columns + a].real(); }

    size_t columns, count; // unknowns, rows
    std::vector<value> gram, rhs;
    float energy = 0;
};

/*! \brief Noise variance of a row by the residual energy, corrected for the fit. */
float noise_of(const stretch_equations& e, float left, float freedom)
{
    const auto rows = static_cast<float>(e.count);
    const float equations = band * rows;
    const float variance =
        std::max(left, 0.0f) / rows * equations /
        std::max(equations - shared * freedom, min_equations * equations);
    return std::max(variance, min_noise * e.energy / rows + 1e-20f);
}

// Total power of the samples that the taps give together.
float gain_of(const std::vector<uint16_t>& which, const std::vector<value>& g)
{
    float gain = 0;
    for (size_t a = 0; a < which.size(); ++a)
        for (size_t c = 0; c < which.size(); ++c)
            gain += (std::conj(g[a]) * g[c]).real() *
                    half_symbol_pulse(static_cast<int>(which[a]) -
                                      static_cast<int>(which[c]));
    return gain;
}

} // namespace

walsh_meter::walsh_meter(size_t taps, size_t early)
    : d_taps(taps), d_early(early), d_profile(taps, 0)
{
}

void walsh_meter::move(int rows) { move_taps(d_profile, rows); }

void walsh_meter::add(const half_symbol_stream& y,
                      int64_t begin,
                      int64_t end,
                      const belief_function& chips,
                      const std::vector<float>& strength,
                      float noise)
{
    const auto which = strongest(strength, d_taps);
    const size_t s = which.size();
    // Tap 0 is d_early rows before the symbol.
    const int64_t first = 2 * begin, last = 2 * end;
    const local_beliefs b(first, last, d_taps, chips);
    const stretch_equations equations(
        known_signal(b, first - static_cast<int64_t>(d_taps), last),
        y.at(first - static_cast<int64_t>(d_early)),
        static_cast<size_t>(last - first),
        which,
        d_taps);

    const bool fresh = d_noise <= 0;
    std::vector<float> prior(s);
    float top = 1e-20f;
    for (size_t a = 0; a < s; ++a)
        top = std::max(top, std::max(d_profile[which[a]], strength[which[a]]));
    for (size_t a = 0; a < s; ++a)
        prior[a] =
            std::max(fresh ? strength[which[a]] : d_profile[which[a]], min_prior * top);
    float variance = fresh ? noise : static_cast<float>(d_noise);
    std::vector<value> g(equations.columns);
    for (int round = 0; round < (fresh ? 4 : 2); ++round) {
        float freedom = 0;
        if (!equations.solve(prior, variance, g, freedom))
            return;
        variance = noise_of(equations, equations.left_by(g), freedom);
        for (size_t a = 0; a < s; ++a) {
            const float posterior =
                1 / (1 / prior[a] + equations.own(a) / (noise_colour * variance));
            prior[a] = std::norm(g[a]) + posterior;
        }
    }
    const float beta = fresh ? 1 : memory;
    for (float& p : d_profile)
        p *= 1 - beta;
    for (size_t a = 0; a < s; ++a)
        d_profile[which[a]] += beta * prior[a];
    d_noise = fresh ? variance : d_noise + memory * (variance - d_noise);
    d_gain_sum += gain_of(which, g);
    d_noise_sum += variance;
    ++d_count;
}

double walsh_meter::es_over_n0()
{
    const double ratio = d_count > 0 ? d_gain_sum / d_noise_sum : 0;
    d_gain_sum = d_noise_sum = 0;
    d_count = 0;
    return ratio;
}

} // namespace gr::hf::kernel

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// The synchroniser's estimate of many delays: only those that carry energy.
#include "modem/find/synchroniser.h"
#include "modem/find/synchroniser_parts.h"
#include "modem/track/channel_equations.h"
#include "modem/track/sparse_equations.h"

#include <algorithm>
#include <utility>

namespace gr::hf::kernel {

namespace {

using value = std::complex<float>;

/* Sparse search for paths. pursuits: rounds of looking for paths in the residual.
 * path_found: power against noise that makes a path; noise reaches it once in a thousand
 * looks at 960 delays. of_strongest_left: share of the strongest residual, below which
 * side peaks are likely. beside_path: neighbour taps taken together on either side of a
 * path. max_sparse: most taps. */
constexpr int pursuits = 10;
constexpr float path_found = 14, of_strongest_left = 0.25f;
constexpr size_t beside_path = 2, max_sparse = 48;
/* clean_row: share of the power that unknown symbols may have in a clean row. It is 5 dB
 * below the noise at 30 dB, the highest SNR of any waveform. clean_for_tap: least clean
 * rows per tap. */
constexpr float clean_row = 3e-4f, clean_for_tap = 4;
// Paths this much below the strongest count in the search for clean rows: 20 dB.
constexpr float of_strongest_certain = 0.01f;
// Energy share of the known signal at a delay that is only rounding.
constexpr float unseen = 1e-3f;

} // namespace

// Equations of \p delays delays from the first of \p rows on, by the known symbols.
sparse_equations synchroniser::equations_of(const value* rows,
                                            size_t delays,
                                            const values& fixed,
                                            float power)
{
    const auto count = static_cast<int64_t>(2 * fixed.size());
    const local_beliefs b(0, count, delays, synchroniser_parts::beliefs_of(fixed));
    const std::vector<float> spread(delays, power / static_cast<float>(delays));
    std::vector<float> weight = foreign_power(b, 0, count, spread);
    for (float& w : weight)
        w = synchroniser_parts::first_noise * power /
            (synchroniser_parts::first_noise * power + w);
    sparse_equations e(delays);
    e.add(known_signal(b, -static_cast<int64_t>(delays), count),
          0,
          rows,
          1,
          std::move(weight));
    return e;
}

// Variance of a row by the residual of \p e, after a fit of \p freedom numbers.
float synchroniser::noise_left(const sparse_equations& e,
                               float freedom,
                               float power) const
{
    const float equations = d_plan->independent_rows * e.weight();
    return std::max(e.energy_left() / e.weight() * equations /
                        std::max(equations - freedom, synchroniser_parts::min_rows),
                    synchroniser_parts::min_noise * power);
}

/* Find paths one by one in the residual of those found. So side peaks of a strong path do
 * not count as weak paths. */
void synchroniser::pursue(sparse_equations& e, float power_in) const
{
    const size_t delays = e.taps();
    const float min_own = unseen * *std::max_element(e.own().begin(), e.own().end());
    float noise = noise_left(e, 0, power_in);
    for (int round = 0; round < pursuits && e.active().size() < max_sparse; ++round) {
        const values& left = e.left();
        std::vector<float> power(delays, 0);
        for (size_t k = 0; k < delays; ++k)
            if (e.own()[k] > min_own && !e.is_active(k))
                power[k] = std::norm(left[k]) / e.own()[k];
        const float most = *std::max_element(power.begin(), power.end());
        const float least =
            std::max(of_strongest_left * most, path_found * noise_colour * noise);
        const size_t before = e.active().size();
        for (size_t k = 0; k < delays && e.active().size() < max_sparse; ++k) {
            if (power[k] < least || (k > 0 && power[k - 1] > power[k]) ||
                (k + 1 < delays && power[k + 1] > power[k]))
                continue;
            for (size_t at = k - std::min(k, beside_path);
                 at < std::min(k + beside_path + 1, delays);
                 ++at)
                if (!e.is_active(at))
                    e.activate(at);
        }
        const std::vector<float> load(e.active().size(), noise_colour * noise / power_in);
        if (e.active().size() == before || !e.solve(load))
            break;
        noise = noise_left(e, static_cast<float>(e.active().size()), power_in);
    }
}

// Power of the correlation at all delays of the search, without the side peaks of other
// delays.
std::vector<float> synchroniser::without_side_peaks(const half_symbol_stream& y,
                                                    const values& fixed,
                                                    float known,
                                                    float power_in) const
{
    const size_t delays = 2 * static_cast<size_t>(d_search) + 1;
    auto e = equations_of(y.at(-d_search), delays, fixed, power_in);
    pursue(e, power_in);
    std::vector<float> power(delays, 0);
    for (size_t k = 0; k < e.solution().size(); ++k)
        power[e.active()[k]] = std::norm(e.solution()[k]) * known * known;
    return power;
}

/* The same equations, of clean rows only: no unknown symbol reaches them on the paths
 * found, so the power of unknown symbols does not count as noise. Nothing if there are
 * too few. */
std::optional<sparse_equations> synchroniser::of_clean_rows(const sparse_equations& found,
                                                            const value* rows,
                                                            const values& fixed,
                                                            const synchronised& s,
                                                            float power_in) const
{
    const auto count = static_cast<int64_t>(2 * fixed.size());
    const local_beliefs b(0, count, taps(), synchroniser_parts::beliefs_of(fixed));
    // Without this limit, a single tap of noise could exclude all rows.
    std::vector<float> certain = s.profile;
    const float strongest = *std::max_element(certain.begin(), certain.end());
    for (float& p : certain)
        p = p < of_strongest_certain * strongest ? 0 : p;
    std::vector<float> weight = foreign_power(b, 0, count, certain);
    for (float& w : weight)
        w = w <= clean_row * power_in ? 1 : 0;
    sparse_equations e(taps());
    e.add(known_signal(b, -static_cast<int64_t>(taps()), count),
          0,
          rows,
          1,
          std::move(weight));
    if (e.weight() < clean_for_tap * static_cast<float>(found.active().size()))
        return std::nullopt;
    for (const uint16_t a : found.active())
        if (certain[a] > 0)
            e.activate(a);
    const std::vector<float> load(e.active().size(), noise_colour * s.noise / power_in);
    if (!e.solve(load))
        return std::nullopt;
    return e;
}

void synchroniser::estimate_sparse(synchronised& s,
                                   const half_symbol_stream& y,
                                   const values& fixed,
                                   float known,
                                   float power_in) const
{
    sparse_equations e = equations_of(y.at(0), taps(), fixed, power_in);
    pursue(e, power_in);
    s.noise = noise_left(e, static_cast<float>(e.solution().size()), power_in);
    const auto begin_profile = [&] {
        s.profile.assign(taps(), 0);
        for (size_t k = 0; k < e.solution().size(); ++k)
            s.profile[e.active()[k]] = std::norm(e.solution()[k]) + s.noise / known;
    };
    begin_profile();
    if (2 * known < static_cast<float>(fixed.size()))
        if (auto clean = of_clean_rows(e, y.at(0), fixed, s, power_in)) {
            e = std::move(*clean);
            s.noise = noise_left(e, static_cast<float>(e.active().size()), power_in);
            begin_profile();
        }
    for (int round = 0; round < d_plan->rounds && !e.solution().empty(); ++round) {
        std::vector<float> load;
        for (const uint16_t a : e.active())
            load.push_back(noise_colour * s.noise / s.profile[a]);
        if (!e.solve(load))
            break;
        float freedom = 0;
        const float information = known / std::max(s.noise, 1e-20f);
        for (size_t k = 0; k < e.active().size(); ++k) {
            float& p = s.profile[e.active()[k]];
            const float posterior = 1 / (1 / std::max(p, 1e-20f) + information);
            freedom += p / (p + 1 / information);
            p = std::norm(e.solution()[k]) + posterior;
        }
        s.noise = noise_left(e, freedom, power_in);
    }
    s.taps.assign(taps(), 0);
    for (size_t k = 0; k < e.solution().size(); ++k)
        s.taps[e.active()[k]] = e.solution()[k];
}

} // namespace gr::hf::kernel

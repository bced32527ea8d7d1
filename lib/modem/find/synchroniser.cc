/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/find/synchroniser.h"

#include "modem/front/fourier.h"
#include "modem/front/pulse.h"
#include "modem/track/channel_equations.h"
#include "modem/track/sparse_equations.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace gr::hf::kernel {

namespace {

using value = std::complex<float>;

constexpr int row_samples = symbol_grid::samples_per_row;
// Extra rows on either side, so that no filter starts within the rows in use.
constexpr int64_t room = 80, room_before_fit = 64, room_behind_fit = 8;
// Symbols that the matched filter reaches beyond a stretch, besides the delays.
constexpr int64_t filter_symbols =
    2 * half_symbol_stream::half_span / symbol_grid::samples_per_symbol + 3;

// Assumed power of an empty tap, relative to the mean tap, if a correlation is known.
constexpr float empty_tap = 1e-3f;
// Assumed noise at first, as a share of the power.
constexpr float first_noise = 0.25f;
// Lower limits: noise as a share of the power, and rows left to estimate the noise.
constexpr float min_noise = 1e-5f, min_rows = 8;

/* Sparse search for paths. pursuits: rounds of looking for paths in the residual.
 * path_found: power against noise that makes a path; noise reaches it once in a thousand
 * looks at 960 delays. of_strongest_left: share of the strongest residual, below which
 * side peaks are likely. beside_path: neighbour taps taken together on either side of a
 * path. max_sparse: most taps. */
constexpr int pursuits = 10;
constexpr float path_found = 14, of_strongest_left = 0.25f;
constexpr size_t beside_path = 2, max_sparse = 48;
// Least share of the power of all paths that the window must hold. Starting early for an
// early path may lose the rest, at most half a decibel.
constexpr double min_in_window = 0.9;
/* clean_row: share of the power that unknown symbols may have in a clean row. It is 5 dB
 * below the noise at 30 dB, the highest SNR of any waveform. clean_for_tap: least clean
 * rows per tap. */
constexpr float clean_row = 3e-4f, clean_for_tap = 4;
// Paths this much below the strongest count in the search for clean rows: 20 dB.
constexpr float of_strongest_certain = 0.01f;
// Energy share of the known signal at a delay that is only rounding.
constexpr float unseen = 1e-3f;

// sum conj(s_i) y[2 i] over symbols begin .. end - 1
value correlate(const value* y, const std::vector<value>& s, size_t begin, size_t end)
{
    value sum = 0;
    for (size_t i = begin; i < end; ++i)
        sum += std::conj(s[i]) * y[2 * i];
    return sum;
}

// Mean power of rows 0 .. rows - 1.
double mean_power(const half_symbol_stream& y, int64_t rows)
{
    double mean = 0;
    for (int64_t i = 0; i < rows; ++i)
        mean += std::norm(*y.at(i));
    return mean / static_cast<double>(rows);
}

// Place of the top of a parabola through three values with the largest in the middle.
double top_of(double left, double centre, double right)
{
    const double curve = left - 2 * centre + right;
    return curve < 0 ? 0.5 * (left - right) / curve : 0;
}

// Distance of the correlation's top from its largest value, -0.5 to 0.5.
double beside_grid(const std::vector<float>& power, size_t peak)
{
    if (peak == 0 || peak + 1 >= power.size())
        return 0;
    return std::clamp(top_of(std::sqrt(power[peak - 1]),
                             std::sqrt(power[peak]),
                             std::sqrt(power[peak + 1])),
                      -0.5,
                      0.5);
}

belief_function beliefs_of(const std::vector<value>& fixed)
{
    return [&fixed](int64_t n) {
        const auto i = static_cast<size_t>(n); // a negative n becomes large
        return i < fixed.size() && fixed[i] != value{} ? symbol_belief{ fixed[i], 0 }
                                                       : symbol_belief{ 0, 1 };
    };
}

// Sum over pairs of taps, at most \p reach half symbols apart, weighted by \p of_delay.
template <class Function>
float over_pairs(const std::vector<value>& g, size_t reach, Function of_delay)
{
    float e = 0;
    for (size_t a = 0; a < g.size(); ++a) {
        if (g[a] == value{})
            continue;
        for (size_t b = a - std::min(a, reach); b < std::min(a + reach + 1, g.size());
             ++b)
            if (g[b] != value{})
                e += (std::conj(g[a]) * g[b]).real() *
                     of_delay(static_cast<int>(a) - static_cast<int>(b));
    }
    return e;
}

float composite_gain(const std::vector<value>& g)
{
    return over_pairs(g, half_symbol_reach, half_symbol_pulse);
}

// Mean power of random symbols, over the two rows of a symbol.
float row_power(const std::vector<value>& g)
{
    const auto of_delay = [](int delay) {
        float sum = 0;
        for (int j = -half_symbol_reach; j <= half_symbol_reach; ++j)
            sum += half_symbol_pulse(j) * half_symbol_pulse(j + delay);
        return sum / 2;
    };
    return over_pairs(g, 2 * half_symbol_reach, of_delay);
}

} // namespace

synchroniser::synchroniser(const symbol_grid& grid, const synchroniser_plan& plan)
    : d_grid(grid), d_plan(&plan), d_taps(grid.half_symbols(plan.window_s)),
      d_lead(grid.half_symbols(plan.lead_s)), d_search(grid.half_symbols(plan.search_s)),
      d_piece(static_cast<size_t>(grid.symbols(plan.piece_s)))
{
}

int64_t synchroniser::reach(size_t fixed, size_t symbols) const
{
    const int64_t looked_at =
        row_samples * (2 * static_cast<int64_t>(fixed) + d_search + room);
    const int64_t matched =
        row_samples * (2 * static_cast<int64_t>(symbols) + d_search - d_lead + d_taps);
    return std::max(looked_at, matched) +
           filter_symbols * symbol_grid::samples_per_symbol;
}

int64_t synchroniser::reach_before() const
{
    const int64_t wide = std::max(d_taps, d_grid.half_symbols(d_plan->wide_window_s));
    return row_samples *
               (d_search + std::max(room, wide - d_taps + d_lead + room_before_fit)) +
           half_symbol_stream::half_span;
}

// Correlation with the symbols at delays -d_search .. d_search half symbols.
synchroniser::values synchroniser::at_all_delays(const half_symbol_stream& y,
                                                 const values& fixed) const
{
    values out;
    if (d_taps <= static_cast<int64_t>(dense_delays)) {
        for (int64_t k = -d_search; k <= d_search; ++k)
            out.push_back(correlate(y.at(k), fixed, 0, fixed.size()));
        return out;
    }
    // Rows of one parity are whole symbols of delay apart.
    const auto delays = static_cast<size_t>(d_search) + 1;
    fourier transform(fourier::length_for(fixed.size() + delays));
    const size_t length = transform.size();
    value* x = transform.data();
    std::fill_n(x, length, value{});
    std::copy(fixed.begin(), fixed.end(), x);
    transform.forward();
    const values known(x, x + length);
    out.resize(2 * static_cast<size_t>(d_search) + 1);
    for (size_t parity = 0; parity < 2; ++parity) {
        const value* rows = y.at(-d_search + static_cast<int64_t>(parity));
        std::fill_n(x, length, value{});
        for (size_t i = 0; i + parity < fixed.size() + delays; ++i)
            x[i] = rows[2 * i];
        transform.forward();
        for (size_t k = 0; k < length; ++k)
            x[k] *= std::conj(known[k]);
        transform.backward();
        for (size_t k = parity; k < out.size(); k += 2)
            out[k] = x[k / 2] / static_cast<float>(length);
    }
    return out;
}

/* Offset at which the piece outputs of the strong delays have the most power. */
double synchroniser::fine_offset(const half_symbol_stream& y, const values& fixed) const
{
    // Pieces with known symbols, and their times, s.
    std::vector<size_t> known;
    std::vector<double> times;
    for (size_t i = 0; (i + 1) * d_piece <= fixed.size(); ++i)
        if (std::any_of(&fixed[i * d_piece],
                        &fixed[i * d_piece] + d_piece,
                        [](const value& v) { return v != value{}; })) {
            known.push_back(i);
            times.push_back(static_cast<double>(i * d_piece) / d_grid.symbol_rate_bd());
        }
    std::vector<std::pair<float, int64_t>> power;
    float top = 0;
    for (const value& v : at_all_delays(y, fixed)) {
        const float p = std::norm(v);
        power.push_back({ p, static_cast<int64_t>(power.size()) - d_search });
        top = std::max(top, p);
    }
    const double step = d_plan->fine_step_hz;
    const auto steps = static_cast<int>(d_plan->fine_range_hz / step);
    // Outputs at the lowest offset, and the turn of each per step.
    std::vector<std::vector<std::complex<double>>> outputs;
    std::vector<std::complex<double>> turn;
    for (const double t : times)
        turn.push_back(std::polar(1.0, -2 * M_PI * step * t));
    for (const auto& [p, k] : power)
        if (p >= d_plan->strong_delay * top) {
            outputs.emplace_back();
            for (size_t i = 0; i < known.size(); ++i)
                outputs.back().push_back(
                    std::complex<double>(correlate(
                        y.at(k), fixed, known[i] * d_piece, (known[i] + 1) * d_piece)) *
                    std::polar(1.0, 2 * M_PI * steps * step * times[i]));
        }
    std::vector<double> f(static_cast<size_t>(2 * steps + 1));
    for (double& total : f)
        for (auto& x : outputs) {
            std::complex<double> sum = 0;
            for (size_t i = 0; i < x.size(); ++i) {
                sum += x[i];
                x[i] *= turn[i];
            }
            total += std::norm(sum);
        }
    const auto at = static_cast<size_t>(std::max_element(f.begin(), f.end()) - f.begin());
    const double best = (static_cast<double>(at) - steps) * step;
    if (at == 0 || at + 1 == f.size())
        return best;
    return best + top_of(f[at - 1], f[at], f[at + 1]) * step;
}

/* The first delay with more than \p least power, at most the strongest. Skips a delay so
 * early that the window after it has less than min_in_window of the possible power: it
 * is a useless weak path, or a side peak. */
size_t synchroniser::first_path(const std::vector<float>& power, float least) const
{
    const auto peak =
        static_cast<size_t>(std::max_element(power.begin(), power.end()) - power.begin());
    std::vector<double> up_to{ 0 }; // power of the paths before a delay
    for (const float p : power)
        up_to.push_back(up_to.back() + (p > least ? static_cast<double>(p) : 0));
    const auto in_window = [&](size_t first) {
        const size_t end = std::min(first + taps() - lead(), power.size());
        return up_to[end] - up_to[first - std::min(first, lead())];
    };
    std::vector<size_t> firsts;
    double most = 0;
    for (size_t k = 0; k <= peak; ++k)
        if (power[k] > least || k == peak) {
            firsts.push_back(k);
            most = std::max(most, in_window(k));
        }
    return *std::find_if(firsts.begin(), firsts.end(), [&](size_t k) {
        return in_window(k) >= min_in_window * most;
    });
}

// The rows of a stretch at an offset, with room for the search. Empty if samples are missing.
std::optional<half_symbol_stream> synchroniser::rows_at(const sample_buffer& in,
                                                        int64_t start,
                                                        double hz,
                                                        const values& fixed) const
{
    const auto rows = static_cast<int64_t>(2 * fixed.size());
    const int64_t from = -d_search - room, to = rows + d_search + room;
    half_symbol_stream y(d_grid, static_cast<double>(start), from, hz);
    y.run(in, to);
    if (y.end() < to)
        return std::nullopt;
    return y;
}

std::optional<synchroniser::located> synchroniser::locate(const sample_buffer& in,
                                                          int64_t start,
                                                          double hz,
                                                          const values& fixed,
                                                          bool periodic) const
{
    const auto coarse = rows_at(in, start, hz, fixed);
    if (!coarse)
        return std::nullopt;
    located l;
    l.hz = hz + fine_offset(*coarse, fixed);
    l.start = start;
    const auto fine = rows_at(in, start, l.hz, fixed);
    if (!fine)
        return std::nullopt;
    for (const value& v : at_all_delays(*fine, fixed))
        l.power.push_back(std::norm(v));
    l.peak = static_cast<size_t>(std::max_element(l.power.begin(), l.power.end()) -
                                 l.power.begin());
    if (periodic) {
        const value* y = fine->at(static_cast<int64_t>(l.peak) - d_search);
        const float a = std::norm(correlate(y, fixed, 0, fixed.size() / 2));
        const float b = std::norm(correlate(y, fixed, fixed.size() / 2, fixed.size()));
        if (std::min(a, b) < d_plan->other_half * std::max(a, b))
            return std::nullopt;
    }
    return l;
}

std::optional<synchronised> synchroniser::run(const sample_buffer& in,
                                              const located& l,
                                              const values& fixed,
                                              bool periodic) const
{
    const auto fine = rows_at(in, l.start, l.hz, fixed);
    if (!fine)
        return std::nullopt;
    synchronised s;
    s.hz = l.hz;
    const auto known = static_cast<float>(std::count_if(
        fixed.begin(), fixed.end(), [](const value& v) { return v != value{}; }));
    std::vector<float> power = l.power;
    size_t peak = l.peak;
    s.correlation = power[peak];
    const double mean = mean_power(*fine, static_cast<int64_t>(2 * fixed.size()));

    // Put the strongest path on the half-symbol grid, so that few taps describe it.
    const double shift = beside_grid(power, peak); // half symbols
    if (taps() > dense_delays) {
        power = without_side_peaks(*fine, fixed, known, static_cast<float>(mean));
        peak = static_cast<size_t>(std::max_element(power.begin(), power.end()) -
                                   power.begin());
    }
    const float share = periodic ? d_plan->min_path_periodic : d_plan->min_path;
    const size_t first = first_path(
        power,
        std::max(share * power[peak],
                 d_plan->min_path_over_noise * static_cast<float>(mean) * known));
    const int64_t tap0 = static_cast<int64_t>(first) - d_search - d_lead;
    s.origin =
        static_cast<double>(l.start) + row_samples * (static_cast<double>(tap0) + shift);

    const auto power_in = static_cast<float>(mean);
    s.profile.assign(taps(), power_in / 4);
    if (periodic) // start with the correlation over all symbols
        for (int64_t k = 0; k < d_taps; ++k) {
            const auto at = static_cast<size_t>(tap0 + k + d_search);
            const float p = at < power.size() ? power[at] / power[peak] : 0;
            s.profile[static_cast<size_t>(k)] = power_in * (p * p + empty_tap);
        }
    estimate(s, in, fixed, known, power_in);
    if (s.taps.empty())
        return std::nullopt;
    return s;
}

void synchroniser::widen(synchronised& s,
                         const sample_buffer& in,
                         const values& fixed) const
{
    const int64_t wide = d_grid.half_symbols(d_plan->wide_window_s);
    if (wide <= d_taps || wide > static_cast<int64_t>(dense_delays))
        return;
    const int64_t more = wide - d_taps;
    const auto rows = static_cast<int64_t>(2 * fixed.size());
    half_symbol_stream y(d_grid, s.origin, -room_before_fit, s.hz);
    y.run(in, rows + room_behind_fit);
    if (y.end() < rows + room_behind_fit)
        return;
    const local_beliefs b(-more, rows, static_cast<size_t>(wide), beliefs_of(fixed));
    const values signal = known_signal(b, -wide, rows + more);
    const auto sent = [&signal, wide](int64_t row, int64_t tap) {
        return signal[static_cast<size_t>(row - tap + wide)];
    };
    values left(y.at(0), y.at(rows - 1) + 1);
    float noise = 0, power_in = 0;
    for (int64_t i = 0; i < rows; ++i) {
        value& e = left[static_cast<size_t>(i)];
        power_in += std::norm(e) / static_cast<float>(rows);
        for (int64_t k = 0; k < d_taps; ++k)
            if (const value g = s.taps[static_cast<size_t>(k)]; g != value{})
                e -= g * sent(i, k);
        noise += std::norm(e) / static_cast<float>(rows);
    }
    float most = 0;
    int64_t at = 0;
    for (int64_t k = -more; k < wide; ++k) {
        value sum = 0;
        float own = 1e-20f;
        for (int64_t i = 0; i < rows; ++i) {
            sum += std::conj(sent(i, k)) * left[static_cast<size_t>(i)];
            own += std::norm(sent(i, k));
        }
        if ((k < 0 || k >= d_taps) && std::norm(sum) > most * own) {
            most = std::norm(sum) / own;
            at = k;
        }
    }
    if (most < d_plan->path_outside * noise_colour * noise)
        return;
    synchronised w = s;
    w.taps.clear();
    if (at < 0)
        w.origin -= static_cast<double>(row_samples * more);
    w.profile.assign(static_cast<size_t>(wide), power_in / 4);
    const auto known = static_cast<float>(std::count_if(
        fixed.begin(), fixed.end(), [](const value& v) { return v != value{}; }));
    estimate(w, in, fixed, known, power_in);
    if (!w.taps.empty())
        s = std::move(w);
}

// Taps, profile, noise and gain, from a first profile. No taps if samples are missing.
void synchroniser::estimate(synchronised& s,
                            const sample_buffer& in,
                            const values& fixed,
                            float known,
                            float power_in) const
{
    const auto rows = static_cast<int64_t>(2 * fixed.size());
    half_symbol_stream y(d_grid, s.origin, -room_before_fit, s.hz);
    y.run(in, rows + room_behind_fit);
    if (y.end() < rows + room_behind_fit)
        return;
    s.noise = first_noise * power_in;
    if (taps() > dense_delays)
        estimate_sparse(s, y, fixed, known, power_in);
    else
        estimate_all(s, y, fixed, known, power_in);
    // Drop taps that may be noise alone.
    float strongest = 0;
    for (const value& g : s.taps)
        strongest = std::max(strongest, std::norm(g));
    const float chance = std::min(d_plan->certain_tap * s.noise / known, strongest);
    for (value& g : s.taps)
        if (std::norm(g) < chance)
            g = 0;
    s.gain = composite_gain(s.taps);
    s.row_power = row_power(s.taps);
}

void synchroniser::estimate_all(synchronised& s,
                                const half_symbol_stream& y,
                                const values& fixed,
                                float known,
                                float power_in) const
{
    const auto rows = static_cast<int64_t>(2 * fixed.size());
    const belief_function beliefs = beliefs_of(fixed);
    const size_t taps = s.profile.size();
    for (int round = 0; round < d_plan->rounds; ++round) {
        float residual = 0;
        s.taps =
            estimate_static(y.at(0), 0, 0, rows, beliefs, s.profile, s.noise, &residual);
        float freedom = 0;
        for (size_t k = 0; k < taps; ++k) {
            const float information = known / std::max(s.noise, 1e-20f);
            const float posterior =
                1 / (1 / std::max(s.profile[k], 1e-20f) + information);
            freedom += s.profile[k] / (s.profile[k] + 1 / information);
            s.profile[k] = std::norm(s.taps[k]) + posterior;
        }
        const auto equations = d_plan->independent_rows * static_cast<float>(rows);
        s.noise = std::max(residual * equations / std::max(equations - freedom, min_rows),
                           min_noise * power_in);
    }
}

// Equations of \p delays delays from the first of \p rows on, by the known symbols.
sparse_equations synchroniser::equations_of(const value* rows,
                                            size_t delays,
                                            const values& fixed,
                                            float power)
{
    const auto count = static_cast<int64_t>(2 * fixed.size());
    const local_beliefs b(0, count, delays, beliefs_of(fixed));
    const std::vector<float> spread(delays, power / static_cast<float>(delays));
    std::vector<float> weight = foreign_power(b, 0, count, spread);
    for (float& w : weight)
        w = first_noise * power / (first_noise * power + w);
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
                        std::max(equations - freedom, min_rows),
                    min_noise * power);
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
    const local_beliefs b(0, count, taps(), beliefs_of(fixed));
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

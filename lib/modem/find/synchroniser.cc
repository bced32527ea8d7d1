/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/find/synchroniser.h"
#include "modem/find/synchroniser_parts.h"

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

// Least share of the power of all paths that the window must hold. Starting early for an
// early path may lose the rest, at most half a decibel.
constexpr double min_in_window = 0.9;

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
    const local_beliefs b(
        -more, rows, static_cast<size_t>(wide), synchroniser_parts::beliefs_of(fixed));
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
    s.noise = synchroniser_parts::first_noise * power_in;
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
    const belief_function beliefs = synchroniser_parts::beliefs_of(fixed);
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
        s.noise =
            std::max(residual * equations /
                         std::max(equations - freedom, synchroniser_parts::min_rows),
                     synchroniser_parts::min_noise * power_in);
    }
}

} // namespace gr::hf::kernel

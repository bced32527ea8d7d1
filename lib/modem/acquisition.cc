/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/acquisition.h"

#include "modem/channel_estimator.h"
#include "modem/pulse.h"
#include "waveform/constellation.h"
#include "waveform/high_rate.h"
#include "waveform/scrambler.h"
#include "waveform/serial_tone.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace gr::hf::kernel {

namespace {

using value = std::complex<float>;

// Window of delays, half symbols: from 5.4 ms before the first path seen, since an earlier
// one may be in a fade, to 7 ms after it.
constexpr size_t taps = 60;
constexpr int64_t lead = 26;        // taps before the first path
constexpr int64_t search_taps = 48; // first path may be this far before the strongest
constexpr int64_t margin_symbols = 28;
constexpr size_t max_segments = 12; // of the serial tone, before giving up
constexpr float clear_lead = 12;    // log-likelihood of the best hypothesis over the next
// The same in the last segment of a preamble, how much the words of each must explain there,
// and what those of none explain at most.
constexpr float last_lead = 3, last_present = 26, ended_present = 22;

std::vector<value> symbols_of(const std::vector<uint8_t>& numbers)
{
    std::vector<value> s;
    for (const uint8_t n : numbers)
        s.push_back(psk8_points()[n & 7]);
    return s;
}

// sum conj(s_i) y[2 i] over symbols begin .. end - 1
value correlate(const value* y, const std::vector<value>& s, size_t begin, size_t end)
{
    value sum = 0;
    for (size_t i = begin; i < end; ++i)
        sum += std::conj(s[i]) * y[2 * i];
    return sum;
}

/* Offset that gives the piece outputs of the strong delays the most power, within +-6 Hz.
 * Pieces of 8 symbols are 1/300 s apart. */
double fine_offset(const half_symbol_stream& y, const std::vector<value>& fixed)
{
    constexpr size_t piece = 8;
    const size_t pieces = fixed.size() / piece;
    std::vector<std::pair<float, int64_t>> power;
    float top = 0;
    for (int64_t k = -search_taps; k <= search_taps; ++k) {
        const float p = std::norm(correlate(y.at(k), fixed, 0, fixed.size()));
        power.push_back({ p, k });
        top = std::max(top, p);
    }
    std::vector<std::vector<value>> outputs;
    for (const auto& [p, k] : power)
        if (p >= 0.3f * top) {
            outputs.emplace_back();
            for (size_t i = 0; i < pieces; ++i)
                outputs.back().push_back(
                    correlate(y.at(k), fixed, i * piece, (i + 1) * piece));
        }
    const auto objective = [&](double hz) {
        double sum = 0;
        for (const auto& x : outputs) {
            std::complex<double> s = 0;
            for (size_t i = 0; i < x.size(); ++i)
                s += std::complex<double>(x[i]) *
                     std::polar(1.0, -2 * M_PI * hz * static_cast<double>(i) / 300);
            sum += std::norm(s);
        }
        return sum;
    };
    constexpr double step = 0.5;
    constexpr int steps = 12;
    int best = 0;
    std::array<double, 2 * steps + 1> f{};
    for (int i = -steps; i <= steps; ++i) {
        f[static_cast<size_t>(i + steps)] = objective(i * step);
        if (f[static_cast<size_t>(i + steps)] > f[static_cast<size_t>(best + steps)])
            best = i;
    }
    if (best == -steps || best == steps)
        return best * step;
    const double l = f[static_cast<size_t>(best + steps - 1)],
                 c = f[static_cast<size_t>(best + steps)],
                 r = f[static_cast<size_t>(best + steps + 1)];
    const double curve = l - 2 * c + r;
    return (best + (curve < 0 ? 0.5 * (l - r) / curve : 0)) * step;
}

float composite_gain(const std::vector<value>& g)
{
    float e = 0;
    for (size_t a = 0; a < g.size(); ++a)
        for (size_t b = 0; b < g.size(); ++b)
            e += (std::conj(g[a]) * g[b]).real() *
                 half_symbol_pulse(static_cast<int>(a) - static_cast<int>(b));
    return e;
}

} // namespace

acquisition::acquisition(const preamble_candidate& c, bool zero_interleaver)
    : d_candidate(c), d_zero_interleaver(zero_interleaver), d_scores(16 * 24, 0)
{
}

std::optional<acquisition::synchronised>
acquisition::synchronise(const sample_buffer& in,
                         int64_t start,
                         double hz,
                         const std::vector<value>& fixed)
{
    const auto rows = static_cast<int64_t>(2 * fixed.size());
    const int64_t from = -search_taps - 80, to = rows + search_taps + 80;
    half_symbol_stream coarse(static_cast<double>(start), from, hz);
    coarse.run(in, to);
    if (coarse.end() < to)
        return std::nullopt;
    synchronised s;
    s.hz = hz + fine_offset(coarse, fixed);
    const auto known = static_cast<float>(std::count_if(
        fixed.begin(), fixed.end(), [](const value& v) { return v != value{}; }));

    half_symbol_stream fine(static_cast<double>(start), from, s.hz);
    fine.run(in, to);
    std::vector<float> power;
    for (int64_t k = -search_taps; k <= search_taps; ++k)
        power.push_back(std::norm(correlate(fine.at(k), fixed, 0, fixed.size())));
    const auto peak =
        static_cast<size_t>(std::max_element(power.begin(), power.end()) - power.begin());
    // Mini-probes are periodic: half of them fits 16 symbols away.
    const bool periodic = known < static_cast<float>(fixed.size());
    if (periodic) {
        // One probe amid data is half of the pattern, and comes in every frame.
        constexpr float other_half = 0.1f;
        const value* y = fine.at(static_cast<int64_t>(peak) - search_taps);
        const float a = std::norm(correlate(y, fixed, 0, fixed.size() / 2));
        const float b = std::norm(correlate(y, fixed, fixed.size() / 2, fixed.size()));
        if (std::min(a, b) < other_half * std::max(a, b))
            return std::nullopt;
    }
    double mean = 0;
    for (int64_t i = 0; i < rows; ++i)
        mean += std::norm(*fine.at(i));
    mean /= static_cast<double>(rows);

    // Put the strongest path on the grid of half symbols, so that few taps describe it.
    double shift = 0; // half symbols
    if (peak > 0 && peak + 1 < power.size()) {
        const double l = std::sqrt(power[peak - 1]), c = std::sqrt(power[peak]),
                     r = std::sqrt(power[peak + 1]);
        const double curve = l - 2 * c + r;
        shift = curve < 0 ? std::clamp(0.5 * (l - r) / curve, -0.5, 0.5) : 0;
    }
    const auto least = std::max((periodic ? 0.4f : 0.06f) * power[peak],
                                8 * static_cast<float>(mean) * known);
    size_t first = peak;
    for (size_t k = 0; k < peak; ++k)
        if (power[k] > least) {
            first = k;
            break;
        }
    const int64_t tap0 = static_cast<int64_t>(first) - search_taps - lead;
    s.origin = static_cast<double>(start) + 2 * (static_cast<double>(tap0) + shift);

    half_symbol_stream y(s.origin, -64, s.hz);
    y.run(in, rows + 8);
    if (y.end() < rows + 8)
        return std::nullopt;
    const belief_function beliefs = [&fixed](int64_t n) {
        const auto i = static_cast<size_t>(n); // a negative n becomes large
        return i < fixed.size() && fixed[i] != value{} ? symbol_belief{ fixed[i], 0 }
                                                       : symbol_belief{ 0, 1 };
    };
    // Two rounds: a flat prior, then the profile that it gives.
    const auto power_in = static_cast<float>(mean);
    s.profile.assign(taps, power_in / 4);
    if (periodic) // begin with what the correlation over all of them shows
        for (size_t k = 0; k < taps; ++k) {
            const auto at =
                static_cast<size_t>(tap0 + static_cast<int64_t>(k) + search_taps);
            const float p = at < power.size() ? power[at] / power[peak] : 0;
            s.profile[k] = power_in * (p * p + 1e-3f);
        }
    s.noise = power_in / 4;
    for (int round = 0; round < 3; ++round) {
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
        const auto equations = 0.67f * static_cast<float>(rows);
        s.noise = std::max(residual * equations / std::max(equations - freedom, 8.0f),
                           1e-5f * power_in);
    }
    /* Taps that noise alone may have given would cost the matched filter some dB where the
     * signal is weak. */
    constexpr float certain = 4;
    float strongest = 0;
    for (const value& g : s.taps)
        strongest = std::max(strongest, std::norm(g));
    const float chance = std::min(certain * s.noise / known, strongest);
    for (value& g : s.taps)
        if (std::norm(g) < chance)
            g = 0;
    s.gain = composite_gain(s.taps);
    return s;
}

// Channel-matched correlation of \p count symbols from \p symbol on; gain * count if right.
value acquisition::match(const half_symbol_stream& y,
                         const synchronised& s,
                         size_t symbol,
                         const value* values,
                         size_t count) const
{
    value sum = 0;
    for (size_t i = 0; i < count; ++i) {
        const auto* row = y.at(static_cast<int64_t>(2 * (symbol + i)));
        value z = 0;
        for (size_t k = 0; k < taps; ++k)
            z += std::conj(s.taps[k]) * row[k];
        sum += std::conj(values[i]) * z;
    }
    return sum;
}

void acquisition::lock(const mode& m,
                       const synchronised& s,
                       int64_t symbols_to_data,
                       int64_t seen)
{
    d_result.m = m;
    d_result.origin = s.origin + 4.0 * static_cast<double>(symbols_to_data);
    d_result.frequency_hz = s.hz;
    d_result.first_symbol = -seen;
    d_result.profile = s.profile;
    const float strongest = *std::max_element(s.profile.begin(), s.profile.end());
    d_result.first_tap = 0;
    while (s.profile[d_result.first_tap] < 0.1f * strongest)
        ++d_result.first_tap;
    d_result.noise = s.noise;
    d_result.snr_db = snr_in_3_khz(s.gain / s.noise * mean_power(m));
}

acquisition::state acquisition::advance(const sample_buffer& in)
{
    if (d_candidate.family == waveform_family::high_rate)
        return high_rate_preamble(in);
    for (;;) {
        const state s = serial_tone_segment(in);
        if (s != state::pending)
            return s;
        const int64_t next =
            d_candidate.sample +
            static_cast<int64_t>(4 * serial_tone::segment_symbols * (d_segment + 1));
        if (in.end() < next + 4 * margin_symbols + 128)
            return state::pending;
    }
}

acquisition::state acquisition::serial_tone_segment(const sample_buffer& in)
{
    using namespace serial_tone;
    const int64_t start =
        d_candidate.sample + static_cast<int64_t>(4 * segment_symbols * d_segment);
    const int64_t until =
        start + static_cast<int64_t>(4 * segment_symbols) + 4 * margin_symbols + 128;
    if (in.end() < until)
        return state::pending;
    static const auto fixed = symbols_of(fixed_preamble());
    const auto s =
        synchronise(in, start, d_first ? d_first->hz : d_candidate.frequency_hz, fixed);
    if (!s)
        return state::rejected;
    if (!d_first)
        d_first = s;
    half_symbol_stream y(s->origin, -8, s->hz);
    y.run(in, static_cast<int64_t>(2 * segment_symbols + taps));

    // What each word would explain of each group, |matched| against noise.
    std::array<std::array<float, 8>, 6> score{};
    float present = 0;
    for (size_t g = 0; g < 6; ++g) {
        float best = 0;
        for (unsigned w = 0; w < 8; ++w) {
            std::array<value, group_symbols> symbols;
            for (size_t i = 0; i < group_symbols; ++i)
                symbols[i] = psk8_points()[(walsh_word(w)[i % 8] +
                                            serial_tone_sync_scrambler()[i]) &
                                           7];
            const float m = std::abs(match(y,
                                           *s,
                                           (fixed_groups + g) * group_symbols,
                                           symbols.data(),
                                           group_symbols));
            score[g][w] = 2 * m / s->noise;
            best = std::max(best, m);
        }
        if (g == 5) // always word 0
            best = score[g][0] * s->noise / 2;
        present +=
            best * best /
            (static_cast<float>(group_symbols) * s->noise * std::max(s->gain, 1e-20f));
    }
    if (d_last_at > 0 && d_last_at == d_segment && present < ended_present)
        return state::locked;
    // Noise gives about 12 over the six groups; at the start it may do so by chance.
    d_present += present;
    const float least_present =
        d_segment == 0 ? 22.0f : 18.0f * static_cast<float>(d_segment + 1);
    if (!(d_present >= least_present) && (d_segment > 0 || d_candidate.score < 60))
        return state::rejected;

    /* Where fading is fast the channel is no longer what the fixed part showed: what the words
     * do not explain counts as noise. */
    constexpr float by_chance = 1.5f; // of a group's explained power
    constexpr float enough = 4;       // Es / N0 at which there is no doubt anyway
    const float es_n0 = std::max(s->gain / std::max(s->noise, 1e-20f), 1e-6f);
    const float coherent = std::clamp((present / 6 - by_chance) /
                                          (static_cast<float>(group_symbols) * es_n0),
                                      0.0f,
                                      1.0f);
    const float trust = 1 / (1 + (1 - coherent) * std::min(es_n0, enough));
    for (auto& words : score)
        for (float& x : words)
            x *= trust;

    size_t best = 0;
    for (unsigned a = 0; a < 4; ++a)
        for (unsigned b = 0; b < 4; ++b)
            for (unsigned count = 0; count < 24; ++count) {
                float& h = d_scores[(a * 4 + b) * 24 + count];
                const auto m = mode_of(4 + a, 4 + b, d_zero_interleaver);
                if (count < d_segment || (m && count >= segments(*m))) {
                    h = -1e30f;
                    continue;
                }
                const unsigned now = count - static_cast<unsigned>(d_segment);
                h += score[0][4 + a] + score[1][4 + b] + score[2][4 + (now >> 4 & 3)] +
                     score[3][4 + (now >> 2 & 3)] + score[4][4 + (now & 3)];
            }
    for (size_t k = 1; k < d_scores.size(); ++k)
        if (d_scores[k] > d_scores[best])
            best = k;
    float second = -1e30f;
    for (size_t k = 0; k < d_scores.size(); ++k)
        if (k != best)
            second = std::max(second, d_scores[k]);
    const float lead = d_scores[best] - second;
    const size_t segment = d_segment++;
    const auto m = mode_of(static_cast<unsigned>(4 + best / 96),
                           static_cast<unsigned>(4 + best / 24 % 4),
                           d_zero_interleaver);
    const auto left = static_cast<int64_t>(best % 24 - segment + 1); // with this segment
    const auto length = static_cast<int64_t>(segment_symbols);
    const auto seen = left + static_cast<int64_t>(segment);
    if (lead >= clear_lead) {
        if (!m)
            return state::rejected; // reserved words
        lock(*m, *s, left * length, seen * length);
        return state::locked;
    }
    // Perhaps this was the last segment: then the next one will not look like one.
    d_last_at = 0;
    if (m && left == 1 && segment > 0 && lead >= last_lead &&
        d_present >= last_present * static_cast<float>(d_segment)) {
        lock(*m, *s, length, seen * length);
        d_last_at = d_segment;
    }
    return d_segment < max_segments ? state::pending : state::rejected;
}

acquisition::state acquisition::high_rate_preamble(const sample_buffer& in)
{
    using namespace high_rate;
    // Of the whole preamble, or of the part that is repeated.
    const size_t begin = d_candidate.reinserted ? probe_plus_begin : 0;
    const size_t length = preamble_symbols - begin;
    const int64_t start = d_candidate.sample;
    if (in.end() < start + static_cast<int64_t>(4 * length) + 4 * margin_symbols + 128)
        return state::pending;
    static const auto whole = symbols_of(sync()), tail = preamble_tail();
    const auto s = synchronise(
        in, start, d_candidate.frequency_hz, d_candidate.reinserted ? tail : whole);
    if (!s)
        return state::rejected;
    half_symbol_stream y(s->origin, -8, s->hz);
    y.run(in, static_cast<int64_t>(2 * length + taps));

    // The known symbols around the words tell that this is a preamble, and its phase.
    static const auto symbols = symbols_of(preamble({ 1, 1 }));
    constexpr size_t known = 32;
    const value before =
        match(y, *s, probe_plus_begin - begin, &symbols[probe_plus_begin], known);
    const value after = match(
        y, *s, probe_minus_begin - 1 - begin, &symbols[probe_minus_begin - 1], known);
    const float present =
        (std::norm(before) + std::norm(after)) /
        (static_cast<float>(known) * s->noise * std::max(s->gain, 1e-20f));
    constexpr float least_present = 20; // noise gives 2
    if (present < least_present)
        return state::rejected;
    const value phase = (before + after) / std::max(std::abs(before + after), 1e-20f);

    std::array<value, 13> chips;
    for (size_t i = 0; i < chips.size(); ++i)
        chips[i] = psk8_points()[barker()[i]];
    std::array<value, 3> word;
    for (size_t w = 0; w < 3; ++w)
        word[w] = match(y, *s, words_begin + 13 * w - begin, chips.data(), 13) *
                  std::conj(phase);
    // Where the known symbols were what the channel was estimated from, they prove nothing.
    const float words_present =
        (std::norm(word[0]) + std::norm(word[1]) + std::norm(word[2])) /
        (13 * s->noise * std::max(s->gain, 1e-20f));
    constexpr float least_words_present = 35; // noise gives 3
    if (d_candidate.reinserted && words_present < least_words_present)
        return state::rejected;

    float best = -1e30f, second = -1e30f;
    std::optional<mode> found;
    for (uint8_t rate = 0; rate < 8; ++rate)
        for (uint8_t il = 0; il < 8; ++il) {
            const auto d = words_of({ rate, il });
            float score = 0;
            for (size_t w = 0; w < 3; ++w)
                score += 2 * (word[w] * std::conj(psk8_points()[d[w]])).real() / s->noise;
            if (score > best) {
                second = best;
                best = score;
                found = mode_of({ rate, il });
            } else {
                second = std::max(second, score);
            }
        }
    if (!found || best - second < clear_lead)
        return state::rejected;
    lock(*found, *s, static_cast<int64_t>(length), static_cast<int64_t>(length));
    return state::locked;
}

} // namespace gr::hf::kernel

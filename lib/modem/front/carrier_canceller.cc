/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/front/carrier_canceller.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <mutex>
// after complex, so that the transform takes std::complex
#include <fftw3.h>

namespace gr::hf::kernel {

namespace {

constexpr double bin_hz = 2.34375; // largest width of a bin: 4096 samples in 3 kHz
constexpr double memory_s = 0.25;  // of a line's amplitude, and of the power
constexpr double look_every_s = 0.05;
constexpr double frequency_gain = 0.1;
constexpr size_t weak_looks = 20;  // 1 s, after which a line is dropped
constexpr float hysteresis = 0.3f; // relative to the power at which a line is adopted
constexpr size_t averaged = 8;     // spectra, half overlapping: 1.7 s
constexpr size_t min_spectra = 3;  // before the average counts
// Highest carrier, relative to the symbol rate: half the channel's width and the filters'
// skirts, 1700 Hz in 3 kHz.
constexpr double highest = 1700 / 2400.0;
constexpr int background = 40; // bins to either side
constexpr int lobe = 3;        // bins next to a line that belong to it
// Relative to the mean of the bins around, with few spectra averaged and later.
// Bins beside a line that keying fills, against those further away, all bins, and the line.
constexpr int sideband = 10;
constexpr float morse = 2.5f, teletype = 4, min_rejection = 1000;
// Parts of a spectrum that a line is measured in, and how far they may differ: relative to
// the noise in a part, and to the line. Noise alone exceeds that once in 100000 times.
constexpr size_t parts = 8;
constexpr double max_noise = 2.5, uneven = 0.03;
// Hum by its power: lines that have more of it than all else by 6 dB.
constexpr double mains_hz[] = { 50, 60 };
constexpr float share_of_hum = 0.8f, min_of_hum = 1e-3f;
constexpr int min_lines = 8;
// 20 dB below other lines: together they matter.
constexpr float weakest_of_hum = 1e-4f;
constexpr float stands_out_early = 12, stands_out = 8;

fftwf_plan transform_plan(size_t n)
{
    static std::mutex mutex;
    // Never freed: threads may still transform while the program exits.
    static auto& plans = *new std::map<size_t, fftwf_plan>;
    const std::lock_guard<std::mutex> lock(mutex);
    fftwf_plan& plan = plans[n];
    if (!plan) {
        // Other code in the process plans transforms too, under its own locks.
        fftwf_make_planner_thread_safe();
        std::vector<std::complex<float>> in(n), out(n);
        plan = fftwf_plan_dft_1d(static_cast<int>(n),
                                 reinterpret_cast<fftwf_complex*>(in.data()),
                                 reinterpret_cast<fftwf_complex*>(out.data()),
                                 FFTW_FORWARD,
                                 FFTW_ESTIMATE | FFTW_UNALIGNED);
    }
    return plan;
}

// The least power of two with narrow enough bins.
size_t spectrum_length(double sample_rate)
{
    size_t n = 1;
    while (sample_rate / static_cast<double>(n) > bin_hz)
        n *= 2;
    return n;
}

} // namespace

carrier_canceller::carrier_canceller(const symbol_grid& grid,
                                     const std::vector<double>& periods_s)
    : d_sample_rate(grid.sample_rate()), d_length(spectrum_length(d_sample_rate)),
      d_look_every(static_cast<size_t>(grid.samples(look_every_s))),
      d_agility(1 / static_cast<float>(grid.samples(memory_s))),
      d_silence(static_cast<size_t>(grid.samples(memory_s))), d_recent(d_length),
      d_window(d_length), d_average(d_length), d_work(d_length), d_spectrum(d_length)
{
    for (const double s : periods_s)
        d_repetitions.emplace_back(static_cast<size_t>(grid.samples(s)));
    const auto length = static_cast<double>(d_length);
    // Hann, of unit energy per bin: noise of power 1 has bins of 1 / length.
    for (size_t i = 0; i < d_length; ++i)
        d_window[i] = static_cast<float>(
            (1 - std::cos(2 * M_PI * (static_cast<double>(i) + 0.5) / length)) *
            std::sqrt(2.0 / 3.0) / length);
}

void carrier_canceller::restart()
{
    d_count = d_spectra = 0;
    d_power = d_added = d_repeating = 0;
    for (repetition& r : d_repetitions)
        r = repetition(r.sent.size());
    d_lines.clear();
}

std::vector<double> carrier_canceller::frequencies() const
{
    std::vector<double> f;
    for (const line& l : d_lines)
        f.push_back(l.turns * d_sample_rate);
    return f;
}

std::complex<float> carrier_canceller::push(std::complex<float> x, bool erased)
{
    // Digital silence has no lines. What is remembered of them would fade for seconds, and
    // tones resemble preambles at any level.
    d_zeros = x == value{} && !erased ? d_zeros + 1 : 0;
    if (d_zeros == d_silence)
        restart();
    d_recent[d_count++ & (d_length - 1)] = x; // a power of two
    value y = x;
    if (!erased && !d_lines.empty()) {
        for (const line& l : d_lines)
            y -= l.amplitude * value(l.phase);
        const value step = d_agility * y;
        for (line& l : d_lines)
            l.amplitude += step * std::conj(value(l.phase));
    }
    for (line& l : d_lines)
        l.phase *= l.step;
    d_power += d_agility * (std::norm(y) - d_power);
    d_added += std::norm(y);
    for (repetition& r : d_repetitions) {
        value& before = r.sent[r.at];
        r.at = r.at + 1 < r.sent.size() ? r.at + 1 : 0;
        r.correlation += y * std::conj(before);
        r.added += std::norm(y) - std::norm(before);
        before = y;
    }
    if (!d_lines.empty() && d_count % d_look_every == 0)
        look();
    if ((d_count & (d_length / 2 - 1)) == 0 && d_count >= d_length)
        analyse();
    return y;
}

void carrier_canceller::set(line& l, double turns)
{
    l.turns = turns;
    l.step = std::polar(1.0, 2 * M_PI * turns);
}

// Keep each line on its frequency, and check that it still exists.
void carrier_canceller::look()
{
    for (line& l : d_lines) {
        const float power = std::norm(l.amplitude);
        if (const value turned = l.amplitude * std::conj(l.before); turned != value{})
            set(l,
                l.turns + frequency_gain * std::arg(turned) /
                              (2 * M_PI * static_cast<double>(d_look_every)));
        l.phase /= std::abs(l.phase);
        l.before = l.amplitude;
        l.weak = power < hysteresis * (l.of_hum ? weakest_of_hum : weakest) * d_power
                     ? l.weak + 1
                     : 0;
    }
    d_lines.erase(std::remove_if(d_lines.begin(),
                                 d_lines.end(),
                                 [](const line& l) { return l.weak > weak_looks; }),
                  d_lines.end());
}

void carrier_canceller::analyse()
{
    const size_t length = d_length;
    for (size_t i = 0; i < length; ++i)
        d_work[i] = d_window[i] * d_recent[(d_count + i) & (length - 1)];
    fftwf_execute_dft(transform_plan(length),
                      reinterpret_cast<fftwf_complex*>(d_work.data()),
                      reinterpret_cast<fftwf_complex*>(d_spectrum.data()));
    d_spectra = std::min(d_spectra + 1, averaged);
    const float share = 1 / static_cast<float>(d_spectra);
    // Input of the last period may be a preamble that had no time to repeat itself.
    const auto half = static_cast<float>(length / 2);
    float max_repeating = 0;
    for (repetition& r : d_repetitions) {
        const float repeating = std::max(std::abs(r.correlation), r.added) / half;
        max_repeating = std::max(max_repeating, repeating);
        r.power += share * (repeating - r.power);
        r.correlation = 0;
        r.added = 0;
    }
    d_repeating = d_added > 0 ? std::min(max_repeating * half / d_added, 1.0f) : 0;
    d_added = 0;
    float total = 0;
    for (size_t k = 0; k < length; ++k) {
        d_average[k] += share * (std::norm(d_spectrum[k]) - d_average[k]);
        total += d_average[k];
    }
    // The power of lines already removed does not count.
    for (const line& l : d_lines) {
        const auto k =
            static_cast<int>(std::lround(l.turns * static_cast<double>(length)));
        for (int j = k - lobe; j <= k + lobe; ++j)
            total -= at(j);
    }
    if (d_spectra < min_spectra || !(total > 0))
        return;
    adopt_lines(total);
}

// Adopt the lines of the average that stand out. Without those removed already it has the
// power \p total.
void carrier_canceller::adopt_lines(float total)
{
    const size_t length = d_length;
    const float clear = d_spectra < averaged ? stands_out_early : stands_out;
    constexpr double highest_turns = highest / symbol_grid::samples_per_symbol;
    const auto edge = static_cast<int>(highest_turns * static_cast<double>(length));
    const comb hum = hum_among(edge);
    for (int k = -edge; k <= edge && d_lines.size() < most; ++k) {
        if (at(k) < at(k - 1) || at(k) <= at(k + 1))
            continue;
        const float power = at(k - 1) + at(k) + at(k + 1); // the window's main lobe
        const bool of_hum = hum.has(k);
        if (!of_hum && (power < weakest * (total - power) || is_of_a_signal(power)))
            continue;
        // The other lines of a hum are 50 or 60 Hz away, those of a signal that repeats its
        // frames 8 Hz: a mean contains both.
        const float around = of_hum ? middle_beside(k, lobe, background) : mean_beside(k);
        if (power < clear * 3 * around)
            continue;
        const bool known =
            std::any_of(d_lines.begin(), d_lines.end(), [k, length](const line& l) {
                return std::abs(l.turns * static_cast<double>(length) - k) < lobe + 1;
            });
        if (known)
            continue;
        const float l = std::sqrt(at(k - 1)), c = std::sqrt(at(k)),
                    r = std::sqrt(at(k + 1));
        const double bin = k + (r - l) / (2 * c); // close enough for the main lobe
        if (!of_hum && !is_steady(k, edge))
            continue;
        if (of_hum || crowded(k) ||
            is_even(bin, middle_beside(k, 2 * sideband, background)))
            adopt(bin, of_hum);
    }
}

/* Hum: lines at the distance of a mains frequency that hold nearly all power. Signals that
 * repeat themselves have lines too, but at other distances. */
carrier_canceller::comb carrier_canceller::hum_among(int edge) const
{
    const double bin = d_sample_rate / static_cast<double>(d_length);
    int strongest = -edge;
    float total = 0;
    for (int k = -edge; k <= edge; ++k) {
        total += at(k);
        if (at(k) > at(strongest))
            strongest = k;
    }
    for (const double hz : mains_hz) {
        const comb c{ strongest, hz / bin };
        float on_lines = 0;
        int lines = 0;
        for (int k = -edge; k <= edge; ++k) {
            if (!c.has(k))
                continue;
            on_lines += at(k);
            lines +=
                at(k) > min_of_hum * total && at(k) >= at(k - 1) && at(k) > at(k + 1);
        }
        if (lines >= min_lines && on_lines > share_of_hum * total)
            return c;
    }
    return {};
}

// True if a line of this power may belong to a signal that repeats itself.
bool carrier_canceller::is_of_a_signal(float power) const
{
    return std::any_of(
        d_repetitions.begin(),
        d_repetitions.end(),
        [power](const repetition& r) { return power < of_what_repeats * r.power; });
}

// Mean of the bins beside the line at bin \p k.
float carrier_canceller::mean_beside(int k) const
{
    float sum = 0;
    for (int j = lobe; j < background; ++j)
        sum += at(k + j) + at(k - j);
    return sum / (2 * static_cast<float>(background - lobe));
}

// Middle one of the bins \p from to \p to on both sides of bin \p k.
float carrier_canceller::middle_beside(int k, int from, int to) const
{
    std::vector<float> bins;
    for (int j = from; j <= to; ++j)
        for (const int i : { k - j, k + j })
            bins.push_back(at(i));
    const auto middle = bins.begin() + static_cast<long>(bins.size() / 2);
    std::nth_element(bins.begin(), middle, bins.end());
    return *middle;
}

/* True unless the line at bin \p k is keyed or moves, for moving_carriers to take out:
 * either fills the bins beside it, Morse code those next to it, teletype more. \p edge is
 * the highest bin of the channel. */
bool carrier_canceller::is_steady(int k, int edge) const
{
    const float beside = middle_beside(k, lobe, sideband);
    return beside < at(k) / min_rejection ||
           (beside < morse * middle_beside(k, 2 * sideband, background) &&
            beside < teletype * middle_beside(0, 0, edge));
}

// True if another line is so near that the two beat within a part.
bool carrier_canceller::crowded(int k) const
{
    constexpr int reach = 2 * static_cast<int>(parts);
    for (int j = lobe; j <= reach; ++j)
        if (std::max(at(k - j), at(k + j)) > at(k) / 4)
            return true;
    return false;
}

// True if parts of the latest samples have the same amplitude and phase at a bin, but for
// the noise \p around in a bin.
bool carrier_canceller::is_even(double bin, float around) const
{
    const size_t length = d_length, part = length / parts;
    const auto step = std::polar(1.0, -2 * M_PI * bin / static_cast<double>(length));
    std::array<std::complex<double>, parts> amplitudes{};
    std::complex<double> phase = 1, turned = 0;
    for (size_t p = 0; p < parts; ++p) {
        std::complex<double>& a = amplitudes[p];
        for (size_t i = 0; i < part; ++i, phase *= step)
            a += std::complex<double>(d_recent[(d_count + p * part + i) & (length - 1)]) *
                 phase;
        a /= static_cast<double>(part);
        if (p > 0)
            turned += a * std::conj(amplitudes[p - 1]);
    }
    std::complex<double> mean = 0; // at the frequency by which the parts are turned
    for (size_t p = 0; p < parts; ++p) {
        amplitudes[p] *= std::polar(1.0, -std::arg(turned) * static_cast<double>(p));
        mean += amplitudes[p] / static_cast<double>(parts);
    }
    double rest = 0;
    for (const std::complex<double> a : amplitudes)
        rest += std::norm(a - mean) / static_cast<double>(parts);
    const double noise = static_cast<double>(parts) * static_cast<double>(around);
    return rest < max_noise * noise + uneven * std::norm(mean);
}

// Adopt a line at this bin, as measured in the latest samples.
void carrier_canceller::adopt(double bin, bool of_hum)
{
    line l;
    const size_t length = d_length;
    set(l, bin / static_cast<double>(length));
    // Phase 1 at the next sample.
    std::complex<double> sum = 0, phase = 1;
    for (size_t i = 1; i <= length / 2; ++i) {
        phase *= l.step; // l.step^i, i samples before
        sum += std::complex<double>(d_recent[(d_count - i) & (length - 1)]) * phase;
    }
    l.amplitude = l.before = value(sum / (static_cast<double>(length) / 2.0));
    // Adopt it only if it still exists: the average remembers lines that have gone.
    l.of_hum = of_hum;
    if (of_hum || std::norm(l.amplitude) > hysteresis * weakest * d_power)
        d_lines.push_back(l);
}

} // namespace gr::hf::kernel

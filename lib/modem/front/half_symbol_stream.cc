/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/front/half_symbol_stream.h"

#include "modem/base/vector_code.h"
#include "modem/front/pulse.h"

#include <algorithm>
#include <cmath>

namespace gr::hf::kernel {

namespace {

constexpr size_t max_segments = 4096; // of the oscillator's history

/* level_steps reports a step up to 40 ms late and 3.3 ms off, and the filter reaches
 * 3.3 ms back. The rest is margin. */
constexpr double rescalable_s = 1 / 15.0;

HF_VECTOR_CODE std::complex<float> dot(const float* x, const float* t, size_t n)
{
    float acc[8] = {};
    for (size_t i = 0; i < n; i += 8)
        for (size_t k = 0; k < 8; ++k)
            acc[k] += x[i + k] * t[i + k];
    return { acc[0] + acc[2] + acc[4] + acc[6], acc[1] + acc[3] + acc[5] + acc[7] };
}

} // namespace

half_symbol_stream::half_symbol_stream(const symbol_grid& grid,
                                       double start,
                                       int64_t first,
                                       double frequency_hz,
                                       double clock)
    : d_input_rate(grid.sample_rate()), d_rescalable(grid.samples(rescalable_s)),
      d_timing{ { 0, start, symbol_grid::samples_per_row * (1 + clock), clock == 0 } },
      d_taps(filter_at(start - std::floor(start))), d_next_input(first_input(first))
{
    d_mixed.restart(d_next_input);
    d_out.restart(first);
    d_segments.push_back({ static_cast<double>(d_next_input), 0, frequency_hz });
}

/* Tap m weighs input sample m - half_span from the whole sample before the centre. Four
 * samples make a symbol. The pulse has unit energy per symbol, so for a symbol of power 1
 * sampled four times the matched filter gives 4 h(0)...; the factor 1/4 makes that 1. */
half_symbol_stream::filter half_symbol_stream::filter_at(double fraction)
{
    filter f{};
    // Nearly a sample more than the span, for fractional samples.
    constexpr double reach =
        static_cast<double>(half_span) / symbol_grid::samples_per_symbol + 0.2;
    for (size_t m = 0; m < filter_taps; ++m) {
        const double t = (static_cast<double>(m) - half_span - fraction) /
                         symbol_grid::samples_per_symbol;
        const double h = std::abs(t) <= reach ? root_raised_cosine(t) : 0;
        f[2 * m] = f[2 * m + 1] = static_cast<float>(h / symbol_grid::samples_per_symbol);
    }
    return f;
}

// Filter for outputs that drift against the samples, by fraction of a sample. Error
// -52 dB.
const float* half_symbol_stream::taps_of(int64_t i) const
{
    const timing& t = timing_at(static_cast<double>(i));
    if (t.whole && &t == &d_timing.front())
        return d_taps.data();
    constexpr size_t fractions = 128;
    static const auto filters = [] {
        std::vector<filter> all;
        for (size_t k = 0; k <= fractions; ++k)
            all.push_back(filter_at(static_cast<double>(k) / fractions));
        return all;
    }();
    const double at = input_time(static_cast<double>(i));
    return filters[static_cast<size_t>(std::lround((at - std::floor(at)) * fractions))]
        .data();
}

const half_symbol_stream::timing& half_symbol_stream::timing_at(double row) const
{
    size_t k = d_timing.size() - 1;
    while (k > 0 && static_cast<double>(d_timing[k].row) > row)
        --k;
    return d_timing[k];
}

double half_symbol_stream::row_at(double input) const
{
    size_t k = d_timing.size() - 1;
    while (k > 0 && d_timing[k].input > input)
        --k;
    const timing& t = d_timing[k];
    return static_cast<double>(t.row) + (input - t.input) / t.step;
}

void half_symbol_stream::set_clock(double difference)
{
    const int64_t row = d_out.end();
    const double input = input_time(static_cast<double>(row));
    d_timing.push_back(
        { row, input, symbol_grid::samples_per_row * (1 + difference), false });
}

int64_t half_symbol_stream::first_input(int64_t i) const
{
    const timing& t = timing_at(static_cast<double>(i));
    if (t.whole)
        return static_cast<int64_t>(std::floor(t.input)) +
               symbol_grid::samples_per_row * (i - t.row) - half_span;
    return static_cast<int64_t>(std::floor(input_time(static_cast<double>(i)))) -
           half_span;
}

const half_symbol_stream::segment& half_symbol_stream::segment_at(double input) const
{
    size_t k = d_segments.size() - 1;
    while (k > 0 && d_segments[k].from > input)
        --k;
    return d_segments[k];
}

double half_symbol_stream::phase(double i) const
{
    const double t = input_time(i);
    const segment& s = segment_at(t);
    return s.turns + s.hz * (t - s.from) / d_input_rate;
}

void half_symbol_stream::set_frequency(double hz)
{
    const segment& s = d_segments.back();
    const auto from = static_cast<double>(d_next_input);
    double turns = s.turns + s.hz * (from - s.from) / d_input_rate;
    turns -= std::floor(turns); // a phase: whole turns may differ between segments
    d_segments.push_back({ from, turns, hz });
    if (d_segments.size() > max_segments)
        d_segments.erase(d_segments.begin(), d_segments.begin() + max_segments / 2);
}

void half_symbol_stream::drop_before(int64_t i)
{
    d_out.drop_before(i);
    d_interference.erase(d_interference.begin(), d_interference.lower_bound(i));
    const int64_t oldest = first_input(d_out.begin());
    while (!d_erased.empty() && d_erased.front().sample < oldest)
        d_erased.pop_front();
    while (d_timing.size() > 1 && d_timing[1].row <= d_out.begin())
        d_timing.erase(d_timing.begin());
}

float half_symbol_stream::missing(int64_t i) const
{
    // Neighbouring samples, four per symbol, share most of their content.
    constexpr float coherence = 3;
    const int64_t first = first_input(i);
    const auto taps = static_cast<int64_t>(filter_taps);
    const float* const filter = taps_of(i);
    float sum = 0;
    for (auto e = std::lower_bound(d_erased.begin(), d_erased.end(), first);
         e != d_erased.end() && e->sample < first + taps;
         ++e) {
        const float h = filter[2 * (e->sample - first)];
        sum += e->share * h * h;
    }
    return coherence * sum;
}

void half_symbol_stream::move(int rows)
{
    for (timing& t : d_timing)
        t.row -= rows;
    d_out.renumber(-rows);
    std::map<int64_t, float> moved;
    for (const auto& [i, power] : d_interference)
        moved.emplace(i - rows, power);
    d_interference.swap(moved);
}

void half_symbol_stream::set_interference(int64_t i, float power)
{
    if (power > 0)
        d_interference[i] = power;
    else
        d_interference.erase(i);
}

float half_symbol_stream::interference(int64_t i) const
{
    const auto found = d_interference.find(i);
    return found == d_interference.end() ? 0 : found->second;
}

bool half_symbol_stream::interference_within(int64_t first, int64_t last) const
{
    const auto found = d_interference.lower_bound(first);
    return found != d_interference.end() && found->first < last;
}

// One past the last output for which there are samples up to \p end.
int64_t half_symbol_stream::possible_outputs(int64_t end) const
{
    const auto taps = static_cast<int64_t>(filter_taps);
    auto i = static_cast<int64_t>(
        std::ceil(row_at(static_cast<double>(end - taps + half_span + 1))));
    while (first_input(i) + taps <= end)
        ++i;
    while (first_input(i - 1) + taps > end)
        --i;
    return i;
}

void half_symbol_stream::run(const sample_buffer& in, int64_t limit)
{
    const int64_t end = std::min(limit, possible_outputs(in.end()));
    if (end <= d_out.end())
        return;
    mix(in, first_input(end - 1) + static_cast<int64_t>(filter_taps));
    make_outputs(end);
    d_mixed.drop_before(first_input(end - 1) + symbol_grid::samples_per_row -
                        d_rescalable);
}

// Mix samples up to \p end in pieces: exact phase at each piece, rotation within.
void half_symbol_stream::mix(const sample_buffer& in, int64_t end)
{
    while (d_next_input < end) {
        std::complex<float> piece[64];
        const int64_t n = std::min<int64_t>(64, end - d_next_input);
        const segment& s = d_segments.back();
        const double step = s.hz / d_input_rate;
        double turns = s.turns + step * (static_cast<double>(d_next_input) - s.from);
        turns -= std::floor(turns);
        auto w = std::polar(1.0, -2 * M_PI * turns);
        const auto r = std::polar(1.0, -2 * M_PI * step);
        const bool turning = step != 0;
        for (int64_t k = 0; k < n; ++k) {
            const int64_t i = d_next_input + k;
            const std::complex<float> x = i >= in.begin() ? *in.at(i) : 0.0f;
            piece[k] = x * d_gain * std::complex<float>(w);
            if (turning)
                w *= r;
        }
        const auto& erased = in.erased();
        for (auto e = std::lower_bound(erased.begin(), erased.end(), d_next_input);
             e != erased.end() && e->sample < d_next_input + n;
             ++e)
            d_erased.push_back(*e);
        d_mixed.append(piece, static_cast<size_t>(n));
        d_next_input += n;
    }
}

void half_symbol_stream::make_outputs(int64_t end)
{
    std::array<std::complex<float>, 64> y;
    while (d_out.end() < end) {
        const auto n = static_cast<size_t>(
            std::min<int64_t>(static_cast<int64_t>(y.size()), end - d_out.end()));
        const int64_t first = d_out.end();
        if (d_timing.size() == 1 && d_timing.front().whole) {
            const auto* x =
                reinterpret_cast<const float*>(d_mixed.at(first_input(first)));
            for (size_t k = 0; k < n; ++k)
                y[k] = dot(x + 2 * symbol_grid::samples_per_row * k,
                           d_taps.data(),
                           d_taps.size());
        } else {
            for (size_t k = 0; k < n; ++k) {
                const int64_t i = first + static_cast<int64_t>(k);
                y[k] = dot(reinterpret_cast<const float*>(d_mixed.at(first_input(i))),
                           taps_of(i),
                           d_taps.size());
            }
        }
        d_out.append(y.data(), n);
    }
}

int64_t half_symbol_stream::rescale(int64_t i, float factor)
{
    constexpr int64_t uncertain = 2; // samples
    constexpr auto taps = static_cast<int64_t>(filter_taps);
    d_gain *= factor;
    d_mixed.scale_from(i, factor);
    for (int64_t k = i - uncertain; k < i + uncertain; ++k) {
        const auto place = std::lower_bound(d_erased.begin(), d_erased.end(), k);
        if (k < d_mixed.begin())
            continue;
        if (place != d_erased.end() && place->sample == k)
            place->share = 1;
        else
            d_erased.insert(place, { k, 1 });
        d_mixed.erase(k);
    }
    // First output whose filter reaches the change, if its samples still exist.
    const int64_t oldest = std::max(i - uncertain - taps, d_mixed.begin());
    auto output =
        static_cast<int64_t>(std::floor(row_at(static_cast<double>(oldest + half_span))));
    while (first_input(output) < oldest)
        ++output;
    const int64_t changed = std::max(output, d_out.begin()), end = d_out.end();
    d_out.drop_from(changed);
    make_outputs(end);
    return changed;
}

} // namespace gr::hf::kernel

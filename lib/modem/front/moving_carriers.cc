/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/front/moving_carriers.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gr::hf::kernel {

namespace {

constexpr double memory_s = 0.3; // of the average
constexpr double hold_s = 1;     // after a carrier stood out
// Highest carrier, and half the signal's width, relative to the symbol rate: 1700 and 1250
// Hz in 3 kHz.
constexpr double highest = 1700 / 2400.0, half_width = 1250 / 2400.0;
// Least share of a bin in the average, of all power and of what repeats: the bins of constant
// data have up to 0.10 on ten channels, those of other data 0.05.
constexpr float min_share = 0.08f, of_what_repeats = 0.2f;
constexpr int lobe = 2, neighbours = 7; // bins to either side
constexpr double usual_place = 0.6;
// Power of a carrier's bin over the median bin: in the average, and in one window. A bin of
// noise is as strong once in 9 million windows.
constexpr float stands_out_of_average = 7, stands_out_now = 16;
constexpr float skirt = 3; // and next to it, or in a bin that is strong on average
constexpr size_t max_carriers = 6;
const float mean_of_median = 1 / std::log(2.0f);

} // namespace

moving_carriers::moving_carriers(const symbol_grid& grid)
    : d_spectrum(short_spectrum::length_at(grid.sample_rate())), d_bins(max_carriers),
      d_tones(grid.sample_rate(), max_carriers, memory_s * grid.sample_rate()),
      d_edge(static_cast<int>(highest / symbol_grid::samples_per_symbol *
                              static_cast<double>(d_spectrum.size()))),
      d_outside(
          static_cast<long>(static_cast<double>(d_edge) * (1 - half_width / highest))),
      d_recent(d_spectrum.size()), d_samples(max_carriers), d_work(d_spectrum.size()),
      d_power(2 * static_cast<size_t>(d_edge) + 1), d_average(d_power.size()),
      d_share(d_power.size())
{
    const double window_s = static_cast<double>(d_spectrum.hop()) / grid.sample_rate();
    d_follow = static_cast<float>(window_s / memory_s);
    d_hold = static_cast<size_t>(hold_s / window_s);
    restart();
}

void moving_carriers::restart()
{
    d_count = d_windows_left = 0;
    d_place = d_recent.size() - d_spectrum.hop();
    d_floor = 0;
    d_waits_from.reset();
    d_waiting.clear();
    std::fill(d_average.begin(), d_average.end(), 0.0f);
    std::fill(d_recent.begin(), d_recent.end(), value{});
    forget_carriers();
}

void moving_carriers::forget_carriers()
{
    d_tones.restart();
    d_bins.restart();
    for (std::vector<value>& samples : d_samples)
        samples.assign(d_spectrum.size(), value{});
}

void moving_carriers::push(value x, float erased, float repeating, sample_buffer& out)
{
    d_recent[d_place++] = x;
    if (d_waits_from)
        d_waiting.push_back({ x, erased });
    else
        out.append(x, erased);
    ++d_count;
    if (d_place == d_recent.size()) {
        end_window(repeating, out);
        d_place -= d_spectrum.hop();
    }
}

void moving_carriers::end_window(float repeating, sample_buffer& out)
{
    const size_t hop = d_spectrum.hop(), size = d_spectrum.size();
    // Without a carrier every other window is enough, and costs half.
    if (d_waits_from || d_count % (2 * hop) == 0) {
        const value* const spectrum = d_spectrum.of(d_recent.data());
        d_work.assign(spectrum, spectrum + size);
        if (notice(repeating))
            take_out();
    }
    if (d_waits_from) {
        // Power of the signal, as each bin of its width holds the same.
        const float signal = d_floor / d_spectrum.energy() /
                             static_cast<float>(symbol_grid::samples_per_symbol);
        // No later window reaches the oldest part of this one.
        const bool settled = d_count >= *d_waits_from + size;
        const size_t rest = std::min(size - hop, d_count - *d_waits_from);
        for (size_t k = 0; k < d_samples.size(); ++k) {
            const std::vector<value>& x = d_samples[k];
            if (settled)
                d_tones.push(k, x.data(), hop, signal);
            if (!active())
                d_tones.push(k, &x[size - rest], rest, signal);
        }
        if (!active())
            d_tones.finish();
        subtract_tones(out);
        if (!active()) {
            d_waits_from.reset();
            forget_carriers();
        }
    } else if (active()) {
        d_waits_from = d_count;
    }
    std::copy(
        d_recent.begin() + static_cast<long>(hop), d_recent.end(), d_recent.begin());
    if (!d_waits_from)
        return;
    for (std::vector<value>& samples : d_samples) {
        std::copy(
            samples.begin() + static_cast<long>(hop), samples.end(), samples.begin());
        std::fill(samples.end() - static_cast<long>(hop), samples.end(), value{});
    }
}

void moving_carriers::subtract_tones(sample_buffer& out)
{
    d_work.clear();
    d_tones.take(d_work);
    for (const value tone : d_work) {
        const waiting& w = d_waiting.front();
        out.append(w.sample - tone, w.erased);
        d_waiting.pop_front();
    }
    if (!d_work.empty())
        out.mark_carriers();
}

// Average of the exponential distribution whose median the powers have.
float moving_carriers::floor_of(const std::vector<float>& powers)
{
    d_sorted.assign(powers.begin() + d_outside, powers.end() - d_outside);
    const auto middle = d_sorted.begin() + static_cast<long>(d_sorted.size() / 2);
    std::nth_element(d_sorted.begin(), middle, d_sorted.end());
    return *middle * mean_of_median;
}

// True if a bin of the average far exceeds those around it. A selective channel raises many.
bool moving_carriers::stands_out(float repeating)
{
    const float least = std::max(min_share, of_what_repeats * repeating);
    const auto count = static_cast<int>(d_average.size());
    for (int k = 0; k < count; ++k) {
        if (d_average[k] < least)
            continue;
        d_sorted.clear();
        for (int j = lobe; j <= neighbours; ++j)
            for (const int i : { k - j, k + j })
                if (i >= 0 && i < count)
                    d_sorted.push_back(d_average[i]);
        const auto high =
            d_sorted.begin() +
            static_cast<long>(usual_place * static_cast<double>(d_sorted.size()));
        std::nth_element(d_sorted.begin(), high, d_sorted.end());
        if (d_average[k] > stands_out_of_average * *high)
            return true;
    }
    return false;
}

// Add the window's spectrum to the average. True while there is a carrier.
bool moving_carriers::notice(float repeating)
{
    const size_t n = d_spectrum.size();
    float total = 0;
    for (size_t k = 0; k < d_power.size(); ++k) {
        d_power[k] = std::norm(d_work[(k + n - static_cast<size_t>(d_edge)) % n]);
        total += d_power[k];
    }
    // Shares, as the level may rise by a lot from one window to the next.
    const float follow = d_waits_from ? d_follow : 2 * d_follow;
    const float weight = total > 0 ? follow / total : 0;
    for (size_t k = 0; k < d_power.size(); ++k)
        d_average[k] += weight * d_power[k] - follow * d_average[k];
    const auto hop = static_cast<float>(d_spectrum.hop());
    const bool averaged = static_cast<float>(d_count) * d_follow > hop;
    if (averaged && stands_out(repeating))
        d_windows_left = d_hold;
    else if (d_windows_left > 0)
        --d_windows_left;
    return active();
}

// Add the carriers of the window's spectrum to their samples.
void moving_carriers::take_out()
{
    const float usual = floor_of(d_average), floor = floor_of(d_power);
    d_floor += (d_waits_from ? d_follow : 1) * (floor - d_floor);
    std::fill(d_share.begin(), d_share.end(), 0.0f);
    const auto last = static_cast<int>(d_power.size()) - 1;
    for (int k = 0; k <= last; ++k) {
        const float least = d_average[k] > skirt * usual ? skirt : stands_out_now;
        if (d_power[k] < least * floor)
            continue;
        for (const int step : { -1, 1 })
            for (int j = k; j >= 0 && j <= last && d_power[j] > skirt * floor; j += step)
                d_share[j] = 1 - floor / d_power[j];
    }
    d_bins.update(d_average, skirt * usual);
    const auto n = static_cast<int>(d_spectrum.size());
    for (size_t c = 0; c < d_samples.size(); ++c) {
        const auto [first, end] = d_bins.of(c);
        const auto none = [](float share) { return share == 0; };
        if (std::all_of(d_share.begin() + first, d_share.begin() + end, none))
            continue;
        value* const spectrum = d_spectrum.bins();
        std::fill(spectrum, spectrum + n, value{});
        for (int k = first; k < end; ++k) {
            const int bin = (k + n - d_edge) % n;
            spectrum[bin] = d_share[k] * d_work[bin];
        }
        d_spectrum.add_to(d_samples[c].data());
    }
}

} // namespace gr::hf::kernel

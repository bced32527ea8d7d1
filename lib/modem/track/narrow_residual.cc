/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/track/narrow_residual.h"

#include <algorithm>
#include <cmath>

namespace gr::hf::kernel {

namespace {

// Highest carrier, and half the signal's width, relative to the symbol rate: 1600 and 1250
// Hz in 3 kHz.
constexpr double highest = 1600 / 2400.0, half_width = 1250 / 2400.0;
constexpr float at_least = 8; // above the middle bin, and next to such a bin
constexpr float skirt = 2.5;
const float mean_of_median = 1 / std::log(2.0f);

} // namespace

narrow_residual::narrow_residual(const symbol_grid& grid)
    : d_spectrum(short_spectrum::length_at(grid.half_symbol_rate())),
      d_edge(static_cast<int>(highest / 2 * static_cast<double>(d_spectrum.size()))),
      d_power(2 * static_cast<size_t>(d_edge) + 1)
{
}

void narrow_residual::take_out(half_symbol_stream& y,
                               int64_t first,
                               const std::vector<value>& residual)
{
    const size_t n = d_spectrum.size();
    d_padded.assign(residual.size() + 2 * n, 0);
    std::copy(residual.begin(), residual.end(), d_padded.begin() + static_cast<long>(n));
    d_narrow.assign(d_padded.size(), 0);
    for (size_t at = 0; at + n <= d_padded.size(); at += d_spectrum.hop())
        if (leave_carriers(d_spectrum.of(&d_padded[at])))
            d_spectrum.add_to(&d_narrow[at]);
    y.subtract(first, &d_narrow[n], residual.size());
}

// Leave only carriers in the spectrum; false if there are none.
bool narrow_residual::leave_carriers(value* spectrum)
{
    const size_t n = d_spectrum.size();
    const auto bin = [this, n](size_t k) {
        return (k + n - static_cast<size_t>(d_edge)) % n;
    };
    for (size_t k = 0; k < d_power.size(); ++k)
        d_power[k] = std::norm(spectrum[bin(k)]);
    const auto outside =
        static_cast<long>(static_cast<double>(d_edge) * (1 - half_width / highest));
    d_sorted.assign(d_power.begin() + outside, d_power.end() - outside);
    const auto middle = d_sorted.begin() + static_cast<long>(d_sorted.size() / 2);
    std::nth_element(d_sorted.begin(), middle, d_sorted.end());
    const float floor = *middle * mean_of_median;
    bool any = false;
    d_sorted.assign(d_power.size(), 0);
    const auto last = static_cast<int>(d_power.size()) - 1;
    for (int k = 0; k <= last; ++k) {
        if (d_power[k] < at_least * floor)
            continue;
        any = true;
        for (const int step : { -1, 1 })
            for (int j = k; j >= 0 && j <= last && d_power[j] > skirt * floor; j += step)
                d_sorted[j] = 1 - floor / d_power[j];
    }
    if (!any)
        return false;
    for (size_t i = static_cast<size_t>(d_edge) + 1; i < n - static_cast<size_t>(d_edge);
         ++i)
        spectrum[i] = 0;
    for (size_t k = 0; k < d_power.size(); ++k)
        spectrum[bin(k)] *= d_sorted[k];
    return true;
}

} // namespace gr::hf::kernel

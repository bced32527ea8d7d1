/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/track/true_channel.h"

#include <algorithm>
#include <cmath>

namespace gr::hf::kernel {

namespace {

// Taps to either side on which a delay between two taps appears.
constexpr int reach = 6;

// Power of the interpolation error, relative to the signal: -50 dB.
constexpr double interpolation_error = 1e-5;
constexpr double kaiser_shape = 5.5;

// Interpolation on the half-symbol grid, for a band of 1.35 / 2 of its rate. The error is
// below -55 dB.
double interpolation(double t)
{
    if (std::abs(t) >= reach)
        return 0;
    const double u = t / reach;
    const double kaiser = std::cyl_bessel_i(0, kaiser_shape * std::sqrt(1 - u * u)) /
                          std::cyl_bessel_i(0, kaiser_shape);
    return kaiser * (std::abs(t) < 1e-9 ? 1 : std::sin(M_PI * t) / (M_PI * t));
}

} // namespace

true_channel::true_channel(std::shared_ptr<const known_channel> channel, size_t taps)
    : d_channel(std::move(channel)), d_taps(taps)
{
}

double true_channel::sent_at(double n) const
{
    return d_channel->first_symbol() + symbol_grid::samples_per_symbol * n;
}

// Tap on which a path appears, with fraction.
double true_channel::place(double n, double delay) const
{
    return (sent_at(n) + delay - (d_row_0 + symbol_grid::samples_per_symbol * n)) /
           symbol_grid::samples_per_row;
}

void true_channel::look(const half_symbol_stream& y, double centre)
{
    d_row_0 = y.input_time(0);
    d_channel->paths(d_row_0 + symbol_grid::samples_per_symbol * centre, d_paths);
    std::vector<bool> used(d_taps, false);
    for (const auto& p : d_paths) {
        const double at = place(centre, p.delay);
        for (int k = -reach; k <= reach; ++k) {
            const double tap = std::round(at) + k;
            if (tap >= 0 && tap < static_cast<double>(d_taps))
                used[static_cast<size_t>(tap)] = true;
        }
    }
    d_selected.clear();
    for (size_t k = 0; k < d_taps; ++k)
        if (used[k])
            d_selected.push_back(static_cast<uint16_t>(k));
    if (d_selected.empty())
        d_selected.push_back(0);
}

void true_channel::at(double n, channel_taps& g) const
{
    g.assign(d_selected.size(), 0);
    d_channel->paths(sent_at(n), d_paths);
    for (size_t i = 0; i < d_paths.size(); ++i) {
        const double delay = d_paths[i].delay, tap = place(n, delay);
        for (size_t a = 0; a < d_selected.size(); ++a)
            g[a] +=
                std::complex<float>(d_paths[i].gain * interpolation(d_selected[a] - tap));
    }
}

std::complex<float> true_channel::reference(const half_symbol_stream& y, double row) const
{
    const double turns = y.phase(row) - d_channel->carrier_turns(y.input_time(row));
    return std::polar(1.0f, static_cast<float>(2 * M_PI * (turns - std::floor(turns))));
}

float true_channel::noise() const
{
    // The matched filter has an energy of 1/4. The interpolation error counts as noise.
    return static_cast<float>(d_channel->noise_power() / symbol_grid::samples_per_symbol +
                              interpolation_error);
}

} // namespace gr::hf::kernel

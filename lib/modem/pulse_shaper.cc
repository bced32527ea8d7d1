/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/pulse_shaper.h"

#include <volk/volk.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

namespace gr::hf::kernel {

namespace {

constexpr double roll_off = 0.35;
constexpr size_t shift_at = 64; // symbols used: move the others rarely
constexpr uint64_t unknown_length = std::numeric_limits<uint64_t>::max();

// Root raised cosine of energy 1 per symbol at time t, in symbols.
double root_raised_cosine(double t)
{
    const double pi = std::acos(-1.0), b = roll_off;
    if (std::abs(t) < 1e-9)
        return 1 - b + 4 * b / pi;
    if (std::abs(std::abs(4 * b * t) - 1) < 1e-9)
        return b / std::sqrt(2.0) *
               ((1 + 2 / pi) * std::sin(pi / (4 * b)) +
                (1 - 2 / pi) * std::cos(pi / (4 * b)));
    return (std::sin(pi * t * (1 - b)) + 4 * b * t * std::cos(pi * t * (1 + b))) /
           (pi * t * (1 - 16 * b * b * t * t));
}

} // namespace

pulse_shaper::pulse_shaper(size_t span) : d_span(span)
{
    if (span < 2 || span > 32)
        throw std::invalid_argument("pulse_shaper: span of " + std::to_string(span) +
                                    " symbols, allowed are 2 to 32");
}

void pulse_shaper::design(size_t sps)
{
    if (sps == d_sps)
        return;
    d_sps = sps;
    // Branch r, tap j weighs the symbol centred (span - j) symbols before the sample with
    // phase 0. So the newest symbol of the window comes last.
    const size_t length = 2 * d_span + 1;
    d_taps.assign(sps, volk::vector<float>(length, 0.0f));
    double energy = 0;
    for (size_t r = 0; r < sps; ++r) {
        for (size_t j = 0; j < length; ++j) {
            const double t = static_cast<double>(r) / static_cast<double>(sps) +
                             static_cast<double>(d_span) - static_cast<double>(j);
            if (t > static_cast<double>(d_span))
                continue; // beyond the pulse
            d_taps[r][j] = static_cast<float>(root_raised_cosine(t));
            energy += static_cast<double>(d_taps[r][j]) * d_taps[r][j];
        }
    }
    // Restore the energy lost by cutting the pulse.
    const auto scale = static_cast<float>(std::sqrt(static_cast<double>(sps) / energy));
    for (auto& branch : d_taps)
        for (float& tap : branch)
            tap *= scale;
}

void pulse_shaper::start(size_t samples_per_symbol)
{
    design(samples_per_symbol);
    d_symbols.assign(2 * d_span, {});
    d_window = 0;
    d_phase = 0;
    d_given = 0;
    d_produced = 0;
    d_length = unknown_length;
    d_active = true;
}

void pulse_shaper::give(std::complex<float> symbol)
{
    if (d_window >= shift_at) {
        d_symbols.erase(d_symbols.begin(),
                        d_symbols.begin() + static_cast<std::ptrdiff_t>(d_window));
        d_window = 0;
    }
    d_symbols.push_back(symbol);
    ++d_given;
}

void pulse_shaper::finish()
{
    if (d_length != unknown_length)
        return;
    d_length = (d_given + 2 * d_span - 1) * d_sps + 1;
    d_symbols.resize(d_symbols.size() + 2 * d_span, {});
}

size_t pulse_shaper::produce(std::complex<float>* out, size_t n)
{
    const auto length = static_cast<unsigned>(2 * d_span + 1);
    size_t made = 0;
    while (d_active && made < n && !hungry()) {
        // VOLK picks a kernel by alignment, and kernels may round differently. A local
        // variable makes the caller's buffer irrelevant.
        alignas(64) std::complex<float> sample;
        volk_32fc_32f_dot_prod_32fc(
            &sample, &d_symbols[d_window], d_taps[d_phase].data(), length);
        out[made] = sample;
        ++made;
        ++d_produced;
        if (++d_phase == d_sps) {
            d_phase = 0;
            ++d_window;
        }
        d_active = d_produced != d_length;
    }
    return made;
}

} // namespace gr::hf::kernel

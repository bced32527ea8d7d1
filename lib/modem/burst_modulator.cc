/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/burst_modulator.h"

#include <volk/volk.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

namespace gr::hf::kernel {

namespace {

constexpr double roll_off = 0.35;
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

burst_modulator::burst_modulator(double sample_rate, size_t span)
    : d_sample_rate(sample_rate), d_span(span)
{
    if (!(sample_rate >= 4800 && sample_rate <= 1e6))
        throw std::invalid_argument("burst_modulator: sample rate " +
                                    std::to_string(sample_rate) +
                                    ", allowed are 4800 to 1000000");
    if (span < 2 || span > 32)
        throw std::invalid_argument("burst_modulator: span of " + std::to_string(span) +
                                    " symbols, allowed are 2 to 32");
}

void burst_modulator::design(size_t sps)
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

void burst_modulator::start(const mode& m, pull source, tx_options options)
{
    start(describe(m), std::move(source), options);
}

void burst_modulator::start(const description& d, pull source, tx_options options)
{
    auto tx = std::make_unique<transmitter>(d, options);
    const double sps = d_sample_rate / tx->waveform().symbol_rate_bd;
    if (sps < 2 || sps != std::floor(sps))
        throw std::invalid_argument(
            "burst_modulator: sample rate " + std::to_string(d_sample_rate) + ", mode " +
            d.m.to_string() + " needs a multiple, at least 2, of its symbol rate " +
            std::to_string(tx->waveform().symbol_rate_bd));
    design(static_cast<size_t>(sps));
    d_tx = std::move(tx);
    d_pull = std::move(source);
    d_symbols.assign(2 * d_span, {});
    d_window = 0;
    d_phase = 0;
    d_produced = 0;
    d_length = unknown_length;
    d_active = true;
}

void burst_modulator::feed()
{
    d_symbols.erase(d_symbols.begin(),
                    d_symbols.begin() + static_cast<std::ptrdiff_t>(d_window));
    d_window = 0;
    if (const size_t wanted = d_tx->octets_wanted()) {
        const tx_octets got = d_pull
                                  ? d_pull(sample_of_symbol(d_tx->block_symbol()), wanted)
                                  : tx_octets{ {}, true };
        d_tx->give(got.octets.data(), got.octets.size(), got.last);
    }
    std::array<tx_symbol, 64> chunk;
    const size_t n = d_tx->produce(chunk.data(), chunk.size());
    for (size_t i = 0; i < n; ++i)
        d_symbols.push_back(chunk[i].value);
    if (d_tx->done() && d_length == unknown_length) {
        d_length = sample_of_symbol(d_tx->produced() - 1) + d_span * d_sps + 1;
        d_symbols.resize(d_symbols.size() + 2 * d_span, {});
    }
}

size_t burst_modulator::produce(std::complex<float>* out, size_t n)
{
    const auto length = static_cast<unsigned>(2 * d_span + 1);
    size_t made = 0;
    while (d_active && made < n) {
        if (d_window + length > d_symbols.size()) {
            feed();
            continue;
        }
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

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "channel/path.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

namespace gr::hf::kernel {

namespace {

double bessel_i0(double x)
{
    double sum = 1, term = 1;
    for (int k = 1; k < 40; ++k) {
        term *= (x / (2 * k)) * (x / (2 * k));
        sum += term;
    }
    return sum;
}

} // namespace

delay_line::delay_line(double samples) : d_shift(0)
{
    if (!(samples >= 0) || samples > 1e8)
        throw std::invalid_argument("delay_line: delay of " + std::to_string(samples) +
                                    " samples is not in 0 to 1e8");
    const double whole = std::round(samples);
    if (std::abs(samples - whole) < 1e-9) {
        d_shift = static_cast<size_t>(whole);
        d_taps = { 1.0f };
    } else {
        constexpr auto half = static_cast<long>(half_length());
        if (samples < static_cast<double>(half))
            throw std::invalid_argument("delay_line: a fractional delay of " +
                                        std::to_string(samples) +
                                        " samples is below the filter's half length");
        const double base = std::floor(samples);
        const double frac = samples - base;
        // Tap i, i = 1 .. 2 half, multiplies x[n - base + i - half], oldest sample first.
        d_shift = static_cast<size_t>(base) - half_length();
        double sum = 0;
        std::vector<double> h;
        for (long i = 1; i <= 2 * half; ++i) {
            const double t = frac + static_cast<double>(i - half);
            const double u = t / (static_cast<double>(half) + 0.5);
            constexpr double beta = 7;
            const double w =
                bessel_i0(beta * std::sqrt(std::max(0.0, 1 - u * u))) / bessel_i0(beta);
            h.push_back(w * (t == 0 ? 1 : std::sin(M_PI * t) / (M_PI * t)));
            sum += h.back();
        }
        for (double v : h)
            d_taps.push_back(static_cast<float>(v / sum));
    }
    d_work.assign(d_shift + d_taps.size() - 1, 0);
}

void delay_line::process(const std::complex<float>* in,
                         std::complex<float>* out,
                         size_t n)
{
    const size_t history = d_shift + d_taps.size() - 1;
    d_work.insert(d_work.end(), in, in + n);
    if (d_taps.size() == 1) {
        std::copy_n(d_work.begin(), n, out);
    } else {
        // Tap by tap over the whole chunk: long independent sums that compilers
        // vectorise.
        std::fill_n(out, n, 0.0f);
        for (size_t k = 0; k < d_taps.size(); ++k)
            for (size_t i = 0; i < n; ++i)
                out[i] += d_taps[k] * d_work[i + k];
    }
    d_work.erase(d_work.begin(), d_work.end() - static_cast<long>(history));
}

path::path(const path_spec& spec,
           double sample_rate,
           double extra_delay,
           double amplitude,
           counter_random random)
    : d_delay_samples(spec.delay_ms * 1e-3 * sample_rate + extra_delay),
      d_delay(d_delay_samples),
      d_gain(std::polar(
          static_cast<float>(amplitude),
          static_cast<float>(spec.spread_hz > 0 ? 0 : spec.phase_deg * M_PI / 180))),
      d_turns_per_sample(spec.shift_hz / sample_rate)
{
    if (spec.spread_hz > 0)
        d_fading.emplace(sample_rate, spec.spread_hz, random);
}

path::path(std::shared_ptr<const learned_channel> channel,
           size_t number,
           double sample_rate,
           double extra_delay)
    : d_delay_samples(channel->delays_ms[number] * 1e-3 * sample_rate + extra_delay),
      d_delay(d_delay_samples),
      d_learned(learned_tap(std::move(channel), number, sample_rate)), d_gain(1),
      d_turns_per_sample(0)
{
}

void path::add(const std::complex<float>* in, std::complex<float>* out, size_t n)
{
    d_delayed.resize(n);
    d_gains.assign(n, 1.0f);
    d_delay.process(in, d_delayed.data(), n);
    if (d_fading)
        d_fading->produce(d_gains.data(), n);
    if (d_learned)
        d_learned->produce(d_gains.data(), n);
    for (size_t i = 0; i < n; ++i) {
        std::complex<float> g = d_gain * d_gains[i];
        if (d_turns_per_sample != 0) {
            const double turns = d_turns_per_sample * static_cast<double>(d_count + i);
            g *= std::polar(1.0f,
                            static_cast<float>(2 * M_PI * (turns - std::floor(turns))));
        }
        out[i] += d_delayed[i] * g;
    }
    d_count += n;
}

std::complex<double> path::gain(double sample) const
{
    if (d_learned)
        return d_learned->at(sample);
    const std::complex<double> g = d_gain;
    return g * (d_fading ? std::complex<double>(d_fading->at(sample)) : 1.0) *
           std::polar(1.0, 2 * M_PI * std::fmod(d_turns_per_sample * sample, 1.0));
}

} // namespace gr::hf::kernel

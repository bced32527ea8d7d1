/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "channel/channel.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace gr::hf::kernel {

namespace {

constexpr uint64_t noise_stream = ~uint64_t{ 0 }; // far from the paths' 0, 1, ...

bool is_whole(double samples) { return std::abs(samples - std::round(samples)) < 1e-9; }

const channel_spec&
checked(const channel_spec& spec, double sample_rate, double signal_power)
{
    spec.validate();
    if (!(sample_rate >= 2000 && sample_rate <= 1e7))
        throw std::invalid_argument(
            "channel: sample_rate = " + std::to_string(sample_rate) +
            " is not in 2000 to 1e7 samples/s");
    if (!(signal_power > 0) || !std::isfinite(signal_power))
        throw std::invalid_argument("channel: signal_power = " +
                                    std::to_string(signal_power) + " is not above 0");
    return spec;
}

} // namespace

channel::channel(const channel_spec& spec,
                 double sample_rate,
                 uint64_t seed,
                 double signal_power)
    : d_spec(checked(spec, sample_rate, signal_power)), d_rate(sample_rate),
      d_noise(seed, noise_stream), d_disturbance(spec, sample_rate, seed, signal_power),
      d_level(spec, sample_rate)
{
    if (d_spec.filter)
        d_filter.emplace(*d_spec.filter, sample_rate);
    make_paths(seed);
    if (d_spec.snr_db)
        d_noise_power = signal_power * sample_rate /
                        (1e3 * d_spec.bandwidth_khz.value_or(usual_bandwidth_khz)) /
                        std::pow(10, *d_spec.snr_db / 10);
    if (d_spec.clock_ppm != 0) {
        d_clock.emplace(sample_rate, d_spec.clock_ppm);
        d_latency += d_clock->latency();
    }
}

// A short delay that is not whole samples makes all delays longer, see latency().
void channel::make_room_for(double delay_ms)
{
    const double delay = delay_ms * 1e-3 * d_rate;
    if (!is_whole(delay) && delay < static_cast<double>(delay_line::half_length()))
        d_latency = delay_line::half_length();
}

void channel::make_paths(uint64_t seed)
{
    if (const auto& learned = d_spec.learned) {
        for (const double delay_ms : learned->delays_ms)
            make_room_for(delay_ms);
        for (size_t i = 0; i < learned->paths(); ++i)
            d_paths.emplace_back(learned, i, d_rate, static_cast<double>(d_latency));
        return;
    }
    double total = 0;
    for (const path_spec& p : d_spec.paths) {
        total += std::pow(10, p.gain_db / 10);
        make_room_for(p.delay_ms);
    }
    for (size_t i = 0; i < d_spec.paths.size(); ++i) {
        const path_spec& p = d_spec.paths[i];
        d_paths.emplace_back(p,
                             d_rate,
                             static_cast<double>(d_latency),
                             std::sqrt(std::pow(10, p.gain_db / 10) / total),
                             counter_random(seed, i));
    }
    const path_spec& first = d_spec.paths.front();
    d_pass = d_spec.paths.size() == 1 && first.delay_ms == 0 && first.spread_hz == 0 &&
             first.shift_hz == 0 && first.phase_deg == 0;
}

// Integral of the frequency up to a sample, in turns. Closed forms, so that no error
// accumulates.
double channel::carrier_turns(double sample) const
{
    const double t = sample / d_rate;
    const double f0 = d_spec.offset_hz;
    if (d_spec.sweep_hz_per_s > 0 && f0 != 0) {
        // +f0 down to -f0 and up again; the integral over a period is zero
        const double rate = std::copysign(d_spec.sweep_hz_per_s, f0);
        const double half = 2 * f0 / rate;
        const double u = std::fmod(t, 2 * half);
        return u < half ? f0 * u - rate * u * u / 2
                        : -f0 * (u - half) + rate * (u - half) * (u - half) / 2;
    }
    const double whole = std::fmod(f0 * t, 1.0);
    return whole + d_spec.drift_hz_per_s * t * t / 2;
}

void channel::shift_frequency(std::complex<float>* x, size_t n)
{
    if (d_spec.offset_hz == 0 && d_spec.drift_hz_per_s == 0)
        return;
    for (size_t i = 0; i < n; ++i) {
        const double turns = carrier_turns(static_cast<double>(d_count + i));
        const auto phase = static_cast<float>(2 * M_PI * (turns - std::floor(turns)));
        x[i] *= std::complex<float>(std::cos(phase), std::sin(phase));
    }
}

void channel::process(const std::complex<float>* in, std::complex<float>* out, size_t n)
{
    if (d_clock) {
        d_clock->process(in, out, n);
        in = out;
    }
    if (d_pass) {
        if (in != out)
            std::copy_n(in, n, out);
    } else {
        d_sum.assign(n, 0);
        for (path& p : d_paths)
            p.add(in, d_sum.data(), n);
        std::copy_n(d_sum.begin(), n, out);
    }
    shift_frequency(out, n);
    if (d_noise_power > 0) {
        const auto a = static_cast<float>(std::sqrt(d_noise_power));
        for (size_t i = 0; i < n; ++i)
            out[i] += a * d_noise.gaussian(d_count + i);
    }
    d_disturbance.add(out, n, d_count);
    if (d_filter)
        d_filter->process(out, n, d_count);
    d_level.process(out, n, d_count);
    d_count += n;
}

} // namespace gr::hf::kernel

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "channel/disturbance.h"

#include <algorithm>
#include <cmath>

namespace gr::hf::kernel {

namespace {

constexpr uint64_t impulse_stream =
    ~uint64_t{ 1 }; // next to the noise's, far from the paths'

constexpr double key_rise_s = 0.005;

float ratio(double db) { return static_cast<float>(std::pow(10, db / 20)); }

} // namespace

disturbance::disturbance(const channel_spec& spec,
                         double sample_rate,
                         uint64_t seed,
                         double signal_power)
    : d_random(seed, impulse_stream)
{
    const auto root = static_cast<float>(std::sqrt(signal_power));
    if (spec.impulses) {
        d_begin = spec.impulses->rate / sample_rate;
        d_length = std::max<size_t>(1,
                                    static_cast<size_t>(std::lround(
                                        spec.impulses->length_ms * 1e-3 * sample_rate)));
        d_amplitude = root * ratio(spec.impulses->level_db);
    }
    for (const carrier_spec& c : spec.carriers)
        d_carriers.push_back({ c.frequency_hz / sample_rate, root * ratio(c.level_db) });
    if (spec.morse) {
        d_morse = carrier{ spec.morse->frequency_hz / sample_rate,
                           root * ratio(spec.morse->level_db) };
        d_dot = 1.2 / spec.morse->words_per_min * sample_rate;
        d_key_step = static_cast<float>(1 / (key_rise_s * sample_rate));
    }
}

// Dots, dashes, gaps within characters and gaps between them are equally likely.
void disturbance::key(std::complex<float>* x, size_t n, uint64_t first)
{
    for (size_t i = 0; i < n; ++i) {
        const auto at = static_cast<double>(first + i);
        if (at >= d_key_changes) {
            d_key_down = !d_key_down;
            const bool is_long = d_random.bits(~d_elements++) >> 63;
            d_key_changes += (is_long ? 3 : 1) * d_dot;
        }
        d_envelope =
            std::clamp(d_envelope + (d_key_down ? d_key_step : -d_key_step), 0.0f, 1.0f);
        if (d_envelope == 0)
            continue;
        const float soft = std::sin(static_cast<float>(M_PI_2) * d_envelope);
        const double turns = d_morse->turns_per_sample * at;
        x[i] += std::polar(d_morse->amplitude * soft * soft,
                           static_cast<float>(2 * M_PI * (turns - std::floor(turns))));
    }
}

void disturbance::add(std::complex<float>* x, size_t n, uint64_t first)
{
    if (d_begin > 0)
        for (size_t i = 0; i < n; ++i) {
            // even indices decide where impulses start, odd ones give their samples
            const uint64_t at = first + i;
            const double u = static_cast<double>(d_random.bits(4 * at) >> 11) * 0x1p-53;
            if (u < d_begin)
                d_left = d_length;
            if (d_left > 0) {
                x[i] += d_amplitude * d_random.gaussian(2 * at + 1);
                --d_left;
            }
        }
    if (d_morse)
        key(x, n, first);
    for (const carrier& c : d_carriers)
        for (size_t i = 0; i < n; ++i) {
            const double turns = c.turns_per_sample * static_cast<double>(first + i);
            x[i] += std::polar(
                c.amplitude, static_cast<float>(2 * M_PI * (turns - std::floor(turns))));
        }
}

level::level(const channel_spec& spec, double sample_rate)
    : d_gain(ratio(spec.gain_db)), d_step_gain(1)
{
    if (spec.step) {
        d_step_gain = ratio(spec.step->step_db);
        d_step_samples = std::max<uint64_t>(
            1, static_cast<uint64_t>(std::llround(spec.step->every_s * sample_rate)));
    }
    if (spec.agc_s > 0) {
        d_decay = 1 / (spec.agc_s * sample_rate);
        d_attack = std::min(1.0, 10 * d_decay);
    }
}

void level::process(std::complex<float>* x, size_t n, uint64_t first)
{
    if (d_gain != 1)
        for (size_t i = 0; i < n; ++i)
            x[i] *= d_gain;
    if (d_step_samples > 0)
        for (size_t i = 0; i < n; ++i)
            if ((first + i) / d_step_samples % 2 == 1)
                x[i] *= d_step_gain;
    if (d_decay > 0)
        for (size_t i = 0; i < n; ++i) {
            const auto p = static_cast<double>(std::norm(x[i]));
            if (d_power == 0)
                d_power = p; // as if the receiver had long been on
            d_power += (p - d_power) * (p > d_power ? d_attack : d_decay);
            if (d_power > 0)
                x[i] /= static_cast<float>(std::sqrt(d_power));
        }
}

} // namespace gr::hf::kernel

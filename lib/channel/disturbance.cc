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

// Of a character of radio teletype: start, five of data, stop.
constexpr uint64_t bits_of_character = 7;
constexpr double stop_bits = 1.5;

// Moving carriers turn round this far from the middle, Hz.
constexpr double channel_edge_hz = 1500;

double fraction(double turns) { return turns - std::floor(turns); }

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
        d_carriers.push_back(
            { c.frequency_hz / sample_rate,
              root * ratio(c.level_db),
              c.hz_per_s / (sample_rate * sample_rate),
              std::max(channel_edge_hz, std::abs(c.frequency_hz)) / sample_rate });
    if (spec.morse) {
        d_morse = carrier{ spec.morse->frequency_hz / sample_rate,
                           root * ratio(spec.morse->level_db),
                           0,
                           0 };
        d_dot = 1.2 / spec.morse->words_per_min * sample_rate;
        d_key_step = static_cast<float>(1 / (key_rise_s * sample_rate));
    }
    if (spec.rtty) {
        d_rtty = carrier{
            spec.rtty->frequency_hz / sample_rate, root * ratio(spec.rtty->level_db), 0, 0
        };
        d_deviation = spec.rtty->shift_hz / 2 / sample_rate;
        d_bit = sample_rate / spec.rtty->baud;
    }
}

// Phase in turns. A moving frequency is a triangle of period 4 edge / speed, whose
// integral over a period is 0.
double disturbance::carrier::turns_at(double sample) const
{
    if (speed == 0)
        return turns_per_sample * sample;
    const auto integral = [this](double place) {
        return place <= 2 * edge
                   ? place * (place / 2 - edge)
                   : (place - 2 * edge) * (3 * edge - (place + 2 * edge) / 2);
    };
    // The first half of the places is the way up.
    const double start =
        speed > 0 ? turns_per_sample + edge : 3 * edge - turns_per_sample;
    const double place = std::fmod(start + std::abs(speed) * sample, 4 * edge);
    return (integral(place) - integral(start)) / std::abs(speed);
}

// Random characters, one after the other.
void disturbance::teletype(std::complex<float>* x, size_t n, uint64_t first)
{
    for (size_t i = 0; i < n; ++i) {
        const auto at = static_cast<double>(first + i);
        if (at >= d_bit_ends) {
            const uint64_t bit = d_bits % bits_of_character;
            const bool stop = bit + 1 == bits_of_character;
            d_mark = stop || (bit > 0 && d_random.bits(~(d_bits << 32)) >> 63);
            d_bit_ends += (stop ? stop_bits : 1) * d_bit;
            ++d_bits;
        }
        d_rtty_turns = fraction(d_rtty_turns + d_rtty->turns_per_sample +
                                (d_mark ? d_deviation : -d_deviation));
        x[i] +=
            std::polar(d_rtty->amplitude, static_cast<float>(2 * M_PI * d_rtty_turns));
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
        x[i] +=
            std::polar(d_morse->amplitude * soft * soft,
                       static_cast<float>(2 * M_PI * fraction(d_morse->turns_at(at))));
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
    if (d_rtty)
        teletype(x, n, first);
    for (const carrier& c : d_carriers)
        for (size_t i = 0; i < n; ++i) {
            const double turns = c.turns_at(static_cast<double>(first + i));
            x[i] +=
                std::polar(c.amplitude, static_cast<float>(2 * M_PI * fraction(turns)));
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

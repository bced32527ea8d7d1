/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "radio/resampler.h"

#include "radio/channel_filter.h"

#include <volk/volk.h>

#include <algorithm>
#include <cmath>

namespace gr::hf::kernel {

namespace {

constexpr float stop_band_db = 70;
// VOLK multiplies 16 floats at once, and the rest one by one.
constexpr size_t vector = 16;

float dot(const float* x, const float* taps, size_t n)
{
    float y;
    volk_32f_x2_dot_prod_32f_u(&y, x, taps, static_cast<unsigned>(n));
    return y;
}

} // namespace

fraction fraction::of(double x, uint64_t largest)
{
    // Convergents of the continued fraction.
    uint64_t p0 = 0, q0 = 1, p1 = 1, q1 = 0;
    double rest = x;
    for (int k = 0; k < 64; ++k) {
        const double whole = std::floor(rest);
        if (whole > static_cast<double>(largest))
            break;
        const auto a = static_cast<uint64_t>(whole);
        const uint64_t p2 = a * p1 + p0, q2 = a * q1 + q0;
        if (p2 > largest || q2 > largest)
            break;
        p0 = p1;
        q0 = q1;
        p1 = p2;
        q1 = q2;
        if (std::abs(static_cast<double>(p1) / static_cast<double>(q1) / x - 1) < 1e-12)
            break;
        rest = 1 / (rest - whole);
    }
    return { p1, q1 };
}

resampler::resampler(double rate,
                     fraction ratio,
                     double centre_hz,
                     double pass_hz,
                     double stop_hz,
                     float gain)
    : d_ratio(ratio)
{
    const double fast = rate * static_cast<double>(ratio.up);
    // No filter if the rate stays.
    const auto h = ratio.up == ratio.down
                       ? volk::vector<float>{ 1 }
                       : low_pass(pass_hz / fast, stop_hz / fast, stop_band_db);
    d_delay = h.size() / 2;
    d_length = (h.size() + ratio.up - 1) / ratio.up;
    d_length = (d_length + vector - 1) / vector * vector;
    d_taps_re.resize(ratio.up * d_length);
    d_taps_im.resize(ratio.up * d_length);
    gain *= static_cast<float>(ratio.up);
    for (size_t q = 0; q < h.size(); ++q) {
        const double turns =
            centre_hz / fast * (static_cast<double>(q) - static_cast<double>(d_delay));
        const size_t phase = q % ratio.up, age = q / ratio.up;
        const size_t at = phase * d_length + d_length - 1 - age;
        d_taps_re[at] = gain * h[q] * static_cast<float>(std::cos(2 * M_PI * turns));
        d_taps_im[at] = gain * h[q] * static_cast<float>(std::sin(2 * M_PI * turns));
    }
    d_re.assign(d_length - 1, 0);
}

void resampler::push(const float* x, size_t n)
{
    d_re.insert(d_re.end(), x, x + n);
    if (d_complex)
        d_im.resize(d_re.size(), 0);
    d_seen += n;
}

void resampler::push(const std::complex<float>* x, size_t n)
{
    if (!d_complex) {
        d_complex = true;
        d_im.resize(d_re.size(), 0);
    }
    const size_t at = d_re.size();
    d_re.resize(at + n);
    d_im.resize(at + n);
    volk_32fc_deinterleave_32f_x2(
        d_re.data() + at, d_im.data() + at, x, static_cast<unsigned>(n));
    d_seen += n;
}

void resampler::finish()
{
    if (d_finished)
        return;
    d_finished = true;
    const size_t silence = (d_delay + d_ratio.down) / d_ratio.up + 2;
    d_re.resize(d_re.size() + silence, 0);
    if (d_complex)
        d_im.resize(d_re.size(), 0);
}

void resampler::start_at(uint64_t n)
{
    d_re.assign(d_length - 1, 0);
    d_im.assign(d_complex ? d_re.size() : 0, 0);
    d_finished = false;
    d_seen = d_begin = n;
    const uint64_t at = n * d_ratio.up;
    d_next = at > d_delay ? (at - d_delay + d_ratio.down - 1) / d_ratio.down : 0;
}

size_t resampler::ready() const
{
    // Output m is at m * down and needs the input up to m * down + delay, both at the
    // rate rate * up. After finish(), silence follows the last sample.
    const uint64_t end = d_seen * d_ratio.up;
    uint64_t count = 0;
    if (d_finished)
        count = (end + d_ratio.down - 1) / d_ratio.down;
    else if (end > d_delay)
        count = (end - 1 - d_delay) / d_ratio.down + 1;
    return count > d_next ? static_cast<size_t>(count - d_next) : 0;
}

// Calls f(m, at, taps) for each output that is ready, with places in the history and in
// the taps.
template <class F>
void resampler::for_ready(F f)
{
    const size_t count = ready();
    const uint64_t position = d_next * d_ratio.down + d_delay;
    auto at = static_cast<size_t>(position / d_ratio.up - d_begin);
    auto phase = static_cast<size_t>(position % d_ratio.up);
    const size_t whole = d_ratio.down / d_ratio.up, part = d_ratio.down % d_ratio.up;
    for (size_t m = 0; m < count; ++m) {
        f(m, at, phase * d_length);
        at += whole;
        phase += part;
        if (phase >= d_ratio.up) {
            phase -= d_ratio.up;
            ++at;
        }
    }
    d_next += count;
    forget();
}

void resampler::take(std::complex<float>* out)
{
    const float *re = d_taps_re.data(), *im = d_taps_im.data();
    for_ready([&](size_t m, size_t at, size_t taps) {
        const float* x = &d_re[at];
        std::complex<float> y(dot(x, re + taps, d_length), dot(x, im + taps, d_length));
        if (d_complex) {
            x = &d_im[at];
            y += std::complex<float>(-dot(x, im + taps, d_length),
                                     dot(x, re + taps, d_length));
        }
        out[m] = y;
    });
}

void resampler::take_real(float* out)
{
    for_ready([&](size_t m, size_t at, size_t taps) {
        out[m] = dot(&d_re[at], &d_taps_re[taps], d_length);
        if (d_complex)
            out[m] -= dot(&d_im[at], &d_taps_im[taps], d_length);
    });
}

// Drop samples before those of the next output.
void resampler::forget()
{
    const uint64_t oldest = (d_next * d_ratio.down + d_delay) / d_ratio.up;
    const auto drop =
        static_cast<long>(std::min<uint64_t>(oldest - d_begin, d_re.size()));
    d_re.erase(d_re.begin(), d_re.begin() + drop);
    if (d_complex)
        d_im.erase(d_im.begin(), d_im.begin() + drop);
    d_begin += static_cast<uint64_t>(drop);
}

} // namespace gr::hf::kernel

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "channel/fading_tap.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace gr::hf::kernel {

fading_tap::fading_tap(double sample_rate, double spread_hz, counter_random random)
    : d_step(1), d_random(random)
{
    if (!(sample_rate > 0))
        throw std::invalid_argument("fading_tap: sample_rate must be above 0");
    if (!(spread_hz > 0) || spread_hz > sample_rate / 16)
        throw std::invalid_argument(
            "fading_tap: spread_hz = " + std::to_string(spread_hz) +
            " is not above 0 and at most sample_rate / 16");
    d_step = std::max<size_t>(1, static_cast<size_t>(sample_rate / (64 * spread_hz)));
    const double rate = sample_rate / static_cast<double>(d_step);
    const double edge = std::sqrt(std::log(1e3)) / (M_PI * spread_hz);
    const auto half = static_cast<long>(std::floor(edge * rate));
    double energy = 0;
    for (long i = -half; i <= half; ++i) {
        const double x = M_PI * spread_hz * static_cast<double>(i) / rate;
        d_h.push_back(static_cast<float>(std::exp(-x * x)));
        energy += d_h.back() * d_h.back();
    }
    for (float& h : d_h)
        h = static_cast<float>(h / std::sqrt(energy));
    d_noise.resize(d_h.size());
    for (size_t i = 0; i < d_noise.size(); ++i)
        d_noise[i] = d_random.gaussian(i);
    d_from = value(0);
    d_to = next_value();
}

std::complex<float> fading_tap::value(uint64_t index) const
{
    std::complex<float> sum = 0;
    for (size_t i = 0; i < d_h.size(); ++i)
        sum += d_h[i] * d_random.gaussian(index + i);
    return sum;
}

std::complex<float> fading_tap::next_value()
{
    const size_t n = d_h.size();
    d_noise[d_index % n] = d_random.gaussian(d_index + n);
    ++d_index;
    std::complex<float> sum = 0;
    size_t at = d_index % n;
    for (size_t i = 0; i < n; ++i) {
        sum += d_h[i] * d_noise[at];
        if (++at == n)
            at = 0;
    }
    return sum;
}

void fading_tap::produce(std::complex<float>* out, size_t n)
{
    const float scale = 1.0f / static_cast<float>(d_step);
    for (size_t i = 0; i < n; ++i) {
        out[i] = d_from + (d_to - d_from) * (static_cast<float>(d_phase) * scale);
        if (++d_phase == d_step) {
            d_phase = 0;
            d_from = d_to;
            d_to = next_value();
        }
    }
}

} // namespace gr::hf::kernel

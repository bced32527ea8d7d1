/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ale/modem/tone_rows.h"

#include <algorithm>
#include <cmath>

namespace gr::hf::ale {

namespace {

// The median of an exponential distribution is ln 2 times its mean.
constexpr float median_of_mean = 0.6931f;
// Weight of a new row in the noise: 0.1 s.
constexpr float renewal = 0.01f;
// Noise of digital silence, so that nothing is divided by 0.
constexpr float min_noise = 1e-20f;
} // namespace

tone_rows::tone_rows() : d_transform(points) {}

bool tone_rows::take(std::complex<float> x)
{
    d_held[d_at] = x;
    d_at = (d_at + 1) % samples_per_tone;
    return ++d_new == samples_per_row;
}

const tone_rows::row& tone_rows::next()
{
    d_new = 0;
    auto* work = d_transform.data();
    std::copy(d_held.begin() + static_cast<ptrdiff_t>(d_at), d_held.end(), work);
    std::copy(d_held.begin(),
              d_held.begin() + static_cast<ptrdiff_t>(d_at),
              work + samples_per_tone - d_at);
    std::fill(work + samples_per_tone, work + points, 0.0f);
    d_transform.forward();
    // Bin 0 of a row is the lowest tone with the lowest offset.
    constexpr size_t below = (bins - 8) / 2 + offset_count / 2;
    for (size_t b = 0; b < bins; ++b)
        d_row[b] = std::norm(work[(b + points - below) % points]);
    const float middle = median(d_row);
    d_prominence =
        middle > 0 ? *std::max_element(d_row.begin(), d_row.end()) / middle : 0;
    const float now = middle / median_of_mean;
    d_noise = d_noise == 0 ? now : d_noise + renewal * (now - d_noise);
    const float scale = 1 / std::max(d_noise, min_noise);
    for (float& e : d_row)
        e *= scale;
    return d_row;
}

float tone_rows::median(const row& energies)
{
    d_sorted = energies;
    const auto middle = d_sorted.begin() + bins / 2;
    std::nth_element(d_sorted.begin(), middle, d_sorted.end());
    return *middle;
}

} // namespace gr::hf::ale

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/front/carrier_detector.h"

// before liquid, which then uses std::complex
#include <liquid/liquid.h>
#include <volk/volk.h>

#include <cmath>
#include <numeric>

namespace gr::hf::kernel {

namespace {

/* Half the width of an edge, relative to the sample rate. The least roll-off, 0.2, has
 * 0.1 of the symbol rate on each side. In 3 kHz this is 350 Hz of 9600. */
constexpr float edge = 350.0f / 2400 / symbol_grid::samples_per_symbol;
constexpr double piece_s = 0.02;
// A strong tone at one edge must not reach the other.
constexpr float stop_band_db = 70;
/* Mean coherence at which a signal is reported, and below which it is gone. Noise alone
 * has 0.034 rms over a second, and exceeds the first value less than once a day. */
constexpr float there = 0.15f;
constexpr float gone = 0.09f;

} // namespace

carrier_detector::carrier_detector(const symbol_grid& grid)
    : d_blanker(grid.sample_rate()), d_filter(taps),
      d_piece(static_cast<size_t>(grid.samples(piece_s)) / decimation)
{
    liquid_firdes_kaiser(taps, edge, stop_band_db, 0, d_filter.data());
    for (size_t i = 0; i < decimation; ++i)
        d_turn[i] = std::polar(
            1.0f, -2 * static_cast<float>(M_PI) * static_cast<float>(i) / decimation);
    reset();
}

void carrier_detector::reset()
{
    d_blanker.restart();
    d_upper.assign(taps, {});
    d_lower.assign(taps, {});
    d_phase = d_count = d_at = 0;
    d_product = 0;
    d_upper_power = d_lower_power = 0;
    d_pieces.fill(0);
    d_present = false;
}

void carrier_detector::push(const std::complex<float>* x, size_t n)
{
    for (size_t i = 0; i < n; ++i) {
        // A sample that is not a number would stay in the sums.
        const bool number = std::isfinite(std::norm(x[i]));
        const auto v = d_blanker.push(number ? x[i] : std::complex<float>());
        if (!v)
            continue;
        d_upper.push_back(v->value * d_turn[d_phase]);
        d_lower.push_back(v->value * std::conj(d_turn[d_phase]));
        if (++d_phase == decimation) {
            d_phase = 0;
            edge_values();
        }
    }
}

void carrier_detector::edge_values()
{
    const size_t begin = d_upper.size() - taps;
    alignas(64) std::complex<float> u;
    alignas(64) std::complex<float> l;
    volk_32fc_32f_dot_prod_32fc(&u, &d_upper[begin], d_filter.data(), taps);
    volk_32fc_32f_dot_prod_32fc(&l, &d_lower[begin], d_filter.data(), taps);
    d_product += u * std::conj(l);
    d_upper_power += std::norm(u);
    d_lower_power += std::norm(l);
    if (++d_count == d_piece)
        end_piece();
    if (begin > 16 * taps) {
        d_upper.erase(d_upper.begin(), d_upper.begin() + static_cast<long>(begin));
        d_lower.erase(d_lower.begin(), d_lower.begin() + static_cast<long>(begin));
    }
}

void carrier_detector::end_piece()
{
    const float power = std::sqrt(d_upper_power * d_lower_power);
    d_pieces[d_at++ % pieces] = power > 0 ? d_product / power : 0;
    d_count = 0;
    d_product = 0;
    d_upper_power = d_lower_power = 0;
    const float c = coherence();
    d_present = d_present ? c > gone : c > there;
}

float carrier_detector::coherence() const
{
    return std::abs(
               std::accumulate(d_pieces.begin(), d_pieces.end(), std::complex<float>())) /
           static_cast<float>(pieces);
}

} // namespace gr::hf::kernel

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "channel/receiver_filter.h"

// before liquid, which then uses std::complex
#include <complex>

#include <liquid/liquid.h>

#include <cmath>
#include <stdexcept>
#include <vector>

namespace gr::hf::kernel {

namespace {

constexpr double fir_length_s = 65 / 9600.0;
constexpr unsigned poles = 6;
constexpr float ripple_db = 1, stop_band_db = 60;

} // namespace

void receiver_filter::destroy::operator()(void* filter) const
{
    if (kind == filter_kind::fir)
        firfilt_crcf_destroy(static_cast<firfilt_crcf>(filter));
    else
        iirfilt_crcf_destroy(static_cast<iirfilt_crcf>(filter));
}

receiver_filter::receiver_filter(const filter_spec& spec, double sample_rate)
    : d_turns((spec.low_hz + spec.high_hz) / 2 / sample_rate),
      d_filter(nullptr, destroy{ spec.kind })
{
    const double edge = (spec.high_hz - spec.low_hz) / 2 / sample_rate;
    if (!(edge < 0.5))
        throw std::invalid_argument("channel: filter is wider than the sample rate of " +
                                    std::to_string(sample_rate) + " samples/s");
    const auto fc = static_cast<float>(edge);
    if (spec.kind == filter_kind::fir) {
        const auto length =
            static_cast<unsigned>(std::lround(fir_length_s * sample_rate)) | 1u;
        std::vector<float> taps(length);
        liquid_firdes_kaiser(length, fc, stop_band_db, 0, taps.data());
        for (float& t : taps)
            t *= 2 * fc;
        d_filter.reset(firfilt_crcf_create(taps.data(), length));
    } else {
        const auto type = spec.kind == filter_kind::butterworth ? LIQUID_IIRDES_BUTTER
                                                                : LIQUID_IIRDES_ELLIP;
        d_filter.reset(iirfilt_crcf_create_prototype(type,
                                                     LIQUID_IIRDES_LOWPASS,
                                                     LIQUID_IIRDES_SOS,
                                                     poles,
                                                     fc,
                                                     0,
                                                     ripple_db,
                                                     stop_band_db));
    }
}

void receiver_filter::process(std::complex<float>* x, size_t n, uint64_t first)
{
    const bool fir = d_filter.get_deleter().kind == filter_kind::fir;
    for (size_t i = 0; i < n; ++i) {
        const double turns = d_turns * static_cast<double>(first + i);
        const auto w =
            std::polar(1.0f, static_cast<float>(2 * M_PI * (turns - std::floor(turns))));
        std::complex<float> y;
        if (fir) {
            firfilt_crcf_push(static_cast<firfilt_crcf>(d_filter.get()),
                              x[i] * std::conj(w));
            firfilt_crcf_execute(static_cast<firfilt_crcf>(d_filter.get()), &y);
        } else {
            iirfilt_crcf_execute(
                static_cast<iirfilt_crcf>(d_filter.get()), x[i] * std::conj(w), &y);
        }
        x[i] = y * w;
    }
}

} // namespace gr::hf::kernel

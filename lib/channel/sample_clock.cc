/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "channel/sample_clock.h"

// before liquid, which then uses std::complex
#include <complex>

#include <liquid/liquid.h>

#include <cmath>
#include <stdexcept>
#include <string>

namespace gr::hf::kernel {

namespace {

resamp_crcf as_resampler(void* p) { return static_cast<resamp_crcf>(p); }

} // namespace

void sample_clock::destroy::operator()(void* resampler) const
{
    resamp_crcf_destroy(as_resampler(resampler));
}

sample_clock::sample_clock(double sample_rate, double ppm) : d_reserve(0)
{
    if (!(std::abs(ppm) <= 1000) || ppm == 0)
        throw std::invalid_argument("sample_clock: ppm = " + std::to_string(ppm) +
                                    " is not in -1000 to 1000, or is 0");
    if (!(sample_rate > 0))
        throw std::invalid_argument("sample_clock: sample_rate must be above 0");
    d_reserve =
        static_cast<size_t>(std::ceil(std::abs(ppm) * 1e-6 * longest_s * sample_rate));
    constexpr float cutoff = 0.45f, stop_band_db = 80;
    constexpr unsigned filters = 1024; // positions between two samples
    d_resampler.reset(resamp_crcf_create(static_cast<float>(1 / (1 + ppm * 1e-6)),
                                         half_length,
                                         cutoff,
                                         stop_band_db,
                                         filters));
    if (!d_resampler)
        throw std::invalid_argument("sample_clock: no resampler for ppm = " +
                                    std::to_string(ppm));
    restart();
}

void sample_clock::restart()
{
    resamp_crcf_reset(as_resampler(d_resampler.get()));
    d_ready.assign(d_reserve, 0);
    d_zeros = 0;
}

void sample_clock::process(const std::complex<float>* in,
                           std::complex<float>* out,
                           size_t n)
{
    for (size_t i = 0; i < n; ++i) {
        d_zeros = in[i] == 0.0f ? d_zeros + 1 : 0;
        std::complex<float> made[4];
        unsigned count = 0;
        resamp_crcf_execute(as_resampler(d_resampler.get()), in[i], made, &count);
        d_ready.insert(d_ready.end(), made, made + count);
        const bool silent = d_zeros > d_ready.size() + 2 * half_length;
        const bool slips = d_ready.empty() || d_ready.size() > 2 * d_reserve + 1;
        if (silent || slips)
            restart();
        out[i] = d_ready.front();
        d_ready.pop_front();
        // Samples held back by a restart replace those it removed.
        if (silent || slips)
            d_ready.push_back(0);
    }
}

} // namespace gr::hf::kernel

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ale/modem/transmitter.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace gr::hf::ale {

transmitter::transmitter(const std::vector<word>& words, double rate, double centre_hz)
    : d_rate(rate), d_centre(centre_hz)
{
    const double highest = lowest_tone_hz + (tone_count - 1) * tone_step_hz;
    const double lowest_rate =
        2 * std::max(highest - centre_hz, centre_hz - lowest_tone_hz) + 100;
    if (!(rate >= lowest_rate))
        throw std::invalid_argument("rate " + std::to_string(rate) +
                                    " samples/s: allowed are " +
                                    std::to_string(lowest_rate) + " and above");
    for (const auto& w : words) {
        const auto tones = tones_of(w);
        d_tones.insert(d_tones.end(), tones.begin(), tones.end());
    }
    d_length = static_cast<uint64_t>(
        std::llround(static_cast<double>(d_tones.size()) * rate / tone_rate));
}

size_t transmitter::produce(std::complex<float>* out, size_t n)
{
    n = static_cast<size_t>(std::min<uint64_t>(n, d_length - d_at));
    for (size_t k = 0; k < n; ++k, ++d_at) {
        const double seconds = static_cast<double>(d_at) / d_rate;
        const auto symbol =
            std::min(static_cast<size_t>(seconds * tone_rate + 1e-9), d_tones.size() - 1);
        const double hz = lowest_tone_hz + tone_step_hz * d_tones[symbol] - d_centre;
        const double turns = hz * seconds;
        out[k] =
            std::complex<float>(std::polar(1.0, 2 * M_PI * (turns - std::floor(turns))));
    }
    return n;
}

} // namespace gr::hf::ale

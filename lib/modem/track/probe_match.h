/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/front/half_symbol_stream.h"
#include "modem/track/channel_estimator.h"

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>

namespace gr::hf::kernel {

/*! \brief Share of a probe's power that is the probe, on the known paths, 0 to 1.
 *  \details Correlates the probe at the delays of these paths. Unlike
 *  channel_estimator::explained(), nothing is fitted: speech or lightning, which taps
 *  can be fitted to, have no share on average. Of a signal on several paths it measures
 *  less than its share, as each path sees the others as noise.
 *  \param known  symbols of the probe
 *  \param symbol its symbols, by their place in it
 */
template <class Function>
float probe_match(const half_symbol_stream& y,
                  int64_t probe,
                  size_t known,
                  const channel_estimator& channel,
                  Function symbol)
{
    // Each path by its power, and by the rows that it is received in.
    float matched = 0, received = 0;
    for (const uint16_t tap : channel.selected()) {
        const std::complex<float>* row = y.at(2 * probe + tap);
        std::complex<float> sum = 0;
        float power = 0;
        for (size_t i = 0; i < known; ++i) {
            sum += std::conj(symbol(i)) * row[2 * i];
            power += std::norm(row[2 * i]);
        }
        const float weight = channel.profile()[tap];
        matched += weight * std::norm(sum);
        received += weight * power;
    }
    if (known < 2 || !(received > 0))
        return 0;
    // Anything else has the mean power of one symbol after correlation, a probe \p known
    // times that.
    const float gain = matched / received;
    return std::clamp((gain - 1) / static_cast<float>(known - 1), 0.0f, 1.0f);
}

} // namespace gr::hf::kernel

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/track/probe_readings.h"

#include <algorithm>
#include <map>

namespace gr::hf::kernel {

namespace {

// Half-symbol taps on which the energy of a path appears, see walsh_plan::overlap.
constexpr float overlap = 1.77f;

} // namespace

probe_readings::probe_readings(const description& d)
    : d_d(d), d_score(1 + d.other_probes.size(), 0)
{
}

bool probe_readings::differ(size_t frame) const
{
    return std::any_of(
        d_d.other_probes.begin(),
        d_d.other_probes.end(),
        [&](const auto& r) { return r[frame] != d_d.frame_patterns[frame]; });
}

void probe_readings::hear(const half_symbol_stream& y,
                          int64_t probe,
                          size_t frame,
                          const channel_estimator& channel)
{
    const auto count = static_cast<float>(d_d.known);
    const float noise = std::max(channel.noise(), 1e-20f);
    std::map<uint16_t, float> likelihood; // log-likelihood of each pattern
    for (size_t r = 0; r < d_score.size(); ++r) {
        const uint16_t pattern = d_d.pattern_of(frame, r);
        const auto known = likelihood.find(pattern);
        if (known != likelihood.end()) {
            d_score[r] += known->second;
            continue;
        }
        const cell* cells = &d_d.patterns[pattern * d_d.frame_symbols() + d_d.unknown];
        float sum = 0;
        for (const uint16_t tap : channel.selected()) {
            const std::complex<float>* row = y.at(2 * probe + tap);
            std::complex<float> c = 0;
            for (size_t i = 0; i < d_d.known; ++i)
                c += std::conj(d_d.known_point(cells[i])) * row[2 * i];
            const float power = channel.profile()[tap];
            sum += std::norm(c) * power / (noise * (count * power + noise));
        }
        likelihood[pattern] = sum / overlap;
        d_score[r] += sum / overlap;
    }
    d_chosen = static_cast<size_t>(std::max_element(d_score.begin(), d_score.end()) -
                                   d_score.begin());
}

} // namespace gr::hf::kernel

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/rate/channel_promise.h"

#include "s5066/rate/mode_promise.h"
#include "s5066/rate/rate_range.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace gr::hf::s5066 {

namespace {

constexpr int lowest_db = -20, highest_db = 45;
constexpr size_t moderate = 2; // of known_channels
using table = std::array<double, highest_db - lowest_db + 1>;

table best_of_all_modes()
{
    table best{};
    for (const auto& m : rate_range::parse("auto:4539")->modes()) {
        const auto& promises = mode_promises::of(m);
        for (size_t k = 0; k < best.size(); ++k) {
            const double snr_db = lowest_db + static_cast<double>(k);
            const auto& all = promises.at(moderate, snr_db).goodput_bps;
            best[k] = std::max(best[k], *std::max_element(all.begin(), all.end()));
        }
    }
    return best;
}

} // namespace

double promised_bps(double snr_db)
{
    static const table best = best_of_all_modes();
    const double k = std::clamp(std::round(snr_db), 1.0 * lowest_db, 1.0 * highest_db);
    return best[static_cast<size_t>(k - lowest_db)];
}

} // namespace gr::hf::s5066

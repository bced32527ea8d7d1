/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/rate/mode_ladder.h"

#include "s5066/rate/mode_promise.h"
#include "s5066/rate/rate_policy.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <string>

namespace gr::hf::s5066 {

namespace {

// Share of the best promise that the rest must reach without a mode that is left out.
// As worth_a_change of rate_estimator.cc: less is no reason to change the mode. 0.98 leaves
// 36 of 78 modes of the standards. 0.95 left five fewer, with the same goodput within 0.6 % over 12 h on
// five channels.
constexpr double nearly_as_much = 0.98;
// Levels compared: those of the tables of mode_promises.
constexpr double lowest_db = -20, highest_db = 45, step_db = 0.5;

double needed_db(const mode& m) { return mode_promises::of(m).needed_db(); }

bool is_long(const mode& m) { return m.il == interleaver::long_; }

// Promises of a mode in every situation: each channel at each SNR of a constant envelope.
using promises = std::vector<double>;

promises of(const mode& m)
{
    const auto& table = mode_promises::of(m);
    promises all;
    for (size_t c = 0; c < channel_classes; ++c) {
        for (double db = lowest_db; db <= highest_db; db += step_db) {
            const auto& bps = table.at(c, db + table.power_db()).goodput_bps;
            all.push_back(*std::max_element(bps.begin(), bps.end()));
        }
    }
    return all;
}

// The least share of what all promise that the rest promises without mode number k.
double share_without(const std::vector<promises>& kept,
                     size_t k,
                     const promises& all,
                     double min_bps)
{
    double share = 1;
    for (size_t i = 0; i < all.size(); ++i) {
        if (kept[k][i] < nearly_as_much * all[i] || all[i] < min_bps)
            continue;
        double rest = 0;
        for (size_t j = 0; j < kept.size(); ++j)
            rest = j == k ? rest : std::max(rest, kept[j][i]);
        share = std::min(share, rest / all[i]);
    }
    return share;
}

std::vector<mode> computed_ladder(const std::vector<mode>& modes)
{
    std::vector<mode> left = modes;
    std::vector<promises> kept;
    std::transform(modes.begin(), modes.end(), std::back_inserter(kept), of);
    promises all = kept.front();
    for (const auto& p : kept) {
        std::transform(
            all.begin(),
            all.end(),
            p.begin(),
            all.begin(),
            [](double a, double b) { return std::max(a, b); });
    }
    // Where nearly nothing arrives, promises tell nothing.
    const double min_bps = 0.1 * modes.front().rate_bps;
    while (left.size() > 1) {
        size_t found = 0;
        double most = 0;
        for (size_t k = 0; k < left.size(); ++k) {
            const double share = share_without(kept, k, all, min_bps);
            if (share > most) {
                most = share;
                found = k;
            }
        }
        if (most < nearly_as_much)
            break;
        left.erase(left.begin() + static_cast<std::ptrdiff_t>(found));
        kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(found));
    }
    return left;
}

} // namespace

// Computed once for each list: 10 ms for 88 modes, four lists for each station.
std::vector<mode> ladder_of(const std::vector<mode>& modes)
{
    static std::mutex guard;
    static std::map<std::string, std::vector<mode>> all;
    std::string names;
    for (const mode& m : modes)
        names += m.to_string() + ' ';
    const std::lock_guard<std::mutex> lock(guard);
    auto& ladder = all[names];
    if (ladder.empty())
        ladder = computed_ladder(modes);
    return ladder;
}

mode_set::mode_set(std::vector<mode> all, bool choose_all)
    : data(std::move(all)), ladder(choose_all ? data : ladder_of(data)),
      lowest(*std::min_element(data.begin(), data.end(), [](auto& a, auto& b) {
          return needed_db(a) < needed_db(b);
      }))
{
    // Where the preambles of short interleavers are not found, the longest one is.
    if (is_long(lowest))
        acks.push_back(lowest);
    for (const mode& m : data) {
        if (!is_long(m)) {
            const mode a = default_ack_mode(m);
            acks.push_back(m);
            if (a != m)
                acks.push_back(a);
        }
    }
}

peer_modes::peer_modes(const rate_range& range)
{
    for (const bool robust : { false, true }) {
        for (const bool of_5069 : { false, true }) {
            const modes_read r{ of_5069, robust };
            d_sets.emplace_back(range.modes_for(r), !r.any());
        }
    }
}

} // namespace gr::hf::s5066

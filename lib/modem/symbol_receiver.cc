/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/symbol_receiver.h"

#include "modem/base/no_denormals.h"
#include "modem/burst_modulator.h"
#include "modem/burst_receiver.h"
#include "modem/find/preamble_clock.h"
#include "waveform/family.h"

#include <algorithm>
#include <complex>
#include <utility>
#include <vector>

namespace gr::hf::kernel {
namespace {

constexpr double found_after_s = 1;       // from the end of a preamble until it is found
constexpr double present_within_s = 0.25; // as of burst_receiver
constexpr double quiet_before_s = 0.1;    // many times the length of a pulse
constexpr size_t max_found = 16;          // not judged yet
constexpr int max_superframes = 32;       // 110C D.5.2.1

size_t longest_preamble(const description& d)
{
    if (family_of(d.m).preamble == nullptr)
        return d.preamble.size();
    preamble_options o;
    o.superframes = max_superframes;
    return preamble_of(d.m, o).symbols.size();
}

} // namespace

symbol_receiver::symbol_receiver(const description& d)
    : d_d(d), d_grid(grid_of(d.m)),
      d_history(symbol_grid::samples_per_symbol *
                    static_cast<int64_t>(longest_preamble(d)) +
                d_grid.samples(found_after_s))
{
    // A transmission may begin with the stream, its pulse a little before.
    const std::vector<std::complex<float>> quiet(
        static_cast<size_t>(d_grid.samples(quiet_before_s)));
    d_in.append(quiet.data(), quiet.size());
    d_in.renumber(-d_in.end());
}

double symbol_receiver::first_sample(const acquired& a) const
{
    return a.origin +
           symbol_grid::samples_per_symbol * static_cast<double>(a.first_symbol);
}

bool symbol_receiver::begin(const acquired& a)
{
    if (a.waveform != &d_d || first_sample(a) < static_cast<double>(d_in.begin()) ||
        d_found.size() == max_found)
        return false;
    d_found.push_back(a);
    return true;
}

/* A preamble within a transmission that goes on is none. Whether it goes on is known only
 * when all that was pushed has been followed.
 * \returns true if a transmission begins */
bool symbol_receiver::judge()
{
    if (d_found.empty())
        return false;
    acquired found = d_found.front();
    const double begin = first_sample(found);
    if (d_follower) {
        if (static_cast<double>(d_in.end()) <
            begin + static_cast<double>(d_grid.samples(found.plan->judged_after_s)))
            return false;
        const burst_tracker& t = d_follower->tracker();
        if (t.sample_of(t.last_good_symbol()) >
            begin + static_cast<double>(d_grid.samples(present_within_s))) {
            d_found.pop_front();
            return judge();
        }
    }
    d_found.pop_front();
    if (found.plan->follows_clock)
        learn_clock(found, d_in);
    d_follower.emplace(found, rx_options{}.lost_after_s);
    d_start = found;
    return true;
}

std::optional<symbol_receiver::block> symbol_receiver::next()
{
    const no_denormals fast;
    do {
        if (!d_follower)
            continue;
        if (auto symbols = d_follower->advance(d_in))
            return block{ std::move(*symbols), std::exchange(d_start, std::nullopt) };
        if (d_follower->tracker().lost())
            d_follower.reset();
    } while (judge());
    int64_t keep = d_in.end() - d_history;
    if (d_follower)
        keep = std::min(keep, d_follower->tracker().needs());
    d_in.drop_before(keep);
    return std::nullopt;
}

} // namespace gr::hf::kernel

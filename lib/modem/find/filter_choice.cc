/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/find/filter_choice.h"

#include "modem/find/preamble_clock.h"
#include "modem/find/synchroniser.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace gr::hf::kernel {

namespace {

// Longest part of a preamble that is measured, s: the channel is constant there.
constexpr double longest_s = 0.12;
// Symbols that must be left.
constexpr size_t min_symbols = 128;
// Transmissions that decide. Their median does: a preamble in a deep fade may differ by 10 dB.
constexpr size_t max_gains = 15;
// A smaller difference changes nothing, dB. Medians with 9600S, 10 transmissions: behind
// elliptic filters of 2.3 and 2.4 kHz 0.6 to 4 dB, of 2.7 kHz and Butterworth 0.1 to 0.3, behind
// FIR filters -0.5 to -1.1.
constexpr double min_gain_db = 0.3;

// SNR on known symbols, dB. Empty if they are not found.
std::optional<double> snr_db(const synchroniser& s,
                             const sample_buffer& in,
                             int64_t start,
                             double hz,
                             const std::vector<std::complex<float>>& known)
{
    if (start - s.reach_before() < in.begin())
        return std::nullopt;
    const auto place = s.locate(in, start, hz, known, false);
    const auto found = place ? s.run(in, *place, known, false) : std::nullopt;
    if (!found || !(found->gain > 0 && found->noise > 0))
        return std::nullopt;
    return 10 * std::log10(found->gain / found->noise);
}

} // namespace

void filter_choice::set_idle(bool idle)
{
    d_whitener.set_idle(idle);
    if (!idle || d_undone == d_better_undone)
        return;
    d_undone = d_better_undone;
    d_other.restart(d_next);
}

noise_whitener::sample filter_choice::push(value x, float erased)
{
    const bool before = d_whitener.active();
    const auto white = d_whitener.push(x, erased);
    const int64_t at = d_next++;
    if (!d_whitener.active())
        return { x, erased };
    if (!before)
        d_other.restart(at);
    d_other.append(d_undone ? x : white.x, d_undone ? erased : white.erased);
    return d_undone ? white : noise_whitener::sample{ x, erased };
}

void filter_choice::compare(const acquired& a, const sample_buffer& in)
{
    if (!d_whitener.active() || a.joined || !a.synchroniser)
        return;
    auto known = preamble_of(a);
    const auto first = std::max(a.read_symbol, -static_cast<int64_t>(known.size()));
    known.erase(known.begin(), known.end() + first);
    known.resize(std::min(known.size(), static_cast<size_t>(d_grid.symbols(longest_s))));
    const synchroniser s(d_grid, *a.synchroniser);
    const auto start = static_cast<int64_t>(std::lround(
        a.origin + static_cast<double>(symbol_grid::samples_per_symbol * first)));
    // The preamble is found as soon as it can be read: its last echoes may be missing.
    const int64_t end = std::min(in.end(), d_other.end());
    while (known.size() >= min_symbols && start + s.reach(known.size(), 0) > end)
        known.pop_back();
    if (known.size() < min_symbols)
        return;
    const auto used = snr_db(s, in, start, a.frequency_hz, known),
               other = snr_db(s, d_other, start, a.frequency_hz, known);
    if (!used || !other)
        return;
    d_gains_db.push_back(d_undone ? *used - *other : *other - *used);
    if (d_gains_db.size() > max_gains)
        d_gains_db.pop_front();
    auto sorted = d_gains_db;
    const auto middle = sorted.begin() + static_cast<long>(sorted.size() / 2);
    std::nth_element(sorted.begin(), middle, sorted.end());
    if (std::abs(*middle) >= min_gain_db)
        d_better_undone = *middle > 0;
}

void filter_choice::restart(int64_t next)
{
    d_whitener.restart();
    d_next = next;
    d_other.restart(next);
}

} // namespace gr::hf::kernel

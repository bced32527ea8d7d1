/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/find/cued_preamble.h"

#include "waveform/description.h"
#include "waveform/family.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

namespace gr::hf::kernel {

namespace {

/* Longest end of the preamble that is correlated as a whole, s. On Poor (1 Hz) the
 * channel hardly changes in this time. */
constexpr double longest_s = 0.2;
/* Step of the offset times the length of the pattern: half a step costs 1.1 dB, as in the
 * families' own patterns. */
constexpr double step_times_length = 0.55;
// Noise exceeds the threshold within the time searched once in exp(3) = 20 searches.
constexpr double beyond_chance = 3;

//! Believes every place that the search has found.
class cued_reader : public preamble_reader
{
public:
    cued_reader(preamble_stretch s, preamble_meaning m)
        : d_stretch(std::move(s)), d_meaning(std::move(m))
    {
    }
    const preamble_stretch& stretch() const override { return d_stretch; }
    verdict read(const preamble_evidence&) override { return verdict::found; }
    preamble_meaning meaning() const override { return d_meaning; }

private:
    preamble_stretch d_stretch;
    preamble_meaning d_meaning;
};

} // namespace

family_reception cued_preamble(const mode& m, double within_s, double max_offset_hz)
{
    const description& d = describe(m);
    const family& f = family_of(m);
    const family_reception& usual = *f.reception(m.bandwidth_hz);
    const auto length =
        std::min(d.preamble.size(),
                 static_cast<size_t>(std::lround(longest_s * d.symbol_rate_bd)));
    family_reception cued;
    cued.symbol_rate_bd = d.symbol_rate_bd;
    cued.synchroniser = usual.synchroniser;
    cued.periods_s = usual.periods_s;
    search_pattern p;
    for (size_t i = d.preamble.size() - length; i < d.preamble.size(); ++i)
        p.symbols.push_back(d.known_points[d.preamble[i]]);
    p.step_hz = step_times_length * d.symbol_rate_bd / static_cast<double>(length);
    const double offsets = 1 + 2 * max_offset_hz / p.step_hz;
    p.threshold = static_cast<float>(beyond_chance +
                                     std::log(within_s * 2 * d.symbol_rate_bd * offsets));
    // The part of the preamble before it may resemble it.
    p.hold = length;
    preamble_stretch s;
    s.symbols = length;
    s.fixed = p.symbols;
    const preamble_meaning meaning{ &d, &f.plan_of(m), length, length };
    cued.patterns.push_back(std::move(p));
    cued.reader = [s, meaning](size_t, const reading_options&) {
        return std::make_unique<cued_reader>(s, meaning);
    };
    return cued;
}

} // namespace gr::hf::kernel

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/find/preamble_watch.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace gr::hf::kernel {

namespace {

constexpr size_t max_trials = 6; // at once; the oldest goes

// Filters and the delays before a path reach back from a candidate, samples.
constexpr int64_t needed_before = 1024 * symbol_grid::samples_per_symbol;

} // namespace

preamble_watch::preamble_watch(const symbol_grid& grid,
                               listened_families families,
                               double max_offset_hz,
                               const reading_options& reading)
    : d_grid(grid), d_families(std::move(families)),
      d_search(grid, d_families, max_offset_hz), d_reading(reading)
{
    for (const family_reception* f : d_families)
        for (const search_pattern& p : f->patterns)
            d_longest_hold =
                std::max(d_longest_hold,
                         symbol_grid::samples_per_symbol *
                             static_cast<int64_t>(p.hold + p.symbols.size()));
}

// A later repetition, or another reading, of a preamble that is looked at already.
bool preamble_watch::known(const preamble_candidate& c) const
{
    const auto& patterns = d_families[c.family]->patterns;
    const search_pattern& sought = patterns[c.pattern];
    const auto period =
        symbol_grid::samples_per_symbol * static_cast<int64_t>(sought.repeats_after);
    constexpr int64_t tolerance = symbol_grid::samples_per_symbol;
    return period > 0 &&
           std::any_of(d_trials.begin(), d_trials.end(), [&](const trial& t) {
               if (t.candidate.family != c.family)
                   return false;
               const search_pattern& other = patterns[t.candidate.pattern];
               if (t.candidate.pattern != c.pattern &&
                   (sought.contest == 0 || sought.contest != other.contest))
                   return false;
               const int64_t between =
                   static_cast<int64_t>(sought.place) - static_cast<int64_t>(other.place);
               const int64_t off =
                   (c.sample - t.candidate.sample +
                    symbol_grid::samples_per_symbol * between + period / 2) %
                   period;
               return std::abs(off - period / 2) <= tolerance;
           });
}

std::optional<found_preamble> preamble_watch::advance(const sample_buffer& in)
{
    for (;;) {
        const auto c = d_search.advance(in);
        if (c) {
            d_search.restart(std::max(c->sample + peak_width, in.begin()));
            if (c->sample >= d_from && !known(*c)) {
                ++d_candidates;
                d_trials.push_back(
                    { *c, acquisition(d_grid, *d_families[c->family], *c, d_reading) });
                if (d_trials.size() > max_trials)
                    d_trials.pop_front();
            }
        }
        for (auto t = d_trials.begin(); t != d_trials.end();) {
            const auto state = t->confirmation.advance(in);
            if (state == acquisition::state::locked)
                return found_preamble{ t->confirmation.result(), t->candidate.sample };
            t = state == acquisition::state::rejected ? d_trials.erase(t) : t + 1;
        }
        if (!c)
            return std::nullopt;
    }
}

void preamble_watch::restart(int64_t from)
{
    d_trials.clear();
    d_from = from;
    d_search.restart(from);
}

void preamble_watch::forget_before(int64_t from)
{
    d_from = from;
    d_trials.erase(
        std::remove_if(d_trials.begin(),
                       d_trials.end(),
                       [from](const trial& t) { return t.candidate.sample < from; }),
        d_trials.end());
    if (d_search.position() < from)
        d_search.restart(from);
}

int64_t preamble_watch::needs() const
{
    // A candidate is told so long after its first symbol.
    int64_t oldest = d_search.needs() - needed_before - d_longest_hold;
    for (const trial& t : d_trials)
        oldest = std::min(oldest, t.confirmation.needs());
    return oldest;
}

} // namespace gr::hf::kernel

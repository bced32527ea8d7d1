/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/find/preamble_watch.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

namespace gr::hf::kernel {

namespace {

constexpr size_t max_trials = 6; // at once; the oldest is dropped first

// Samples needed before a candidate, for filters and early delays.
constexpr int64_t needed_before = 1024 * symbol_grid::samples_per_symbol;

} // namespace

preamble_watch::preamble_watch(const symbol_grid& grid,
                               const listened_families& families,
                               double max_offset_hz,
                               const reading_options& reading)
    : d_grid(grid), d_reading(reading), d_max_offset_hz(max_offset_hz)
{
    std::map<std::pair<double, double>, listened_families> alike;
    for (const family_reception* f : families)
        alike[{ f->look_every_s, f->look_s }].push_back(f);
    for (const auto& [looks, those] : alike)
        d_searches.push_back({ those,
                               preamble_search(grid, those, max_offset_hz),
                               grid.samples(looks.first),
                               grid.samples(looks.second) });
    for (const family_reception* f : families)
        for (const search_pattern& p : f->patterns)
            d_longest_hold =
                std::max(d_longest_hold,
                         symbol_grid::samples_per_symbol *
                             static_cast<int64_t>(p.hold + p.symbols.size()));
}

// True for a later repetition, or another reading, of a preamble under examination.
bool preamble_watch::known(const family_reception& f, const preamble_candidate& c) const
{
    const search_pattern& sought = f.patterns[c.pattern];
    // A repeating signal is examined frame by frame from the first candidate on.
    if (f.look_every_s > 0)
        return std::any_of(d_trials.begin(), d_trials.end(), [&](const trial& t) {
            return t.family == &f && t.candidate.pattern == c.pattern;
        });
    const auto period =
        symbol_grid::samples_per_symbol * static_cast<int64_t>(sought.repeats_after);
    constexpr int64_t tolerance = symbol_grid::samples_per_symbol;
    return period > 0 &&
           std::any_of(d_trials.begin(), d_trials.end(), [&](const trial& t) {
               if (t.family != &f)
                   return false;
               const search_pattern& other = f.patterns[t.candidate.pattern];
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

// The next candidate in the samples received.
std::optional<preamble_candidate> preamble_watch::look(searched_for& s,
                                                       const sample_buffer& in)
{
    if (s.every == 0)
        return s.search.advance(in);
    for (;;) {
        if (const auto c = s.search.advance(in, s.look + s.length))
            return c;
        if (s.search.position() < s.look + s.length)
            return std::nullopt;
        s.look += s.every;
        s.search.restart(s.look);
    }
}

// False if there is no candidate.
bool preamble_watch::confirm(searched_for& s, const sample_buffer& in)
{
    const auto c = look(s, in);
    if (!c)
        return false;
    // In a look the other patterns have their own peaks, perhaps before this one.
    if (s.every == 0)
        s.search.restart(std::max(c->sample + peak_width, in.begin()));
    const family_reception& f = *s.families[c->family];
    if (c->sample >= d_from && !known(f, *c)) {
        ++d_candidates;
        d_trials.push_back(
            { &f, *c, acquisition(d_grid, f, *c, d_reading, d_max_offset_hz) });
        if (d_trials.size() > max_trials)
            d_trials.pop_front();
    }
    return true;
}

std::optional<found_preamble> preamble_watch::advance_trials(const sample_buffer& in)
{
    for (auto t = d_trials.begin(); t != d_trials.end();) {
        const auto state = t->confirmation.advance(in);
        if (state == acquisition::state::locked)
            return found_preamble{ t->confirmation.result(), t->confirmation.sample() };
        t = state == acquisition::state::rejected ? d_trials.erase(t) : t + 1;
    }
    return std::nullopt;
}

std::optional<found_preamble> preamble_watch::advance(const sample_buffer& in)
{
    for (bool more = true; more;) {
        more = false;
        for (searched_for& s : d_searches)
            more = confirm(s, in) || more;
        if (auto found = advance_trials(in))
            return found;
    }
    return std::nullopt;
}

void preamble_watch::restart(int64_t from)
{
    d_trials.clear();
    d_from = from;
    for (searched_for& s : d_searches) {
        s.look = from;
        s.search.restart(from);
    }
}

void preamble_watch::forget_before(int64_t from)
{
    d_from = from;
    d_trials.erase(
        std::remove_if(d_trials.begin(),
                       d_trials.end(),
                       [from](const trial& t) { return t.confirmation.sample() < from; }),
        d_trials.end());
    for (searched_for& s : d_searches)
        if (s.search.position() < from) {
            s.look = from;
            s.search.restart(from);
        }
}

int64_t preamble_watch::needs() const
{
    // A candidate may be reported this long after its first symbol.
    int64_t oldest = INT64_MAX;
    for (const searched_for& s : d_searches)
        oldest = std::min(oldest, s.search.needs() - needed_before - d_longest_hold);
    for (const trial& t : d_trials)
        oldest = std::min(oldest, t.confirmation.needs());
    return oldest;
}

} // namespace gr::hf::kernel

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/preamble_watch.h"

#include "waveform/serial_tone.h"

#include <algorithm>
#include <cstdlib>

namespace gr::hf::kernel {

namespace {

constexpr size_t max_trials = 6; // at once; the oldest goes

} // namespace

// A later segment of a preamble that is looked at already.
bool preamble_watch::known(const preamble_candidate& c) const
{
    constexpr auto segment = static_cast<int64_t>(4 * serial_tone::segment_symbols);
    constexpr int64_t tolerance = 4;
    return std::any_of(d_trials.begin(), d_trials.end(), [&c](const trial& t) {
        const int64_t off = (c.sample - t.candidate.sample + segment / 2) % segment;
        return c.family == waveform_family::serial_tone &&
               t.candidate.family == c.family && std::abs(off - segment / 2) <= tolerance;
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
                d_trials.push_back({ *c, acquisition(*c, d_zero_interleaver) });
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
}

int64_t preamble_watch::needs() const
{
    int64_t oldest = d_search.needs() - 4096;
    for (const trial& t : d_trials)
        oldest = std::min(oldest, t.confirmation.needs());
    return oldest;
}

} // namespace gr::hf::kernel

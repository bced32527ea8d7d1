/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Stations that share the channel and are heard only by others.
#include "s5066/access/access_rules.h"

#include <algorithm>

namespace gr::hf::s5066 {

// True if the station was never heard, and there is room for it among hidden stations.
bool channel_access::rules::may_be_hidden(const channel_access& c, address a)
{
    const auto& at = c.d_hidden.at;
    return a != c.d_config.own && !a.is_group() && c.d_heard_at.count(a.raw()) == 0 &&
           (at.size() < max_stations || at.count(a.raw()) != 0);
}

void channel_access::overheard(station_time now,
                               address to,
                               const overheard_contents& contents)
{
    if (!rules::may_be_hidden(*this, to))
        return;
    const auto [acked, data, accepted] = contents;
    if (!acked && !accepted && d_hidden.at.count(to.raw()) == 0)
        return; // perhaps it never answers
    if (acked || accepted)
        walk().hidden(now, to);
    d_hidden.at[to.raw()] = now;
    if (acked && !d_hidden.acked) {
        d_hidden.served =
            now - d_busy_end +
            (d_hidden.run == to.raw() ? d_hidden.served : station_time::zero());
        d_hidden.run = to.raw();
        d_share.served(to, now - from_seconds(answer_s)); // started before this answer
    }
    d_hidden.acked = d_hidden.acked || acked;
    d_hidden.addressed = d_hidden.addressed || data || accepted;
}

void channel_access::ended(station_time end, std::optional<address> asked)
{
    d_busy_end = end;
    d_asked = asked;
    const bool hidden = asked && d_hidden.at.count(asked->raw()) != 0;
    d_hidden.until = end + (hidden ? rules::hidden_turn(*this) : station_time::zero());
    d_hidden.wait = hidden ? rules::hidden_answer(*this, *asked) : station_time::zero();
    d_hidden.acked = d_hidden.addressed = false;
}

// Time that a hidden station may transmit after it was addressed. It answers data, and
// continues with its own unless it knows that we have waited longer. A station not on the
// list cannot know that, and tries.
station_time channel_access::rules::hidden_answer(const channel_access& c, address asked)
{
    if (c.d_share.is_ahead(c.d_config.own, asked)) {
        const bool goes_on = 2 * c.d_hidden.served < c.turn_length(); // others_first(c)
        return c.d_hidden.addressed ? c.guard_time() + from_seconds(answer_s)
               : goes_on            ? hidden_turn(c)
                                    : station_time::zero();
    }
    return c.d_hidden.addressed || c.d_share.has(c.d_config.own) ? hidden_turn(c)
                                                                 : station_time::zero();
}

station_time channel_access::rules::hidden_turn(const channel_access& c)
{
    return c.guard_time() + c.turn_length() + c.d_longest_preamble +
           from_seconds(answer_s);
}

station_time channel_access::clear_at(station_time at, station_time free_at) const
{
    return at > free_at + shared_slot() ? std::max(at, d_hidden.until) : at;
}

bool channel_access::rules::hidden_ahead(const channel_access& c)
{
    return std::any_of(
        c.d_hidden.at.begin(),
        c.d_hidden.at.end(),
        [&c](const auto& e) {
            return c.d_share.is_ahead(address::node(e.first), c.d_config.own);
        });
}

} // namespace gr::hf::s5066

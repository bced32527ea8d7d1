/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// When a physical link counts as failed, and when an idle one ends.
#include "s5066/cas/soft_links.h"

#include <algorithm>
#include <string>

namespace gr::hf::s5066 {

namespace {
constexpr double called_patience_s = 300;
// For a station not heard lately, which may not exist, half of the link requests are
// enough, but not fewer than these. One less if they take long on a channel of two stations,
// so that the client is notified within a minute.
constexpr unsigned min_tries = 4;
constexpr station_time lately = std::chrono::minutes(15);
constexpr station_time long_calling = std::chrono::seconds(40);
// A station not heard for this long on a channel that others use is absent.
constexpr station_time longest_doubt = std::chrono::hours(1);
// Transmissions that may have met others are repeated, in all up to this multiple of
// link_tries. Stations present left at most 8 in a row unanswered (docs/reliability.md).
constexpr unsigned max_repeats = 4;
} // namespace

unsigned soft_links::tries_until_gone(station_time now, const peer& p) const
{
    const unsigned most = d_node.config.link_tries;
    const unsigned half = std::max(min_tries, most / 2);
    const bool late = !d_access.shared() && now - p.link.called_at >= long_calling;
    const bool known = d_access.heard_since(now - lately, p.addr);
    return known ? most : std::min(most, late ? half - 1 : half);
}

// A peer is "not responding" if it did not answer this number of transmissions that met no
// other station's, as far as can be noticed. A peer that is heard otherwise is present,
// and gets more of them.
bool soft_links::gone(station_time now, const peer& p, unsigned unanswered) const
{
    if (p.turn.silent >= max_repeats * std::max(unanswered, d_node.config.link_tries))
        return true;
    const station_time since = p.turn.silent_since;
    const bool there = d_access.heard_since(since, p.addr);
    const bool late = !d_access.heard_since(now - longest_doubt, p.addr) &&
                      now - since >= longest_doubt;
    return late || (!there && p.turn.silent_fair >= unanswered);
}

void soft_links::on_silence(station_time now, peer& p)
{
    switch (p.link.state) {
    case link_state::calling:
        if (const unsigned n = tries_until_gone(now, p);
            p.link.tries >= n && gone(now, p, n)) {
            d_node.log.trace(now,
                             p.addr.to_string() + " did not answer " +
                                 std::to_string(p.link.tries) + " calls, " +
                                 std::to_string(p.turn.silent_fair) +
                                 " of them with a fair chance");
            lost(now, p, unidata_reject_reason::not_responding);
        }
        break;
    case link_state::breaking:
        if (p.link.tries >= d_node.config.break_tries)
            closed(p);
        break;
    default:
        const bool unset = p.reset.on_silence() >= d_node.config.reset_tries;
        const unsigned n = p.reset.active() && unset ? d_node.config.reset_tries
                                                     : d_node.config.max_silent_rounds;
        if (p.turn.silent >= n && gone(now, p, n))
            lost(now, p, unidata_reject_reason::not_responding);
    }
}

void soft_links::on_evasion(station_time now, peer& p)
{
    if (p.link.breaking() && p.link.tries >= d_node.config.break_tries) {
        d_node.log.trace(now,
                         p.addr.to_string() + " does not confirm the end of the link");
        closed(p);
    } else if (p.link.calling() && p.link.tries >= d_node.config.link_tries) {
        d_node.log.trace(now, p.addr.to_string() + " answers, but makes no link");
        lost(now, p, unidata_reject_reason::not_responding);
    }
}

void soft_links::check(station_time now)
{
    for (auto& [raw, q] : d_node.peers) {
        peer& p = *q;
        if (!p.link.made() || (p.link.exclusive && d_node.upper.hard_link_uses(p.addr)))
            continue;
        // With own data in flight, a new link could deliver them twice.
        if (p.link.first_data_late(now) && p.arq.tx.unacknowledged() == 0 &&
            p.expedited.tx.unacknowledged() == 0) {
            d_node.log.trace(now, "no data on the link with " + p.addr.to_string());
            closed(p);
            continue;
        }
        // The caller breaks an idle link. The called side does so only if the caller
        // seems to be gone, which takes longer than losing one or two of its longest
        // transmissions.
        const double limit = p.link.caller ? d_node.config.link_idle_s
                                           : 2 * d_node.config.link_idle_s +
                                                 called_patience_s + d_access.cycle_s();
        // An acknowledgement of expedited data does not say what it acknowledges, so none
        // can go with the break. If ours was lost, the peer must first have time for
        // repeats.
        const double late =
            p.link.caller && p.expedited.data_last ? called_patience_s : 0;
        // A caller that is heard has others to send to first.
        const bool there = !p.link.caller && now - p.link.last_data < longest_doubt &&
                           d_access.heard_since(now - from_seconds(limit), p.addr);
        if (!there && p.idle() && now - p.link.last_data >= from_seconds(limit + late)) {
            d_node.log.trace(now, "idle link with " + p.addr.to_string());
            begin_break(now, p.addr, link_break_reason::no_more_data);
        }
    }
}

} // namespace gr::hf::s5066

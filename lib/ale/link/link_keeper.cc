/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ale/link/link_keeper.h"

#include <algorithm>

namespace gr::hf::ale {

void link_keeper::update(const wish& w, station_time now)
{
    const std::string peer = d_link.peer();
    if (!peer.empty()) {
        d_held = w.active || w.wanted == peer;
        d_link.hold(d_held, now);
        // The end of the data link's own link is traffic, too, and would renew Twa.
        const bool over = d_joined && !w.joined && w.wanted.empty();
        d_joined = w.joined;
        d_watch.note(w.unanswered);
        if (d_max_vain > 0 && d_watch.out_of_reach(d_max_vain) && w.joined) {
            d_called.clear();
            // The peer may have no more data, and hears that we leave.
            const bool nothing = !d_caller && !w.active && w.wanted.empty();
            return d_link.end(now, nothing ? link_reason::idle : link_reason::silent);
        }
        if (w.active || w.wanted == peer || (w.wanted.empty() && !(over && d_caller)))
            return;
        // Another peer is wanted, or none any longer.
        d_link.end(now, w.wanted.empty() ? link_reason::done : link_reason::ours);
        d_called.clear();
    }
    if (w.wanted.empty() || !d_called.empty() || !d_link.peer().empty() || d_link.full())
        return;
    const auto again = d_again_at.find(w.wanted);
    if (again != d_again_at.end() && now < again->second)
        return;
    d_called = w.wanted;
    d_link.call(w.wanted, "", now);
}

void link_keeper::traffic(std::optional<double> snr_db, station_time now)
{
    d_watch.heard();
    d_link.traffic(snr_db, now);
    if (snr_db && d_promise && !d_link.peer().empty())
        d_used.note(d_promise(*snr_db), now);
}

void link_keeper::keyed(bool on, station_time now)
{
    if (on)
        d_watch.keyed();
    d_link.keyed(on, now);
}

std::optional<size_t> link_keeper::better_channel(double here, station_time now)
{
    std::optional<size_t> best;
    double most = better * here;
    for (const auto& e : d_link.quality().entries(now)) {
        const double promised = d_promise(e.score_db);
        if (e.station != d_link.peer() || e.channel == d_link.channel() ||
            promised <= most)
            continue;
        most = promised;
        best = e.channel;
    }
    return best;
}

void link_keeper::turn(station_time now)
{
    if (d_link.state() != link_state::linked || !d_caller || !d_held ||
        now < d_stay_until || d_link.full())
        return;
    const auto here = d_used.mean_bps();
    if (!here)
        return;
    const std::string peer = d_link.peer();
    auto channel = better_channel(*here, now);
    auto why = link_reason::better;
    snr_judge enough;
    if (!channel && d_trials) {
        channel = d_link.quality().unknown(peer, d_channels, d_link.channel(), now);
        enough = [this, least = better_here * *here](double snr_db) {
            return d_promise(snr_db) > least;
        };
        why = link_reason::trial;
    }
    if (!channel)
        return;
    d_stay_until = now + move_again;
    d_link.end(now, why);
    d_called = peer;
    d_link.call(peer, "", now, channel, std::move(enough));
}

void link_keeper::on_action(const link_action& a, station_time now)
{
    if (a.what == link_action::kind::linked) {
        d_used.clear();
        d_watch.clear();
        d_caller = a.caller && a.members.empty();
        d_joined = d_held = false;
        d_again_at.erase(a.peer);
        if (a.peer == d_called)
            d_called.clear();
    } else if (a.what == link_action::kind::failed && a.peer == d_called) {
        d_called.clear();
        d_again_at[a.peer] = now + call_again;
    } else if (a.what == link_action::kind::ended && d_held && !d_caller &&
               (a.reason == link_reason::peer || a.reason == link_reason::silent)) {
        d_again_at[a.peer] = now + leave_to_peer;
    }
}

} // namespace gr::hf::ale

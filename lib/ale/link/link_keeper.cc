/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ale/link/link_keeper.h"

namespace gr::hf::ale {

void link_keeper::update(const std::string& wanted, bool active, station_time now)
{
    const std::string peer = d_link.peer();
    if (!peer.empty()) {
        d_link.hold(active || wanted == peer, now);
        if (active || wanted.empty() || wanted == peer)
            return;
        d_link.end(now); // another peer is wanted
        d_called.clear();
    }
    if (wanted.empty() || !d_called.empty() || !d_link.peer().empty() || d_link.full())
        return;
    const auto again = d_again_at.find(wanted);
    if (again != d_again_at.end() && now < again->second)
        return;
    d_called = wanted;
    d_link.call(wanted, "", now);
}

void link_keeper::on_action(const link_action& a, station_time now)
{
    if (a.what == link_action::kind::linked) {
        d_again_at.erase(a.peer);
        if (a.peer == d_called)
            d_called.clear();
    } else if (a.what == link_action::kind::failed && a.peer == d_called) {
        d_called.clear();
        d_again_at[a.peer] = now + call_again;
    }
}

} // namespace gr::hf::ale

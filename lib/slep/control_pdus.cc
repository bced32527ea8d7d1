/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slep/control_pdus.h"

#include <algorithm>

namespace gr::hf::slep {

void control_pdus::add(peer_state& p, pdu_body body, uint8_t priority)
{
    if (d_waiting.size() >= most)
        d_waiting.pop_front();
    d_waiting.emplace_back(d_ctx.new_id(),
                           control_pdu{ &p,
                                        encode({ p.who.extended, std::move(body) }),
                                        priority,
                                        d_ctx.now + d_ctx.config.outage_max });
}

std::optional<octets> control_pdus::poll()
{
    while (!d_waiting.empty() && d_waiting.front().second.expires <= d_ctx.now)
        d_waiting.pop_front();
    for (auto it = d_waiting.begin(); it != d_waiting.end(); ++it) {
        peer_state& p = *it->second.p;
        if (!p.node->may_send(d_ctx.now))
            continue;
        if (p.notice == peer_state::notice::due)
            return d_sis.send_notice(p);
        const uint64_t id = it->first;
        auto& kept = d_in_sis[id] = std::move(it->second);
        d_waiting.erase(it);
        return d_sis.send(p, kept.wire, kept.priority, { owner::kind::control, id, 0 });
    }
    return std::nullopt;
}

void control_pdus::settled(uint64_t id, bool again)
{
    const auto it = d_in_sis.find(id);
    if (it == d_in_sis.end())
        return;
    if (again && it->second.expires > d_ctx.now)
        d_waiting.emplace_front(it->first, std::move(it->second));
    d_in_sis.erase(it);
}

bool control_pdus::holds_for(const peer_state& p) const
{
    return std::any_of(
        d_waiting.begin(),
        d_waiting.end(),
        [&p](const auto& c) { return c.second.p == &p; });
}

} // namespace gr::hf::slep

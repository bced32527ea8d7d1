/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slep/peers.h"

#include <algorithm>

namespace gr::hf::slep {

namespace {

// Pauses before rejected U_PDUs are sent again.
constexpr int backoff_s[] = { 5, 10, 20, 40, 60 };
// Confirms further apart belong to two transmissions.
constexpr station_time burst_gap = std::chrono::milliseconds(200);

} // namespace

void node_state::link_failed(station_time now)
{
    // One link failure rejects many U_PDUs at once. They count as one.
    if (now < retry_at)
        return;
    const int last = static_cast<int>(std::size(backoff_s)) - 1;
    retry_at = now + std::chrono::seconds(backoff_s[std::min(rejects_in_a_row, last)]);
    ++rejects_in_a_row;
}

void node_state::link_alive(station_time now)
{
    alive_at = now;
    silent = false;
    rejects_in_a_row = 0;
    retry_at = now;
}

void node_state::reported(station_time now, const s5066::link_report& r)
{
    if (r.unanswered == 0) {
        link_alive(now);
        return;
    }
    silent = true;
    // Parts of U_PDUs and acknowledgements of parts are signs of life, too.
    if (heard() && r.silent_for)
        alive_at = std::max(alive_at, now - *r.silent_for);
}

void node_state::learn_depth(station_time now, size_t octets)
{
    // The confirms of a transmission arrive together. SIS gets as much again as the link
    // carried in one transmission. More would only wait there, and new data could not
    // pass it.
    if (burst_at >= station_time(0) && now - burst_at < burst_gap) {
        burst += octets;
    } else {
        burst = octets;
        limited = held_back;
        held_back = false;
    }
    burst_at = now;
    depth = limited ? 2 * burst : SIZE_MAX;
}

uint8_t node_state::bulk_priority() const
{
    const auto highest = std::find_if(
        bulk_of.rbegin(), bulk_of.rend(), [](size_t octets) { return octets > 0; });
    return static_cast<uint8_t>(highest == bulk_of.rend() ? 0
                                                          : bulk_of.rend() - highest - 1);
}

peer_state* peer_table::get(const user_address& who)
{
    const auto it = d_peers.find(who);
    if (it != d_peers.end())
        return &it->second;
    if (d_peers.size() >= most && !forget_one())
        return nullptr;
    peer_state& p = d_peers.emplace(who, d_ctx.config.datagram_octets).first->second;
    p.who = who;
    // U_PDUs in the peer's SIS for streams of an earlier start must not meet new streams
    // of the same number. So each start uses a different first number.
    p.next_number = static_cast<uint8_t>(d_ctx.config.instance * 53u % stream_numbers);
    p.node = &d_nodes[who.node];
    p.used_at = d_ctx.now;
    return &p;
}

node_state* peer_table::node(const s5066::address& a)
{
    const auto it = d_nodes.find(a);
    return it != d_nodes.end() ? &it->second : nullptr;
}

const node_state* peer_table::node(const s5066::address& a) const
{
    const auto it = d_nodes.find(a);
    return it != d_nodes.end() ? &it->second : nullptr;
}

void peer_table::retry_all()
{
    for (auto& n : d_nodes)
        n.second.retry_at = d_ctx.now;
}

std::optional<station_time> peer_table::next_deadline() const
{
    earliest first;
    for (const auto& n : d_nodes)
        if (n.second.retry_at > d_ctx.now)
            first.add(n.second.retry_at);
    return first.get();
}

bool peer_table::forget_one()
{
    auto oldest = d_peers.end();
    for (auto it = d_peers.begin(); it != d_peers.end(); ++it)
        if (it->second.stream_count == 0 && !d_in_use(it->second) &&
            (oldest == d_peers.end() || it->second.used_at < oldest->second.used_at))
            oldest = it;
    if (oldest == d_peers.end())
        return false;
    const s5066::address node = oldest->first.node;
    d_peers.erase(oldest);
    if (std::none_of(d_peers.begin(), d_peers.end(), [&node](const auto& p) {
            return p.first.node == node;
        }))
        d_nodes.erase(node);
    return true;
}

} // namespace gr::hf::slep

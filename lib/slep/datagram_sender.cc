/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slep/datagram_sender.h"

#include "slep/deflate.h"

#include <algorithm>

namespace gr::hf::slep {

namespace {

// A part has its index in 7 bits.
constexpr size_t parts_max = 128;

} // namespace

bool datagram_sender::queue(outgoing_datagram d)
{
    for (const octets& part : d.parts)
        d.size += part.size();
    if (d_octets + d.size > d_ctx.config.datagram_octets || d.priority > 15 ||
        d.to.sap > 15)
        return false;
    for (size_t k = 0; k < d.parts.size(); ++k)
        d.to_send.insert(k);
    d_octets += d.size;
    ++d_ctx.stats.datagrams_sent;
    d_datagrams.emplace(d.handle, std::move(d));
    return true;
}

outgoing_datagram
datagram_sender::one_part(const user_address& to, const octets& data, uint8_t priority)
{
    outgoing_datagram d;
    d.handle = d_ctx.new_id();
    d.to = to;
    d.priority = priority;
    const auto small = deflate_whole(data);
    d.parts.push_back(encode(
        { to.extended, unreliable_datagram{ small.has_value(), small.value_or(data) } }));
    return d;
}

bool datagram_sender::send_unreliable(const user_address& to,
                                      const octets& data,
                                      uint8_t priority,
                                      bool arq)
{
    outgoing_datagram d = one_part(to, data, priority);
    d.arq = arq && !to.node.is_group();
    d.expires = d_ctx.now + d_ctx.config.unreliable_ttl;
    return d.parts.front().size() <= d_sis.client().mtu() && queue(std::move(d));
}

std::optional<stream_id> datagram_sender::send_confirmed(const user_address& to,
                                                         const octets& data,
                                                         uint8_t priority,
                                                         station_time ttl)
{
    if (to.node.is_group() || d_peers.get(to) == nullptr)
        return std::nullopt;
    outgoing_datagram d = one_part(to, data, priority);
    d.how = outgoing_datagram::service::confirmed;
    d.expires = d_ctx.now + ttl;
    const stream_id handle = d.handle;
    if (d.parts.front().size() > d_sis.client().mtu() || !queue(std::move(d)))
        return std::nullopt;
    return handle;
}

std::optional<stream_id> datagram_sender::send_reliable(const user_address& to,
                                                        const octets& plain,
                                                        uint8_t priority)
{
    peer_state* p = to.node.is_group() ? nullptr : d_peers.get(to);
    if (p == nullptr || plain.size() > d_ctx.config.datagram_octets)
        return std::nullopt;
    const auto small = deflate_whole(plain);
    const octets& data = small ? *small : plain;
    const size_t head = to.extended != 0 ? 4 : 3;
    const size_t whole = d_sis.u_pdu_octets() - head, part = whole - 1;
    if (data.size() > parts_max * part)
        return std::nullopt;
    outgoing_datagram d;
    d.handle = d_ctx.new_id();
    d.to = to;
    d.priority = priority;
    d.how = outgoing_datagram::service::reliable;
    d.expires = d_ctx.now + d_ctx.config.reliable_ttl;
    reliable_datagram body;
    body.number = p->next_datagram;
    body.compressed = small.has_value();
    for (size_t at = 0; at == 0 || at < data.size();) {
        const size_t n = std::min(data.size() - at, data.size() > whole ? part : whole);
        if (data.size() > whole)
            body.seg = reliable_datagram::segment{ static_cast<uint8_t>(d.parts.size()),
                                                   at + n == data.size() };
        body.data.assign(data.begin() + static_cast<long>(at),
                         data.begin() + static_cast<long>(at + n));
        d.parts.push_back(encode({ to.extended, body }));
        at += n;
        if (n == 0)
            break;
    }
    const stream_id handle = d.handle;
    if (!queue(std::move(d)))
        return std::nullopt;
    ++p->next_datagram;
    return handle;
}

octets datagram_sender::give_once(table::iterator it)
{
    const outgoing_datagram& d = it->second;
    s5066::s_unidata_request q;
    q.priority = d.priority;
    q.dst_sap = d.to.sap;
    q.dst = d.to.node;
    q.mode.mode =
        d.arq ? s5066::transmission_mode::arq : s5066::transmission_mode::non_arq;
    q.mode.order = s5066::delivery_order::as_they_arrive;
    const double left_s = to_seconds(d.expires - d_ctx.now);
    q.ttl = std::clamp<uint32_t>(static_cast<uint32_t>(std::max(left_s, 0.0)) /
                                     s5066::sis_ttl_unit_s,
                                 1,
                                 s5066::sis_ttl_max);
    q.u_pdu = d.parts.front();
    ++d_ctx.stats.pdus_sent;
    over(it, 0);
    return s5066::encode(q);
}

std::optional<octets> datagram_sender::poll(uint8_t service_class)
{
    for (auto it = d_datagrams.begin(); it != d_datagrams.end(); ++it) {
        outgoing_datagram& d = it->second;
        if (7 - d.priority / 2 != service_class || d.to_send.empty())
            continue;
        if (d.how == outgoing_datagram::service::unreliable)
            return give_once(it);
        peer_state* p = d_peers.get(d.to);
        const uint8_t at = level(service_class, freshness::first);
        if (p == nullptr || !d_sis.may_send(*p->node, at))
            continue;
        // A datagram without a number cannot be confused by a restart.
        if (d.how == outgoing_datagram::service::reliable &&
            p->notice == peer_state::notice::due)
            return d_sis.send_notice(*p);
        const size_t part = *d.to_send.begin();
        d.to_send.erase(d.to_send.begin());
        ++d.unconfirmed;
        return d_sis.send(*p,
                          d.parts[part],
                          d.priority,
                          { owner::kind::datagram, it->first, part, at });
    }
    return std::nullopt;
}

void datagram_sender::settled(uint64_t id, size_t part, bool rejected, bool never)
{
    const auto it = d_datagrams.find(id);
    if (it == d_datagrams.end())
        return;
    outgoing_datagram& d = it->second;
    --d.unconfirmed;
    if (rejected)
        d.to_send.insert(part);
    if (never)
        over(it, reason_not_supported);
    else if (d.to_send.empty() && d.unconfirmed == 0)
        over(it, 0);
}

bool datagram_sender::holds_for(const peer_state& p) const
{
    return std::any_of(
        d_datagrams.begin(),
        d_datagrams.end(),
        [&p](const auto& d) { return d.second.to == p.who; });
}

std::optional<station_time> datagram_sender::next_deadline() const
{
    earliest first;
    for (const auto& d : d_datagrams)
        if (d.second.unconfirmed == 0)
            first.add(d.second.expires);
    return first.get();
}

void datagram_sender::on_deadline()
{
    for (auto it = d_datagrams.begin(); it != d_datagrams.end();) {
        const auto at = it++;
        if (at->second.unconfirmed == 0 && at->second.expires <= d_ctx.now)
            over(at, reason_lifetime_over);
    }
}

void datagram_sender::over(table::iterator it, uint8_t code)
{
    const outgoing_datagram& d = it->second;
    if (d.how != outgoing_datagram::service::unreliable)
        d_ctx.tell(event::type::datagram_done, it->first, d.to, {}, code);
    if (code != 0)
        ++d_ctx.stats.datagrams_dropped;
    d_octets -= d.size;
    d_datagrams.erase(it);
}

} // namespace gr::hf::slep

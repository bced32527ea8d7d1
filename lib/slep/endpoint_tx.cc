/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slep/endpoint_impl.h"

#include <algorithm>
#include <numeric>

namespace gr::hf::slep {

namespace {
// SIS and CAS headers below each U_PDU (A.3, B.3).
constexpr size_t below_u_pdu = 4;
// For foreign nodes with a strange MTU.
constexpr size_t mtu_min = 64;
// The first octets of a stream, or after a pause, go ahead of the bulk of their class: as many as
// take this part of a longest transmission, within these limits: a small page is small at every rate.
constexpr size_t fresh_part = 8;
constexpr size_t fresh_min = 8192;
constexpr size_t fresh_max = 65536;
// What SIS takes at any rate before it stops its clients.
constexpr size_t sis_least = 32768;
// Part of a longest transmission that SIS is given at least.
constexpr size_t least_depth_part = 8;
} // namespace

size_t endpoint::impl::u_pdu_octets() const
{
    // Whole segments only: a rest of a few octets would cost a D_PDU of its own.
    const size_t mtu = std::clamp<size_t>(d_sis.mtu(), mtu_min, s5066::sis_mtu);
    const size_t seg = d_config.segment_octets, c_pdu = mtu + below_u_pdu;
    return c_pdu < seg ? mtu : c_pdu / seg * seg - below_u_pdu;
}

size_t endpoint::impl::fresh_octets() const
{
    return std::clamp(d_config.queue_octets / fresh_part, fresh_min, fresh_max);
}

bool endpoint::impl::is_fresh(const stream& s) const { return s.burst < fresh_octets(); }

uint8_t endpoint::impl::level_of(const stream& s) const
{
    return level(s.options.service_class, is_fresh(s));
}

uint8_t endpoint::impl::priority_of(const stream& s, bool asks) const
{
    // Ahead of bulk that SIS holds already; and the data links can tell what is asked for from
    // what answers, and both from bulk (s5066::node_config::prompt_priority).
    const int more = !is_fresh(s) ? 0 : asks ? 2 : 1;
    return static_cast<uint8_t>(std::min(s.options.priority + more, 15));
}

size_t endpoint::impl::depth_of(const node_state& n) const
{
    const size_t least = d_config.queue_octets / least_depth_part;
    return std::clamp(n.depth, least, d_config.queue_octets);
}

bool endpoint::impl::may_send(node_state& n, uint8_t level) const
{
    if (!n.may_send(d_now))
        return false;
    const size_t full = u_pdu_octets(), depth = depth_of(n);
    // What follows an aborted stream need not wait until SIS has got rid of its U_PDUs; an
    // eighth still lies below the mark where SIS stops its clients.
    const size_t passing = std::min(n.dead, d_config.queue_octets / 8);
    if (n.outstanding == 0 || n.outstanding + full <= depth + passing)
        return true;
    n.held_back = true;
    // What SIS holds of less urgent levels is confirmed after a whole transmission only. So
    // more urgent ones have an eighth of the depth on top of it, or one PDU at least.
    const auto end = n.outstanding_of.begin() + level + 1;
    const size_t as_urgent = std::accumulate(n.outstanding_of.begin(), end, size_t(0));
    const size_t most =
        std::max(d_config.queue_octets + d_config.queue_octets / 8, sis_least);
    return as_urgent < n.outstanding &&
           (as_urgent == 0 ||
            (as_urgent + full <= fresh_octets() && n.outstanding + full <= most));
}

bool endpoint::impl::open_due(const stream& s) const
{
    if (s.tx.next_number() > 0)
        return false;
    if (s.opener)
        return true;
    return s.state == stream_state::open &&
           (s.tx.has_first_data() || (s.accept_at && *s.accept_at <= d_now));
}

bool endpoint::impl::has_work(const stream& s) const
{
    if (s.state == stream_state::offered)
        return false;
    if (s.tx.next_number() == 0)
        return open_due(s);
    return s.tx.to_resend() || (s.control_due && !s.control_in_sis) ||
           s.tx.due(u_pdu_octets() - data_header_octets(s.p->who.extended, s.out.used));
}

void endpoint::impl::make_ready(stream& s)
{
    if (s.in_ring || !has_work(s))
        return;
    s.in_ring = true;
    s.deficit = 0;
    d_ring[s.options.service_class].push_back(s.id);
}

std::optional<octets>
endpoint::impl::send(peer_state& p, octets wire, uint8_t priority, owner who)
{
    const size_t cost =
        d_outstanding.add(d_now, p.who.node, p.who.sap, wire, { who, &p });
    p.node->outstanding += cost;
    p.node->outstanding_of[who.level] += cost;
    p.used_at = d_now;
    ++d_stats.pdus_sent;

    s5066::s_unidata_request q;
    // SIS cannot be asked for U_PDUs of an aborted stream back, but what comes after them can
    // overtake them.
    q.priority = p.node->dead > 0 ? std::min<uint8_t>(priority + 1, 15) : priority;
    q.dst_sap = p.who.sap;
    q.dst = p.who.node;
    q.mode.mode = s5066::transmission_mode::arq;
    q.mode.confirmation = s5066::delivery_confirmation::node;
    // Nothing may overtake the restart notice: it would end streams opened after it.
    q.mode.order = p.notice == peer_state::notice::in_sis
                       ? s5066::delivery_order::in_order
                       : s5066::delivery_order::as_they_arrive;
    q.u_pdu = std::move(wire);
    return s5066::encode(q);
}

std::optional<octets> endpoint::impl::send_notice(peer_state& p)
{
    p.notice = peer_state::notice::in_sis;
    p.notice_wanted = false;
    octets wire = encode(
        { p.who.extended, stream_abort{ 0, reason_peer_restarted, d_config.instance } });
    // The highest priority: it has to leave before what follows it.
    return send(p, std::move(wire), 15, { owner::kind::notice, 0, 0 });
}

std::optional<octets> endpoint::impl::poll_sis()
{
    if (auto first = d_sis.poll())
        return first;
    if (!d_sis.ready())
        return std::nullopt;
    for (auto& p : d_peers)
        if (p.second.notice_wanted && p.second.notice == peer_state::notice::due &&
            p.second.node->may_send(d_now))
            return send_notice(p.second);
    if (auto out = poll_control())
        return out;
    for (uint8_t c = 0; c < d_ring.size(); ++c) {
        if (auto out = poll_datagram(c))
            return out;
        for (const bool fresh : { true, false })
            if (auto out = poll_stream(c, fresh))
                return out;
    }
    return std::nullopt;
}

std::optional<octets> endpoint::impl::poll_control()
{
    while (!d_control.empty() && d_control.front().second.expires <= d_now)
        d_control.pop_front();
    for (auto it = d_control.begin(); it != d_control.end(); ++it) {
        peer_state& p = *it->second.p;
        if (!p.node->may_send(d_now))
            continue;
        if (p.notice == peer_state::notice::due)
            return send_notice(p);
        const uint64_t id = it->first;
        auto& kept = d_control_in_sis[id] = std::move(it->second);
        d_control.erase(it);
        return send(p, kept.wire, kept.priority, { owner::kind::control, id, 0 });
    }
    return std::nullopt;
}

std::optional<octets> endpoint::impl::poll_datagram(uint8_t service_class)
{
    for (auto it = d_datagrams.begin(); it != d_datagrams.end(); ++it) {
        outgoing_datagram& d = it->second;
        if (7 - d.priority / 2 != service_class || d.to_send.empty())
            continue;
        if (d.how == outgoing_datagram::service::unreliable) {
            s5066::s_unidata_request q;
            q.priority = d.priority;
            q.dst_sap = d.to.sap;
            q.dst = d.to.node;
            q.mode.mode =
                d.arq ? s5066::transmission_mode::arq : s5066::transmission_mode::non_arq;
            q.mode.order = s5066::delivery_order::as_they_arrive;
            const double left_s = to_seconds(d.expires - d_now);
            q.ttl = std::clamp<uint32_t>(static_cast<uint32_t>(std::max(left_s, 0.0)) /
                                             s5066::sis_ttl_unit_s,
                                         1,
                                         s5066::sis_ttl_max);
            q.u_pdu = d.parts.front();
            ++d_stats.pdus_sent;
            datagram_over(it, 0);
            return s5066::encode(q);
        }
        peer_state* p = peer_of(d.to, true);
        const uint8_t at = level(service_class, true);
        if (p == nullptr || !may_send(*p->node, at))
            continue;
        // Without a number there is nothing that a restart could confuse.
        if (d.how == outgoing_datagram::service::reliable &&
            p->notice == peer_state::notice::due)
            return send_notice(*p);
        const size_t part = *d.to_send.begin();
        d.to_send.erase(d.to_send.begin());
        ++d.unconfirmed;
        return send(*p,
                    d.parts[part],
                    d.priority,
                    { owner::kind::datagram, it->first, part, at });
    }
    return std::nullopt;
}

std::optional<octets> endpoint::impl::poll_stream(uint8_t service_class, bool fresh)
{
    auto& ring = d_ring[service_class];
    // Deficit round robin by octets; the unit is one PDU, the quantum a full one.
    for (size_t left = ring.size(); left > 0; --left) {
        stream* s = find(ring.front());
        if (s == nullptr || !has_work(*s) || s->options.service_class != service_class) {
            ring.pop_front();
            if (s != nullptr) {
                s->in_ring = false;
                make_ready(*s);
            }
            continue;
        }
        if (is_fresh(*s) != fresh ||
            !may_send(*s->p->node, level(service_class, fresh))) {
            ring.push_back(ring.front());
            ring.pop_front();
            continue;
        }
        if (s->p->notice == peer_state::notice::due)
            return send_notice(*s->p);
        if (s->deficit <= 0)
            s->deficit += static_cast<long>(u_pdu_octets());
        auto out = next_of(*s);
        s->deficit -= static_cast<long>(out ? out->size() : 0);
        if (s->deficit <= 0) {
            ring.push_back(ring.front());
            ring.pop_front();
        }
        return out;
    }
    return std::nullopt;
}

std::optional<octets> endpoint::impl::next_of(stream& s)
{
    if (const auto number = s.tx.to_resend()) {
        ++d_stats.pdus_resent;
        return send(*s.p,
                    s.tx.resend(*number),
                    priority_of(s, s.opener),
                    { owner::kind::data, s.id, *number, level_of(s) });
    }
    if (s.control_due && !s.control_in_sis && s.tx.next_number() > 0) {
        // One at a time: delivered out of order, an old one would undo a newer one.
        s.control_due = false;
        s.control_in_sis = true;
        stream_control c;
        c.sid = s.sid();
        c.ack = static_cast<uint16_t>(s.rx.ack() + s.in.base);
        s.end_told = s.end_told || s.owes_end();
        c.window = s.shut ? window_closed : window_unlimited;
        c.answer_wanted = s.control_ask;
        s.control_ask = false;
        return send(*s.p,
                    encode({ s.p->who.extended, c }),
                    s.options.priority,
                    { owner::kind::window, s.id, 0, level_of(s) });
    }
    const uint64_t number = s.tx.next_number();
    const owner who{ owner::kind::data, s.id, number, level_of(s) };
    // An end without data asks for nothing.
    const bool asks = s.opener && (number == 0 || s.tx.waiting() > 0);
    const uint8_t priority = priority_of(s, asks);
    octets wire = build(s, u_pdu_octets());
    s.burst += wire.size();
    s.tx.keep(number, wire);
    if (s.want_writable && s.tx.waiting() <= d_config.send_buffer / 2) {
        s.want_writable = false;
        tell(event::type::writable, s);
    }
    return send(*s.p, std::move(wire), priority, who);
}

octets endpoint::impl::build(stream& s, size_t size)
{
    pdu out;
    out.extended = s.p->who.extended;
    const uint64_t number = s.tx.next_number();
    if (number > 0) {
        auto part = s.tx.take(size - data_header_octets(out.extended, s.out.used));
        stream_data d;
        d.sid = s.sid();
        d.seq = static_cast<uint16_t>(number + s.out.base);
        d.fin = part.fin;
        if (s.out.used)
            d.check = s.out.check;
        d.other_ended = s.owes_end();
        s.end_told = s.end_told || d.other_ended;
        d.data = std::move(part.data);
        out.body = std::move(d);
        return encode(out);
    }
    // At most one segment, so that the far side can act on the first D_PDU.
    const size_t head =
        open_header_octets(out.extended, s.opener, s.out.used) + s.open_data.size();
    const size_t first = std::min(size,
                                  d_config.segment_octets > below_u_pdu
                                      ? d_config.segment_octets - below_u_pdu
                                      : 0);
    size_t data = first > head ? first - head : 0;
    if (s.opener && s.tx.waiting() > 4 * d_config.open_octets)
        data = std::min(data, d_config.open_octets);
    auto part = s.tx.take(data);
    s.accept_at.reset();
    stream_parameters par;
    par.one_way = s.opener && s.options.one_way;
    par.dictionary = s.options.dictionary;
    if (s.opener) {
        stream_open d;
        d.number = s.number;
        d.fin = part.fin;
        d.compressed = s.options.compress;
        d.par = par;
        d.instance = d_config.instance;
        d.use = s.use;
        d.open_data = std::move(s.open_data);
        d.data = std::move(part.data);
        out.body = std::move(d);
    } else {
        stream_accept d;
        d.sid = s.sid();
        d.fin = part.fin;
        d.compressed = s.options.compress && !s.options.one_way;
        d.par = par;
        if (s.out.used) {
            d.instance = d_config.instance;
            d.answers = s.open_name();
            d.other_ended = s.owes_end();
            s.end_told = s.end_told || d.other_ended;
        }
        d.open_data = std::move(s.open_data);
        d.data = std::move(part.data);
        out.body = std::move(d);
    }
    return encode(out);
}

} // namespace gr::hf::slep

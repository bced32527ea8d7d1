/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slep/sis_queue.h"

#include <algorithm>
#include <numeric>

namespace gr::hf::slep {

namespace {

// Guard against a node of another maker with an odd MTU.
constexpr size_t mtu_min = 64;
// Longest proof of the sender that a node adds to a U_PDU.
constexpr size_t max_trailer = 68;
// Fresh octets are this part of a longest transmission, within these limits. A small page
// is small at every rate.
constexpr size_t fresh_part = 8;
constexpr size_t fresh_min = 8192;
constexpr size_t fresh_max = 65536;
// SIS accepts this much at any rate before it stops its clients.
constexpr size_t sis_least = 32768;
// SIS is given at least this part of a longest transmission.
constexpr size_t min_depth_part = 8;

} // namespace

size_t fresh_octets(const endpoint_config& c)
{
    return std::clamp(c.queue_octets / fresh_part, fresh_min, fresh_max);
}

sis_queue::sis_queue(endpoint_context& c)
    : d_ctx(c),
      d_client(s5066::sis_client::config::confirmed(c.config.sap, c.config.rank))
{
}

size_t sis_queue::added_octets() const
{
    const size_t mtu = std::min<size_t>(d_client.mtu(), s5066::sis_mtu);
    const size_t trailer = s5066::sis_mtu - mtu;
    return below_u_pdu + (trailer <= max_trailer ? trailer : 0);
}

size_t sis_queue::u_pdu_octets() const
{
    // Whole segments only. A remainder of a few octets would cost an extra D_PDU.
    const size_t mtu = std::clamp<size_t>(d_client.mtu(), mtu_min, s5066::sis_mtu);
    const size_t seg = d_ctx.config.segment_octets, c_pdu = mtu + added_octets();
    return c_pdu < seg ? mtu : c_pdu / seg * seg - added_octets();
}

size_t sis_queue::depth_of(const node_state& n) const
{
    const size_t least = d_ctx.config.queue_octets / min_depth_part;
    return std::clamp(n.depth, least, d_ctx.config.queue_octets);
}

bool sis_queue::may_send(node_state& n, uint8_t level) const
{
    if (!n.may_send(d_ctx.now))
        return false;
    const size_t full = u_pdu_octets(), depth = depth_of(n);
    const size_t queue = d_ctx.config.queue_octets;
    // Later data need not wait until SIS has got rid of the U_PDUs of an aborted stream.
    // The extra eighth stays below the mark where SIS stops its clients.
    const size_t passing = std::min(n.dead, queue / 8);
    if (n.outstanding == 0 || n.outstanding + full <= depth + passing)
        return true;
    n.held_back = true;
    if (is_bulk(level))
        return false; // all classes share the room
    // Less urgent U_PDUs in SIS are confirmed only after a whole transmission. So more
    // urgent ones may exceed the depth by an eighth, or by at least one PDU.
    const auto end = n.outstanding_of.begin() + level + 1;
    const size_t as_urgent = std::accumulate(n.outstanding_of.begin(), end, size_t(0));
    const size_t most = std::max(queue + queue / 8, sis_least);
    return as_urgent < n.outstanding &&
           (as_urgent == 0 || (as_urgent + full <= fresh_octets(d_ctx.config) &&
                               n.outstanding + full <= most));
}

octets sis_queue::send(peer_state& p, octets wire, uint8_t priority, owner who)
{
    const size_t cost = d_held.add(d_ctx.now, p.who.node, p.who.sap, wire, { who, &p });
    p.node->outstanding += cost;
    p.node->outstanding_of[who.level] += cost;
    if (is_bulk(who.level))
        p.node->bulk_of[who.priority & 15] += cost;
    p.used_at = d_ctx.now;
    ++d_ctx.stats.pdus_sent;

    s5066::s_unidata_request q;
    // U_PDUs of an aborted stream cannot be taken back from SIS, but later ones can
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

octets sis_queue::send_notice(peer_state& p)
{
    p.notice = peer_state::notice::in_sis;
    p.notice_wanted = false;
    octets wire =
        encode({ p.who.extended,
                 stream_abort{ 0, reason_peer_restarted, d_ctx.config.instance } });
    // The highest priority, because it must be sent before what follows it.
    return send(p, std::move(wire), 15, { owner::kind::notice, 0, 0 });
}

std::optional<sis_queue::entry> sis_queue::settled(const s5066::address& node,
                                                   uint8_t sap,
                                                   const octets& head,
                                                   bool rejected)
{
    auto e = d_held.settle(node, sap, head);
    if (!e) {
        ++d_ctx.stats.unmatched_confirms;
        return e;
    }
    // A withdrawn U_PDU is rejected as well, which says nothing about the link.
    if (rejected && !e->tag.dead)
        e->tag.p->node->link_failed(d_ctx.now);
    else if (!rejected)
        e->tag.p->node->link_alive(d_ctx.now);
    release(*e, rejected);
    return e;
}

std::optional<sis_queue::entry> sis_queue::give_up_oldest()
{
    auto e = d_held.pop();
    if (e)
        release(*e, true);
    return e;
}

std::optional<sis_queue::entry> sis_queue::give_up_overdue()
{
    const auto t = next_deadline();
    return t && *t <= d_ctx.now ? give_up_oldest() : std::nullopt;
}

void sis_queue::release(const entry& e, bool rejected)
{
    node_state& n = *e.tag.p->node;
    n.outstanding -= e.cost();
    n.dead -= e.tag.dead ? e.cost() : 0;
    n.outstanding_of[e.tag.who.level] -= e.cost();
    if (is_bulk(e.tag.who.level))
        n.bulk_of[e.tag.who.priority & 15] -= e.cost();
    if (!rejected)
        n.learn_depth(d_ctx.now, e.cost());
    ++(rejected ? d_ctx.stats.pdus_rejected : d_ctx.stats.pdus_confirmed);
}

void sis_queue::stream_gone(stream_id s)
{
    s5066::withdrawal w;
    d_held.for_each([s, &w](entry& e) {
        if (e.tag.who.what != owner::kind::data || e.tag.who.id != s)
            return;
        e.tag.dead = true;
        e.tag.p->node->dead += e.cost();
        w.dst = e.dst;
        w.dst_sap = e.sap;
        w.heads.push_back(e.head);
    });
    if (d_withdrawals_allowed && !w.heads.empty())
        d_withdrawals.push_back(s5066::encode(encode(w)));
}

std::optional<octets> sis_queue::poll_withdrawal()
{
    if (d_withdrawals.empty())
        return std::nullopt;
    octets out = std::move(d_withdrawals.front());
    d_withdrawals.pop_front();
    return out;
}

bool sis_queue::holds_for(const peer_state& p) const
{
    const auto& all = d_held.entries();
    return std::any_of(
        all.begin(), all.end(), [&p](const entry& e) { return e.tag.p == &p; });
}

std::optional<station_time> sis_queue::next_deadline() const
{
    const auto t = d_held.oldest();
    return t ? std::optional(*t + confirm_wait) : std::nullopt;
}

} // namespace gr::hf::slep

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Data without ARQ: D_PDU types 7 and 8 (C.3.2.10).
#include "s5066/node_impl.h"

#include <algorithm>
#include <cmath>

namespace gr::hf::s5066 {

size_t node::impl::non_arq_overhead() const
{
    constexpr size_t more_than_type_0 = 6;
    return data_overhead() + more_than_type_0;
}

bool node::impl::emit_non_arq(sim_time now)
{
    peer& p = *d_tx.to;
    if (p.managing()) {
        return false;
    }
    const sim_time at = air_time_at(d_tx.produced);
    while (!p.non_arq.empty() && p.non_arq.front().over(at)) {
        give_up_non_arq(p, p.non_arq.begin());
    }
    if (p.non_arq.empty()) {
        return false;
    }
    non_arq_out& n = p.non_arq.front();
    const size_t size = n.o->c_pdu.size();
    size_t segment = std::min(segment_length(p, d_tx.m), size - n.offset);
    if (segment + non_arq_overhead() > room()) {
        // Any division is allowed here, but very short parts are not worth their headers.
        constexpr size_t least_part = 64;
        if (room() < non_arq_overhead() + least_part) {
            return false;
        }
        segment = room() - non_arq_overhead();
    }
    d_pdu d = make(
        p, n.expedited ? d_pdu_type::expedited_non_arq_data : d_pdu_type::non_arq_data);
    if (n.window_end == sim_time::zero()) {
        // Long enough for everything that waits for this destination, in turns of its own.
        const double s = 8.0 * 1.2 * static_cast<double>(p.non_arq_unsent.total()) *
                         (n.rounds + 1) / d_tx.m.rate_bps;
        const double turns = 1 + std::floor(s / to_seconds(turn_length()));
        n.window_end = at + from_seconds(s + turns * (10 + cycle_s())) +
                       (end_of_transmission() - at);
    }
    const double left = to_seconds(n.window_end - at) / eot_unit_s;
    d.non_arq.c_pdu_id = n.id;
    d.non_arq.in_order = n.o->mode.order == delivery_order::in_order;
    d.non_arq.group = p.addr.is_group();
    d.non_arq.c_pdu_size = static_cast<uint16_t>(size);
    d.non_arq.offset = static_cast<uint16_t>(n.offset);
    d.non_arq.window = static_cast<uint16_t>(std::clamp(std::ceil(left), 0.0, 65535.0));
    p.non_arq_turns[n.o->priority & 15].serve(*n.o);
    const auto from = n.o->c_pdu.begin() + static_cast<std::ptrdiff_t>(n.offset);
    d.segment.assign(from, from + static_cast<std::ptrdiff_t>(segment));
    n.offset += segment;
    if (n.offset == size) {
        // A round is over: the next one after the others, so that a fade does not hit all.
        non_arq_out again = std::move(n);
        p.non_arq.pop_front();
        again.offset = 0;
        if (again.rounds-- > 0) {
            p.non_arq.push_back(std::move(again));
        } else {
            p.non_arq_unsent.remove(*again.o, size);
        }
    }
    return emit(now, d);
}

std::deque<non_arq_out>::iterator
node::impl::give_up_non_arq(peer& p, std::deque<non_arq_out>::iterator it)
{
    const outgoing_ptr o = it->o;
    p.non_arq_unsent.remove(*o, o->c_pdu.size());
    const auto next = p.non_arq.erase(it);
    ++d_stats.u_pdus_expired;
    d_sis.on_failed(*o, unidata_reject_reason::ttl_expired);
    return next;
}

void node::impl::on_non_arq(sim_time now, peer* p, const d_pdu& d)
{
    if (d.type == d_pdu_type::expedited_non_arq_data && d.segment.size() == 1 &&
        d.non_arq.c_pdu_size == 1 && d.segment_ok && d.dst == d_config.own) {
        const auto c = decode_c_pdu(d.segment.data(), 1);
        if (c && c->type != c_pdu_type::data) {
            on_link_c_pdu(now, *p, *c, d.non_arq);
            return;
        }
    }
    std::vector<non_arq_c_pdu> complete;
    d_non_arq.take(now, d, complete);
    for (const auto& c : complete) {
        deliver(now, c);
    }
}

void node::impl::deliver(sim_time now, const non_arq_c_pdu& c)
{
    const auto data = decode_c_pdu(c.octets.data(), c.octets.size());
    if (!data || data->type != c_pdu_type::data) {
        return;
    }
    s_pdu_origin from;
    from.src = c.src;
    from.dst = c.dst;
    from.mode = transmission_mode::non_arq;
    from.expedited = c.expedited;
    from.errored = c.errored;
    from.missing = c.missing;
    d_sis.on_s_pdu(now, from, data->s_pdu.data(), data->s_pdu.size());
}

} // namespace gr::hf::s5066

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Reception of the node: its start, its D_PDUs, its end and the consequences for each
// peer.
#include "s5066/cas/link_window.h"
#include "s5066/node/node_impl.h"
#include "s5066/pdu/eow.h"

#include <algorithm>

namespace gr::hf::s5066 {

void node::impl::on_rx_start(station_time now, const rx_start& e)
{
    d_rx_overdue = false;
    d_turns.begin_reception(now);
    d_rx.begin(now, e);
    d_dispatcher.begin_reception();
    ++d_node.stats.receptions;
    for (auto& [raw, p] : d_node.peers)
        p->begin_reception();
    d_node.log.detail(now, "receiving " + e.m.to_string());
}

void node::impl::on_rx_octets(station_time now, const rx_octets& e)
{
    if (d_rx_overdue)
        return; // noise after an end that the modem missed
    if (!d_turns.receiving()) {
        rx_start s;
        s.m = d_node.modes.data_mode;
        on_rx_start(now, s);
    }
    d_rx.push(now, e);
    while (const auto r = d_rx.next(now, false))
        on_received(now, *r);
}

namespace {
// Signs of hidden stations and of the token in a D_PDU, whomever it is for.
void note_token(station_time now, const address& own, const d_pdu& d, token_walk& walk)
{
    bool ours = false;
    if (d.type == d_pdu_type::expedited_non_arq_data && d.segment_ok) {
        const auto c = decode_c_pdu(d.segment.data(), d.segment.size());
        const uint16_t window = without_modes(d.non_arq.window);
        ours = c && c->type != c_pdu_type::data &&
               (names_request(window) || window != d.non_arq.window);
        if (c && c->type == c_pdu_type::link_request)
            walk.called(now + from_seconds(eot_unit_s * d.eot));
    }
    walk.heard(now, d.src, ours || d.large, d.dst);
    if (carries_data(d))
        walk.carried_data(now, d.src);
    // Data without a call go to a station that has accepted a link.
    if (carries_arq_data(d) && d.dst != own)
        walk.hidden(now, d.dst, true);
    const bool token = d.type == d_pdu_type::management && !d.management.valid &&
                       !d.management.ack &&
                       eow_kind(d.eow) == static_cast<unsigned>(eow_type::token);
    if (token)
        walk.handed(now, d.src, d.dst, static_cast<uint8_t>(d.eow));
}
} // namespace

void node::impl::on_received(station_time now, const received_d_pdu& r)
{
    if (r.pdu.src != d_node.config.own)
        note_token(now, d_node.config.own, r.pdu, d_access.walk());
    if (d_access.walk().active())
        get_peer(r.pdu.src); // it may get the token
    const d_pdu& d = r.pdu;
    const auto& c = d_node.config;
    const bool group =
        d.dst.is_group() &&
        (d.dst.is_broadcast() ||
         std::find(c.groups.begin(), c.groups.end(), d.dst) != c.groups.end());
    if (d.src == c.own || (d.dst != c.own && !group)) {
        ++d_node.stats.d_pdus_for_others;
        if (peer* p = d_node.find_peer(d.src)) {
            // The peer is present and its transmission is about to end: no need to wait
            // longer.
            p->turn.ready_at =
                std::max(std::min(p->turn.ready_at, now), p->turn.not_before);
        }
        return;
    }
    ++d_node.stats.d_pdus_received[static_cast<size_t>(d.type)];
    d_node.stats.segment_crc_errors += d.segment_ok ? 0 : 1;
    if (c.trace) {
        d_node.log.trace(
            now,
            d.src.to_string() + ">" + d.dst.to_string() + " " + describe(d),
            d_pdu_note{ d.segment_ok ? d_pdu_fate::received : d_pdu_fate::damaged,
                        1,
                        has_ack(d.type) });
    }
    peer* p = get_peer(d.src);
    if (!p)
        return;
    if (carries_arq_data(d) && d_rx.in_place()) {
        if (r.bit_offset == 8 * p->heard.good_octets)
            p->arq.rx.same_numbering(); // a link request would stand before the data
        p->arq.rx.took_place(d.arq, r.bit_offset, r.bit_offset + 8 * r.octets.size());
    }
    p->heard.note(!d.segment.empty(), d.segment_ok, r.octets.size());
    d_shown_peer = p->addr;
    if (!group)
        d_turns.addressed_by(*p);
    d_dispatcher.on_d_pdu(now, *p, d);
    d_links.tell(now);
}

std::optional<incoming_transmission::overdue> node::impl::rx_end_overdue() const
{
    return d_turns.receiving() ? std::optional(d_rx.end_overdue()) : std::nullopt;
}

/* Receivers wait through fades of seconds, and just as long after an end that they
 * missed. The sender wants its answer sooner, and has announced the end by EOT (C.3.2.3).
 */
void node::impl::end_overdue_reception(station_time now)
{
    const auto end = rx_end_overdue();
    if (!end || now < end->at)
        return;
    d_node.log.detail(now, end->why);
    on_rx_end(now, { rx_end_reason::lost, now });
    d_rx_overdue = true;
}

void node::impl::on_rx_end(station_time now, const rx_end& e)
{
    d_rx_overdue = false;
    if (!d_turns.receiving())
        return;
    while (const auto r = d_rx.next(now, true))
        on_received(now, *r);
    const station_time end = d_rx.finish(now, e);
    d_rx.note_unread(d_turns.waiting());
    d_turns.end_reception(end, d_rx.non_arq_alone(), d_rx.only_to());
    d_dispatcher.end_reception(now);
    after_reception(now);
    const bool preempted = e.reason == rx_end_reason::preempted;
    if (!preempted && d_node.config.full_duplex && d_turns.transmitting()) {
        // An acknowledgement goes out with the data being sent.
        d_plan.data_acks = d_tx.to()->arq.ack_due ? usual_ack_copies : 0;
    } else if (peer* p = d_turns.after_reception(now, preempted)) {
        on_silence(now, *p);
    }
    d_links.tell(now);
}

void node::impl::note_unread(station_time now, const address& from, unsigned d_pdus)
{
    d_node.stats.d_pdus_unread += d_pdus;
    if (d_pdus > 0) {
        d_node.log.trace(now,
                         "about " + std::to_string(d_pdus) + " D_PDUs of " +
                             from.to_string() + " could not be read",
                         d_pdu_note{ d_pdu_fate::unread, d_pdus, false });
    }
}

void node::impl::after_reception(station_time now)
{
    if (const auto u = d_rx.unread()) {
        note_unread(now, u->first, u->second.lost_d_pdus);
        d_node.modes.policy->on_reception(now, u->first, u->second);
    }
    for (auto& [raw, q] : d_node.peers) {
        peer& p = *q;
        if (!p.heard.any)
            continue;
        const bool was_silent = p.turn.silent > 0;
        p.turn.on_heard(now, p.heard.data, p.heard.ack);
        if (was_silent)
            d_node.report(now, p);
        d_access.answered(now);
        p.arq.data_last = p.arq.data_last && (p.heard.data || !p.heard.arq);
        p.expedited.data_last =
            p.expedited.data_last && (p.heard.expedited || !p.heard.arq);
        if (p.managing())
            repeat_management(now, p);
        const reception heard = d_rx.heard_of(p);
        p.turn.heard_snr_db = d_rx.snr_db();
        note_unread(now, p.addr, heard.lost_d_pdus - p.heard.lost_d_pdus);
        p.turn.repeats = p.heard.data && heard.lost_d_pdus > 0;
        d_node.modes.policy->on_reception(now, p.addr, heard);
        if (p.heard.ack) {
            measure_loss(now, p);
            p.turn.probe = false;
        }
        if (p.heard.arq && !p.heard.link_request) {
            // The peer would not send this without having received our acceptance.
            p.link.accept_due = false;
        }
        d_links.on_evasion(now, p);
    }
}

void node::impl::measure_loss(station_time now, peer& p)
{
    const arq_sender::tally t = p.arq.tx.last_transmission();
    if (t.sent == 0 || d_tx.damaged())
        return;
    const double each = static_cast<double>(t.octets) / t.sent;
    d_node.modes.policy->on_frames(
        now, p.addr, { p.arq.data_mode, t.sent, t.lost, each, t.lost_at_end });
    p.losses.measure(t);
}

} // namespace gr::hf::s5066

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Transmission of the node: its start, its octets, its end.
#include "s5066/node/node_impl.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace gr::hf::s5066 {

size_t node::impl::aligned_u_pdu_octets() const
{
    // C_PDU and S_PDU headers take 1 + 3 octets (5 with time to die).
    const size_t added =
        1 + (d_node.config.send_ttd ? s_pdu_data_header_ttd : s_pdu_data_header) +
        d_node.config.auth.max_trailer_octets();
    const size_t most = d_node.config.max_u_pdu_octets();
    const peer none(address(), d_node.config.window);
    const size_t s = segment_length(d_node, none, d_node.modes.data_mode);
    const size_t parts = (most + added) / s;
    return parts == 0 ? most : parts * s - added;
}

std::optional<gr::hf::mode> node::impl::want_tx(station_time now)
{
    for (auto& [raw, p] : d_node.peers)
        p->non_arq.release(now);
    const auto s = d_turns.next();
    if (!s || now < s->at)
        return std::nullopt;
    begin_transmission(now, *s->to);
    return d_tx.mode();
}

void node::impl::begin_transmission(station_time now, peer& p)
{
    if (now >= p.turn.not_before && d_links.call_due(p, d_tx.mode()))
        d_links.call(now, p);
    tx_context c;
    c.peer = p.addr;
    const auto kind = d_turns.begin_own(now, p);
    c.ack_only = kind.no_data || d_turns.ack_only(p);
    c.backlog_octets = p.unsent().total();
    c.silent_rounds = p.turn.silent;
    d_plan = transmission_plan();
    d_plan.no_data = kind.no_data;
    d_plan.contended = kind.contended;
    d_plan.ask = kind.ask;
    if (kind.hands) {
        d_pdu token = d_maker.make(p, d_pdu_type::management);
        token.eow =
            make_eow(eow_type::token, d_access.walk().number(kind.more, kind.invites));
        p.control.push(token);
    }
    auto m = d_node.modes.policy->choose(now, c);
    if (d_node.config.drc && !p.link.none()) {
        d_orderwire.ask_for_rate(now, p, m);
        m = p.management.rates.tx_mode();
    }
    try {
        d_tx = transmission(now, p, m);
    } catch (const std::invalid_argument&) {
        // A user's policy chose a mode that no modem can send.
        d_tx = transmission(now, p, d_node.modes.data_mode);
    }
    d_plan.longest_s = std::min({ d_node.modes.policy->longest_s(c),
                                  d_length.prompt_longest_s(now, p),
                                  to_seconds(d_access.turn_left()) });
    if (d_access.walk().exists() && !kind.no_data)
        d_plan.longest_s = std::min(d_plan.longest_s, d_access.walk().left_s(p.addr));
    p.turn.begin_own(now, d_length.quick(p), d_length.prompt_least(p));
    d_planner.begin(now);
    d_shown_peer = p.addr;
    ++d_node.stats.transmissions;
}

tx_octets node::impl::pull(station_time now, station_time air_time, size_t max_octets)
{
    tx_octets r;
    if (!d_turns.transmitting()) {
        r.last = true;
        return r;
    }
    if (!d_tx.planned()) {
        d_tx.set_begin(air_time);
        const auto link = d_links.next_control(*d_tx.to());
        d_planner.plan(link.d_pdus, link.opening);
    }
    // One D_PDU more than requested shows whether these octets are the last.
    while (!d_tx.closed() && d_tx.waiting() <= max_octets)
        if (!d_builder.build_next(now))
            d_tx.close();
    r.octets = d_tx.take(max_octets);
    r.last = d_tx.closed() && d_tx.waiting() == 0;
    return r;
}

void node::impl::on_tx_end(station_time now)
{
    if (!d_turns.transmitting())
        return;
    peer& p = *d_tx.to();
    d_node.stats.tx_time += now - d_tx.begin();
    for (auto& [raw, q] : d_node.peers) {
        if (q->link.first_data_by > station_time::zero()) {
            // No peer could send to us meanwhile.
            q->link.first_data_by += now - d_tx.begin();
        }
    }
    if (!d_tx.cut()) { // if cut, it may not have been sent
        p.arq.ack_due = p.arq.ack_due && !d_tx.ack_sent();
        p.expedited.ack_due = p.expedited.ack_due && !p.expedited_allowed();
        p.link.accept_now = false;
        p.management.eow = 0;
    }
    d_turns.end_own(now, d_tx);
    d_sis.update_flow();
}

void node::impl::on_tx_damaged(station_time now, const std::string& reason, bool ended)
{
    ++d_node.stats.tx_damaged;
    d_tx.set_damaged();
    std::string text = "the radio did not send the whole transmission: " + reason;
    if (d_turns.transmitting() && d_tx.planned()) {
        const double rest_s = to_seconds(d_tx.end() - now);
        const bool again = rest_s > d_tx.restart_s() + d_access.answer_wait_s();
        if (ended || again) {
            d_tx.end_early();
            text += ", broken off " + std::to_string(std::lround(rest_s)) +
                    " s before its end";
        }
    }
    if (ended && d_turns.transmitting())
        d_tx.set_cut();
    d_node.log.trace(now, text);
}

void node::impl::on_silence(station_time now, peer& p)
{
    d_turns.on_silence(now, p, d_tx);
    ++d_node.stats.silent_rounds;
    if (!d_tx.damaged())
        d_node.modes.policy->on_silence(now, p.addr);
    d_node.log.trace(now,
                     "no answer from " + p.addr.to_string() + ", round " +
                         std::to_string(p.turn.silent));
    d_node.report(now, p);
    if (p.managing())
        repeat_management(now, p);
    else
        d_links.on_silence(now, p);
}

void node::impl::repeat_management(station_time now, peer& p)
{
    if (!d_orderwire.repeat(p))
        management_lost(now, p);
}

void node::impl::management_lost(station_time now, peer& p)
{
    d_orderwire.give_up(now, p);
    if (!p.link.none())
        d_links.lost(now, p, unidata_reject_reason::not_responding);
}

} // namespace gr::hf::s5066

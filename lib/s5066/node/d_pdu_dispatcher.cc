/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/node/d_pdu_dispatcher.h"

#include <algorithm>
#include <string>

namespace gr::hf::s5066 {

namespace {

constexpr station_time warning_interval = std::chrono::seconds(1);
// Reasons of WARNING D_PDUs (C.3.12)
constexpr uint8_t warning_unknown = 0;
constexpr uint8_t warning_no_link = 1;
constexpr uint8_t warning_state = 3;

// True if the tables of C.6.1 allow the type. The state at the start of the transmission
// counts too: copies of an acknowledgement follow after the first one has ended the
// state.
bool expected(const peer& p, d_pdu_type type)
{
    switch (type) {
    case d_pdu_type::ack_only:
        return p.heard.begun_in != dts_state::idle || p.state() != dts_state::idle;
    case d_pdu_type::reset:
        return p.heard.begun_in != dts_state::management;
    case d_pdu_type::expedited_ack_only:
        return p.heard.begun_in == dts_state::expedited;
    default:
        return true;
    }
}

bool numbered(d_pdu_type type) { return type <= d_pdu_type::reset; }

} // namespace

void d_pdu_dispatcher::begin_reception()
{
    d_early.clear();
    d_early_octets = 0;
}

void d_pdu_dispatcher::on_d_pdu(station_time now, peer& p, const d_pdu& d)
{
    d_orderwire.on_eow(now, p, d);
    const auto type = d.large ? small_type(d.type) : d.type;
    switch (type) {
    case d_pdu_type::data_only:
    case d_pdu_type::ack_only:
    case d_pdu_type::data_ack:
    case d_pdu_type::reset:
    case d_pdu_type::expedited_data_only:
    case d_pdu_type::expedited_ack_only:
        if (!p.link.made() || (d.large != p.arq.large && numbered(type))) {
            if (p.link.breaking() && type == d_pdu_type::ack_only) {
                d_data.on_ack(now, p, d);
                return;
            }
            // Numbers of the other size belong to another link, which only one side has.
            hold_early(d);
            return;
        }
        on_connected(now, p, d);
        break;
    case d_pdu_type::management:
        if (p.link.calling()) {
            hold_early(d); // about the link, if our request is accepted after it
            return;
        }
        d_orderwire.on_management(now, p, d, d_rx.mode());
        break;
    case d_pdu_type::non_arq_data:
    case d_pdu_type::expedited_non_arq_data:
        on_non_arq(now, p, d);
        break;
    case d_pdu_type::warning:
        on_warning(now, p, d);
        break;
    default:
        warn(now, p, d, warning_unknown);
    }
}

void d_pdu_dispatcher::hold_early(const d_pdu& d)
{
    constexpr size_t max_early_octets = size_t{ 1 } << 23;
    const size_t octets = sizeof d + d.segment.size() + d.segment_code.ratios.size();
    if (d.dst == d_node.config.own && d_early_octets + octets <= max_early_octets) {
        d_early_octets += octets;
        d_early.push_back(d);
    }
}

void d_pdu_dispatcher::take_early(station_time now, peer& p)
{
    std::vector<d_pdu> rest;
    rest.swap(d_early);
    for (const auto& d : rest)
        if (d.src == p.addr)
            on_d_pdu(now, p, d);
        else
            d_early.push_back(d);
}

void d_pdu_dispatcher::end_reception(station_time now)
{
    for (const auto& d : d_early) {
        // While our own link request waits for its answer, no warning is needed: the
        // request is sent again anyway. A peer that warns is not warned, or two nodes
        // without a link warn each other for ever.
        peer* p = d_node.find_peer(d.src);
        if (p && !p->link.calling() && !p->heard.warning) {
            if (d.segment_ok && carries_arq_data(d) &&
                p->arq.rx.contradicts(d.arq, d.segment))
                p->new_connection();
            d_maker.push_last_acks(*p);
            if (!p->heard.link_break || carries_arq_data(d))
                warn(now, *p, d, warning_no_link);
        }
    }
    d_early.clear();
    d_early_octets = 0;
}

void d_pdu_dispatcher::on_connected(station_time now, peer& p, const d_pdu& d)
{
    const auto type = d.large ? small_type(d.type) : d.type;
    p.link.first_data_by = station_time::zero();
    if (p.heard.begun_in == dts_state::management && !p.managing())
        p.heard.begun_in = p.state(); // the exchange has ended in this reception
    if (!expected(p, type)) {
        warn(now, p, d, warning_state);
        return;
    }
    if (type == d_pdu_type::reset) {
        d_resets.on_reset(now, p, d.reset);
        return;
    }
    p.heard.arq = true;
    p.management.rates.on_data(p.management.exchange);
    if (type == d_pdu_type::expedited_data_only) {
        d_data.on_expedited_data(now, p, d);
        return;
    }
    if (type == d_pdu_type::expedited_ack_only) {
        d_data.on_expedited_ack(now, p, d);
        return;
    }
    if (type != d_pdu_type::data_only)
        d_data.on_ack(now, p, d);
    if (type != d_pdu_type::ack_only && !d_data.on_data(now, p, d)) {
        // Another copy of its link request may still follow.
        d_links.closed(p);
        p.new_connection(); // the peer no longer knows what it sent before
        hold_early(d);
    }
}

void d_pdu_dispatcher::on_non_arq(station_time now, peer& p, const d_pdu& d)
{
    if (d.type == d_pdu_type::expedited_non_arq_data && d.segment.size() == 1 &&
        d.non_arq.c_pdu_size == 1 && d.segment_ok && d.dst == d_node.config.own) {
        const auto c = decode_c_pdu(d.segment.data(), 1);
        if (c && c->type != c_pdu_type::data) {
            if (d_links.on_c_pdu(now, p, *c, d.non_arq)) {
                d_data.on_new_link(now, p);
                take_early(now, p);
            }
            return;
        }
    }
    d_data.on_non_arq(now, d);
}

void d_pdu_dispatcher::warn(station_time now, peer& p, const d_pdu& d, uint8_t reason)
{
    if (d.dst != d_node.config.own || now - p.turn.last_warning < warning_interval ||
        p.control.room() == 0)
        return;
    // One warning of a kind per transmission is enough.
    if (p.control.has([reason](const d_pdu& q) {
            return q.type == d_pdu_type::warning && q.warning.reason == reason;
        }))
        return;
    p.turn.last_warning = now;
    d_pdu w = d_maker.make(p, d_pdu_type::warning);
    w.warning.received_type = static_cast<uint8_t>(d.type);
    w.warning.reason = reason;
    p.control.push(w);
}

void d_pdu_dispatcher::on_warning(station_time now, peer& p, const d_pdu& d)
{
    ++d_node.stats.warnings_received;
    p.heard.warning = true;
    const auto type = static_cast<d_pdu_type>(d.warning.received_type);
    d_node.log.trace(now,
                     p.addr.to_string() + " warns of " + to_string(type) + ", reason " +
                         std::to_string(d.warning.reason));
    // The peer does not know large windows, or no longer.
    const bool no_large =
        d.warning.reason <= warning_no_link && p.arq.large && is_large(type);
    const bool about_link =
        no_large || (d.warning.reason == warning_no_link && d.warning.received_type <= 5);
    if (!about_link && type == d_pdu_type::management) {
        p.management.exchange.withdraw();
        p.management.rates.give_up();
    }
    if (!about_link && type == d_pdu_type::expedited_data_only)
        for (const auto& o : p.expedited.tx.take_all())
            d_node.upper.on_failed(*o, unidata_reject_reason::not_responding);
    // With an acceptance, the warning is about data sent ahead of it: those are not
    // acknowledged and go out again. With a request, the link is already a new one.
    if (!about_link || p.heard.link_accept || p.heard.link_request ||
        (!p.link.made() && !p.link.breaking()))
        return;
    d_node.log.trace(now, p.addr.to_string() + " reports that there is no link");
    d_links.closed(p);
}

} // namespace gr::hf::s5066

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// MANAGEMENT D_PDUs, engineering orderwire messages and data rate change (C.5, C.6.4).
#include "s5066/node_impl.h"

#include <algorithm>

namespace gr::hf::s5066 {

namespace {

// A rate change takes three turns: it is not worth while for less.
constexpr double least_change_s = 20;

bool understood(unsigned kind, bool in_management)
{
    switch (static_cast<eow_type>(kind)) {
    case eow_type::frequency_request:
        return false;
    case eow_type::extensions:
        return !in_management;
    default:
        return kind <= static_cast<unsigned>(eow_type::high_rate_request);
    }
}

} // namespace

uint8_t node::impl::capabilities() const
{
    unsigned bits = capability_serial_tone | capability_extended_rates;
    bits |= d_config.drc ? capability_drc : 0u;
    bits |= d_config.full_duplex ? capability_full_duplex : 0u;
    return static_cast<uint8_t>(bits);
}

uint8_t node::impl::extensions() const
{
    const unsigned bits = extension_pipelining | extension_block_eot |
                          extension_compact_confirm | extension_variable_segment |
                          (large_windows() ? extension_large_windows : 0u);
    return static_cast<uint8_t>(bits);
}

void node::impl::on_eow(sim_time now, peer& p, const d_pdu& d)
{
    const unsigned kind = eow_kind(d.eow);
    const bool in_management = d.type == d_pdu_type::management;
    if (!understood(kind, in_management) && !in_management) {
        p.eow = make_eow(eow_type::unrecognised, kind);
    }
    if (kind == static_cast<unsigned>(eow_type::rate_request)) {
        if (const auto m = decode_rate_advice(d.eow)) {
            d_policy->on_advice(now, p.addr, *m);
            if (p.advised != m) {
                p.rates.on_advice();
            }
            p.advised = m;
        }
    }
    if (kind == static_cast<unsigned>(eow_type::extensions) && !in_management) {
        p.extensions = static_cast<uint8_t>(d.eow);
    }
    if (kind == static_cast<unsigned>(eow_type::capability)) {
        if (!p.capabilities && p.eow == 0) {
            p.eow = make_eow(eow_type::capability, capabilities());
        }
        p.capabilities = static_cast<uint8_t>(d.eow);
    }
}

void node::impl::on_management(sim_time now, peer& p, const d_pdu& d)
{
    if (d.dst != d_config.own) {
        return;
    }
    if (p.rates.outdated(d_rx_mode, p.management)) {
        return;
    }
    p.management_at = now;
    const auto in = p.management.on_received(d.eow, d.management);
    if (in.acked && (!in.message || p.rates.ends_with_ack())) {
        p.rates.on_acked(*in.acked, p.management);
    }
    if (in.message) {
        const unsigned kind = eow_kind(in.message->eow);
        if (understood(kind, true)) {
            rate_change::limits l;
            l.offered = d_config.drc && p.linked();
            // Any rule will do that gives the two sides different answers.
            l.first_of_crossed = d_config.own.raw() > p.addr.raw();
            l.advised = d_policy->advice(p.addr);
            const auto before = p.rates.tx_mode();
            p.rates.on_message(*in.message, l, p.management);
            if (p.rates.tx_mode() != before) {
                trace(now,
                      "rate to " + p.addr.to_string() + " is " +
                          p.rates.tx_mode().to_string());
            }
        } else {
            p.management.send({ make_eow(eow_type::unrecognised, kind), {} });
        }
    }
    if (p.rates.take_finished_as_slave()) {
        send_empty_data(p);
    }
}

void node::impl::send_empty_data(peer& p)
{
    // The master waits for something in the new mode.
    if (!p.linked() || !p.tx.idle()) {
        return;
    }
    auto o = std::make_shared<outgoing>();
    o->dst = p.addr;
    o->mode.mode = transmission_mode::arq;
    o->expires = sim_time::max();
    p.tx.submit(std::move(o));
}

void node::impl::begin_rate_change(sim_time now, peer& p, const gr::hf::mode& wanted)
{
    if (!p.linked() || p.managing() || p.reset.active) {
        return;
    }
    const auto m = p.advised.value_or(wanted);
    const auto& present = p.rates.tx_mode();
    if (m == present || p.rates.useless(m)) {
        return;
    }
    const double left_s =
        8.0 * static_cast<double>(p.tx.unsent_octets()) / present.rate_bps;
    if (left_s >= least_change_s ||
        (p.tx.unacknowledged() > 0 && rate_change::less_robust(present, m))) {
        p.management_at = now;
        p.rates.start(m, rate_other::independent, p.management);
    }
}

d_pdu node::impl::make_management(sim_time now, peer& p)
{
    p.management_at = now;
    d_pdu d = make(p, d_pdu_type::management);
    const auto o = p.management.take();
    d.eow = o.eow;
    d.management = o.header;
    return d;
}

void node::impl::repeat_management(sim_time now, peer& p)
{
    const bool lost = p.management.active()
                          ? p.management.on_silence() >= d_config.management_tries
                          : p.silent >= d_config.management_tries;
    if (lost) {
        management_lost(now, p);
    } else if (!p.management.active() && p.rates.wants_confirm() && p.silent > 0) {
        p.management.repeat_ack();
    }
}

void node::impl::management_lost(sim_time now, peer& p)
{
    trace(now, "management exchange with " + p.addr.to_string() + " failed");
    p.management.withdraw();
    p.rates.reset();
    if (p.link != link_state::none) {
        link_lost(now, p, unidata_reject_reason::not_responding);
    }
}

} // namespace gr::hf::s5066

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/dts/tx/orderwire.h"

namespace gr::hf::s5066 {

namespace {

// A rate change takes three turns; it does not pay for less than this.
constexpr double min_change_s = 20;
// Silence of the other side, per try, that ends a rate change.
constexpr station_time management_pause = std::chrono::seconds(40);

// own_advice: our modes include some that only EOW 8 names.
bool understood(unsigned kind, bool in_management, bool own_advice)
{
    switch (static_cast<eow_type>(kind)) {
    case eow_type::frequency_request:
        return false;
    case eow_type::extensions:
        return !in_management;
    case eow_type::own_advice:
        return own_advice && !in_management;
    default:
        return kind <= static_cast<unsigned>(eow_type::high_rate_request);
    }
}

} // namespace

uint8_t extensions_of_ours()
{
    return extension_pipelining | extension_block_eot | extension_compact_confirm |
           extension_variable_segment;
}

uint8_t orderwire::capabilities() const
{
    unsigned bits = capability_serial_tone | capability_extended_rates;
    bits |= d_node.config.drc ? capability_drc : 0u;
    bits |= d_node.config.full_duplex ? capability_full_duplex : 0u;
    return static_cast<uint8_t>(bits);
}

void orderwire::on_eow(station_time now, peer& p, const d_pdu& d)
{
    const unsigned kind = eow_kind(d.eow);
    const bool in_management = d.type == d_pdu_type::management;
    const bool own_advice = d_node.modes.of_5069 || d_node.modes.robust;
    if (!understood(kind, in_management, own_advice) && !in_management)
        p.management.eow = make_eow(eow_type::unrecognised, kind);
    if (d.eow ==
        make_eow(eow_type::unrecognised, static_cast<unsigned>(eow_type::own_advice))) {
        p.management.refuses_advice = true;
        d_node.modes.policy->on_modes_read(p.addr, {});
    }
    if (kind == static_cast<unsigned>(eow_type::rate_request) ||
        (kind == static_cast<unsigned>(eow_type::own_advice) && own_advice &&
         !in_management)) {
        const int hz = d_node.modes.data_mode.bandwidth_hz;
        if (const auto m = decode_rate_advice(d.eow, hz)) {
            d_node.modes.policy->on_advice(now, p.addr, *m);
            if (p.management.advised != m)
                p.management.rates.on_advice();
            p.management.advised = m;
        }
    }
    if (kind == static_cast<unsigned>(eow_type::extensions) && !in_management)
        p.management.extensions = static_cast<uint8_t>(d.eow);
    if (kind == static_cast<unsigned>(eow_type::capability)) {
        if (!p.management.capabilities && p.management.eow == 0)
            p.management.eow = make_eow(eow_type::capability, capabilities());
        p.management.capabilities = static_cast<uint8_t>(d.eow);
    }
}

void orderwire::on_management(station_time now,
                              peer& p,
                              const d_pdu& d,
                              const gr::hf::mode& received_in)
{
    if (d.dst != d_node.config.own)
        return;
    if (p.management.rates.outdated(received_in, p.management.exchange))
        return;
    p.management.last_at = now;
    const auto in = p.management.exchange.on_received(d.eow, d.management);
    if (in.acked && (!in.message || p.management.rates.ends_with_ack()))
        p.management.rates.on_acked(*in.acked, p.management.exchange);
    if (in.message)
        on_message(now, p, *in.message);
    if (p.management.rates.take_finished_as_slave())
        send_empty_data(p);
}

void orderwire::on_message(station_time now, peer& p, const management_message& message)
{
    const unsigned kind = eow_kind(message.eow);
    if (!understood(kind, true, false)) {
        p.management.exchange.send({ make_eow(eow_type::unrecognised, kind), {} });
        return;
    }
    rate_change::limits l;
    l.offered = d_node.config.drc && p.link.made();
    // Any rule works that gives the two sides different answers.
    l.first_of_crossed = d_node.config.own.raw() > p.addr.raw();
    l.advised = d_node.modes.policy->advice(p.addr);
    auto& rates = p.management.rates;
    const auto before = rates.tx_mode();
    rates.on_message(message, l, p.management.exchange);
    if (rates.tx_mode() != before) {
        d_node.log.trace(
            now, "rate to " + p.addr.to_string() + " is " + rates.tx_mode().to_string());
    }
}

void orderwire::send_empty_data(peer& p)
{
    // The master waits for any D_PDU in the new mode.
    if (!p.link.made() || !p.arq.tx.idle())
        return;
    auto o = std::make_shared<outgoing>();
    o->dst = p.addr;
    o->mode.mode = transmission_mode::arq;
    o->expires = station_time::max();
    p.arq.tx.submit(std::move(o));
}

void orderwire::ask_for_rate(station_time now, peer& p, const gr::hf::mode& wanted)
{
    if (!p.link.made() || p.managing() || p.reset.active())
        return;
    const auto m = p.management.advised.value_or(wanted);
    const auto& present = p.management.rates.tx_mode();
    if (m == present || p.management.rates.useless(m))
        return;
    const double left_s =
        8.0 * static_cast<double>(p.arq.tx.unsent().total()) / present.rate_bps;
    if (left_s >= min_change_s ||
        (p.arq.tx.unacknowledged() > 0 && rate_change::less_robust(present, m))) {
        p.management.last_at = now;
        p.management.rates.start(m, rate_other::independent, p.management.exchange);
    }
}

d_pdu orderwire::make(station_time now, peer& p)
{
    p.management.last_at = now;
    d_pdu d = d_maker.make(p, d_pdu_type::management);
    const auto o = p.management.exchange.take();
    d.eow = o.eow;
    d.management = o.header;
    return d;
}

bool orderwire::repeat(peer& p) const
{
    auto& x = p.management.exchange;
    const bool lost = x.active() ? x.on_silence() >= d_node.config.management_tries
                                 : p.turn.silent >= d_node.config.management_tries;
    if (!lost && !x.active() && p.management.rates.wants_confirm() && p.turn.silent > 0)
        x.repeat_ack();
    return !lost;
}

bool orderwire::late(station_time now, const peer& p) const
{
    return p.management.rates.active() &&
           now - p.management.last_at >=
               management_pause * d_node.config.management_tries;
}

void orderwire::give_up(station_time now, peer& p) const
{
    d_node.log.trace(now, "management exchange with " + p.addr.to_string() + " failed");
    p.management.exchange.withdraw();
    p.management.rates.reset();
}

} // namespace gr::hf::s5066

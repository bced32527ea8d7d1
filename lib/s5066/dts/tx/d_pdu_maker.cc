/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/dts/tx/d_pdu_maker.h"

#include "s5066/dts/tx/orderwire.h"

#include <algorithm>

namespace gr::hf::s5066 {

d_pdu d_pdu_maker::make(const peer& p, d_pdu_type type) const
{
    d_pdu d;
    d.type = type;
    d.address_size = d_node.config.address_size;
    d.dst = p.addr;
    d.src = d_node.config.own;
    d.eow = eow_for(p);
    return d;
}

d_pdu d_pdu_maker::make_arq(const peer& p, d_pdu_type type) const
{
    d_pdu d = make(p, p.arq.large ? large_type(type) : type);
    d.large = p.arq.large;
    return d;
}

uint16_t d_pdu_maker::eow_for(const peer& p) const
{
    if (p.management.eow != 0)
        return p.management.eow;
    if (d_tell && d_tx.produced() == 0 && &p == d_tx.to())
        return make_eow(eow_type::extensions, extensions_of_ours());
    const auto advised = d_node.modes.policy->advice(p.addr);
    const uint16_t eow = advised ? encode_rate_advice(*advised).value_or(0) : 0;
    const bool refused = p.management.refuses_advice &&
                         eow_kind(eow) == static_cast<unsigned>(eow_type::own_advice);
    return refused ? 0 : eow;
}

std::vector<d_pdu> d_pdu_maker::last_acks(const peer& p) const
{
    std::vector<d_pdu> list;
    if (!p.arq.data_last || !p.arq.rx.advanced())
        return list;
    for (const auto& a : p.arq.rx.acks()) {
        d_pdu d = make_arq(p, d_pdu_type::ack_only);
        d.ack = a;
        list.push_back(d);
    }
    list.resize(std::min(list.size(), control_queue::most / 4));
    return list;
}

void d_pdu_maker::push_last_acks(peer& p) const
{
    const bool there = p.control.has([](const d_pdu& d) {
        return d.type == d_pdu_type::ack_only || d.type == d_pdu_type::large_ack_only;
    });
    const auto list = last_acks(p);
    if (there || list.size() >= p.control.room())
        return;
    for (const auto& d : list)
        p.control.push(d);
}

} // namespace gr::hf::s5066

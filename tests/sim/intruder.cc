/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "intruder.h"

#include <algorithm>

namespace gr::hf::sim {

using explore::forgery;

intruder::intruder(s5066::address a, s5066::address b, const plan& p)
    : d_ends{ a, b }, d_plan(p)
{
    d_deframer.set_large([](s5066::address, s5066::address) { return true; });
}

std::optional<mode> intruder::want_tx(station_time now)
{
    return d_sent < d_octets.size() && now < d_plan.until ? std::optional(d_mode)
                                                          : std::nullopt;
}

tx_octets intruder::pull(station_time, station_time, size_t max_octets)
{
    tx_octets o;
    const size_t n = std::min(max_octets, d_octets.size() - d_sent);
    const auto at = d_octets.begin() + static_cast<std::ptrdiff_t>(d_sent);
    o.octets.assign(at, at + static_cast<std::ptrdiff_t>(n));
    d_sent += n;
    o.last = d_sent == d_octets.size();
    return o;
}

void intruder::on_rx_start(station_time, const rx_start& e)
{
    d_deframer.reset();
    d_sender.reset();
    d_mode = e.m;
}

void intruder::on_rx_octets(station_time, const rx_octets& e)
{
    d_deframer.push(e.octets);
    while (const auto d = d_deframer.next()) {
        note(d->pdu);
    }
}

void intruder::on_rx_end(station_time now, const rx_end&)
{
    while (const auto d = d_deframer.next_at_end()) {
        note(d->pdu);
    }
    constexpr unsigned passed = 2;
    if (d_sender && ++d_receptions > passed && now < d_plan.until) {
        d_octets = answer(*d_sender);
        d_sent = 0;
        ++d_lies;
    }
}

void intruder::note(const s5066::d_pdu& d)
{
    using t = s5066::d_pdu_type;
    const size_t k = d.src == d_ends[0] ? 0 : 1;
    d_sender = k;
    if (d.type != t::data_only && d.type != t::data_ack && d.type != t::large_data_only &&
        d.type != t::large_data_ack) {
        return;
    }
    d_next_fsn[k] = static_cast<uint16_t>(d.arq.fsn + 1);
}

std::vector<uint8_t> intruder::answer(size_t victim)
{
    const size_t other = 1 - victim;
    const uint16_t next = d_next_fsn[d_plan.forgery == forgery::data ? other : victim];
    return explore::forged_octets(
        d_plan.forgery, d_ends[other], d_ends[victim], next, d_plan.sap);
}

} // namespace gr::hf::sim

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/stations/traffic_client.h"

#include <algorithm>
#include <stdexcept>

namespace gr::hf::sim {
namespace {

//! Octet \p k of the message. The receiver can check any U_PDU by its offset.
uint8_t pattern(uint64_t k) { return static_cast<uint8_t>(k * 167 + (k >> 8) * 13 + 5); }

const traffic_client::config& checked(const traffic_client::config& c)
{
    if (c.u_pdu_octets < 8 || c.u_pdu_octets > s5066::sis_mtu)
        throw std::invalid_argument("u_pdu_octets " + std::to_string(c.u_pdu_octets) +
                                    ": allowed are 8 to 2048");
    if (c.sap < 0 || c.sap > 15)
        throw std::invalid_argument("sap " + std::to_string(c.sap) +
                                    ": allowed are 0 to 15");
    return c;
}

s5066::delivery_mode service_of(bool arq)
{
    s5066::delivery_mode m;
    m.mode = arq ? s5066::transmission_mode::arq : s5066::transmission_mode::non_arq;
    m.confirmation =
        arq ? s5066::delivery_confirmation::node : s5066::delivery_confirmation::none;
    m.order = s5066::delivery_order::as_they_arrive;
    return m;
}

s5066::sis_client::config binding(const traffic_client::config& c)
{
    s5066::sis_client::config b;
    b.sap = static_cast<uint8_t>(c.sap);
    b.service = service_of(c.arq);
    return b;
}

} // namespace

traffic_client::traffic_client(const config& c)
    : d_config(checked(c)), d_service(service_of(c.arq)), d_sis(binding(c))
{
}

void traffic_client::sis_in(station_time now, const uint8_t* p, size_t n)
{
    d_now = std::max(d_now, now);
    const auto r = d_sis.primitive_in(now, p, n);
    d_state.bound = d_sis.bound();
    if (!r.data)
        return;
    if (const auto* i = std::get_if<s5066::s_unidata_indication>(&*r.data)) {
        received(i->u_pdu);
    } else if (const auto* c = std::get_if<s5066::s_unidata_request_confirm>(&*r.data)) {
        d_state.octets_confirmed += c->u_pdu.size();
        d_state.last_confirmed = to_seconds(now);
    } else if (const auto* x = std::get_if<s5066::s_unidata_request_rejected>(&*r.data)) {
        d_state.octets_rejected += x->u_pdu.size();
    }
}

std::optional<std::vector<uint8_t>> traffic_client::poll_sis()
{
    if (auto p = d_sis.poll())
        return p;
    auto& s = d_state;
    const uint64_t done = s.octets_confirmed + s.octets_rejected;
    if (!d_sis.ready() || s.octets_submitted >= d_config.octets ||
        (d_config.arq && s.octets_submitted - done >= d_config.outstanding))
        return std::nullopt;
    if (s.octets_submitted == 0)
        s.first_submitted = to_seconds(d_now);
    s5066::s_unidata_request request;
    request.dst_sap = d_sis.sap();
    request.dst = d_config.peer;
    request.mode = d_service;
    const uint64_t n = std::min<uint64_t>(std::min(d_config.u_pdu_octets, d_sis.mtu()),
                                          d_config.octets - s.octets_submitted);
    for (int k = 7; k >= 0; --k)
        request.u_pdu.push_back(static_cast<uint8_t>(s.octets_submitted >> (8 * k)));
    for (uint64_t k = 8; k < n; ++k)
        request.u_pdu.push_back(pattern(s.octets_submitted + k));
    s.octets_submitted += request.u_pdu.size();
    return s5066::encode(request);
}

void traffic_client::on_deadline(station_time now)
{
    d_now = std::max(d_now, now);
    d_sis.on_deadline(now);
}

void traffic_client::received(const std::vector<uint8_t>& u_pdu)
{
    if (d_state.octets_received == 0)
        d_state.first_received = to_seconds(d_now);
    d_state.last_received = to_seconds(d_now);
    d_state.octets_received += u_pdu.size();
    uint64_t offset = 0;
    for (size_t k = 0; k < std::min<size_t>(8, u_pdu.size()); ++k)
        offset = offset << 8 | u_pdu[k];
    for (size_t k = 8; k < u_pdu.size(); ++k)
        d_state.octets_damaged += u_pdu[k] != pattern(offset + k);
}

} // namespace gr::hf::sim

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/stations/traffic.h"

#include <algorithm>

namespace gr::hf::sim {

using namespace s5066;

bulk_source::bulk_source(scheduler& s,
                         station& at,
                         uint8_t sap,
                         delivery_mode mode,
                         std::optional<uint8_t> dst_sap)
    : d_scheduler(s), d_station(at), d_sap(sap), d_dst_sap(dst_sap.value_or(sap)),
      d_mode(mode), d_client(at.attach([this](station_time now, const s_primitive& p) {
          on_primitive(now, p);
      }))
{
    rebind();
}

void bulk_source::rebind()
{
    d_bound = false;
    d_flow = true;
    d_station.send(d_client, s_bind_request{ d_sap, 0, d_mode });
}

std::vector<uint8_t> bulk_source::u_pdu(uint32_t number, size_t size)
{
    std::vector<uint8_t> u(std::max<size_t>(size, 4));
    for (size_t i = 0; i < 4; ++i)
        u[i] = static_cast<uint8_t>(number >> (24 - 8 * i));
    uint32_t x = number * 2654435761u + 1;
    for (size_t i = 4; i < u.size(); ++i) {
        x = x * 1664525u + 1013904223u;
        u[i] = static_cast<uint8_t>(x >> 24);
    }
    return u;
}

uint32_t bulk_source::number_of(const std::vector<uint8_t>& u)
{
    return uint32_t(u[0]) << 24 | uint32_t(u[1]) << 16 | uint32_t(u[2]) << 8 | u[3];
}

void bulk_source::send(address to, size_t octets, size_t size)
{
    if (d_left.empty())
        d_began = d_scheduler.now();
    if (!d_left.empty() && d_left.back().to == to && d_left.back().size == size)
        d_left.back().octets += octets;
    else if (octets > 0)
        d_left.push_back({ to, octets, size });
    go();
}

void bulk_source::on_primitive(station_time now, const s_primitive& p)
{
    if (const auto* i = std::get_if<s_unidata_indication>(&p)) {
        if (on_indication)
            on_indication(now, *i);
        return;
    }
    if (std::holds_alternative<s_bind_accepted>(p))
        d_bound = true;
    else if (std::holds_alternative<s_data_flow_off>(p))
        d_flow = false;
    else if (std::holds_alternative<s_data_flow_on>(p))
        d_flow = true;
    else if (std::holds_alternative<s_unidata_request_confirm>(p))
        ++d_count.confirmed;
    else if (std::holds_alternative<s_unidata_request_rejected>(p))
        ++d_count.rejected;
    if (on_report)
        on_report(p);
    // Not from inside the callback: calls would nest once per U_PDU.
    d_scheduler.at(d_scheduler.now(), [this] { go(); });
}

void bulk_source::go()
{
    while (d_bound && d_flow && !d_left.empty()) {
        batch& b = d_left.front();
        const size_t n = std::min(b.octets, b.size);
        const s5066::address to = b.to;
        b.octets -= n;
        if (b.octets == 0)
            d_left.pop_front();
        d_count.octets += n;
        s_unidata_request r;
        r.expedited = expedited;
        r.priority = expedited ? 0 : priority;
        r.ttl = ttl;
        r.dst_sap = d_dst_sap;
        r.dst = to;
        r.mode = d_mode;
        r.u_pdu = u_pdu(d_count.submitted++, n);
        if (on_submit)
            on_submit(d_count.submitted - 1, n);
        d_station.send(d_client, r);
    }
}

bulk_sink::bulk_sink(scheduler&, station& at, uint8_t sap)
    : d_station(at), d_sap(sap),
      d_client(at.attach(
          [this](station_time now, const s_primitive& p) { on_primitive(now, p); }))
{
    rebind();
}

void bulk_sink::rebind() { d_station.send(d_client, s_bind_request{ d_sap, 0, {} }); }

void bulk_sink::on_primitive(station_time now, const s_primitive& p)
{
    const auto* i = std::get_if<s_unidata_indication>(&p);
    if (!i) {
        if (on_report)
            on_report(p);
        return;
    }
    if (i->u_pdu.size() < 4) {
        ++d_altered;
        return;
    }
    const uint32_t n = bulk_source::number_of(i->u_pdu);
    const uint32_t src = i->src.raw();
    if (i->u_pdu != bulk_source::u_pdu(n, i->u_pdu.size())) {
        ++d_altered;
        return;
    }
    if (on_any)
        on_any(n);
    if (!d_seen.insert({ src, n }).second) {
        ++d_repeated;
        return;
    }
    const auto h = d_highest.find(src);
    d_out_of_order += h != d_highest.end() && n < h->second ? 1 : 0;
    d_highest[src] = h == d_highest.end() ? n : std::max(n, h->second);
    ++d_u_pdus;
    d_octets += i->u_pdu.size();
    d_last = now;
    if (on_new)
        on_new(now, *i);
}

} // namespace gr::hf::sim

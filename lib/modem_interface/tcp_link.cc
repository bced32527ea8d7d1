/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem_interface/tcp_link.h"

#include <algorithm>

namespace gr::hf::modem_interface {
namespace {

using namespace std::chrono_literals;

// A.5.1.2.1, A.5.1.2.2
constexpr auto greeting_limit = 3s;
constexpr auto probe_limit = 6s;
constexpr auto keep_alive_after = 2s;
constexpr auto silence_limit = 30s;
// Beyond this the far end sends noise, not packets.
constexpr size_t max_skipped = 65536;

} // namespace

tcp_link::tcp_link(role r,
                   std::function<void(octets)> send,
                   std::function<void(const std::string&)> finish)
    : d_role(r), d_send(std::move(send)), d_finish(std::move(finish))
{
}

void tcp_link::open(station_time now)
{
    d_phase = phase::connecting;
    d_phase_at = d_heard_at = now;
    d_deframer = {};
    d_connect = d_ack = false;
    send_packet(now, packet_type::connect, { tcp_version });
}

void tcp_link::send_packet(station_time now, packet_type t, octets payload)
{
    d_sent_at = now;
    d_send(encode(tcp_packet{ static_cast<uint8_t>(t), std::move(payload) }));
}

void tcp_link::send(station_time now, const tcp_payload& p)
{
    d_sent_at = now;
    d_send(encode(p));
}

void tcp_link::protocol_error(const std::string& why)
{
    d_send(encode(tcp_packet{ static_cast<uint8_t>(packet_type::error), {} }));
    d_phase = phase::closed;
    d_finish(why);
}

tcp_link::event tcp_link::next(station_time now, tcp_payload& payload)
{
    while (d_phase != phase::closed) {
        const auto p = d_deframer.next();
        if (!p) {
            if (d_deframer.foreign() || d_deframer.skipped() > max_skipped) {
                d_phase = phase::closed;
                d_finish("does not send packets of this interface");
            }
            break;
        }
        switch (static_cast<packet_type>(p->type)) {
        case packet_type::connect:
        case packet_type::connect_ack:
            if (!greeting(now, *p))
                return event::none;
            break;
        case packet_type::data: {
            const event e = data(now, *p, payload);
            if (e != event::none)
                return e;
            break;
        }
        case packet_type::error:
            d_phase = phase::closed;
            d_finish("the far end has reported an error");
            break;
        default:
            protocol_error("packet of unknown type " + std::to_string(p->type));
        }
    }
    return event::none;
}

// False if the connection has ended.
bool tcp_link::greeting(station_time now, const tcp_packet& p)
{
    const bool connect = static_cast<packet_type>(p.type) == packet_type::connect;
    bool& seen = connect ? d_connect : d_ack;
    if (d_phase != phase::connecting || seen) {
        protocol_error("a CONNECT packet too many");
        return false;
    }
    if (p.payload != octets{ tcp_version }) {
        d_phase = phase::closed;
        d_finish("is not of version 12");
        return false;
    }
    seen = true;
    if (connect)
        send_packet(now, packet_type::connect_ack, { tcp_version });
    if (d_connect && d_ack) {
        d_phase = phase::probing;
        d_phase_at = d_heard_at = now;
        if (d_role == role::modem)
            send(now, connection_probe{});
    }
    return true;
}

tcp_link::event
tcp_link::data(station_time now, const tcp_packet& p, tcp_payload& payload)
{
    d_heard_at = now;
    if (p.payload.empty())
        return event::none;
    auto parsed = parse_payload(p.payload);
    if (!parsed) {
        protocol_error("command " + std::to_string(p.payload.front()) +
                       " is none, or not well formed");
        return event::none;
    }
    if (d_phase == phase::up) {
        if (std::holds_alternative<connection_probe>(*parsed)) {
            if (d_role == role::dte)
                send(now, connection_probe{});
            return event::none;
        }
        payload = std::move(*parsed);
        return event::payload;
    }
    if (d_phase != phase::probing || !std::holds_alternative<connection_probe>(*parsed)) {
        protocol_error("data before the initial exchange is complete");
        return event::none;
    }
    if (d_role == role::dte)
        send(now, connection_probe{});
    else
        d_round_trip = now - d_phase_at;
    d_phase = phase::up;
    return event::up;
}

std::optional<station_time> tcp_link::next_deadline() const
{
    switch (d_phase) {
    case phase::connecting:
        return d_phase_at + greeting_limit;
    case phase::probing:
        return d_phase_at + probe_limit;
    case phase::up:
        return std::min(d_sent_at + keep_alive_after, d_heard_at + silence_limit);
    case phase::closed:
        break;
    }
    return std::nullopt;
}

void tcp_link::on_deadline(station_time now)
{
    const auto due = next_deadline();
    if (!due || now < *due)
        return;
    if (d_phase == phase::up && now < d_heard_at + silence_limit) {
        send_packet(now, packet_type::data, {});
        return;
    }
    d_finish(d_phase == phase::up ? "30 s of silence"
                                  : "no answer to the initial exchange");
    d_phase = phase::closed;
}

} // namespace gr::hf::modem_interface

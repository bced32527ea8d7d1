/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/stations/tcp_model.h"

#include <algorithm>
#include <cmath>

namespace gr::hf::sim {

namespace {

constexpr uint8_t flag_syn = 2, flag_ack = 16;
constexpr uint16_t server_port = 80;
constexpr double initial_window = 10;
constexpr station_time rto_min = std::chrono::milliseconds(200),
                       rto_max = std::chrono::minutes(2),
                       ack_delay = std::chrono::milliseconds(40);

void put16(ip::octets& v, size_t at, size_t x)
{
    v[at] = static_cast<uint8_t>(x >> 8);
    v[at + 1] = static_cast<uint8_t>(x);
}
void put32(ip::octets& v, size_t at, size_t x)
{
    put16(v, at, x >> 16);
    put16(v, at + 2, x);
}
size_t at32(const uint8_t* p)
{
    return size_t(p[0]) << 24 | size_t(p[1]) << 16 | size_t(p[2]) << 8 | p[3];
}

} // namespace

tcp_model::tcp_model(const config& c) : d_config(c), d_rto(c.timeout) {}

void tcp_model::send(bool from_server,
                     uint8_t flags,
                     size_t seq,
                     size_t ack,
                     size_t payload)
{
    const auto& src = from_server ? d_config.server : d_config.client;
    const auto& dst = from_server ? d_config.client : d_config.server;
    ip::octets v(40 + payload);
    v[0] = 0x45;
    put16(v, 2, v.size());
    v[6] = 0x40; // DF bit
    v[8] = 64;
    v[9] = ip::proto_tcp;
    std::copy_n(src.data(), 4, v.begin() + 12);
    std::copy_n(dst.data(), 4, v.begin() + 16);
    put16(v, 10, ip::checksum_fold(ip::checksum_add(0, v.data(), 20)));
    put16(v, 20, from_server ? server_port : d_config.port);
    put16(v, 22, from_server ? d_config.port : server_port);
    put32(v, 24, seq);
    put32(v, 28, ack);
    v[32] = 5 << 4;
    v[33] = flags;
    d_out[from_server].push_back(std::move(v));
}

void tcp_model::start(station_time now)
{
    send(false, flag_syn, 0, 0, 0);
    d_timed = { 0, now };
    arm(now);
}

std::optional<ip::octets> tcp_model::poll(bool at_server)
{
    auto& out = d_out[at_server];
    if (out.empty())
        return std::nullopt;
    auto v = std::move(out.front());
    out.pop_front();
    return v;
}

void tcp_model::send_segment(station_time now, size_t at)
{
    const size_t n = std::min(d_config.mss, d_config.octets - at);
    ++d_sent;
    if (at < d_highest)
        ++d_again;
    else if (!d_timed)
        d_timed = { at + n, now };
    // Karn: a segment sent twice is no sample.
    if (at < d_highest && d_timed && at < d_timed->first)
        d_timed.reset();
    d_highest = std::max(d_highest, at + n);
    send(false, flag_ack, at + 1, 1, n);
}

void tcp_model::send_more(station_time now)
{
    const auto window =
        std::min(static_cast<size_t>(d_cwnd) * d_config.mss, d_config.window);
    while (d_next < d_config.octets && d_next < d_acked + window) {
        send_segment(now, d_next);
        d_next += std::min(d_config.mss, d_config.octets - d_next);
    }
    if (d_next > d_acked && !d_timer)
        arm(now);
}

void tcp_model::on_ack(station_time now, size_t ack)
{
    if (ack < d_acked)
        return;
    if (ack == d_acked) {
        if (d_next == d_acked || ++d_same_acks < 3)
            return;
        if (d_same_acks == 3 && !d_recovering) {
            d_recovering = true;
            d_recover = d_next;
            const double flight =
                double(d_next - d_acked) / static_cast<double>(d_config.mss);
            d_threshold = std::max(flight / 2, 2.0);
            d_cwnd = d_threshold + 3;
            send_segment(now, d_acked);
            arm(now);
        } else if (d_recovering) {
            d_cwnd += 1;
            send_more(now);
        }
        return;
    }
    if (d_timed && ack >= d_timed->first) {
        const double r = to_seconds(now - d_timed->second);
        d_timed.reset();
        d_rttvar = d_srtt < 0 ? r / 2 : 0.75 * d_rttvar + 0.25 * std::abs(d_srtt - r);
        d_srtt = d_srtt < 0 ? r : 0.875 * d_srtt + 0.125 * r;
        d_rto = std::clamp(
            from_seconds(d_srtt + std::max(4 * d_rttvar, 0.2)), rto_min, rto_max);
    }
    const double segments =
        std::ceil(double(ack - d_acked) / static_cast<double>(d_config.mss));
    d_acked = ack;
    d_next = std::max(d_next, ack);
    d_same_acks = 0;
    if (d_recovering && ack < d_recover) {
        send_segment(now, d_acked); // after a partial ACK: the next hole
        d_cwnd = std::max(d_cwnd - segments + 1, 1.0);
    } else {
        if (d_recovering)
            d_cwnd = d_threshold;
        d_recovering = false;
        if (d_cwnd < d_threshold)
            d_cwnd += segments;
        else
            d_cwnd += segments / d_cwnd;
    }
    d_timer.reset();
    if (d_next > d_acked)
        arm(now);
    send_more(now);
}

void tcp_model::packet_in(station_time now, bool at_server, const ip::packet_view& v)
{
    const uint8_t* p = v.data + v.upper;
    const uint16_t port = at_server ? v.src_port : v.dst_port;
    if (v.protocol != ip::proto_tcp || port != d_config.port || v.size < v.upper + 20)
        return;
    const uint8_t flags = p[13];
    if (!at_server) {
        if ((flags & flag_syn) != 0) {
            if (d_open)
                return;
            d_open = true;
            d_cwnd = initial_window;
            d_srtt = to_seconds(now - d_timed->second);
            d_rttvar = d_srtt / 2;
            // RFC 6298 5.7: a repeated SYN makes the timer careful.
            d_rto = std::clamp(from_seconds(3 * d_srtt),
                               d_timeouts > 0 ? station_time(std::chrono::seconds(3))
                                              : rto_min,
                               rto_max);
            d_timed.reset();
            d_timer.reset();
            send_more(now);
            return;
        }
        on_ack(now, std::max<size_t>(at32(p + 8), 1) - 1);
        return;
    }
    if ((flags & flag_syn) != 0) {
        send(true, flag_syn | flag_ack, 0, 1, 0);
        return;
    }
    const size_t payload = v.size - v.upper - 20;
    if (payload == 0)
        return;
    const size_t begin = at32(p + 4) - 1, end = begin + payload;
    const bool in_order = begin <= d_server.received && d_server.ahead.empty();
    if (end > d_server.received)
        d_server.ahead[begin] = std::max(d_server.ahead[begin], end);
    while (!d_server.ahead.empty() &&
           d_server.ahead.begin()->first <= d_server.received) {
        d_server.received = std::max(d_server.received, d_server.ahead.begin()->second);
        d_server.ahead.erase(d_server.ahead.begin());
    }
    if (in_order && ++d_server.unacked < 2 && d_server.received < d_config.octets) {
        if (!d_server.delayed_ack)
            d_server.delayed_ack = now + ack_delay;
        return;
    }
    d_server.unacked = 0;
    d_server.delayed_ack.reset();
    send(true, flag_ack, 1, d_server.received + 1, 0);
}

std::optional<station_time> tcp_model::next_deadline() const
{
    if (d_timer && d_server.delayed_ack)
        return std::min(*d_timer, *d_server.delayed_ack);
    return d_timer ? d_timer : d_server.delayed_ack;
}

void tcp_model::on_deadline(station_time now)
{
    if (d_server.delayed_ack && *d_server.delayed_ack <= now) {
        d_server.delayed_ack.reset();
        d_server.unacked = 0;
        send(true, flag_ack, 1, d_server.received + 1, 0);
    }
    if (!d_timer || *d_timer > now)
        return;
    ++d_timeouts;
    d_rto = std::min(2 * d_rto, rto_max);
    arm(now);
    if (!d_open) {
        send(false, flag_syn, 0, 0, 0);
        return;
    }
    if (done()) {
        d_timer.reset();
        return;
    }
    d_threshold =
        std::max(double(d_next - d_acked) / static_cast<double>(d_config.mss) / 2, 2.0);
    d_cwnd = 1;
    d_same_acks = 0;
    d_recovering = false;
    d_timed.reset();
    d_next = d_acked;
    send_more(now);
}

} // namespace gr::hf::sim

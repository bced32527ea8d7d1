/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem_interface/tcp_modem.h"

#include <algorithm>

namespace gr::hf::modem_interface {
namespace {

using namespace std::chrono_literals;

constexpr auto status_interval = 2s; // longest interval while transmitting: A.5.1.2.5
                                     // step 8
// A complete transmission without START is refused after this silence.
constexpr auto start_limit = 30s;
constexpr uint32_t max_latency_ms =
    30000; // beyond it the keep-alive timer ends the connection anyway
// A terminal that leaves this much unread is disconnected.
constexpr size_t max_unsent = 4u << 20;

} // namespace

tcp_modem::tcp_modem(const modem_settings& settings)
    : modem_session(settings), d_link(
                                   tcp_link::role::modem,
                                   [this](octets o) { wire::send(std::move(o)); },
                                   [this](const std::string& why) { finish(why); })
{
}

void tcp_modem::open(station_time now)
{
    d_now = now;
    reset_wire();
    abort_tx();
    d_held.reset();
    d_link.open(now);
}

void tcp_modem::close(station_time now)
{
    d_now = now;
    d_link.close();
    reset_wire();
    abort_tx();
    d_held.reset();
}

void tcp_modem::receive(station_time now, const uint8_t* p, size_t n)
{
    d_now = now;
    d_link.receive(p, n);
    process();
}

void tcp_modem::process()
{
    tcp_payload payload;
    while (!d_held && finished().empty()) {
        switch (d_link.next(d_now, payload)) {
        case tcp_link::event::none:
            return;
        case tcp_link::event::up:
            greet();
            break;
        case tcp_link::event::payload:
            on_payload(payload);
        }
    }
}

// The four packets that end A.5.1.2.1.
void tcp_modem::greet()
{
    set_connected(true);
    d_first = false;
    d_rx_first = true;
    initial_setup setup;
    setup.round_trip_ms = static_cast<uint32_t>(d_link.round_trip() / 1ms);
    setup.max_latency_ms = max_latency_ms;
    send(setup);
    const mode& m = settings().tx_mode;
    send(transmit_setup{ static_cast<uint32_t>(m.rate_bps), blocking_bits(m) });
    d_reported = transmitter_state::flushed;
    d_status_at = d_now;
    send(tx_status{ d_reported, static_cast<uint32_t>(fifo_space()), 0, 0, 0 });
    rx_carrier();
}

void tcp_modem::on_payload(const tcp_payload& p)
{
    if (const auto* transfer = std::get_if<data_transfer>(&p)) {
        on_transfer(*transfer);
    } else if (std::holds_alternative<transmit_arm>(p)) {
        if (state() == tx_state::flushed) {
            begin_queueing();
            d_first = false;
        }
        send_status();
    } else if (std::holds_alternative<transmit_start>(p)) {
        on_start();
    } else if (std::holds_alternative<request_tx_status>(p)) {
        send_status();
    } else if (std::holds_alternative<abort_reception>(p)) {
        abort_rx();
    } else {
        d_link.protocol_error("a packet that only a modem sends");
    }
}

void tcp_modem::on_transfer(const data_transfer& p)
{
    const bool first =
        p.order == packet_order::first_only || p.order == packet_order::first_and_last;
    const bool last =
        p.order == packet_order::last || p.order == packet_order::first_and_last;
    std::optional<nak_cause> refused;
    if (state() == tx_state::draining_forced)
        refused = nak_cause::underrun;
    else if (state() != tx_state::queueing && state() != tx_state::started)
        refused = nak_cause::not_armed;
    else if (first && d_first)
        refused = nak_cause::multiple_first;
    else if (!first && (!d_first || last_known())) // belongs to no transmission
        refused = nak_cause::missing_first;
    if (refused) {
        send(tx_data_nak{ *refused, p.id });
        return;
    }
    if (fifo_space() < max_transfer_data) {
        d_held = p;
        return;
    }
    d_first = true;
    d_last_id = p.id;
    enqueue(p.data);
    if (last)
        last_queued();
    send_status();
}

void tcp_modem::on_start()
{
    if (state() != tx_state::queueing || !port_ready()) {
        send_status();
        return;
    }
    start_tx();
    if (last_known()) { // the terminal waits for STARTED in any case
        d_reported = transmitter_state::started;
        send(tx_status{ d_reported,
                        static_cast<uint32_t>(fifo_space()),
                        static_cast<uint32_t>(queued()),
                        0,
                        0 });
    }
    send_status();
}

transmitter_state tcp_modem::wire_state() const
{
    switch (state()) {
    case tx_state::queueing:
        return port_ready() ? transmitter_state::armed_port_ready
                            : transmitter_state::armed_port_not_ready;
    case tx_state::started:
        return transmitter_state::started;
    case tx_state::draining:
        return transmitter_state::draining_ok;
    case tx_state::draining_forced:
        return transmitter_state::draining_forced;
    case tx_state::flushed:
        break;
    }
    return transmitter_state::flushed;
}

void tcp_modem::send_status()
{
    tx_status s;
    s.state = d_reported = wire_state();
    s.fifo_space = static_cast<uint32_t>(fifo_space());
    s.fifo_fill = static_cast<uint32_t>(queued());
    if (state() == tx_state::started) {
        const double rate = settings().tx_mode.rate_bps;
        s.critical_ms = static_cast<uint32_t>(8000.0 * s.fifo_fill / rate);
        s.critical_octets = static_cast<uint32_t>(block_octets());
    }
    d_status_at = d_now;
    send(s);
}

void tcp_modem::tx_changed()
{
    if (!connected())
        return;
    if (d_held && fifo_space() >= max_transfer_data) {
        const auto held = std::move(*d_held);
        d_held.reset();
        d_link.heard(d_now);
        on_transfer(held);
        process();
    }
    if (moving() || wire_state() != d_reported)
        send_status();
}

void tcp_modem::underrun() { send(tx_data_nak{ nak_cause::underrun, d_last_id }); }

void tcp_modem::rx_carrier()
{
    d_rx_first = true;
    carrier_detect c;
    c.carrier = carrier();
    if (c.carrier) {
        c.rate_bps = static_cast<uint32_t>(rx_mode().rate_bps);
        c.blocking_bits = blocking_bits(rx_mode());
    }
    send(c);
    // With a receiver master the carrier decides whether the port is ready.
    if (wire_state() != d_reported)
        send_status();
}

void tcp_modem::rx_data(const octets& data)
{
    for (size_t at = 0; at < data.size(); at += max_transfer_data) {
        const auto begin = data.begin() + static_cast<ptrdiff_t>(at);
        const size_t n = std::min(max_transfer_data, data.size() - at);
        send_transfer(d_rx_first ? packet_order::first_only : packet_order::continuation,
                      { begin, begin + static_cast<ptrdiff_t>(n) });
        d_rx_first = false;
    }
}

void tcp_modem::rx_last()
{
    if (!d_rx_first)
        send_transfer(packet_order::last, {});
}

void tcp_modem::send_transfer(packet_order order, octets data)
{
    data_transfer p;
    p.order = order;
    for (size_t k = 0; k < 8; ++k)
        p.id[4 + k] = static_cast<uint8_t>(d_next_id >> (56 - 8 * k));
    ++d_next_id;
    p.data = std::move(data);
    send(p);
}

void tcp_modem::send(const tcp_payload& p)
{
    d_link.send(d_now, p);
    if (unsent() > max_unsent)
        finish("does not read: " + std::to_string(unsent()) + " octets wait");
}

bool tcp_modem::moving() const
{
    return state() != tx_state::flushed && state() != tx_state::queueing;
}

bool tcp_modem::lacks_start() const
{
    return state() == tx_state::queueing && last_known() && port_ready();
}

std::optional<station_time> tcp_modem::next_deadline() const
{
    auto due = d_link.next_deadline();
    if (due && connected() && moving())
        due = std::min(*due, d_status_at + status_interval);
    if (due && connected() && lacks_start())
        due = std::min(*due, d_status_at + start_limit);
    return due;
}

void tcp_modem::on_deadline(station_time now)
{
    d_now = now;
    const auto due = next_deadline();
    if (!due || now < *due)
        return;
    if (d_held)
        d_link.heard(now);
    if (connected() && moving() && now >= d_status_at + status_interval)
        send_status();
    if (connected() && lacks_start() && now >= d_status_at + start_limit) {
        abort_tx();
        send(tx_data_nak{ nak_cause::not_armed, d_last_id });
        send_status();
    }
    d_link.on_deadline(now);
}

} // namespace gr::hf::modem_interface

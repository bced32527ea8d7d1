/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem_interface/udp_modem.h"

#include <algorithm>
#include <cmath>

namespace gr::hf::modem_interface {
namespace {

using namespace std::chrono_literals;

constexpr auto status_interval = 500ms; // A.5.2.4.1
constexpr auto ping_interval = 5s;      // A.5.2.6.2
constexpr auto silence_limit = 30s;
constexpr size_t sets_ahead_limit = 2;
constexpr size_t jitter_window = 100;
constexpr uint32_t hour_us = 3600000000u;
constexpr uint8_t abort_reception_command = 1;
// Limit of unsent datagrams. Beyond it no new ones are made.
constexpr size_t max_unsent = 4u << 20;

} // namespace

uint32_t timestamp_of(station_time now)
{
    return static_cast<uint32_t>(now / 1us % hour_us);
}

udp_modem::udp_modem(const modem_settings& settings) : modem_session(settings) {}

void udp_modem::open(station_time now)
{
    close(now);
    d_open = true;
}

void udp_modem::close(station_time now)
{
    d_now = now;
    d_open = false;
    d_session.reset();
    d_transfer.reset();
    d_decoder.reset();
    d_encoder.reset();
    reset_wire();
    abort_tx();
}

void udp_modem::new_session(uint32_t session)
{
    d_session = session;
    d_silent = false;
    d_reply_at = d_ping_at = d_now;
    d_errors = 0;
    d_transfer.reset();
    d_decoder.reset();
    d_delays.clear();
    abort_tx();
    set_connected(true);
    send(ping_request{});
    send_status();
}

void udp_modem::receive(station_time now, const uint8_t* p, size_t n)
{
    d_now = now;
    if (!d_open)
        return;
    const auto packet = parse_datagram(p, n);
    if (!packet) {
        ++d_invalid;
        return;
    }
    if (d_session != packet->session)
        new_session(packet->session);
    const auto& what = packet->what;
    if (std::holds_alternative<ping_request>(what)) {
        send(ping_reply{});
    } else if (std::holds_alternative<ping_reply>(what)) {
        d_reply_at = now;
        d_silent = false;
    } else if (std::holds_alternative<status_request>(what)) {
        send_status();
    } else if (const auto* data = std::get_if<encoded_data>(&what)) {
        if (!d_silent && !data->enhanced)
            on_data(*data);
    } else if (const auto* command = std::get_if<command_request>(&what)) {
        if (command->command != abort_reception_command)
            return; // A.5.2.4.4: ignored
        send(command_ack{ command->sequence });
        abort_rx();
    } else {
        ++d_invalid; // only a modem sends it
    }
}

void udp_modem::on_data(const encoded_data& d)
{
    if (d_transfer != d.transfer) {
        if (state() != tx_state::flushed)
            return;
        d_transfer = d.transfer;
        d_decoder.emplace();
        d_errors = 0;
        begin_queueing();
    }
    if (state() != tx_state::queueing && state() != tx_state::started)
        return;
    d_holdoff = d.holdoff;
    note_jitter(d.timestamp);
    if (!d_decoder->push(d))
        return;
    take_decoded();
    // A set that cannot be decoded ends the transmission (A.5.2.6.5, 9).
    if (d_decoder->sets_ahead() >= sets_ahead_limit) {
        if (state() == tx_state::queueing)
            start_tx();
        force_drain();
    }
    const bool enough =
        queued() >= static_cast<size_t>(settings().prebuffer_blocks *
                                        static_cast<double>(block_octets()));
    if (state() == tx_state::queueing && (last_known() || (enough && !d_holdoff)))
        start_tx();
    send_status();
}

void udp_modem::take_decoded()
{
    while (auto o = d_decoder->poll()) {
        if (o->size() > fifo_space()) {
            d_errors |= tx_overrun;
            if (state() == tx_state::queueing)
                start_tx();
            force_drain();
            return;
        }
        enqueue(*o);
    }
    if (d_decoder->finished())
        last_queued();
}

// A.5.2.4.1: deviation of the time between sending and arrival, over 100 packets. The
// clocks of both ends differ by a constant, which has no effect.
void udp_modem::note_jitter(uint32_t timestamp)
{
    const uint32_t here = timestamp_of(d_now);
    const uint64_t late = (uint64_t(here) + hour_us - timestamp % hour_us) % hour_us;
    d_delays.push_back(static_cast<double>(late) / 1000.0);
    if (d_delays.size() > jitter_window)
        d_delays.pop_front();
}

void udp_modem::tx_changed()
{
    if (connected())
        send_status();
}

void udp_modem::underrun()
{
    if ((d_errors & tx_overrun) == 0)
        d_errors |= tx_underrun;
}

void udp_modem::rx_carrier()
{
    if (carrier()) {
        d_encoder.emplace(++d_rx_transfer,
                          static_cast<uint32_t>(rx_mode().rate_bps),
                          blocking_bits(rx_mode()),
                          true);
    } else {
        d_encoder.reset();
    }
    send_status();
}

void udp_modem::rx_data(const octets& data)
{
    if (!d_encoder) // the session started within the reception
        rx_carrier();
    d_encoder->push(data);
    send_sets();
}

void udp_modem::rx_last()
{
    if (!d_encoder)
        return;
    d_encoder->finish();
    send_sets();
    d_encoder.reset();
}

void udp_modem::send_sets()
{
    while (auto d = d_encoder->poll()) {
        d->timestamp = timestamp_of(d_now);
        send(std::move(*d));
    }
}

void udp_modem::send_status()
{
    status_reply s;
    s.sequence = d_status_sequence++;
    s.transfer = d_transfer.value_or(0);
    s.errors = d_errors;
    s.carrier = carrier();
    s.rx_started = d_encoder.has_value();
    s.in_control = true;
    switch (state()) {
    case tx_state::flushed:
        s.tx = udp_tx_state::flushed;
        break;
    case tx_state::queueing:
        s.tx = udp_tx_state::queueing;
        break;
    case tx_state::started:
        s.tx = udp_tx_state::started;
        break;
    case tx_state::draining:
    case tx_state::draining_forced:
        s.tx = udp_tx_state::draining;
    }
    if (d_decoder)
        s.dropped =
            static_cast<uint16_t>(std::min<uint64_t>(d_decoder->lost_packets(), 0xffff));
    if (!d_delays.empty()) {
        double sum = 0, squares = 0;
        for (const double d : d_delays)
            sum += d;
        const double mean = sum / static_cast<double>(d_delays.size());
        for (const double d : d_delays)
            squares += (d - mean) * (d - mean);
        s.jitter_ms = static_cast<uint16_t>(
            std::min(65535.0, std::sqrt(squares / static_cast<double>(d_delays.size()))));
    }
    s.queue_fill = static_cast<uint32_t>(queued());
    s.queue_space = static_cast<uint32_t>(fifo_space());
    if (carrier()) {
        s.rx_rate_bps = static_cast<uint32_t>(rx_mode().rate_bps);
        s.rx_blocking_bits = blocking_bits(rx_mode());
    }
    s.tx_rate_bps = static_cast<uint32_t>(settings().tx_mode.rate_bps);
    s.tx_blocking_bits = blocking_bits(settings().tx_mode);
    d_status_at = d_now;
    send(s);
}

void udp_modem::send(udp_payload p)
{
    if (unsent() < max_unsent)
        wire::send(encode(udp_packet{ *d_session, std::move(p) }));
}

std::optional<station_time> udp_modem::next_deadline() const
{
    if (!connected())
        return std::nullopt;
    auto due = std::min(d_status_at + status_interval, d_ping_at + ping_interval);
    if (!d_silent)
        due = std::min(due, d_reply_at + silence_limit);
    return due;
}

void udp_modem::on_deadline(station_time now)
{
    d_now = now;
    if (!connected())
        return;
    if (!d_silent && now >= d_reply_at + silence_limit) {
        d_silent = true;
        d_decoder.reset();
        d_transfer.reset();
        abort_tx();
    }
    if (now >= d_ping_at + ping_interval) {
        d_ping_at = now;
        send(ping_request{});
    }
    if (now >= d_status_at + status_interval)
        send_status();
}

} // namespace gr::hf::modem_interface

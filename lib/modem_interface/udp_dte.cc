/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem_interface/udp_dte.h"

#include "modem_interface/udp_modem.h"

#include <algorithm>

namespace gr::hf::modem_interface {
namespace {

using namespace std::chrono_literals;

constexpr auto ping_interval = 5s; // A.5.2.6.2
constexpr auto silence_limit = 30s;
constexpr auto ask_interval = 1s; // pause between requests for the first status
constexpr auto answer_limit = 10s;
// Wait for a missing packet: latency and jitter of the network, A.5.2.6.3.
constexpr auto gap_limit = 500ms;
constexpr station_time command_wait = 500ms; // doubled at each attempt, A.5.2.6.7
constexpr station_time max_command_wait = 8s;

} // namespace

udp_dte::udp_dte(const dte_settings& settings)
    : dte_session(settings), d_random(settings.seed)
{
}

void udp_dte::open(station_time now)
{
    close(now);
    d_open = true;
    d_random = d_random * 1664525u + 1013904223u;
    d_session = d_random >> 8;
    d_status = {};
    d_opened_at = d_asked_at = d_ping_at = d_reply_at = now;
    send(ping_request{});
    send(status_request{});
}

void udp_dte::close(station_time now)
{
    d_now = now;
    d_open = false;
    d_encoder.reset();
    d_decoder.reset();
    d_rx_transfer.reset();
    d_gap_at.reset();
    d_command.reset();
    dte_session::close(now);
}

void udp_dte::receive(station_time now, const uint8_t* p, size_t n)
{
    d_now = now;
    const auto packet = parse_datagram(p, n);
    if (!d_open || !packet || packet->session != d_session) {
        ++d_invalid;
        return;
    }
    const auto& what = packet->what;
    if (std::holds_alternative<ping_request>(what)) {
        send(ping_reply{});
    } else if (std::holds_alternative<ping_reply>(what)) {
        d_reply_at = now;
    } else if (const auto* status = std::get_if<status_reply>(&what)) {
        on_status(*status);
    } else if (const auto* data = std::get_if<encoded_data>(&what)) {
        on_data(*data);
    } else if (const auto* ack = std::get_if<command_ack>(&what)) {
        if (d_command && d_command->request.sequence == ack->sequence)
            d_command.reset();
    } else {
        ++d_invalid; // only a terminal sends it
    }
}

void udp_dte::on_status(const status_reply& s)
{
    // A.5.2.4.1: older ones are ignored. The first is always accepted.
    if (connected() && static_cast<int16_t>(s.sequence - d_status.sequence) < 0)
        return;
    if (!connected()) {
        set_connected(true);
        d_transfer = s.transfer;
    }
    const bool had_carrier = d_status.carrier;
    d_status = s;
    modem_setup(s.tx_rate_bps, s.tx_blocking_bits);
    if (s.carrier != had_carrier)
        carrier(s.carrier, s.rx_rate_bps, s.rx_blocking_bits);

    if (s.transfer != d_transfer || (!waiting() && !started()))
        return; // from an earlier transmission
    if (s.errors & (tx_overrun | tx_underrun))
        modem_gave_up();
    switch (s.tx) {
    case udp_tx_state::queueing:
        break;
    case udp_tx_state::started:
    case udp_tx_state::draining:
        modem_started();
        break;
    case udp_tx_state::flushed:
        if (!d_encoder)
            break; // nothing was sent yet
        modem_started();
        modem_flushed();
    }
}

void udp_dte::tx_begin()
{
    ++d_transfer;
    d_encoder.reset();
}

bool udp_dte::tx_room(size_t) const
{
    return !waiting() || d_encoder || d_status.tx == udp_tx_state::flushed;
}

size_t udp_dte::tx_overhead() const
{
    const auto set = set_layout::of(d_status.tx_rate_bps, d_status.tx_blocking_bits);
    return set.octets() - 1 + end_of_message.size() - 1;
}

void udp_dte::tx_data(const octets& data, bool, bool last)
{
    if (!d_encoder)
        d_encoder.emplace(
            d_transfer, d_status.tx_rate_bps, d_status.tx_blocking_bits, false);
    d_encoder->push(data);
    if (last)
        d_encoder->finish();
    while (auto d = d_encoder->poll()) {
        d->timestamp = timestamp_of(d_now);
        send(std::move(*d));
    }
}

void udp_dte::on_data(const encoded_data& d)
{
    if (d_rx_transfer != d.transfer) {
        // A late packet of the previous reception would look new.
        if (d_rx_transfer && static_cast<int16_t>(d.transfer - *d_rx_transfer) < 0)
            return;
        d_rx_transfer = d.transfer;
        d_decoder.emplace();
        d_gap_at.reset();
        if (d.enhanced)
            carrier(true, d.rate_bps, d.blocking_bits);
    }
    if (!d_decoder || !d_decoder->push(d))
        return;
    take_decoded();
}

void udp_dte::take_decoded()
{
    while (auto o = d_decoder->poll())
        data(std::move(*o));
    if (d_decoder->finished()) {
        d_decoder.reset();
        d_gap_at.reset();
        last();
    } else if (d_decoder->sets_ahead() == 0) {
        d_gap_at.reset();
    } else if (!d_gap_at) {
        d_gap_at = d_now;
    }
}

void udp_dte::abort_reception()
{
    if (!connected())
        return;
    d_command =
        command{ { d_command_sequence++, 1 }, d_now + command_wait, command_wait };
    send(d_command->request);
}

void udp_dte::send(udp_payload p)
{
    wire::send(encode(udp_packet{ d_session, std::move(p) }));
}

std::optional<station_time> udp_dte::next_deadline() const
{
    if (!d_open)
        return std::nullopt;
    auto due = std::min(d_ping_at + ping_interval, d_reply_at + silence_limit);
    if (!connected())
        due = std::min({ due, d_asked_at + ask_interval, d_opened_at + answer_limit });
    if (d_gap_at)
        due = std::min(due, *d_gap_at + gap_limit);
    if (d_command)
        due = std::min(due, d_command->again);
    return due;
}

void udp_dte::on_deadline(station_time now)
{
    d_now = now;
    if (!d_open)
        return;
    const bool no_answer = !connected() && now >= d_opened_at + answer_limit;
    if (no_answer || now >= d_reply_at + silence_limit) {
        finish(no_answer ? "no answer to the status request" : "30 s without ping reply");
        d_open = false;
        return;
    }
    if (!connected() && now >= d_asked_at + ask_interval) {
        d_asked_at = now;
        send(status_request{});
    }
    if (now >= d_ping_at + ping_interval) {
        d_ping_at = now;
        send(ping_request{});
    }
    if (d_gap_at && now >= *d_gap_at + gap_limit) {
        d_gap_at.reset();
        d_decoder->skip_set();
        take_decoded();
    }
    if (d_command && now >= d_command->again) {
        d_command->wait = std::min(2 * d_command->wait, max_command_wait);
        d_command->again = now + d_command->wait;
        send(d_command->request);
    }
}

} // namespace gr::hf::modem_interface

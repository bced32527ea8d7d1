/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem_interface/tcp_dte.h"

#include <algorithm>

namespace gr::hf::modem_interface {
namespace {

using namespace std::chrono_literals;

constexpr auto start_interval = 10ms; // A.5.1.2.5 step 7

} // namespace

tcp_dte::tcp_dte(const dte_settings& settings)
    : dte_session(settings), d_link(
                                 tcp_link::role::dte,
                                 [this](octets o) { wire::send(std::move(o)); },
                                 [this](const std::string& why) { finish(why); })
{
}

void tcp_dte::open(station_time now)
{
    close(now);
    d_status = {};
    d_link.open(now);
}

void tcp_dte::close(station_time now)
{
    d_now = now;
    d_link.close();
    d_arm_wanted = d_armed = false;
    d_start_at.reset();
    dte_session::close(now);
}

void tcp_dte::receive(station_time now, const uint8_t* p, size_t n)
{
    d_now = now;
    d_link.receive(p, n);
    tcp_payload payload;
    while (finished().empty()) {
        const auto e = d_link.next(d_now, payload);
        if (e == tcp_link::event::none)
            break;
        if (e == tcp_link::event::payload)
            on_payload(payload);
    }
}

void tcp_dte::on_payload(const tcp_payload& p)
{
    if (const auto* transfer = std::get_if<data_transfer>(&p)) {
        data(transfer->data);
        if (transfer->order == packet_order::last ||
            transfer->order == packet_order::first_and_last)
            last();
    } else if (const auto* status = std::get_if<tx_status>(&p)) {
        on_status(*status);
    } else if (const auto* detect = std::get_if<carrier_detect>(&p)) {
        carrier(detect->carrier, detect->rate_bps, detect->blocking_bits);
    } else if (const auto* setup = std::get_if<transmit_setup>(&p)) {
        modem_setup(setup->rate_bps, setup->blocking_bits);
    } else if (const auto* initial = std::get_if<initial_setup>(&p)) {
        d_setup = *initial;
    } else if (const auto* nak = std::get_if<tx_data_nak>(&p)) {
        on_nak(*nak);
    } else {
        d_link.protocol_error("a packet that only a data terminal sends");
    }
}

void tcp_dte::on_status(const tx_status& s)
{
    d_status = s;
    d_since_status = 0;
    // The initial exchange ends with a transmitter status, apart from the carrier.
    set_connected(true);
    switch (s.state) {
    case transmitter_state::flushed:
        modem_flushed();
        if (d_arm_wanted) {
            d_arm_wanted = false;
            send(transmit_arm{});
        }
        break;
    case transmitter_state::armed_port_not_ready:
    case transmitter_state::armed_port_ready:
        d_armed = true;
        try_start();
        break;
    case transmitter_state::started:
    case transmitter_state::draining_ok:
        if (d_start_at)
            modem_started();
        break;
    case transmitter_state::draining_forced:
        modem_gave_up();
        break;
    }
}

void tcp_dte::on_nak(const tx_data_nak& n)
{
    if (n.cause == nak_cause::underrun)
        modem_gave_up();
    else
        d_link.protocol_error("data refused, cause " +
                              std::to_string(static_cast<int>(n.cause)));
}

void tcp_dte::tx_begin()
{
    d_armed = false;
    d_start_at.reset();
    d_arm_wanted = d_status.state != transmitter_state::flushed;
    if (!d_arm_wanted)
        send(transmit_arm{});
}

bool tcp_dte::tx_room(size_t n) const
{
    // Before the modem is armed it refuses data.
    if (!d_armed)
        return false;
    // A modem with room for less than a block must accept it in pieces. TCP's flow
    // control ensures that.
    if (d_status.fifo_fill + d_since_status == 0)
        return true;
    return d_status.fifo_space >= n + d_since_status + max_transfer_data;
}

void tcp_dte::tx_data(const octets& data, bool first, bool last)
{
    size_t at = 0;
    do {
        const size_t n = std::min(max_transfer_data, data.size() - at);
        const bool whole = at + n == data.size();
        const bool begins = first && at == 0;
        const bool ends = last && whole;
        data_transfer p;
        p.order = begins && ends ? packet_order::first_and_last
                  : begins       ? packet_order::first_only
                  : ends         ? packet_order::last
                                 : packet_order::continuation;
        for (size_t k = 0; k < 8; ++k)
            p.id[4 + k] = static_cast<uint8_t>(d_next_id >> (56 - 8 * k));
        ++d_next_id;
        p.data.assign(data.begin() + static_cast<ptrdiff_t>(at),
                      data.begin() + static_cast<ptrdiff_t>(at + n));
        send(p);
        at += n;
    } while (at < data.size());
    d_since_status += data.size();
}

void tcp_dte::tx_prefilled() { try_start(); }

void tcp_dte::try_start()
{
    if (!waiting() || !prefilled() ||
        d_status.state != transmitter_state::armed_port_ready ||
        (d_start_at && station_now() < *d_start_at + start_interval))
        return;
    d_start_at = station_now();
    send(transmit_start{});
}

void tcp_dte::on_station_tick() { try_start(); }

void tcp_dte::abort_reception()
{
    if (connected())
        send(modem_interface::abort_reception{});
}

void tcp_dte::send(const tcp_payload& p) { d_link.send(d_now, p); }

std::optional<station_time> tcp_dte::next_deadline() const
{
    return d_link.next_deadline();
}

void tcp_dte::on_deadline(station_time now)
{
    d_now = now;
    d_link.on_deadline(now);
}

} // namespace gr::hf::modem_interface

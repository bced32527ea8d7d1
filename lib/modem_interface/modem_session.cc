/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem_interface/modem_session.h"

#include "waveform/description.h"

#include <algorithm>

namespace gr::hf::modem_interface {

modem_session::modem_session(const modem_settings& settings)
    : d_settings(settings), d_timing(kernel::timing_of(settings.tx_mode)),
      d_capacity(std::max<size_t>(65536, 4 * block_octets()) + max_transfer_data)
{
}

uint32_t modem_session::blocking_bits(const mode& m)
{
    return static_cast<uint32_t>(kernel::describe(m).input_bits);
}

size_t modem_session::fifo_space() const
{
    return d_capacity - std::min(d_capacity, d_fifo.size());
}

bool modem_session::port_ready() const
{
    return !d_on_air && !(d_settings.receiver_master && d_receiving);
}

std::optional<mode> modem_session::want_tx(station_time)
{
    if (!d_key_up || !port_ready())
        return std::nullopt;
    d_key_up = false;
    d_on_air = true;
    return d_settings.tx_mode;
}

tx_octets modem_session::pull(station_time, station_time, size_t max_octets)
{
    const bool wanted = d_state == tx_state::started || d_state == tx_state::draining;
    if (!wanted || d_key_up || !connected()) // the transmission on the air was aborted
        return { {}, true };
    const size_t n = std::min(max_octets, d_fifo.size());
    const auto end = d_fifo.begin() + static_cast<ptrdiff_t>(n);
    tx_octets o{ { d_fifo.begin(), end }, false };
    d_fifo.erase(d_fifo.begin(), end);
    if (d_last) {
        o.last = d_fifo.empty();
    } else if (n < max_octets) {
        o.last = true;
        force_drain();
    }
    tx_changed();
    return o;
}

void modem_session::on_tx_end(station_time)
{
    d_on_air = false;
    // A transmission of an earlier connection does not concern the current one.
    if (!d_key_up && (d_state == tx_state::started || d_state == tx_state::draining ||
                      d_state == tx_state::draining_forced)) {
        d_state = tx_state::flushed;
        d_fifo.clear();
        d_last = false;
    }
    tx_changed();
}

void modem_session::on_rx_start(station_time, const rx_start& e)
{
    if (d_carrier)
        abort_rx();
    d_receiving = d_carrier = true;
    d_rx_any = false;
    d_rx_mode = e.m;
    if (connected())
        rx_carrier();
}

void modem_session::on_rx_octets(station_time, const rx_octets& e)
{
    if (!d_carrier || e.octets.empty())
        return;
    d_rx_any = true;
    if (connected())
        rx_data(e.octets);
}

void modem_session::on_rx_end(station_time, const rx_end&)
{
    d_receiving = false;
    abort_rx();
    tx_changed();
}

void modem_session::abort_rx()
{
    if (!d_carrier)
        return;
    d_carrier = false;
    if (!connected())
        return;
    if (d_rx_any)
        rx_last();
    rx_carrier();
}

void modem_session::enqueue(const octets& data)
{
    d_fifo.insert(d_fifo.end(), data.begin(), data.end());
}

void modem_session::begin_queueing()
{
    d_state = tx_state::queueing;
    d_fifo.clear();
    d_last = false;
}

void modem_session::start_tx()
{
    d_state = d_last ? tx_state::draining : tx_state::started;
    d_key_up = true;
}

void modem_session::last_queued()
{
    d_last = true;
    if (d_state == tx_state::started)
        d_state = tx_state::draining;
}

void modem_session::force_drain()
{
    ++d_underruns;
    d_state = tx_state::draining_forced;
    d_fifo.clear();
    underrun();
}

void modem_session::abort_tx()
{
    d_key_up = false;
    d_fifo.clear();
    d_last = false;
    d_state = tx_state::flushed;
}

} // namespace gr::hf::modem_interface

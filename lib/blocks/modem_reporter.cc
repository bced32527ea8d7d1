/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "blocks/modem_reporter.h"

#include "blocks/modem_messages.h"

namespace gr::hf {

namespace {

const pmt::pmt_t& port()
{
    static const auto p = pmt::mp("modem");
    return p;
}

const pmt::pmt_t& status()
{
    static const auto p = pmt::mp("status");
    return p;
}

} // namespace

void modem_reporter::tell(const pmt::pmt_t& msg)
{
    d_block.message_port_pub(port(), msg);
    d_block.message_port_pub(status(), msg);
}

// The user of the modem has just requested it and needs no report.
void modem_reporter::tx_start(station_time now, const mode& m)
{
    d_block.message_port_pub(status(), modem_messages::tx_start(now, m));
    std::lock_guard<std::mutex> lock(d_mutex);
    d_state.tx_mode = m.to_string();
    d_state.transmitting = true;
    d_state.receiving = d_state.carrier = false;
    ++d_state.transmissions;
}

void modem_reporter::tx_end(station_time now)
{
    tell(modem_messages::tx_end(now));
    std::lock_guard<std::mutex> lock(d_mutex);
    d_state.transmitting = false;
}

void modem_reporter::rx_start(station_time now, const hf::rx_start& e)
{
    tell(modem_messages::start(now, e));
    std::lock_guard<std::mutex> lock(d_mutex);
    d_state.receiving = true;
    d_state.carrier = false;
    d_state.rx_mode = e.m.to_string();
    d_state.snr_db = e.snr_db;
    d_state.freq_offset_hz = e.freq_offset_hz;
    ++d_state.receptions;
}

void modem_reporter::rx_octets(station_time now, const hf::rx_octets& e)
{
    d_block.message_port_pub(port(), modem_messages::octets(now, e));
    // Displays have no use for soft bits.
    hf::rx_octets shown = e;
    shown.ratios.clear();
    d_block.message_port_pub(status(), modem_messages::octets(now, shown));
    std::lock_guard<std::mutex> lock(d_mutex);
    d_state.snr_db = e.snr_db;
    d_state.octets_received += e.octets.size();
}

void modem_reporter::channel(station_time now, const kernel::channel_report& c)
{
    if (!c.profile.empty())
        d_block.message_port_pub(status(), modem_messages::channel(now, c));
}

void modem_reporter::block(station_time now,
                           const hf::rx_octets& e,
                           const kernel::channel_report& c,
                           const kernel::block_details* d)
{
    static const auto blocks = pmt::mp("blocks");
    if (d)
        d_block.message_port_pub(blocks,
                                 modem_messages::block(now, state().rx_mode, e, c, *d));
}

void modem_reporter::rx_end(station_time now, const hf::rx_end& e)
{
    tell(modem_messages::end(now, e));
    std::lock_guard<std::mutex> lock(d_mutex);
    d_state.receiving = false;
}

void modem_reporter::carrier(station_time now, bool present)
{
    tell(modem_messages::carrier(now, present));
    std::lock_guard<std::mutex> lock(d_mutex);
    d_state.carrier = present;
}

void modem_reporter::tx_damaged(station_time now,
                                uint64_t transmission,
                                const std::string& reason)
{
    tell(modem_messages::tx_damaged(now, transmission, reason));
    std::lock_guard<std::mutex> lock(d_mutex);
    ++d_state.damaged;
}

void modem_reporter::sent(size_t octets)
{
    std::lock_guard<std::mutex> lock(d_mutex);
    d_state.octets_sent += octets;
}

void modem_reporter::late_answer()
{
    std::lock_guard<std::mutex> lock(d_mutex);
    ++d_state.late_answers;
}

void modem_reporter::at(station_time now)
{
    std::lock_guard<std::mutex> lock(d_mutex);
    d_state.now = to_seconds(now);
}

modem_state modem_reporter::state() const
{
    std::lock_guard<std::mutex> lock(d_mutex);
    return d_state;
}

} // namespace gr::hf

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem_interface/interleaver_set.h"
#include "modem_interface/modem_session.h"

namespace gr::hf::modem_interface {

/*! \brief UDP form of the modem (A.5.2), synchronous.
 *
 * Our choices where the text leaves one: The session number is the terminal's, so nothing
 * is sent before its first packet. A transmission begins when
 * modem_settings::prebuffer_blocks blocks are queued. A set is skipped when two later
 * ones have arrived.
 */
class udp_modem : public modem_session
{
public:
    explicit udp_modem(const modem_settings& settings);

    void open(station_time now) override;
    void close(station_time now) override;
    void receive(station_time now, const uint8_t* p, size_t n) override;
    std::optional<station_time> next_deadline() const override;
    void on_deadline(station_time now) override;

    //! Malformed datagrams.
    uint64_t invalid() const { return d_invalid; }

private:
    void tx_changed() override;
    void underrun() override;
    void rx_carrier() override;
    void rx_data(const octets& data) override;
    void rx_last() override;

    void new_session(uint32_t session);
    void on_data(const encoded_data& d);
    void take_decoded();
    void send(udp_payload p);
    void send_status();
    void send_sets();
    void note_jitter(uint32_t timestamp);

    station_time d_now{}; // time of the host
    bool d_open = false;
    std::optional<uint32_t> d_session;
    bool d_silent = false; // 30 s without a ping reply: nothing is accepted
    station_time d_status_at{}, d_ping_at{}, d_reply_at{};
    uint16_t d_status_sequence = 0;
    uint8_t d_errors = 0;
    std::optional<uint16_t> d_transfer; // current or last transmission
    std::optional<set_decoder> d_decoder;
    bool d_holdoff = false;
    std::optional<set_encoder> d_encoder; // encoder of the current reception
    uint16_t d_rx_transfer = 0;
    std::deque<double>
        d_delays; // ms, of the last 100 packets, including the clocks' difference
    uint64_t d_invalid = 0;
};

//! Microseconds within the hour: the timestamp of encoded data.
uint32_t timestamp_of(station_time now);

} // namespace gr::hf::modem_interface

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem_interface/dte_session.h"
#include "modem_interface/interleaver_set.h"

namespace gr::hf::modem_interface {

/*! \brief UDP form of the data terminal (A.5.2).
 *
 * Call open() when the control connection exists. An incomplete set of a reception is
 * replaced by zeros, so that the data link keeps its position in the octets.
 */
class udp_dte : public dte_session
{
public:
    explicit udp_dte(const dte_settings& settings);

    void open(station_time now) override;
    void close(station_time now) override;
    void receive(station_time now, const uint8_t* p, size_t n) override;
    std::optional<station_time> next_deadline() const override;
    void on_deadline(station_time now) override;

    //! Make the modem abort its reception. Repeated until it is acknowledged.
    void abort_reception();
    const status_reply& status() const { return d_status; }
    uint64_t invalid() const { return d_invalid; }

private:
    void tx_begin() override;
    bool tx_room(size_t n) const override;
    void tx_data(const octets& data, bool first, bool last) override;
    void tx_prefilled() override {}
    size_t tx_overhead() const override;
    bool starts_by_itself() const override { return true; }

    void on_status(const status_reply& s);
    void on_data(const encoded_data& d);
    void take_decoded();
    void send(udp_payload p);

    station_time d_now{}; // time of the host
    bool d_open = false;
    uint32_t d_random;
    uint32_t d_session = 0;
    status_reply d_status;
    station_time d_opened_at{}, d_asked_at{}, d_ping_at{}, d_reply_at{};
    std::optional<set_encoder> d_encoder;
    uint16_t d_transfer = 0;
    std::optional<set_decoder> d_decoder;
    std::optional<uint16_t> d_rx_transfer;
    std::optional<station_time> d_gap_at; // start of the wait for a missing set
    struct command {
        command_request request;
        station_time again{}, wait{};
    };
    std::optional<command> d_command;
    uint16_t d_command_sequence = 0;
    uint64_t d_invalid = 0;
};

} // namespace gr::hf::modem_interface

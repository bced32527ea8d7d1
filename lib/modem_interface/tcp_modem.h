/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem_interface/modem_session.h"
#include "modem_interface/tcp_link.h"

namespace gr::hf::modem_interface {

/*! \brief TCP form of the modem (A.5.1.2), synchronous.
 *
 * Our choices where the text leaves one: Packets are taken from the stream only while the
 * queue has room for the longest one (step 10 of A.5.1.2.5). The pause does not count as
 * silence of the terminal. A LAST packet of a reception carries no octets. Critical
 * octets are those of the next interleaver block.
 *
 * Nothing is transmitted before START, not even a single FIRST AND LAST packet, because
 * the terminal chooses the moment (step 7 of A.5.1.2.5). While a complete transmission
 * waits for START, the state is ARMED. A packet of another transmission is then refused
 * as a second FIRST, or as one without FIRST. After 30 s without START and any status the
 * transmission is refused (NAK of its last packet), and the state is FLUSHED.
 */
class tcp_modem : public modem_session
{
public:
    explicit tcp_modem(const modem_settings& settings);

    void open(station_time now) override;
    void close(station_time now) override;
    void receive(station_time now, const uint8_t* p, size_t n) override;
    bool reading() const override { return !d_held; }
    std::optional<station_time> next_deadline() const override;
    void on_deadline(station_time now) override;

private:
    void tx_changed() override;
    void underrun() override;
    void rx_carrier() override;
    void rx_data(const octets& data) override;
    void rx_last() override;

    void process();
    void greet();
    void on_payload(const tcp_payload& p);
    void on_transfer(const data_transfer& p);
    void on_start();
    void send_transfer(packet_order order, octets data);
    void send(const tcp_payload& p);
    void send_status();
    transmitter_state wire_state() const;
    bool moving() const;      //!< started and not yet flushed
    bool lacks_start() const; //!< complete, and START may arrive

    tcp_link d_link;
    station_time d_now{};                // time of the host
    std::optional<data_transfer> d_held; // waits for room in the queue
    bool d_first = false;                // a FIRST packet of this transmission has
                                         // arrived
    bool d_rx_first = true;              // the next packet of a reception is its first
    packet_id d_last_id{};
    uint64_t d_next_id = 1;
    station_time d_status_at{};
    transmitter_state d_reported = transmitter_state::flushed;
};

} // namespace gr::hf::modem_interface

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem_interface/dte_session.h"
#include "modem_interface/tcp_link.h"

namespace gr::hf::modem_interface {

//! TCP form of the data terminal (A.5.1.2).
class tcp_dte : public dte_session
{
public:
    explicit tcp_dte(const dte_settings& settings);

    void open(station_time now) override;
    void close(station_time now) override;
    void receive(station_time now, const uint8_t* p, size_t n) override;
    std::optional<station_time> next_deadline() const override;
    void on_deadline(station_time now) override;

    //! Make the modem abort its reception (step 6 of A.5.1.2.6).
    void abort_reception();
    const initial_setup& setup() const { return d_setup; }

private:
    void tx_begin() override;
    bool tx_room(size_t n) const override;
    void tx_data(const octets& data, bool first, bool last) override;
    void tx_prefilled() override;
    bool starts_by_itself() const override { return false; }
    void on_station_tick() override;

    void on_payload(const tcp_payload& p);
    void on_status(const tx_status& s);
    void on_nak(const tx_data_nak& n);
    void try_start();
    void send(const tcp_payload& p);

    tcp_link d_link;
    station_time d_now{}; // time of the host
    initial_setup d_setup;
    tx_status d_status;
    bool d_arm_wanted = false; // the modem has not been armed since tx_begin()
    bool d_armed = false;
    std::optional<station_time> d_start_at; // station time at which START was sent
    size_t d_since_status = 0;              // octets sent since the last status
    uint64_t d_next_id = 1;
};

} // namespace gr::hf::modem_interface

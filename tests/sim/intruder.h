/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "explore/attacker.h"
#include "s5066/pdu/deframer.h"

#include <hf/modem_user.h>

#include <optional>

namespace gr::hf::sim {

/*! \brief User of a third modem that listens to two stations. After each transmission of
 *         one it answers in the name of the other, with the numbers that are next. It
 *         lets the first two pass, so that there is a link to attack.
 */
class intruder : public modem_user
{
public:
    //! What it does.
    struct plan {
        explore::forgery forgery{};
        uint8_t sap = 0;      //!< of the clients attacked
        station_time until{}; //!< time of the last lie
    };
    intruder(s5066::address a, s5066::address b, const plan& p);

    unsigned lies() const { return d_lies; } //!< transmissions so far

    void on_tick(station_time) override {}
    std::optional<mode> want_tx(station_time now) override;
    tx_octets pull(station_time now, station_time air_time, size_t max_octets) override;
    void on_tx_end(station_time) override { d_octets.clear(); }
    void on_rx_start(station_time now, const rx_start& e) override;
    void on_rx_octets(station_time now, const rx_octets& e) override;
    void on_rx_end(station_time now, const rx_end& e) override;

private:
    void note(const s5066::d_pdu& d);
    std::vector<uint8_t> answer(size_t victim);

    const s5066::address d_ends[2];
    const plan d_plan;
    uint16_t d_next_fsn[2] = { 0, 0 }; // of the stations
    s5066::d_pdu_deframer d_deframer;
    std::optional<size_t> d_sender; // of the reception
    mode d_mode;
    std::vector<uint8_t> d_octets; // to send
    size_t d_sent = 0;
    unsigned d_receptions = 0, d_lies = 0;
};

} // namespace gr::hf::sim

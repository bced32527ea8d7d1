/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/pdu/d_pdu.h"
#include "sim/air/emulated_modem.h"

#include <string>
#include <vector>

namespace gr::hf::explore {

//! Forgeries: D_PDUs that a station can send in the name of another one.
enum class forgery : unsigned {
    end_of_transmission, //!< an ACK-ONLY whose EOT announces 127.5 s more
    acknowledgement,     //!< acknowledges everything sent so far
    reset,               //!< a full reset of the ARQ numbers
    link_break,
    link_rejected,
    no_link,     //!< WARNING: the sender has no link
    rate_change, //!< MANAGEMENT: data rate change to 75 bit/s
    data,        //!< a U_PDU in the place of the next one
};
constexpr unsigned forgeries = 8;
//! Number of the U_PDU in forgery::data, which no client sends.
constexpr uint32_t forged_u_pdu = 1000;
const char* to_string(forgery f);

/*! \brief One transmission of a forgery, as octets. D_PDUs with numbers come twice, for
 *         either kind of window.
 *  \param from the station that it pretends to be
 *  \param to the station that shall believe it
 *  \param next number to acknowledge, or of the forged data
 *  \param dst_sap SAP of the client that gets forged data
 */
std::vector<uint8_t> forged_octets(forgery f,
                                   s5066::address from,
                                   s5066::address to,
                                   uint16_t next,
                                   uint8_t dst_sap);

/*! \brief A modem user that sends forged D_PDUs, all with good CRCs. It hears nothing and
 *         waits for nobody.
 */
class attacker : public modem_user
{
public:
    attacker(sim::scheduler& time, sim::emulated_air& air);

    /*! \brief Sends one transmission of forged D_PDUs now.
     *  \param f what to send
     *  \param from the station that it pretends to be
     *  \param to the station that shall believe it
     *  \param next number after the last one that \p to has sent
     *  \param m the mode of the last transmission
     */
    void
    send(forgery f, s5066::address from, s5066::address to, uint16_t next, const mode& m);

    void on_tick(station_time) override {}
    std::optional<mode> want_tx(station_time now) override;
    tx_octets pull(station_time now, station_time air_time, size_t max_octets) override;
    void on_tx_end(station_time) override { d_octets.clear(); }
    void on_rx_start(station_time, const rx_start&) override {}
    void on_rx_octets(station_time, const rx_octets&) override {}
    void on_rx_end(station_time, const rx_end&) override {}

private:
    std::vector<uint8_t> d_octets;
    size_t d_sent = 0;
    mode d_mode;
    sim::emulated_modem d_modem;
};

} // namespace gr::hf::explore

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/dts/peer/node_context.h"
#include "s5066/dts/tx/d_pdu_maker.h"

#include <cstdint>

namespace gr::hf::s5066 {

//! Our extensions as announced by EOW 15 (S5066-EP7): bits of extension_bit.
uint8_t extensions_of_ours();

/*! \brief MANAGEMENT D_PDUs, engineering orderwire messages and data rate change with all
 *         peers (C.5, C.6.4).
 */
class orderwire
{
public:
    orderwire(node_context& node, const d_pdu_maker& maker) : d_node(node), d_maker(maker)
    {
    }

    //! Handles the orderwire message in any D_PDU.
    void on_eow(station_time now, peer& p, const d_pdu& d);
    //! Handles a MANAGEMENT D_PDU received in mode \p received_in.
    void on_management(station_time now,
                       peer& p,
                       const d_pdu& d,
                       const gr::hf::mode& received_in);
    //! Asks the peer to receive in mode \p wanted, or in the one that it advises, if that
    //! pays.
    void ask_for_rate(station_time now, peer& p, const gr::hf::mode& wanted);
    //! Makes the MANAGEMENT D_PDU that is due.
    d_pdu make(station_time now, peer& p);
    /*! \brief The peer has not continued the exchange: what it must hear is sent again.
     *  \return false after the last try: call give_up()
     */
    bool repeat(peer& p) const;
    //! True if the peer does not continue a rate change.
    bool late(station_time now, const peer& p) const;
    //! The exchange has failed, and the link with it.
    void give_up(station_time now, peer& p) const;

private:
    uint8_t capabilities() const;
    void on_message(station_time now, peer& p, const management_message& message);
    void send_empty_data(peer& p);

    node_context& d_node;
    const d_pdu_maker& d_maker;
};

} // namespace gr::hf::s5066

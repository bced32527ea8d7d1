/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/cas/soft_links.h"
#include "s5066/dts/rx/data_receiver.h"
#include "s5066/dts/rx/incoming_transmission.h"
#include "s5066/dts/tx/orderwire.h"
#include "s5066/dts/tx/resets.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gr::hf::s5066 {

/*! \brief Passes each D_PDU to the sublayer responsible for it, if the state of the link
 *         and of the connection allows (C.6.1). Warns of D_PDUs that are not allowed
 *         (C.3.12).
 */
class d_pdu_dispatcher
{
public:
    //! \param rx the present reception
    d_pdu_dispatcher(node_context& node,
                     const incoming_transmission& rx,
                     const d_pdu_maker& maker,
                     soft_links& links,
                     data_receiver& data,
                     resets& r,
                     orderwire& o)
        : d_node(node), d_rx(rx), d_maker(maker), d_links(links), d_data(data),
          d_resets(r), d_orderwire(o)
    {
    }

    //! A reception starts.
    void begin_reception();
    //! Handles a D_PDU of \p p for this node or one of its groups.
    void on_d_pdu(station_time now, peer& p, const d_pdu& d);
    //! The reception has ended: warns of D_PDUs that needed a link and got none.
    void end_reception(station_time now);

private:
    void on_connected(station_time now, peer& p, const d_pdu& d);
    void on_non_arq(station_time now, peer& p, const d_pdu& d);
    void on_warning(station_time now, peer& p, const d_pdu& d);
    void hold_early(const d_pdu& d);
    void take_early(station_time now, peer& p);
    void warn(station_time now, peer& p, const d_pdu& d, uint8_t reason);

    node_context& d_node;
    const incoming_transmission& d_rx;
    const d_pdu_maker& d_maker;
    soft_links& d_links;
    data_receiver& d_data;
    resets& d_resets;
    orderwire& d_orderwire;
    // D_PDUs of this reception that need a link, from nodes without one. The link request
    // or its answer may follow them, if its first copy was lost.
    std::vector<d_pdu> d_early;
    size_t d_early_octets = 0;
};

} // namespace gr::hf::s5066

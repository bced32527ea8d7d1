/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/dts/peer/node_context.h"
#include "s5066/dts/tx/transmission.h"
#include "s5066/pdu/d_pdu.h"

#include <cstdint>
#include <vector>

namespace gr::hf::s5066 {

//! Makes D_PDUs with the parts that all have: addresses and an engineering orderwire
//! message.
class d_pdu_maker
{
public:
    //! \param tx the present transmission
    d_pdu_maker(const node_context& node, const transmission& tx) : d_node(node), d_tx(tx)
    {
    }

    //! A D_PDU without numbers of the connection.
    d_pdu make(const peer& p, d_pdu_type type) const;
    //! A D_PDU of types 0 to 3, or its equivalent with 16-bit numbers.
    d_pdu make_arq(const peer& p, d_pdu_type type) const;
    /*! \brief ACKs at the end of a link. The peer may not know that its last data
     *         arrived, and would send them again on the next link.
     */
    std::vector<d_pdu> last_acks(const peer& p) const;
    //! Queues last_acks() for the next transmission.
    void push_last_acks(peer& p) const;
    //! The first D_PDU of the present transmission announces our extensions.
    void tell_extensions(bool on) { d_tell = on; }

private:
    uint16_t eow_for(const peer& p) const;

    const node_context& d_node;
    const transmission& d_tx;
    bool d_tell = false;
};

} // namespace gr::hf::s5066

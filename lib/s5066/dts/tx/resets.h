/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/dts/peer/node_context.h"
#include "s5066/dts/tx/d_pdu_maker.h"

namespace gr::hf::s5066 {

//! Lost synchronisation, resets and resynchronisation of windows (C.6.3) with all peers.
class resets
{
public:
    resets(node_context& node, const d_pdu_maker& maker) : d_node(node), d_maker(maker) {}

    /*! \brief A D_PDU of \p p failed a synchronisation test.
     *  \param own_window the window of what we send, not of what we receive
     */
    void out_of_sync(station_time now, peer& p, bool own_window);
    //! Cuts unacknowledged data again; the receiver moves its window to our lower edge.
    void rewind(peer& p);
    //! Handles a RESET D_PDU.
    void on_reset(station_time now, peer& p, const reset_header& h);

private:
    void begin(peer& p, const reset_header& h);
    void answer(peer& p, const reset_header& h) const;

    node_context& d_node;
    const d_pdu_maker& d_maker;
};

} // namespace gr::hf::s5066

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/access/channel_access.h"
#include "s5066/dts/tx/d_pdu_maker.h"
#include "s5066/dts/tx/transmission_length.h"
#include "s5066/dts/tx/transmission_plan.h"

namespace gr::hf::s5066 {

/*! \brief Builds the D_PDUs of the present transmission one by one, when the modem needs
 *         them: first what was planned, by importance, then copies of what must not get
 *         lost.
 */
class transmission_builder
{
public:
    //! \param tx the present transmission \param plan its plan
    transmission_builder(node_context& node,
                         const channel_access& access,
                         transmission& tx,
                         transmission_plan& plan,
                         const transmission_length& length,
                         const d_pdu_maker& maker)
        : d_node(node), d_access(access), d_tx(tx), d_plan(plan), d_length(length),
          d_maker(maker)
    {
    }

    //! Adds one D_PDU. \return false if there is none, or no room for one
    bool build_next(station_time now);

private:
    bool build_first(station_time now);
    bool build_fill();
    //! \param fate of the D_PDU, for log and counters
    bool emit(station_time now, d_pdu d, d_pdu_fate fate = d_pdu_fate::sent);
    bool emit_opening(station_time now);
    bool emit_expedited(station_time now, bool fill);
    bool emit_segment(station_time now, d_pdu d, bool repeat, bool fill);
    bool emit_expedited_ack(station_time now);
    bool emit_non_arq(station_time now);
    bool emit_data(station_time now, const arq_sender::out& o, bool fill);
    bool emit_question(station_time now);

    node_context& d_node;
    const channel_access& d_access;
    transmission& d_tx;
    transmission_plan& d_plan;
    const transmission_length& d_length;
    const d_pdu_maker& d_maker;
};

} // namespace gr::hf::s5066

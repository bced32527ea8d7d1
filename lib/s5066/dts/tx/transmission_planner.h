/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/dts/tx/d_pdu_maker.h"
#include "s5066/dts/tx/orderwire.h"
#include "s5066/dts/tx/resets.h"
#include "s5066/dts/tx/transmission_length.h"
#include "s5066/dts/tx/transmission_plan.h"

#include <optional>
#include <vector>

namespace gr::hf::s5066 {

//! Decides the contents of the present transmission, as far as its length depends on
//! them.
class transmission_planner
{
public:
    //! \param tx the present transmission \param plan its plan
    transmission_planner(node_context& node,
                         transmission& tx,
                         transmission_plan& plan,
                         transmission_length& length,
                         d_pdu_maker& maker,
                         resets& r,
                         orderwire& o)
        : d_node(node), d_tx(tx), d_plan(plan), d_length(length), d_maker(maker),
          d_resets(r), d_orderwire(o)
    {
    }

    //! It starts: prepares segments, windows and repeats.
    void begin(station_time now);
    /*! \brief Plans it when its first octets are needed.
     *  \param link_control goes first, so that the peer processes it before the rest
     *  \param opening the part of it without which the rest is lost
     */
    void plan(const std::vector<d_pdu>& link_control,
              const std::optional<d_pdu>& opening);

private:
    void bound_window(peer& p) const;
    void fit_segments(station_time now, peer& p);
    bool recut_needed(const peer& p) const;
    bool repeats_in_vain(const peer& p) const;
    size_t plan_control(peer& p, const std::vector<d_pdu>& link_control);
    size_t plan_expedited(const peer& p, size_t need, size_t cap);
    size_t plan_acks(const peer& p, bool with_data);
    size_t plan_ack_only(const peer& p);
    size_t plan_data(const peer& p, size_t need, size_t longest, bool probe) const;
    size_t plan_opening(size_t need);
    size_t ack_octets(const peer& p, const ack_header& a) const;
    unsigned ack_copies(const peer& p, size_t octets) const;

    node_context& d_node;
    transmission& d_tx;
    transmission_plan& d_plan;
    transmission_length& d_length;
    d_pdu_maker& d_maker;
    resets& d_resets;
    orderwire& d_orderwire;
};

} // namespace gr::hf::s5066

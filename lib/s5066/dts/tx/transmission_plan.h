/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/pdu/d_pdu.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace gr::hf::s5066 {

//! Blocks of a transmission that asks for the answer that did not come, if there are data.
constexpr unsigned probe_blocks = 4;

/*! \brief Data behind a link request or its acceptance are lost with it, so to a peer that loses some
 *         it is repeated: once at the begin, then whenever so many times its octets were sent.
 */
constexpr size_t opening_spacing = 200;

//! What the present transmission contains, and how much of that is built.
struct transmission_plan {
    // Known when it begins
    double longest_s = 0;   //!< as the rate policy and the turn allow
    bool contended = false; //!< others may have begun at the same time
    bool no_data = false;   //!< others wait for the channel, or it only asks
    bool ask = false;       //!< for an ACK, without data

    // Planned with the first octets
    std::vector<d_pdu> control; //!< without data, also for copies
    size_t next_control = 0;
    std::optional<d_pdu> opening;    //!< of them, without which nothing behind it counts
    size_t opening_again = SIZE_MAX; //!< copy of it when so many octets are produced
    std::vector<ack_header> acks;    //!< ACK-ONLY D_PDUs
    size_t next_ack = 0;
    unsigned expedited_acks = 0; //!< EXPEDITED ACK ONLY D_PDUs that are due
    unsigned data_acks = 0;      //!< data D_PDUs that still carry an ACK
    bool with_new = true;        //!< data that were never sent
    size_t next_fill = 0;        //!< copies in room that would be empty
};

} // namespace gr::hf::s5066

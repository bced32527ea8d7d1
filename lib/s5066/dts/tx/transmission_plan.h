/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/pdu/d_pdu.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace gr::hf::s5066 {

//! Blocks of a transmission with data that asks for a missing answer.
constexpr unsigned probe_blocks = 4;

/*! \brief Spacing of copies of link control, in multiples of its octets. Data after a
 *         link request or its acceptance are lost with it. So to a peer with losses it is
 *         repeated at the start and then at this spacing.
 */
constexpr size_t opening_spacing = 200;

//! Contents of the present transmission, and how much of it is built.
struct transmission_plan {
    // Known when it starts
    double longest_s = 0;   //!< limit of the rate policy and the turn
    bool contended = false; //!< others may have started at the same time
    bool no_data = false;   //!< others wait for the channel, or it only asks for an ACK
    bool ask = false;       //!< asks for an ACK, without data

    // Planned with the first octets
    std::vector<d_pdu> control; //!< D_PDUs without data, also for copies
    size_t next_control = 0;
    //! One of control; without it the data after it are lost.
    std::optional<d_pdu> opening;
    size_t opening_again = SIZE_MAX; //!< produced octets at which its next copy is due
    std::vector<ack_header> acks;    //!< ACK-ONLY D_PDUs
    size_t next_ack = 0;
    unsigned expedited_acks = 0; //!< EXPEDITED ACK ONLY D_PDUs still to send
    unsigned data_acks = 0;      //!< data D_PDUs still to carry an ACK
    bool with_new = true;        //!< include data never sent before
    size_t next_fill = 0;        //!< index of copies in otherwise empty room
};

} // namespace gr::hf::s5066

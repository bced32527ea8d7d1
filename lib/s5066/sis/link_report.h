/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/sis/sis.h"
#include <hf/time.h>

#include <optional>

/*! \file
 *  What our node tells its clients about other nodes, in S_MANAGEMENT_MSG_INDICATIONs. The standard
 *  leaves their content open, and every client takes them without harm.
 */
namespace gr::hf::s5066 {

/*! \brief Another node did not answer a transmission, or is heard again.
 *  \details Sent to clients that have bound for ARQ with confirmation by the node: they learn that a
 *  node is silent long before its link is given up.
 */
struct link_report {
    address node;
    unsigned unanswered = 0; //!< transmissions in a row; 0: it is heard again
    //! Since anything of it was heard, in whole seconds, at most 65534; empty: never.
    std::optional<sim_time> silent_for;
};

//! As a primitive.
s_management_msg_indication encode(const link_report& r);
//! Empty if it is another message.
std::optional<link_report> decode_link_report(const s_management_msg_indication& m);

} // namespace gr::hf::s5066

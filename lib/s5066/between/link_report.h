/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/pdu/s_primitive.h"
#include <hf/time.h>

#include <optional>

/*! \file
 *  What our node and its clients tell each other beyond the standard, in management messages. Their
 *  content is left open, and every client takes indications without harm. Only clients get them that
 *  ask for them when they bind, and a client sends requests only to a node that has greeted it.
 */
namespace gr::hf::s5066 {

/*! \brief Retransmissions in the service type of a bind for ARQ: the client wants these messages.
 *  \details The field has a meaning without ARQ alone (A.2.1.1), so other nodes do not look at it.
 */
constexpr uint8_t messages_wanted = 15;
inline bool wants_messages(const delivery_mode& service)
{
    return service.mode == transmission_mode::arq &&
           service.retransmissions == messages_wanted;
}

/*! \brief Another node did not answer a transmission, or is heard again.
 *  \details So a client learns that a node is silent long before its link is given up.
 */
struct link_report {
    address node;
    unsigned unanswered = 0; //!< transmissions in a row; 0: it is heard again
    //! Since anything of it was heard, in whole seconds, at most 65534; empty: never.
    std::optional<station_time> silent_for;
};

/*! \brief U_PDUs that a client does not want to be sent any more.
 *  \details Those of which nothing was sent are rejected as if their TTL were over.
 */
struct withdrawal {
    address dst;
    uint8_t dst_sap = 0;
    std::vector<std::vector<uint8_t>> heads; //!< their first octets, 255 at most
};

//! Sent to a client that has bound: the node takes withdrawals.
s_management_msg_indication greeting();
bool is_greeting(const s_management_msg_indication& m);

//! As a primitive.
s_management_msg_request encode(const withdrawal& w);
//! Empty if it is another message.
std::optional<withdrawal> decode_withdrawal(const s_management_msg_request& m);

//! As a primitive.
s_management_msg_indication encode(const link_report& r);
//! Empty if it is another message.
std::optional<link_report> decode_link_report(const s_management_msg_indication& m);

} // namespace gr::hf::s5066

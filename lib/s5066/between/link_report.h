/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/pdu/s_primitive.h"
#include <hf/station_time.h>

#include <optional>

/*! \file
 *  Messages between our node and its clients beyond the standard, as management messages.
 *  The standard leaves their content open, and every client accepts indications. The node
 *  sends them only to clients that ask for them when they bind. A client sends requests
 *  only after the node's greeting.
 */
namespace gr::hf::s5066 {

/*! \brief Value of the retransmissions field in an ARQ bind by which a client asks for
 *         these messages.
 *  \details The field has a meaning only without ARQ (A.2.1.1), so other nodes ignore it
 *         here.
 */
constexpr uint8_t messages_wanted = 15;
inline bool wants_messages(const delivery_mode& service)
{
    return service.mode == transmission_mode::arq &&
           service.retransmissions == messages_wanted;
}

/*! \brief Report that another node did not answer a transmission, or is heard again.
 *  \details A client learns of a silent node long before the link is given up.
 */
struct link_report {
    address node;
    unsigned unanswered = 0; //!< transmissions in a row; 0: heard again
    //! Time since the node was last heard, in whole seconds, at most 65534; empty: never
    //! heard.
    std::optional<station_time> silent_for;
};

/*! \brief U_PDUs that a client wants removed from the queue.
 *  \details Those not yet sent in part are rejected as if their TTL had expired.
 */
struct withdrawal {
    address dst;
    uint8_t dst_sap = 0;
    std::vector<std::vector<uint8_t>> heads; //!< first octets of each, at most 255
};

//! Tells a client after its bind that the node accepts withdrawals.
s_management_msg_indication greeting();
bool is_greeting(const s_management_msg_indication& m);

//! Encodes as a primitive.
s_management_msg_request encode(const withdrawal& w);
//! Empty if the message is of another kind.
std::optional<withdrawal> decode_withdrawal(const s_management_msg_request& m);

//! Encodes as a primitive.
s_management_msg_indication encode(const link_report& r);
//! Empty if the message is of another kind.
std::optional<link_report> decode_link_report(const s_management_msg_indication& m);

} // namespace gr::hf::s5066

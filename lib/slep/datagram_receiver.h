/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "slep/control_pdus.h"

namespace gr::hf::slep {

//! Datagrams from peers: reassembles them and delivers them to the user.
class datagram_receiver
{
public:
    datagram_receiver(endpoint_context& c, control_pdus& control)
        : d_ctx(c), d_control(control)
    {
    }
    // One call for each kind of PDU. \p priority is that of the answer.
    void on_pdu(peer_state& p, unreliable_datagram d, uint8_t priority);
    void on_pdu(peer_state& p, reliable_datagram d, uint8_t priority);
    void on_pdu(peer_state& p, const datagram_answer& d, uint8_t priority);
    //! The user has taken a datagram of this many octets.
    void taken(size_t octets) { d_unread -= octets; }

    //! Time at which the oldest incomplete datagram of the peer is too old.
    std::optional<station_time> next_deadline(const peer_state& p) const;
    void on_deadline(peer_state& p);

private:
    endpoint_context& d_ctx;
    control_pdus& d_control;
    size_t d_unread = 0; // octets in events for the user
};

} // namespace gr::hf::slep

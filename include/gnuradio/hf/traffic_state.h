/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <cstdint>

namespace gr::hf {

//! Counters of a traffic client.
struct traffic_state {
    bool bound = false;            //!< the client is bound to its SAP
    uint64_t octets_submitted = 0; //!< submitted to the data link
    uint64_t octets_confirmed = 0; //!< confirmed by the far node
    uint64_t octets_rejected = 0;  //!< rejected by our own node
    uint64_t octets_received = 0;  //!< received from the far client
    uint64_t octets_damaged = 0; //!< received, but not what the far traffic client sends
    double first_submitted = 0;  //!< station time, s
    double last_confirmed = 0;   //!< station time, s
    double first_received = 0;   //!< station time, s
    double last_received = 0;    //!< station time, s
};

} // namespace gr::hf

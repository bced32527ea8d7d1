/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "ip/packet_queue.h"
#include "sim/air/emulated_air.h"

#include <string>
#include <vector>

namespace gr::hf::sim {

//! TCP transfers and pings through two IP clients, all at the same time.
struct ip_load {
    std::string mode = "4539-9600S";
    ip::queue_config queue;     //!< settings of both IP clients' queues
    std::vector<size_t> octets; //!< size of each transfer, all from A to B
    double apart_s = 20;        //!< seconds between their starts
    double ping_every_s = 0;    //!< 0: none
    double limit_s = 7200;
    air_path on_path;
    uint64_t seed = 1;
};

struct ip_load_result {
    std::vector<double>
        transfer_s;             //!< from SYN until everything is acknowledged; -1: failed
    std::vector<double> ping_s; //!< round trips of answered pings
    uint64_t pings_lost = 0;
    uint64_t segments = 0; //!< TCP data segments, repeats included
    uint64_t repeats = 0;
    uint64_t timeouts = 0;
    double utilisation = 0; //!< TCP payload rate divided by the data rate, until the last
                            //!< transfer ended
    double fairness = 0;    //!< Jain's index of the transfers' rates
};

//! \throws std::invalid_argument as the configurations
ip_load_result measure(const ip_load& l);

} // namespace gr::hf::sim

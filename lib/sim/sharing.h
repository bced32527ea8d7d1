/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/node_config.h"

#include <cstdint>
#include <string>
#include <vector>

namespace gr::hf::sim {

//! Stations that share one channel and all have more to send than it carries.
struct sharing_trial {
    std::string mode = "4539-2400S";
    unsigned stations = 3;      //!< 2 to 32; each sends to the next one
    double duration_s = 3600;   //!< of the load
    size_t u_pdu_octets = 1000; //!< of each U_PDU, 8 to 2048
    /*! \brief Load of each station in bit/s, as U_PDUs at random times; 0: always more than
     *         goes out.
     */
    double load_bps = 0;
    uint64_t seed = 1;
    s5066::node_config base; //!< further settings of all stations
};

//! What came of it.
struct sharing_result {
    std::vector<uint64_t> octets; //!< delivered, by sending station
    double utilisation = 0;       //!< of the data rate, by all together
    double fairness = 0;          //!< Jain's index: 1 is equal, 1/n is one station alone
    uint64_t transmissions = 0;
    uint64_t collisions = 0; //!< pairs of transmissions that overlapped
    uint64_t links_failed = 0;
    uint64_t altered = 0; //!< U_PDUs that were not as sent
};

//! \throws std::invalid_argument for values that are not allowed
sharing_result run(const sharing_trial& t);

} // namespace gr::hf::sim

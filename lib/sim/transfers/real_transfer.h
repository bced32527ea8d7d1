/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/config/node_settings.h"
#include "sim/air/lock_step_pair.h"

#include <hf/traffic_state.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace gr::hf::sim {

//! Octets from one station to another over real waveforms.
struct real_transfer {
    std::string mode = "4539-9600S"; //!< see node_config::mode
    std::string ack_mode = "auto";   //!< see node_config::ack_mode
    uint64_t octets = 100000;
    size_t u_pdu_octets = 2042; //!< octets of each U_PDU, 8 to 2048
    bool arq = true;
    waveform_link link;
    uint64_t seed = 1;              //!< seed of the channel and the stations
    s5066::node_settings data_link; //!< further settings by name
    double limit_s = 86400;         //!< limit of station time
    bool log = false;               //!< keep the log lines of both nodes
    //! Called now and then with the completed share of the octets, 0 to 1.
    std::function<void(double)> progress;
};

//! Result.
struct real_transfer_result {
    bool complete = false; //!< everything confirmed, or delivered without ARQ
    double end_s = 0;      //!< station time
    traffic_state sender, receiver;
    s5066::node_stats node;                          //!< counters of the sender
    s5066::node_stats far;                           //!< and of the receiver
    std::vector<std::pair<double, std::string>> log; //!< station time, line
};

/*! \brief Runs the transfer in one thread, as fast as the receiver works. Same seed, same
 *         result. A flowgraph of the same stations has the same events at the same times.
 *  \throws std::invalid_argument names the first bad value and what is allowed
 */
real_transfer_result run(const real_transfer& t);

} // namespace gr::hf::sim

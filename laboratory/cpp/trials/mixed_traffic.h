/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace gr::hf::sim {

/*! \brief Traffic of all kinds between simulated stations, captured for tshark.
 *
 * Three stations with adaptive rate share a fading channel. Two with rate change by
 * handshake share one with bit errors. Their clients send by ARQ, expedited, without ARQ,
 * to a group and to a SAP without a client. They make and end hard links, bind and
 * unbind. Now and then a station restarts.
 */
struct mixed_traffic {
    double duration_s = 3600; //!< 60 to 1e6
    double interval_s = 15; //!< mean time between actions of one station's clients, 1 to
                            //!< 1e4
    uint64_t seed = 1;
};

//! Counts of the capture.
struct mixed_traffic_result {
    std::array<uint64_t, 16> d_pdus{};     //!< D_PDUs sent, by type
    std::array<uint64_t, 32> primitives{}; //!< both directions, by number
    uint64_t restarts = 0, resets = 0, hard_links = 0;
};

//! Gets the octets of a pcap file, in order.
using pcap_output = std::function<void(const std::vector<uint8_t>&)>;

/*! \brief Runs the traffic. The same seed gives the same captures.
 *  \param d_pdus capture of the D_PDUs that are sent
 *  \param sis capture of the S_primitives
 *  \param progress called with the elapsed share of the time, 0 to 1; may be empty
 *  \throws std::invalid_argument names the first bad value and what is allowed
 */
mixed_traffic_result run(const mixed_traffic& t,
                         const pcap_output& d_pdus,
                         const pcap_output& sis,
                         const std::function<void(double)>& progress = {});

} // namespace gr::hf::sim

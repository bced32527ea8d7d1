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
 * Three stations with adaptive rate share a fading channel, two with rate change by handshake one
 * with bit errors. Their clients send by ARQ, expedited, without ARQ and to a group, make and end
 * hard links, bind and unbind, send to nobody; now and then a station starts anew.
 */
struct mixed_traffic {
    double duration_s = 3600; //!< 60 to 1e6
    double interval_s = 15; //!< mean time between what one station's clients do, 1 to 1e4
    uint64_t seed = 1;
};

//! What was captured.
struct mixed_traffic_result {
    std::array<uint64_t, 16> d_pdus{};     //!< sent, by type
    std::array<uint64_t, 32> primitives{}; //!< both ways, by number
    uint64_t restarts = 0, resets = 0, hard_links = 0;
};

//! Takes octets of a pcap file, in order.
using pcap_output = std::function<void(const std::vector<uint8_t>&)>;

/*! \brief Runs it. The same seed gives the same captures.
 *  \param d_pdus capture of the D_PDUs that are sent
 *  \param sis capture of the S_primitives
 *  \param progress told the share of the time that is over, 0 to 1; may be empty
 *  \throws std::invalid_argument that names the first bad value and what is allowed
 */
mixed_traffic_result run(const mixed_traffic& t,
                         const pcap_output& d_pdus,
                         const pcap_output& sis,
                         const std::function<void(double)>& progress = {});

} // namespace gr::hf::sim

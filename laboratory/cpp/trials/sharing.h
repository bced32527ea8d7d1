/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/config/node_config.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gr::hf::sim {

//! Pattern of senders and receivers.
enum class sharing_pattern {
    one_way, //!< each to the next one, the last to the first
    two_way, //!< in pairs to each other, an odd last one to the first
    mixed,   //!< the first two to each other, the others to the next one
    any,     //!< each U_PDU to one of the others, drawn; only with a load
    to_one   //!< all to the second one, which sends nothing
};

//! Stations on one channel that all have more to send than it carries.
struct sharing_trial {
    std::string mode = "4539-2400S";
    unsigned stations = 3; //!< 2 to max_stations
    sharing_pattern pattern = sharing_pattern::one_way;
    //! The last station starts to send this much later than the others.
    double late_s = 0;
    unsigned without_arq = 0; //!< number of stations, from the first, that send without
                              //!< ARQ
    /*! \brief The first and the last station do not hear each other. What the last one
     *         would send to the first goes to the one before it.
     */
    bool hidden = false;
    double duration_s = 3600;   //!< duration of the load
    size_t u_pdu_octets = 1000; //!< octets of each U_PDU, 8 to 2048
    /*! \brief Load of each station in bit/s, as U_PDUs at random times. 0: always more
     *         than the channel carries.
     */
    double load_bps = 0;
    /*! \brief Load of the last station if it differs, in bit/s. It then speaks seldom
     *         beside the others.
     */
    std::optional<double> last_load_bps;
    uint64_t seed = 1;
    s5066::node_config base; //!< further settings of all stations
};

//! Result.
struct sharing_result {
    std::vector<uint64_t> octets; //!< delivered, by sending station
    /*! \brief Longest time in seconds without a delivery, from the start of a station's
     *         load to the end, by sending station. Only for stations that always have
     *         something to send.
     */
    std::vector<double> wait_s;
    /*! \brief Delays in seconds from submission to delivery of the U_PDUs of the last
     *         station.
     */
    std::vector<double> last_delays_s;
    double utilisation = 0; //!< share of the data rate used by all together
    double fairness = 0;    //!< Jain's index: 1 if equal, 1/n if one station gets
                            //!< everything
    uint64_t transmissions = 0;
    uint64_t collisions = 0;       //!< pairs of transmissions that overlapped
    uint64_t collided = 0;         //!< transmissions that overlapped with another one
    uint64_t u_pdus_submitted = 0; //!< by all stations
    uint64_t u_pdus_rejected = 0;  //!< of them, given up by the data link of the sender
    uint64_t links_failed = 0;
    uint64_t altered = 0; //!< U_PDUs that differ from those sent
};

//! \throws std::invalid_argument for values that are not allowed
sharing_result run(const sharing_trial& t);

} // namespace gr::hf::sim

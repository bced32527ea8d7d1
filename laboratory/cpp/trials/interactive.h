/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/config/node_settings.h"
#include "sim/air/emulated_air.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gr::hf::sim {

/*! \brief A user works during a bulk transfer between two stations with HF-PEP, IP
 *         clients and emulated modems, in virtual time.
 *
 * The user is at the first station. Each activity has its own start time. A time of 0
 * leaves it out. Contents are random octets, so nothing compresses.
 */
struct interactive_load {
    std::string mode = "4539-9600S";
    size_t bulk_octets = 400'000;
    bool upload = false; //!< the bulk is sent by the user; false: to the user
    //! Ports of the bulk (a second bulk uses the next one) and of pages. They decide
    //! which rules match.
    uint16_t bulk_port = 8000, page_port = 80;
    //! Delay of a second bulk of the same size and direction.
    double second_after_s = 0;
    //! Page: one connection each, request of 200 octets, answer of page_octets, close.
    //! The first begins after this time, the next page_every_s after the previous answer.
    double page_after_s = 0;
    double page_every_s = 60;
    size_t page_octets = 5000;
    //! Remote shell at port 22: greetings of both sides, then at this interval a key of
    //! 36 octets. The server answers each with as many.
    double key_every_s = 0;
    //! Keys until the user opens another remote shell instead; 0: never.
    size_t keys_each = 0;
    double ping_every_s = 0; //!< ICMP echo of 84 octets through the IP clients
    double limit_s = 36'000;
    air_path on_path;
    uint64_t seed = 1;
    s5066::node_settings settings; //!< settings of both data links
};

//! Times in seconds.
struct interactive_result {
    bool complete = false;      //!< every bulk arrived unaltered within the limit
    std::vector<double> bulk_s; //!< from the start of each to its last octet
    std::vector<double> page_s; //!< from the connection to the last octet of the answer
    double banner_s = -1; //!< from the connection to the greeting of the shell server
    std::vector<double> banners_s; //!< of all shells, in their order
    std::vector<double> key_s;     //!< from a key to its answer
    std::vector<double> ping_s;
    uint64_t transmissions = 0; //!< by both stations
};

//! \throws std::invalid_argument as the configurations
interactive_result measure(const interactive_load& l);

} // namespace gr::hf::sim

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sim/stations/pep_station.h"

#include <string>
#include <vector>

namespace gr::hf::sim {

//! Names looked up through DNS-PEP, one after the other.
struct dns_series {
    std::string mode = "4539-9600S";
    std::string name = "isode.com"; //!< later ones have a digit in front
    int count = 4;                  //!< the first one finds no link
    double gap_s = 10;
    double limit_s = 150; //!< limit for each answer
    bool ipv6 = true;     //!< A and AAAA are requested, in one question
    air_path on_path;
    uint64_t seed = 1;
};

struct dns_times {
    //! From the queries of the client to both replies. Negative: none arrived.
    std::vector<double> answer_s;
    uint64_t questions = 0; //!< questions sent over HF
};

/*! \brief A client that asks for A and AAAA at once and repeats both every second until
 *         it has both replies.
 *  \throws std::invalid_argument as the configurations
 */
dns_times measure(const dns_series& d);

} // namespace gr::hf::sim

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/config/node_settings.h"
#include "sim/air/lock_step_pair.h"
#include "sim/stations/pep_station.h"

#include <optional>
#include <string>
#include <vector>

/*! \file The exchanges used in published measurements of HF systems, between two stations
 *  in virtual time. They use emulated modems. A TCP transfer can also use real waveforms.
 */
namespace gr::hf::sim {

//! One TCP transfer through HF-PEP: connect, send, short confirmation, close.
struct tcp_transfer {
    std::string mode = "4539-9600S";
    octets content;                         //!< data of the client
    air_path on_path;                       //!< path of both directions, with emulated
                                            //!< modems
    std::optional<waveform_link> waveforms; //!< real waveforms instead of emulated modems
    uint64_t seed = 1;
    bool compress = false; //!< DEFLATE of both directions
    uint16_t port = 8000;  //!< port of the server; it selects the preset dictionary
    //! The stations have been in contact before, and the soft link is broken again. Only
    //! the first exchange ever costs the restart notices of SLEP.
    bool acquainted = true;
    //! Number of earlier transfers of the same content, the soft link broken after each.
    //! They make use of what the stations remember of the channel.
    unsigned earlier = 0;
    s5066::node_settings settings; //!< settings of both data links
    std::string ack_mode = "auto"; //!< used by both data links
};

//! Times in seconds from the SYN of the client.
struct tcp_times {
    bool complete = false;   //!< everything arrived unaltered and both ends closed
    double connect_s = -1;   //!< until accept() at the server
    double total_s = -1;     //!< until the last octet at the server
    double latency_s = -1;   //!< delay of the last octet, from the client's write to the
                             //!< server
    double confirmed_s = -1; //!< until the confirmation at the client
    double close_s = -1;     //!< from close() of the client to both FINs
    uint64_t transmissions = 0;
    uint64_t octets_over_hf = 0; //!< octets of D_PDUs, both directions
    double end_s = 0;            //!< station time at the end
};

//! \throws std::invalid_argument as the configurations
tcp_times measure(const tcp_transfer& t);

//! Echo requests one after the other, each \c gap_s after the previous answer.
struct ping_series {
    std::string mode = "4539-9600S";
    std::string ack_mode = "auto";
    //! true: ICMP echo through the IP client, \c octets with IP header; false: U_PDUs of
    //! that size, echoed by a client of the data link.
    bool icmp = true;
    bool arq = true;      //!< false: requests and answers are sent without ARQ
    size_t octets = 84;   //!< 28 to 1500 with ICMP, 4 to 2048 otherwise
    int count = 6;        //!< the first one finds no link
    double gap_s = 10;    //!< the acknowledgement of the answer is then complete
    double limit_s = 600; //!< limit for each answer
    air_path on_path;
    uint64_t seed = 1;
};

/*! \brief Round-trip times in seconds; negative: no answer within the limit.
 *  \throws std::invalid_argument as the configurations
 */
std::vector<double> measure(const ping_series& p);

} // namespace gr::hf::sim

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/config/node_settings.h"
#include "sim/air/emulated_air.h"
#include "sim/stations/fates.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

/*! \file A whole experiment on the event simulator as data: stations, channel, traffic,
 *  faults, and the result.
 */
namespace gr::hf::sim {

//! Most stations of a scenario or a trial.
constexpr size_t max_stations = 500;

//! One station.
struct scenario_station {
    std::string name;    //!< unique in the scenario
    std::string address; //!< STANAG 5066 node address; empty: 1.n.0.0 for station n
    std::vector<std::string> groups; //!< group addresses that it listens to
    std::string mode = "4539-9600S"; //!< see node_config::mode
    std::string ack_mode = "auto";   //!< see node_config::ack_mode
    s5066::node_settings data_link;  //!< further settings by name
    //! Receiver delay of the modem, 0 to 10. Empty: as modem_config::rx_latency.
    std::optional<double> decode_delay_s;
};

//! Kind of load of a flow.
enum class traffic_kind {
    bulk,        //!< as much as the link carries, or at a steady rate
    interactive, //!< messages at random times, optionally answered
    ping,        //!< echo requests, one after the other
    broadcast    //!< messages without ARQ to a group at regular times
};

//! One flow of U_PDUs from a station to another, or to a group.
struct scenario_traffic {
    traffic_kind kind = traffic_kind::bulk;
    std::string from,
        to; //!< names of stations; broadcast: also a group address, or "all"
    double start_s = 0;
    double stop_s = 0;      //!< last submission; 0: until the end
    uint64_t octets = 0;    //!< bulk: total; 0: without end
    size_t u_pdu = 2042;    //!< octets of each U_PDU, 4 to 2048
    uint64_t count = 0;     //!< other kinds: number of U_PDUs; 0: without end
    double rate_bps = 0;    //!< bulk: steady offered rate; 0: as much as the link carries
    double interval_s = 30; //!< interactive: mean pause; broadcast: exact; ping: after an
                            //!< answer
    size_t answer = 0;      //!< interactive: octets of the answer to each; 0: none
    double limit_s = 600;   //!< ping: longest wait for an answer
    bool arq = true;
    bool in_order = false;
    unsigned repeats = 0;  //!< without ARQ: further copies, 0 to 15
    unsigned priority = 0; //!< 0 to 15
    //! Confirmation to the sending client with ARQ. None without ARQ.
    s5066::delivery_confirmation confirmation = s5066::delivery_confirmation::node;
    bool expedited =
        false; //!< S_EXPEDITED_UNIDATA; a node accepts 10 unconfirmed ones at once
};

//! Kind of fault.
enum class fault_kind {
    restart,    //!< a station is off for a time and loses its state
    deaf,       //!< a station does not hear another one, or none
    noise,      //!< a burst of noise at one station, or at all
    clock_step, //!< a station's clock jumps
};

//! One fault.
struct scenario_fault {
    fault_kind kind = fault_kind::noise;
    std::string station; //!< restart, clock_step: the station; deaf, noise: the receiver;
                         //!< empty: all
    std::string from;    //!< deaf: the station not heard; empty: hears none
    double at_s = 0;
    double for_s = 0;  //!< duration; unused by clock_step
    double step_s = 0; //!< clock_step: forward, or backward if negative
};

//! Channel from one station to another.
struct scenario_path {
    std::string from, to; //!< empty: all
    air_path channel;
};

//! A whole experiment.
struct scenario {
    double duration_s = 3600; //!< at most; the run ends when every finite flow is
                              //!< complete
    uint64_t seed = 1;
    std::vector<scenario_station> stations; //!< 2 to max_stations
    std::vector<scenario_path> paths;       //!< later ones override earlier ones
    std::vector<scenario_traffic> traffic;
    std::vector<scenario_fault> faults;
    bool record = false; //!< keep transmissions and deliveries
    bool fates = false;  //!< keep the fate of each U_PDU
    bool log = false;    //!< keep log lines of the stations

    //! \throws std::invalid_argument names the first bad value and what is allowed.
    void validate() const;
};

//! Result of a flow.
struct flow_result {
    std::string kind, from, to;
    uint64_t u_pdus_offered = 0; //!< submitted to the station
    uint64_t octets_offered = 0;
    uint64_t receivers = 1;
    uint64_t u_pdus_delivered = 0; //!< different ones, all receivers
    uint64_t octets_delivered = 0;
    uint64_t rejected = 0, altered = 0, repeated = 0, out_of_order = 0;
    double last_s = 0;      //!< time of the last delivery
    double goodput_bps = 0; //!< from the start of the flow to its last delivery
    std::vector<double>
        times; //!< ping, answered messages: round trips; others: delays, in s
    uint64_t unanswered = 0; //!< pings
    bool finite = false, complete = false;
};

//! Result of a station.
struct station_result {
    std::string name;
    uint64_t transmissions = 0, silent_rounds = 0, links_made = 0, links_failed = 0;
    uint64_t d_pdus_repeated = 0, d_pdus_fill = 0, resets = 0;
    double tx_time_s = 0;
};

//! One transmission, with its D_PDU octets by purpose.
struct transmission_result {
    size_t station = 0; //!< index of the station
    std::string mode;
    double begin_s = 0, end_s = 0;
    size_t data = 0, repeated = 0, acks = 0, control = 0, non_arq = 0;
    bool cut = false, collided = false;
};

//! U_PDU octets delivered by a flow.
struct delivery {
    double time_s = 0;
    size_t flow = 0;
    size_t octets = 0;
};

//! Result of a scenario.
struct scenario_result {
    double end_s = 0;
    bool complete = false; //!< all finite flows are complete
    std::vector<flow_result> flows;
    std::vector<station_result> stations;
    std::vector<transmission_result> transmissions; //!< if recorded
    std::vector<delivery> deliveries;               //!< if recorded
    std::vector<u_pdu_fate> fates;                  //!< if kept, flow by flow
    std::vector<std::string> log;                   //!< if kept
    double goodput_bps = 0; //!< all flows together, to the last delivery
    double fairness = 1;    //!< Jain's index of the octets delivered by bulk flows
    uint64_t collisions = 0;
};

/*! \brief Runs a scenario in virtual time. The same scenario gives the same result.
 *  \param progress called every half second of station time with the elapsed share of the
 *         duration, 0 to 1; may be empty
 *  \throws std::invalid_argument as scenario::validate() and the configurations
 */
scenario_result run(const scenario& s, const std::function<void(double)>& progress = {});

} // namespace gr::hf::sim

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sim/scenarios/scenario.h"

#include <cstdint>

/*! \file Tests whether a U_PDU confirmed to a client can be missing: hours of traffic of
 *  all kinds with failing stations and bad channels.
 */
namespace gr::hf::sim {

//! One run: three stations, and faults at random times.
struct fault_trial {
    double duration_s = 72000; //!< 600 to 1e6
    //! Seed of everything: modes, settings, channel, faults, traffic. Same seed, same
    //! run.
    uint64_t seed = 1;
};

//! Result. Counts only U_PDUs sent by ARQ.
struct fault_trial_result {
    uint64_t u_pdus = 0;           //!< submitted
    uint64_t delivered = 0;        //!< delivered to the client, at least once
    uint64_t confirmed = 0;        //!< reported to the sending client
    uint64_t rejected = 0;         //!< reported to the sending client
    uint64_t missing = 0;          //!< confirmed and not delivered before; must be 0
    uint64_t contradictory = 0;    //!< confirmed and rejected; must be 0
    uint64_t repeated_on_link = 0; //!< delivered again on one link; must be 0
    uint64_t repeated = 0;         //!< delivered again on a later link, or after a reset
    uint64_t altered = 0;          //!< octets differ from those sent; must be 0
    uint64_t rejected_delivered = 0; //!< rejected although the client has it
    uint64_t restarts = 0;           //!< restarts of stations
    uint64_t links_made = 0, links_failed = 0, resets = 0, collisions = 0;
};

/*! \brief The scenario of a trial.
 *  \details Bulk, interactive, expedited and simultaneous U_PDUs, confirmed by node and
 *  by client, in order and as they arrive. Stations are switched off, sometimes two at
 *  once, or deaf for a time, or their clocks jump. Each direction has bit errors and
 *  loses transmissions and ends of messages. Blocks arrive once and in order, as from
 *  every modem.
 */
scenario scenario_of(const fault_trial& t);

//! \throws std::invalid_argument names the first bad value and what is allowed.
fault_trial_result run(const fault_trial& t);

} // namespace gr::hf::sim

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sim/scenarios/scenario.h"

#include <cstdint>

/*! \file
 *  Whether a U_PDU that was confirmed to a client can be missing: hours of traffic of all kinds
 *  while stations fail and the channel does its worst.
 */
namespace gr::hf::sim {

//! One run: three stations, and faults at random times.
struct fault_trial {
    double duration_s = 72000; //!< 600 to 1e6
    //! Of everything: modes, settings, channel, faults, traffic. The same seed, the same run.
    uint64_t seed = 1;
};

//! What came of it. U_PDUs are those sent by ARQ.
struct fault_trial_result {
    uint64_t u_pdus = 0;           //!< submitted
    uint64_t delivered = 0;        //!< to the client, at least once
    uint64_t confirmed = 0;        //!< told to the sending client
    uint64_t rejected = 0;         //!< the same
    uint64_t missing = 0;          //!< confirmed and not delivered before: must be none
    uint64_t contradictory = 0;    //!< confirmed and rejected: must be none
    uint64_t repeated_on_link = 0; //!< delivered again on one link: must be none
    uint64_t repeated = 0;         //!< delivered again on a later link, or after a reset
    uint64_t altered = 0;          //!< octets that were not those sent: must be none
    uint64_t rejected_delivered = 0; //!< rejected though the client has it
    uint64_t restarts = 0;           //!< of stations
    uint64_t links_made = 0, links_failed = 0, resets = 0, collisions = 0;
};

/*! \brief The scenario of a trial.
 *  \details Bulk, interactive, expedited and simultaneous U_PDUs, confirmed by node and by client, in
 *  order and as they arrive. Stations are switched off, sometimes two at once, hear nothing for a
 *  time, have clocks that jump; each direction has bit errors and loses transmissions and ends of
 *  messages. Blocks come once and in order, as from every modem.
 */
scenario scenario_of(const fault_trial& t);

//! \throws std::invalid_argument that names the first bad value and what is allowed.
fault_trial_result run(const fault_trial& t);

} // namespace gr::hf::sim

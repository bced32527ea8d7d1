/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "explore/schedule.h"
#include "s5066/pdu/d_pdu.h"

#include <string>
#include <vector>

/*! \file
 *  Runs one schedule: real nodes on an emulated air, a short transfer, the faults of the
 *  schedule, and what must be true whatever goes wrong.
 */
namespace gr::hf::explore {

//! One transmission of a run, to which faults can be added.
struct transmission {
    size_t station = 0;
    std::vector<s5066::d_pdu_type> d_pdus;
};

//! Result of a run.
struct outcome {
    std::vector<transmission> transmissions;
    std::vector<std::string> violations; //!< empty: all invariants hold
    double quiet_s = 0;   //!< from the last fault or data until all were idle, s
    unsigned foreign = 0; //!< U_PDUs delivered that no client sent
};

/*! \brief Names of the worlds: stations, modes, services and traffic that schedules are
 *         run in.
 */
std::vector<std::string> worlds();

/*! \brief Runs a schedule.
 *
 *  Checked, for each U_PDU and each pair of stations:
 *  - a client gets the octets that were sent, in order, nothing twice on one link;
 *  - what is confirmed was delivered before;
 *  - nothing is both confirmed and rejected. Since every station lives and no time to live
 *    ends, the only reason of a rejection is a station that does not respond, and at least
 *    four transmissions in a row must have got no answer;
 *  - everything else is delivered, unless the sender restarted and lost it. If the receiver
 *    restarts, the confirmation of its client can be lost;
 *  - within max_quiet_s after the last fault, or the last data, all links are down and
 *    all nodes idle. A called station keeps a link while its caller is heard, for example
 *    with data for others;
 *  - a transmission that asks for an answer and that no fault touches is answered, and not
 *    repeated after the answer; no third station takes the time of the answer;
 *  - two stations that hear each other never start transmissions that overlap, but for
 *    starts within the time that a carrier detector needs, and just after a restart.
 *
 *  \param world one of worlds()
 *  \param trace true: prints the log of all stations
 *  \throws std::invalid_argument for an unknown world
 */
outcome run(const std::string& world, const schedule& s, bool trace = false);

/*! \brief What a third station did to the exchange of a schedule with fault_kind::forged,
 *         and whether the stations work again afterwards.
 */
struct damage {
    outcome during;
    //! A U_PDU that is sent after all is idle again was delivered and confirmed.
    bool works_again = false;
};
//! As run(), and then one more U_PDU.
damage run_hostile(const std::string& world, const schedule& s);

//! Longest time from the last fault or data until everything is idle, s.
constexpr double max_quiet_s = 900;

} // namespace gr::hf::explore

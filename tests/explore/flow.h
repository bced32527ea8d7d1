/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sim/stations/fates.h"
#include "sim/stations/traffic.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace gr::hf::explore {

//! A flow has two SAPs: the first has this one at its sender and the next one at its receiver.
constexpr uint8_t first_sap = 3;

//! Transmissions of a station to another one since it could last hear that one.
struct silence {
    unsigned transmissions = 0;
    double lasts_s = 0; //!< since the first of them began, s
};

//! U_PDUs from one station to another.
struct flow_plan {
    size_t from = 0, to = 0; //!< numbers of stations
    unsigned u_pdus = 1;
    size_t octets = 400; //!< of each
    s5066::delivery_mode mode;
};

//! Sends the U_PDUs of a plan, and checks what becomes of each.
class flow
{
public:
    flow(sim::scheduler& time,
         sim::station& from,
         sim::station& to,
         const flow_plan& p,
         uint8_t number);

    void send();     //!< submits all U_PDUs of the plan
    void send_one(); //!< submits one more
    //! What the sender transmitted since it could last hear the receiver.
    std::function<silence()> unanswered;
    //! Links and resets between both stations that were asked for on the air.
    std::function<size_t()> links_begun;
    //! A station has restarted; clients on it bind again.
    void restarted(const sim::station& s);
    const sim::station& from() const { return d_from; }
    //! U_PDUs that were delivered and confirmed.
    size_t done() const;
    //! U_PDUs delivered that no client sent.
    unsigned foreign() const { return d_foreign; }
    //! Violated invariants, as text.
    std::vector<std::string> violations() const;

private:
    // Fate of one U_PDU.
    struct fate {
        bool lost_with_sender = false; // the sender restarted before it was confirmed
        // The receiver restarted before a confirmation by its client came back.
        bool lost_with_receiver = false;
        bool confirmed = false, rejected = false, missing = false;
        bool given_up = false; // rejected with a reason that is true
        std::vector<sim::numbering> deliveries;
        // Restarts of the receiver and links begun, as of the last delivery.
        std::pair<uint64_t, size_t> delivered_on;
    };

    void delivered(uint32_t number);
    void reported(const s5066::s_primitive& p);

    sim::station& d_from;
    sim::station& d_to;
    const flow_plan d_plan;
    sim::bulk_source d_source;
    sim::bulk_sink d_sink;
    std::map<uint32_t, fate> d_fates;
    std::vector<std::string> d_violations;
    unsigned d_foreign = 0;
};

} // namespace gr::hf::explore

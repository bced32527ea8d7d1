/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "slep/sis_queue.h"

#include <deque>
#include <unordered_map>

namespace gr::hf::slep {

/*! \brief PDUs that belong to no stream and wait for SIS: SX, refusals, RA.
 *  \details They are sent before everything else, and again if their U_PDU is rejected,
 *  until they are too old. Bounded: the oldest is dropped.
 */
class control_pdus
{
public:
    //! Limit of waiting PDUs.
    static constexpr size_t most = 1024;

    control_pdus(endpoint_context& c, sis_queue& sis) : d_ctx(c), d_sis(sis) {}

    void add(peer_state& p, pdu_body body, uint8_t priority);
    //! Next S_primitive. Empty: nothing can be sent now.
    std::optional<octets> poll();
    //! SIS has settled one. \p again: it was rejected and may be sent once more.
    void settled(uint64_t id, bool again);
    //! PDUs for the peer wait.
    bool holds_for(const peer_state& p) const;

private:
    struct control_pdu {
        peer_state* p;
        octets wire;
        uint8_t priority;
        station_time expires;
    };

    endpoint_context& d_ctx;
    sis_queue& d_sis;
    std::deque<std::pair<uint64_t, control_pdu>> d_waiting;
    std::unordered_map<uint64_t, control_pdu> d_in_sis;
};

} // namespace gr::hf::slep

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/pdu/s_primitive.h"
#include "s5066/words/address.h"
#include "slep/sis_client.h"

#include <hf/station_time.h>
#include <hf/traffic_state.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gr::hf::sim {

/*! \brief Engine of hf.traffic: a subnetwork client that sends a number of octets and
 *         counts and checks what it receives.
 *
 * U_PDUs begin with the offset of their first octet (8 octets), so that they may arrive
 * in any order. The rest is a pattern that depends on the offset.
 */
class traffic_client
{
public:
    //! What the client sends.
    struct config {
        s5066::address peer;
        uint64_t octets = 0;        //!< total to send; 0: only receive
        size_t u_pdu_octets = 2042; //!< octets of one U_PDU, 8 to 2048
        int sap = 12;               //!< SAP at both ends, 0 to 15
        bool arq = true;            //!< confirmed by the far node; false: unacknowledged
        //! Limit of octets submitted and not yet confirmed. The default is enough for the
        //! longest transmission of a narrowband mode.
        uint64_t outstanding = 200000;
    };

    //! \throws std::invalid_argument names the value and what is allowed.
    explicit traffic_client(const config& c);

    void sis_in(station_time now, const uint8_t* p, size_t n);
    std::optional<std::vector<uint8_t>> poll_sis();
    std::optional<station_time> next_deadline() const { return d_sis.next_deadline(); }
    void on_deadline(station_time now);

    const traffic_state& state() const { return d_state; }

private:
    void received(const std::vector<uint8_t>& u_pdu);

    const config d_config;
    const s5066::delivery_mode d_service;
    s5066::sis_client d_sis;
    station_time d_now{};
    traffic_state d_state;
};

} // namespace gr::hf::sim

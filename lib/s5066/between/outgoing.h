/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/pdu/s_primitive.h"

#include <hf/station_time.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace gr::hf::s5066 {

//! Octets of a C_PDU around its U_PDU.
struct u_pdu_place {
    size_t header = 0;  //!< octets before it
    size_t trailer = 0; //!< octets after it, see authenticator
};

//! What is known of the fate of a C_PDU.
struct fate_known {
    //! By the remote client; the ARQ acknowledgement may still be missing.
    bool confirmed = false;
    //! All of it was sent, and no answer tells whether it has arrived.
    bool in_doubt = false;
};

//! An outgoing DATA C_PDU, with the data needed to report its fate to the client.
struct outgoing {
    address dst;
    std::vector<uint8_t> c_pdu;
    delivery_mode mode; //!< resolved: never default_
    uint8_t priority = 0;
    station_time submitted_at{}; //!< when the node accepted it
    station_time expires{};

    std::optional<uint64_t> client; //!< empty if the node itself made it
    bool expedited = false;
    bool sets_up_hard_link = false; //!< S_PDU of types 3 to 7
    uint8_t src_sap = 0;
    uint8_t dst_sap = 0;
    u_pdu_place place;          //!< where the U_PDU is in the C_PDU
    std::optional<uint32_t> id; //!< ID of its S_PDU, if it has one (S5066-EP9)
    fate_known known;

    uint64_t turn = 0; //!< order within its priority (fair_turns)

    // Progress in the ARQ sender
    size_t segment = 0; //!< length of its segments; 0: not yet started
    size_t cut = 0;     //!< octets cut into segments so far
    bool fully_cut = false;
    unsigned in_flight = 0; //!< segments sent and not yet acknowledged or given up
    bool dropped = false;   //!< expired: the rest goes out with the DROP flag

    //! The U_PDU as the client submitted it.
    std::vector<uint8_t> u_pdu() const
    {
        return c_pdu.size() < place.header + place.trailer
                   ? std::vector<uint8_t>()
                   : std::vector<uint8_t>(
                         c_pdu.begin() + static_cast<std::ptrdiff_t>(place.header),
                         c_pdu.end() - static_cast<std::ptrdiff_t>(place.trailer));
    }
    bool arq() const { return mode.mode == transmission_mode::arq; }
};

using outgoing_ptr = std::shared_ptr<outgoing>;

} // namespace gr::hf::s5066

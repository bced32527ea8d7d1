/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

/*! \file
 *  S_PDUs (A.3.1): messages between the Subnetwork Interface Sublayers of two nodes.
 */
namespace gr::hf::s5066 {

enum class s_pdu_type : uint8_t {
    data = 0,
    delivery_confirm = 1,
    delivery_fail = 2,
    hard_link_request = 3,
    hard_link_confirm = 4,
    hard_link_rejected = 5,
    hard_link_terminate = 6,
    hard_link_terminate_confirm = 7,
    data_with_id = 8,    //!< S5066-EP9: only to a node that advertised it
    compact_confirm = 9, //!< S5066-EP9: answer to data_with_id
};

//! Time to die: shortened day of the year and GMT.
struct time_to_die {
    uint8_t day_mod_16 = 0;  //!< day of the year (1 to 366) modulo 16
    uint16_t half_gmt_s = 0; //!< seconds of the day divided by 2
};

//! One S_PDU. The type decides which fields are valid.
struct s_pdu {
    s_pdu_type type = s_pdu_type::data;
    //! Low nibble of octet 0: priority (0), reason (2, 5, 6); link type and priority (3).
    uint8_t low = 0;
    uint8_t src_sap = 0;            //!< types 0 to 2, 8, 9; the requesting SAP of type 3
    uint8_t dst_sap = 0;            //!< types 0 to 2, 8, 9; the remote SAP of type 3
    bool confirm_required = false;  //!< client delivery confirm, types 0 and 8
    std::optional<time_to_die> ttd; //!< types 0 and 8
    uint32_t id = 0;                //!< types 8 and 9; the octet order is our choice
    std::vector<uint8_t> u_pdu;     //!< types 0 to 2 and 8

    uint8_t link_type() const { return low >> 2 & 3; }
    uint8_t link_priority() const { return low & 3; }
    //! Carries a U_PDU for a client: types 0 and 8.
    bool is_data() const
    {
        return type == s_pdu_type::data || type == s_pdu_type::data_with_id;
    }
};

//! Octets of a DATA S_PDU before the U_PDU, without and with time to die.
constexpr size_t s_pdu_data_header = 3;
constexpr size_t s_pdu_data_header_ttd = 5;
//! Octets that the ID of type 8 adds to these headers.
constexpr size_t s_pdu_id_octets = 4;

//! Empty if a value does not fit its field.
std::vector<uint8_t> encode(const s_pdu& s);
//! Empty if malformed or of an unknown type.
std::optional<s_pdu> decode_s_pdu(const uint8_t* p, size_t n);
//! Priority of the U_PDU in an S_PDU; 0 if it has none.
unsigned u_pdu_priority(const uint8_t* p, size_t n);

} // namespace gr::hf::s5066

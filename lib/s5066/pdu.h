/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

/*! \file
 *  S_PDUs (A.3.1) and C_PDUs (B.3.1): what the sublayers of two nodes say to each other.
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

//! Time to die: day of the year and GMT, both shortened.
struct time_to_die {
    uint8_t day_mod_16 = 0;  //!< day of the year (1 to 366) modulo 16
    uint16_t half_gmt_s = 0; //!< seconds of the day divided by 2
};

//! One S_PDU. Which fields count follows from the type.
struct s_pdu {
    s_pdu_type type = s_pdu_type::data;
    //! Low nibble of octet 0: priority (0), reason (2, 5, 6); link type and priority (3).
    uint8_t low = 0;
    uint8_t src_sap = 0;            //!< types 0 to 2, 8, 9; the requesting SAP of type 3
    uint8_t dst_sap = 0;            //!< types 0 to 2, 8, 9; the remote SAP of type 3
    bool confirm_required = false;  //!< client delivery confirm, types 0 and 8
    std::optional<time_to_die> ttd; //!< types 0 and 8
    uint32_t id = 0;                //!< types 8 and 9 (the order of its octets is ours)
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
//! What the ID of type 8 adds to them.
constexpr size_t s_pdu_id_octets = 4;

//! Empty when a value does not fit its field.
std::vector<uint8_t> encode(const s_pdu& s);
//! Empty when malformed or of an unknown type.
std::optional<s_pdu> decode_s_pdu(const uint8_t* p, size_t n);

enum class c_pdu_type : uint8_t {
    data = 0,
    link_request = 1,
    link_accepted = 2,
    link_rejected = 3,
    link_break = 4,
    link_break_confirm = 5,
};

enum class link_reject_reason : uint8_t {
    unknown = 0,
    broadcast_only = 1,
    higher_priority = 2,
    exclusive_link = 3
};
enum class link_break_reason : uint8_t {
    unknown = 0,
    higher_layer = 1,
    broadcast = 2,
    higher_priority = 3,
    no_more_data = 4
};

//! One C_PDU.
struct c_pdu {
    c_pdu_type type = c_pdu_type::data;
    //! Low nibble: 1 asks for an exclusive link (1), reason (3, 4).
    uint8_t low = 0;
    std::vector<uint8_t> s_pdu; //!< type 0
};

//! Empty when a value does not fit its field.
std::vector<uint8_t> encode(const c_pdu& c);
//! Empty when malformed or of an unknown type.
std::optional<c_pdu> decode_c_pdu(const uint8_t* p, size_t n);

} // namespace gr::hf::s5066

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

/*! \file
 *  C_PDUs (B.3.1): messages between the Channel Access Sublayers of two nodes.
 */
namespace gr::hf::s5066 {

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
    //! Low nibble. Type 1: 1 requests an exclusive link. Types 3 and 4: the reason.
    uint8_t low = 0;
    std::vector<uint8_t> s_pdu; //!< only type 0
};

//! Empty when a value does not fit its field.
std::vector<uint8_t> encode(const c_pdu& c);
//! Empty when malformed or of an unknown type.
std::optional<c_pdu> decode_c_pdu(const uint8_t* p, size_t n);

} // namespace gr::hf::s5066

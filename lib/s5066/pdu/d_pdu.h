/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/pdu/code_piece.h"
#include "s5066/words/address.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/*! \file
 *  D_PDUs of STANAG 5066 Annex C (clause C.3).
 */
namespace gr::hf::s5066 {

enum class d_pdu_type : uint8_t {
    data_only = 0,
    ack_only = 1,
    data_ack = 2,
    reset = 3, //!< RESET/WIN-RESYNC
    expedited_data_only = 4,
    expedited_ack_only = 5,
    management = 6,
    non_arq_data = 7,
    expedited_non_arq_data = 8,
    // S5066-EP5; the octets are a reconstruction, see d_pdu::large
    large_data_only = 9,
    large_ack_only = 10,
    large_data_ack = 11,
    large_reset = 12,
    extension = 13, //!< S5066-EP10
    warning = 15,
};

//! Longest segment: 10 bits of size.
constexpr size_t max_segment = 1023;
//! Longest D_PDU header, sync included: 2 + 31 + 7.
constexpr size_t max_d_pdu_header = 40;
//! Longest D_PDU.
constexpr size_t max_d_pdu = max_d_pdu_header + max_segment + 4;
//! EOT unit.
constexpr double eot_unit_s = 0.5;

//! "DATA-ONLY", "ACK-ONLY" and so on.
const char* to_string(d_pdu_type t);
//! True for the types that carry a segment (I frames).
bool has_segment(d_pdu_type t);
//! True for the types that acknowledge data, with or without a segment.
bool has_ack(d_pdu_type t);
//! Types 9 to 12.
constexpr bool is_large(d_pdu_type t)
{
    return t >= d_pdu_type::large_data_only && t <= d_pdu_type::large_reset;
}
//! Maps types 9 to 12 to the equivalent types 0 to 3; large_type() is the inverse.
d_pdu_type small_type(d_pdu_type t);
d_pdu_type large_type(d_pdu_type t);

//! Flags and sequence number of types 0, 2, 9 and 11.
struct arq_header {
    bool start = false;    //!< C_PDU START
    bool end = false;      //!< C_PDU END
    bool in_order = false; //!< DELIVER IN ORDER
    bool drop = false;     //!< DROP C_PDU
    bool uwe = false;      //!< FSN is the sender's TX UWE
    bool lwe = false;      //!< FSN is the sender's TX LWE
    uint16_t fsn = 0;      //!< above 255 only in types 9 and 11
};

//! Acknowledgement of types 1, 2, 5, 10 and 11.
struct ack_header {
    uint16_t rx_lwe = 0; //!< above 255 only in types 10 and 11
    //! Bitmap of 0 to 16 octets; type 10: 0 to 23, type 11: 0 to 19. Bit 0 of the first
    //! octet is number RX LWE + 1 + from.
    std::vector<uint8_t> selective;
    /*! \brief Offset of a continuation bitmap, for windows longer than one bitmap (types
     *         10 and 11). 0: the first bitmap.
     *  \details A continuation has \ref from, a bitmap 3 octets shorter than otherwise,
     *         and an octet of zero. That octet marks the continuation: any other bitmap
     *         ends with a bit set, for a number that was received.
     */
    uint16_t from = 0;
};

//! Types 3 and 12.
struct reset_header {
    bool full = false;       //!< FULL RESET CMD
    bool tx_rqst = false;    //!< RESET TX WIN RQST
    bool rx_cmnd = false;    //!< RESET RX WIN CMND
    bool ack = false;        //!< RESET ACK
    uint16_t new_rx_lwe = 0; //!< above 255 only in type 12
    uint8_t frame_id = 0;
};

//! Type 4.
struct expedited_header {
    bool start = false;
    bool end = false;
    uint8_t c_pdu_id = 0; //!< modulo 16
    uint8_t fsn = 0;
};

//! Type 6.
struct management_header {
    bool valid = false;
    bool ack = false;
    uint8_t frame_id = 0;
    bool has_extended = false;
    std::vector<uint8_t> extended; //!< 0 to 23 octets
};

//! Types 7 and 8.
struct non_arq_header {
    uint16_t c_pdu_id = 0; //!< 12 bits
    bool in_order = false;
    bool group = false;
    uint16_t c_pdu_size = 0;
    uint16_t offset = 0;
    uint16_t window = 0; //!< reception window in half seconds
};

//! Type 15.
struct warning_header {
    uint8_t received_type = 0;
    uint8_t reason =
        0; //!< 0 unknown type, 1 not connected, 2 invalid, 3 invalid in this state
};

//! One D_PDU. The type decides which of the type-specific parts are valid.
struct d_pdu {
    d_pdu_type type = d_pdu_type::data_only;
    uint16_t eow = 0; //!< 12 bits: type in 11-8, contents in 7-0
    uint8_t eot = 0;  //!< half seconds
    //! Half octets per address, 1 to 7: written by encode(), set by decode_d_pdu().
    uint8_t address_size = 7;
    address dst;
    address src;

    arq_header arq;
    ack_header ack;
    reset_header reset;
    expedited_header expedited;
    management_header management;
    non_arq_header non_arq;
    warning_header warning;
    std::vector<uint8_t> other; //!< type-specific part of other types
    /*! \brief true: types 9 to 12 are those of large windows, with numbers of 16 bits.
     *         false: their type-specific part is in \ref other.
     */
    bool large = false;

    std::vector<uint8_t> segment;
    //! False if the header was good but the segment was damaged or cut off.
    bool segment_ok = true;
    //! The four octets of the segment's CRC as received; empty if cut off. Ignored by
    //! encode().
    std::vector<uint8_t> segment_crc;
    //! Code bits of a damaged segment and its CRC, as received, see
    //! code_ratios::of_segment(). Ignored by encode().
    code_piece segment_code;

    //! Octets of the header, sync and header CRC included.
    size_t header_octets() const;
    //! Octets of the whole D_PDU, sync included.
    size_t octets() const;
};

/*! \brief Encodes to octets on the air, sync included, each sent least significant bit
 *         first.
 *  \return empty if a value does not fit its field
 */
std::vector<uint8_t> encode(const d_pdu& d);

//! Lengths read from the first octets of a D_PDU.
struct d_pdu_extent {
    size_t header = 0; //!< octets, including sync and header CRC
    size_t total = 0;  //!< octets, including the segment and its CRC
};

/*! \brief Checks a complete header (sync, sizes, CRC-16) and returns the lengths of the
 *         D_PDU.
 *  \param p at least max_d_pdu_header octets, or all that arrived
 *  \param n number of octets at \p p
 *  \param large types 9 to 12 are those of large windows
 *  \param need if the result is empty: octets needed to decide; 0 if \p p is no D_PDU
 */
std::optional<d_pdu_extent>
check_header(const uint8_t* p, size_t n, size_t& need, bool large = false);

/*! \brief Decodes a D_PDU with a complete header; the segment may be cut off or damaged.
 *  \return empty if the header is not good
 */
std::optional<d_pdu> decode_d_pdu(const uint8_t* p, size_t n, bool large = false);
inline std::optional<d_pdu> decode_d_pdu(const std::vector<uint8_t>& v)
{
    return decode_d_pdu(v.data(), v.size());
}

//! True if it carries client data, not only acknowledgements, link control or a request
//! for an ACK.
bool carries_data(const d_pdu& d);
//! True for types 0 and 2, also with large windows.
bool carries_arq_data(const d_pdu& d);

//! One line for logs: "DATA-ONLY fsn 3 UWE 200 octets".
std::string describe(const d_pdu& d);

} // namespace gr::hf::s5066

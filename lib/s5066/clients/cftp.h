/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/clients/bftp.h"
#include "s5066/clients/segment.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/*! \file
 *  CFTP of STANAG 5066 Annex F: files with the short RCOP header of earlier editions,
 *  which has no application identifier.
 */
namespace gr::hf::s5066 {

constexpr uint8_t sap_cftp = 12;
//! Octets of the header before every segment.
constexpr size_t cftp_header_octets = 4;

//! One segment of a message, carried by one U_PDU.
struct cftp_segment : segment_header {
    std::vector<uint8_t> data;
};

//! Empty if the connection is over 15.
std::vector<uint8_t> encode(const cftp_segment& s);
//! Empty if it is shorter than a header, or its reserved bits are not zero.
std::optional<cftp_segment> decode_cftp(const uint8_t* p, size_t n);

/*! \brief Cuts a file into U_PDUs of at most \p mtu octets, in order.
 *  \return empty if name or file is too long, \p connection is over 15 or \p mtu is too
 *         small
 */
std::vector<std::vector<uint8_t>> cftp_segments(uint8_t connection,
                                                uint8_t id,
                                                const std::string& name,
                                                const std::vector<uint8_t>& file,
                                                size_t mtu);

//! Name and size at the start of a file's first segment; empty if \p first is not one.
std::optional<bftp_header> decode_cftp_header(const cftp_segment& first);
//! File from the joined data of all segments; empty if damaged or incomplete.
std::optional<bftp_file> decode_cftp_file(const std::vector<uint8_t>& data);

//! U_PDU that acknowledges a file; empty if the connection is over 15.
std::vector<uint8_t> cftp_acknowledgement(uint8_t connection, uint8_t id);
bool is_cftp_acknowledgement(const cftp_segment& s);

} // namespace gr::hf::s5066

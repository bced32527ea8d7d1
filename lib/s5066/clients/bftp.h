/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/clients/rcop.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/*! \file
 *  BFTP of STANAG 5066 Annex F: files as RCOP or UDOP messages, and the receipts FRAP and
 *  FRAPv2.
 */
namespace gr::hf::s5066 {

//! Name and size before a file.
struct bftp_header {
    std::string name; //!< octets as received, 0 to 255; not to be trusted as a path
    uint32_t size = 0;

    size_t octets() const { return 1 + name.size() + 4; }
};

//! Empty if the name is longer than 255 octets.
std::vector<uint8_t> encode(const bftp_header& h);
//! Empty if the header is incomplete.
std::optional<bftp_header> decode_bftp_header(const uint8_t* p, size_t n);

//! Body of a RCOP message with application app_bftp; empty if name or file is too long.
std::vector<uint8_t> bftp_message(const std::string& name,
                                  const std::vector<uint8_t>& file);

//! A received file.
struct bftp_file {
    bftp_header header;
    std::vector<uint8_t> data;
};
//! Empty if the header is damaged, or the size does not match the data.
std::optional<bftp_file> decode_bftp(const std::vector<uint8_t>& message);

//! A receipt: the receiver has the whole file.
struct bftp_receipt {
    uint8_t connection = 0;            //!< of the file
    uint8_t id = 0;                    //!< of the file
    std::optional<bftp_header> header; //!< FRAPv2 only
};
//! U_PDU of a receipt: FRAPv2 with a header, FRAP without. Empty if a field does not fit.
std::vector<uint8_t> encode(const bftp_receipt& r);
//! Reads a RCOP message; empty if it is no receipt, or its header is damaged.
std::optional<bftp_receipt> decode_receipt(const rcop_message& m);

//! Message length for rcop_assembler: BFTP by its header; others are one segment.
std::optional<uint64_t> bftp_message_octets(uint16_t application,
                                            const std::vector<uint8_t>& begin);

/*! \brief A file name that is safe to create in a folder, from a received one. It keeps
 *         what follows the last slash or backslash, without leading dots, and replaces
 *         all but printable ASCII by '_'. The first character is a letter, a digit or '_',
 *         so that no program reads the name as an option. Never empty, at most 200
 *         characters.
 */
std::string safe_file_name(const std::string& name);

} // namespace gr::hf::s5066

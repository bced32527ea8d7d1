/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

/*! \file
 *  COSS, the character-oriented serial stream of STANAG 5066 Annex F: characters of 5 to
 *  8 bits in the octets of U_PDUs.
 */
namespace gr::hf::s5066 {

constexpr uint8_t sap_coss = 1;

/*! \brief One character in each octet, least significant bit aligned, unused bits 0.
 *  \param bits of a character, 5 to 8
 *  \return empty if \p bits is not allowed or a character does not fit
 */
std::vector<uint8_t> coss_loose(const std::vector<uint8_t>& characters, unsigned bits);

/*! \brief Packs three characters of 5 bits into two octets. Two left over take two
 *         octets, one takes one.
 *  \return empty if a character is over 31
 */
std::vector<uint8_t> coss_dense(const std::vector<uint8_t>& characters);

//! Characters of a densely packed U_PDU; empty if bits that must be 0 are not.
std::optional<std::vector<uint8_t>> decode_coss_dense(const uint8_t* p, size_t n);

} // namespace gr::hf::s5066

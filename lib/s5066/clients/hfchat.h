/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/*! \file
 *  HFCHAT, the operator orderwire of STANAG 5066 Annex F: one message in each U_PDU,
 *  ASCII, ended by CR LF.
 */
namespace gr::hf::s5066 {

constexpr uint8_t sap_hfchat = 5;

/*! \brief U_PDUs of a text: one for each line; lines too long for \p mtu are cut.
 *  \details UTF-8 characters beyond ASCII become one '?' each, control characters blanks.
 *  Empty lines are left out. \p mtu below 3: none.
 */
std::vector<std::vector<uint8_t>> hfchat_u_pdus(const std::string& text, size_t mtu);

/*! \brief Displayable text of a U_PDU, without its end of line: octets that are not
 *         printable ASCII become '?'.
 *  \return empty if it does not end with CR LF, as the standard demands
 */
std::optional<std::string> decode_hfchat(const uint8_t* p, size_t n);

} // namespace gr::hf::s5066

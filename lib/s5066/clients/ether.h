/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/words/address.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

/*! \file
 *  ETHER of STANAG 5066 Annex F: an Ethertype before the data of a U_PDU, and the
 *  pseudo-Ethernet address of a node.
 */
namespace gr::hf::s5066 {

constexpr uint8_t sap_ether = 8;

//! Ethertypes that Annex F names.
enum ether_type : uint16_t {
    ether_ipv4 = 0x0800,
    ether_arp = 0x0806,
    ether_rohc = 0x0180,
    ether_vj = 0x876b,
    ether_ppp = 0x880b,
    ether_ipv6 = 0x86dd
};

//! Contents of one U_PDU.
struct ether_frame {
    uint16_t type = ether_ipv4;
    std::vector<uint8_t> data;
};

//! Empty if it would be longer than 2048 octets.
std::vector<uint8_t> encode(const ether_frame& f);
//! Empty if it is shorter than the Ethertype.
std::optional<ether_frame> decode_ether(const uint8_t* p, size_t n);

using ether_address = std::array<uint8_t, 6>;
/*! \brief Pseudo-Ethernet address of a node or a group: 50 66 and the address field of
 *         SIS.
 *  \param address_size half octets of the address, 1 to 7 and enough for \p a
 *  \return empty if \p address_size is not allowed
 */
std::optional<ether_address> to_ether(const address& a, int address_size = 7);
//! Empty if \p e is no pseudo-Ethernet address.
std::optional<address> from_ether(const ether_address& e);

} // namespace gr::hf::s5066

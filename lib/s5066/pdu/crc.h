/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <cstddef>
#include <cstdint>

namespace gr::hf::s5066 {

/*! \brief CRC-16 of D_PDU headers (C.3.2.8): polynomial 0x19949, reflected, initial value
 *         0.
 *  \details Sent low octet first. The CRC over data followed by their CRC is 0.
 */
uint16_t crc16(const uint8_t* p, size_t n);

/*! \brief CRC-32 of segments (C.3.2.11): polynomial 0x10AA725CF, reflected, initial value
 *         0.
 *  \details Sent low octet first.
 */
uint32_t crc32(const uint8_t* p, size_t n);

} // namespace gr::hf::s5066

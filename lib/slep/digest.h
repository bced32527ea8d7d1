/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace gr::hf::slep {

//! Octets of a digest in a PDU with FIN.
constexpr size_t digest_octets = 4;

/*! \brief Digest of all octets of one direction of a stream, before compression: the
 *         first 32 bits of SHA-256 (FIPS 180-4).
 *  \details It reveals a PDU that a third station sent in the name of the peer. A CRC
 *  would not: who knows the genuine PDU finds another one with the same CRC.
 */
class stream_digest
{
public:
    void update(const uint8_t* p, size_t n);
    //! Digest of all octets so far.
    uint32_t value() const;

private:
    void block(const uint8_t* p);

    std::array<uint32_t, 8> d_state{ 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                     0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };
    std::array<uint8_t, 64> d_part{}; // octets of a block that is not full
    uint64_t d_count = 0;             // octets so far
};

} // namespace gr::hf::slep

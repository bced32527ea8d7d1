/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "waveform/description.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace gr::hf::kernel {

/*! \brief Decoded bits to octets, up to the end-of-message marker, which may stand at any
 *         bit (110C 5.3.2.3.1).
 *
 * The last 32 bits are kept back until it is clear that they do not begin the marker.
 * First bit of an octet is its least significant.
 */
class message_parser
{
public:
    /*! \brief Take bits, append complete octets to \p octets.
     *  \returns the number of bits, counted from the start of the message, up to and with
     *  the marker, if it was found; later bits are then ignored.
     */
    std::optional<uint64_t> push(const std::vector<uint8_t>& bits,
                                 std::vector<uint8_t>& octets)
    {
        for (const uint8_t b : bits) {
            ++d_count;
            const auto leaving = static_cast<uint8_t>(d_window >> 31);
            d_window = d_window << 1 | b;
            if (d_count > eom_bits)
                append(leaving, octets);
            if (d_count >= eom_bits && d_window == eom_marker)
                return d_count;
        }
        return std::nullopt;
    }

    //! No marker will come: append the octets that were kept back.
    void flush(std::vector<uint8_t>& octets)
    {
        const auto n = d_count < eom_bits ? static_cast<unsigned>(d_count) : 32u;
        for (unsigned i = n; i-- > 0;)
            append(d_window >> i & 1, octets);
        d_count = 0;
    }

private:
    void append(unsigned bit, std::vector<uint8_t>& octets)
    {
        d_octet |= static_cast<uint8_t>(bit << d_fill);
        if (++d_fill == 8) {
            octets.push_back(d_octet);
            d_octet = 0;
            d_fill = 0;
        }
    }

    uint64_t d_count = 0;
    uint32_t d_window = 0; // the last 32 bits, newest least significant
    uint8_t d_octet = 0;
    unsigned d_fill = 0;
};

} // namespace gr::hf::kernel

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
 *
 * A marker with bit errors counts too, since nothing but zeros stands behind it (flush and
 * fill):
 * - up to 3 errors and at least 64 bits to the end of the block, hardly any of them 1: at
 *   once. On random bits once in 10^19; on data that end a block in zeros by themselves once
 *   in 10^5 such blocks.
 * - up to 6 errors, 3 with less than 32 bits behind it: what follows is kept back, and given
 *   when another block shows that the message goes on. If none does, that was the end. So a
 *   message that goes on is never cut.
 */
class message_parser
{
public:
    /*! \brief Take the bits of a block, append complete octets to \p octets.
     *  \param sound false: these may be bits of noise, they prove nothing
     *  \returns the number of bits, counted from the start of the message, up to and with
     *  the marker, if it was found; later bits are then ignored.
     */
    std::optional<uint64_t> push(const std::vector<uint8_t>& bits,
                                 std::vector<uint8_t>& octets,
                                 bool sound = true)
    {
        for (const uint8_t b : bits) {
            ++d_count;
            const auto leaving = static_cast<uint8_t>(d_window >> 31);
            d_window = d_window << 1 | b;
            if (d_count > eom_bits)
                leave(leaving, octets);
            if (d_count >= eom_bits && d_window == eom_marker) {
                release(octets);
                return d_count;
            }
            if (sound)
                suspect(b, octets);
        }
        if (d_suspect && d_suspect->errors <= few && d_suspect->behind >= 64 &&
            16 * d_suspect->ones <= d_suspect->behind)
            return d_suspect->at;
        return std::nullopt;
    }

    //! Whether octets are kept back behind a damaged marker.
    bool suspicious() const { return d_suspect.has_value(); }

    /*! \brief No more bits will come. Appends the octets that were kept back and tells
     *         nothing, or tells where the damaged marker stands that ended the message.
     */
    std::optional<uint64_t> finish(std::vector<uint8_t>& octets)
    {
        std::optional<uint64_t> marker;
        if (d_suspect && (d_suspect->errors <= few || d_suspect->behind >= 32))
            marker = d_suspect->at;
        else
            flush(octets);
        d_suspect.reset();
        d_held.clear();
        d_count = 0;
        return marker;
    }

    //! No marker will come: append the octets that were kept back.
    void flush(std::vector<uint8_t>& octets)
    {
        release(octets);
        const auto n = d_count < eom_bits ? static_cast<unsigned>(d_count) : 32u;
        for (unsigned i = n; i-- > 0;)
            append(d_window >> i & 1, octets);
        d_count = 0;
    }

private:
    static constexpr unsigned few = 3, many = 6; // bit errors of a marker
    static constexpr size_t most_held = 1 << 20;

    struct suspicion {
        uint64_t at = 0; // as push() counts
        unsigned errors = 0;
        uint64_t behind = 0,
                 ones = 0; // bits after it that prove something; those that are 1
    };

    // Whether a damaged marker ends with this bit, or what followed one goes on to be zeros.
    void suspect(uint8_t bit, std::vector<uint8_t>& octets)
    {
        if (d_suspect) {
            ++d_suspect->behind;
            d_suspect->ones += bit;
            if (8 * d_suspect->ones > d_suspect->behind + 16 || d_held.size() > most_held)
                release(octets);
        }
        if (d_count < eom_bits)
            return;
        const auto errors =
            static_cast<unsigned>(__builtin_popcount(d_window ^ eom_marker));
        if (errors > many || (d_suspect && d_suspect->errors <= errors))
            return;
        release(octets);
        d_suspect = suspicion{ d_count, errors, 0, 0 };
    }

    // A bit leaves the window: to the octets, or to those kept back behind a suspicion.
    void leave(uint8_t bit, std::vector<uint8_t>& octets)
    {
        if (d_suspect)
            d_held.push_back(bit);
        else
            append(bit, octets);
    }

    void release(std::vector<uint8_t>& octets)
    {
        for (const uint8_t b : d_held)
            append(b, octets);
        d_held.clear();
        d_suspect.reset();
    }

    void append(unsigned bit, std::vector<uint8_t>& octets)
    {
        d_octet |= static_cast<uint8_t>(bit << d_fill);
        if (++d_fill == 8) {
            octets.push_back(d_octet);
            d_octet = 0;
            d_fill = 0;
        }
    }

    std::optional<suspicion> d_suspect;
    std::vector<uint8_t> d_held; // bits from the suspected marker on
    uint64_t d_count = 0;
    uint32_t d_window = 0; // the last 32 bits, newest least significant
    uint8_t d_octet = 0;
    unsigned d_fill = 0;
};

} // namespace gr::hf::kernel

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "waveform/description.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace gr::hf::kernel {

/*! \brief Converts decoded bits to octets, up to the end-of-message marker, which may
 *         start at any bit (110C 5.3.2.3.1).
 *
 * Holds the last 32 bits until they are clearly not part of the marker. The first bit of
 * an octet is its least significant, unless set otherwise.
 *
 * A marker with bit errors counts too, as only zeros (flush and fill) follow it:
 * - up to 3 errors, and at least 64 bits to the end of the block with hardly any 1: at
 *   once. Random bits do that once in 10^19, data that end a block in zeros once in 10^5
 *   such blocks.
 * - up to 6 errors, or 3 with less than 32 bits after it: later bits are held. They are
 *   returned if another block shows that the message goes on. Else this was the end. So
 *   a message that goes on is never cut.
 */
class message_parser
{
public:
    /*! \brief Take the bits of a block; append complete octets to \p octets.
     *  \param sound false: the bits may be noise and prove nothing
     *  \returns the number of bits from the start of the message to the end of the
     *        marker, if one was found. Later bits are then ignored.
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

    //! Order of the bits of an octet from now on, see description.
    void set_most_significant_first(bool first) { d_max_significant_first = first; }

    //! True if octets are held after a damaged marker.
    bool suspicious() const { return d_suspect.has_value(); }

    /*! \brief End of the bits. Returns the position of the damaged marker that ended the
     *         message. Without one, appends the held octets and returns nothing.
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

    //! No marker will come: append the held octets.
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
    static constexpr size_t max_held = 1 << 20;

    struct suspicion {
        uint64_t at = 0; // position, as counted by push()
        unsigned errors = 0;
        uint64_t behind = 0,
                 ones = 0; // bits of proof after it; the number of 1s
    };

    // Look for a damaged marker that ends with this bit, and check that only zeros follow
    // one.
    void suspect(uint8_t bit, std::vector<uint8_t>& octets)
    {
        if (d_suspect) {
            ++d_suspect->behind;
            d_suspect->ones += bit;
            if (8 * d_suspect->ones > d_suspect->behind + 16 || d_held.size() > max_held)
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

    // A bit leaves the window: to the octets, or to the bits held after a suspicion.
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
        d_octet |=
            static_cast<uint8_t>(bit << (d_max_significant_first ? 7 - d_fill : d_fill));
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
    bool d_max_significant_first = false;
};

} // namespace gr::hf::kernel

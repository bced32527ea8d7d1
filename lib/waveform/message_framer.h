/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "waveform/description.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gr::hf::kernel {

/*! \brief Cuts the octets of a message into the bits of interleaver blocks.
 *
 * After the last octet follow the end-of-message marker (110C 5.3.2.3.1), the flush bits
 * of the family, and zeros up to the end of the block. The first bit of an octet is its
 * least significant, unless the description says otherwise. Bits are unpacked, one per
 * octet.
 */
class message_framer
{
public:
    /*! \param d must outlive the framer
     *  \param eom send the marker; only families with eom_optional may switch it off
     *  \throws std::invalid_argument for a missing marker that the mode does not allow
     */
    explicit message_framer(const description& d, bool eom = true);

    //! Octets to give before the next block is complete; 0: none.
    size_t octets_wanted() const;
    /*! \brief Give the octets that octets_wanted() asks for.
     *  \details Surplus octets are cut off. Fewer octets, or \p last, end the message.
     */
    void give(const uint8_t* octets, size_t n, bool last);

    //! True if take() has a whole block.
    bool ready() const;
    //! True if the message has ended and all its blocks were taken.
    bool finished() const { return d_ended && d_bits.empty(); }
    //! The description::input_bits bits of the next block. Call only if ready().
    std::vector<uint8_t> take();

private:
    const description& d_d;
    bool d_eom;
    bool d_ended = false;        // marker and flush are queued
    std::vector<uint8_t> d_bits; // waiting
};

} // namespace gr::hf::kernel

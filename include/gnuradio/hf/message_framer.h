/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gnuradio/sync_block.h>
#include <hf/api.h>

#include <cstdint>
#include <memory>
#include <string>

namespace gr::hf {

/*! \brief Cuts messages into the bits of interleaver blocks.
 *  \ingroup hf
 *
 * Message port \c pdus (in): a PDU whose octets are one message. A key mode in its
 * metadata must name the mode of the block. Output: unpacked bits, 0 or 1, in packets
 * of one interleaver block: the message, the end-of-message marker (110C 5.3.2.3.1),
 * flush bits, zeros.
 *
 * Tags: packet_len at each block, tx_sob at the first bit of a transmission, tx_eob at
 * its last. The stages hf.fec_encoder to hf.pulse_shaper carry them on. At most 64
 * PDUs wait. Further ones and other messages are dropped and counted.
 */
class HF_API message_framer : virtual public gr::sync_block
{
public:
    typedef std::shared_ptr<message_framer> sptr; //!< pointer type for flowgraphs
    /*! \param mode mode, for example 4539-600S
     *  \throws std::invalid_argument for an unknown mode
     */
    static sptr make(const std::string& mode);

    //! PDUs dropped: not a PDU, for another mode, too many waiting.
    virtual uint64_t dropped() const = 0;
};

} // namespace gr::hf

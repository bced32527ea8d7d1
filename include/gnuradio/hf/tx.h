/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gnuradio/sync_block.h>
#include <hf/api.h>

#include <cstdint>
#include <memory>
#include <string>

namespace gr::hf {

/*! \brief Modulator: one transmission for each PDU.
 *  \ingroup hf
 *
 * Message port \c pdus (in): a PDU whose octets are one message; the key mode in its
 * metadata chooses another mode than the block's. Output: complex baseband at 9600
 * samples/s, zeros in between, nothing while no PDU waits; tagged tx_sob and tx_eob. At most
 * 64 PDUs wait; more are dropped and counted.
 */
class HF_API tx : virtual public gr::sync_block
{
public:
    typedef std::shared_ptr<tx> sptr;
    /*! \param mode for example 4539-600S
     *  \param agc_blocks ahead of a high-rate preamble, 0 to 7
     *  \param gap_ms silence before each transmission and after the last one, 0 to 60000
     *  \throws std::invalid_argument
     */
    static sptr make(const std::string& mode, int agc_blocks = 0, double gap_ms = 100);

    //! Transmissions completed.
    virtual uint64_t transmissions() const = 0;
    //! PDUs dropped: not a PDU, unknown mode, or too many waiting.
    virtual uint64_t dropped() const = 0;
};

} // namespace gr::hf

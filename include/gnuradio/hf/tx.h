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
 * Message port \c pdus (in): a PDU whose octets are one message. The key mode in its
 * metadata chooses another mode of the same bandwidth. Output: complex baseband at four
 * samples per symbol (9600 samples/s at 3 kHz, 153600 at 48 kHz), tagged tx_sob and
 * tx_eob, with zeros in between. There is no output while no PDU waits, unless
 * \p continuous. At most 64 PDUs wait. Further ones are dropped and counted.
 */
class HF_API tx : virtual public gr::sync_block
{
public:
    typedef std::shared_ptr<tx> sptr; //!< pointer type for flowgraphs
    /*! \param mode mode, for example 4539-600S
     *  \param agc_blocks AGC training blocks before a high-rate preamble, 0 to 7
     *  \param gap_ms silence before each transmission and after the last one, 0 to 60000
     *  \param continuous zeros while no PDU waits, for sound cards and displays, which
     *         want samples all the time. A later block must limit the pace (a throttle, a
     *         radio)
     *  \param level highest magnitude of the samples, 0.001 to 10; full scale of sound
     *         cards and radios is 1. The default leaves the modulator's level: mean power
     *         1 (PSK) or less (QAM, down to 0.54), which the channel models count on
     *  \throws std::invalid_argument
     */
    static sptr make(const std::string& mode,
                     int agc_blocks = 0,
                     double gap_ms = 100,
                     bool continuous = false,
                     double level = 1.6);

    //! Transmissions completed.
    virtual uint64_t transmissions() const = 0;
    //! PDUs dropped: not a PDU, a mode that is unknown or of another bandwidth, too many
    //! waiting.
    virtual uint64_t dropped() const = 0;
    //! Highest magnitude of the samples from now on, as \p level of make(). Any thread may
    //! call it. \throws std::invalid_argument
    virtual void set_level(double level) = 0;
};

} // namespace gr::hf

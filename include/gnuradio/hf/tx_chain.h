/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gnuradio/hier_block2.h>
#include <hf/api.h>

#include <memory>
#include <string>

namespace gr::hf {

/*! \brief Modulator made of the stages of the transmit chain.
 *  \ingroup hf
 *
 * hf.message_framer, fec_encoder, block_interleaver, symbol_mapper, frame_builder and
 * pulse_shaper in a row. For one message its samples equal those of hf.tx, which needs
 * less time and memory, and takes several modes. Message port \c pdus (in) as of
 * hf.message_framer, output as of hf.pulse_shaper.
 */
class HF_API tx_chain : virtual public gr::hier_block2
{
public:
    typedef std::shared_ptr<tx_chain> sptr; //!< pointer type for flowgraphs
    /*! \param mode mode, for example 4539-600S
     *  \param agc_blocks AGC training blocks before the preamble, 0 to 7 in the high-
     *         rate modes, 0 to 255 in wideband, 0 in the serial tone
     *  \param gap_ms silence before and after each transmission, 0 to 60000
     *  \param continuous zeros while no message waits, as of hf.tx
     *  \param level highest magnitude of the samples, 0.001 to 10, as of hf.tx
     *  \throws std::invalid_argument
     */
    static sptr make(const std::string& mode,
                     int agc_blocks = 0,
                     double gap_ms = 100,
                     bool continuous = false,
                     double level = 1.6);

    //! Highest magnitude of the samples from now on, as \p level of make(). Any thread may
    //! call it. \throws std::invalid_argument
    virtual void set_level(double level) = 0;
};

} // namespace gr::hf

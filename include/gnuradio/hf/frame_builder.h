/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gnuradio/tagged_stream_block.h>
#include <hf/api.h>

#include <memory>
#include <string>

namespace gr::hf {

/*! \brief Puts preamble, mini-probes and reinserted preambles around data symbols.
 *  \ingroup hf
 *
 * Input: the data symbols of an interleaver block, one packet, as of hf.symbol_mapper.
 * Output: all symbols of the block, complex, 800 symbols/s for each kHz (2400 in 3
 * kHz). AGC blocks and the preamble stand before the first block of a transmission
 * (tag tx_sob), a reinserted preamble before later ones. A packet of another length
 * ends the flowgraph with a message that names both.
 */
class HF_API frame_builder : virtual public gr::tagged_stream_block
{
public:
    typedef std::shared_ptr<frame_builder> sptr; //!< pointer type for flowgraphs
    /*! \param mode mode, for example 4539-600S
     *  \param agc_blocks AGC training blocks before the preamble, 0 to 7 in the high-
     *         rate modes, 0 to 255 in wideband, 0 in the serial tone
     *  \throws std::invalid_argument for an unknown mode or a number of AGC blocks
     *         that it does not allow
     */
    static sptr make(const std::string& mode, int agc_blocks = 0);
};

} // namespace gr::hf

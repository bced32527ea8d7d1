/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gnuradio/tagged_stream_block.h>
#include <hf/api.h>

#include <memory>
#include <string>

namespace gr::hf {

/*! \brief Soft-decision Viterbi decoder of a mode.
 *  \ingroup hf
 *
 * Input: log-likelihood ratios of the coded bits of an interleaver block, positive for
 * 0, 0 for unknown ones, in the order of the encoder, one packet. Output: unpacked
 * bits. The running code of the serial tone holds back 45 bits, so that the first
 * packet is shorter or missing. Tags of each packet: quality (double, 0 guesses to 1
 * no contradiction), coded_ber (double, share of coded bits that the decoder changed).
 * The decoder starts again at the tag hf_start. A packet of another length ends the
 * flowgraph with a message that names both.
 */
class HF_API fec_decoder : virtual public gr::tagged_stream_block
{
public:
    typedef std::shared_ptr<fec_decoder> sptr; //!< pointer type for flowgraphs
    /*! \param mode mode, for example 4539-600S
     *  \throws std::invalid_argument for an unknown mode
     */
    static sptr make(const std::string& mode);
};

} // namespace gr::hf

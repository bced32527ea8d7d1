/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gnuradio/hier_block2.h>
#include <hf/api.h>

#include <memory>
#include <string>

namespace gr::hf {

/*! \brief Receiver of one mode made of the stages of the receive chain.
 *  \ingroup hf
 *
 * hf.preamble_finder, equaliser, soft_demapper, block_deinterleaver, fec_decoder and
 * message_parser in a row. Input: complex baseband as of hf.preamble_finder. Message
 * port \c pdus (out) as of hf.message_parser.
 *
 * It decodes once, as hf.rx with effort = 0: iterating needs feedback from the decoder
 * to the equaliser, which a chain does not have. See hf.preamble_finder for what else
 * hf.rx does.
 */
class HF_API rx_chain : virtual public gr::hier_block2
{
public:
    typedef std::shared_ptr<rx_chain> sptr; //!< pointer type for flowgraphs
    /*! \param mode mode, for example 4539-600S
     *  \throws std::invalid_argument for an unknown mode
     */
    static sptr make(const std::string& mode);
};

} // namespace gr::hf

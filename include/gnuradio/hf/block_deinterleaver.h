/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gnuradio/tagged_stream_block.h>
#include <hf/api.h>

#include <memory>
#include <string>

namespace gr::hf {

/*! \brief Deinterleaver of a mode.
 *  \ingroup hf
 *
 * Input: log-likelihood ratios of an interleaver block in the order of arrival, one
 * packet. Output: the same in the order of the encoder (110C 5.3.2.3.3, C.5.3.3). A
 * packet of another length ends the flowgraph with a message that names both.
 */
class HF_API block_deinterleaver : virtual public gr::tagged_stream_block
{
public:
    typedef std::shared_ptr<block_deinterleaver> sptr; //!< pointer type for flowgraphs
    /*! \param mode mode, for example 4539-600S
     *  \throws std::invalid_argument for an unknown mode
     */
    static sptr make(const std::string& mode);
};

} // namespace gr::hf

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gnuradio/tagged_stream_block.h>
#include <hf/api.h>

#include <memory>
#include <string>

namespace gr::hf {

/*! \brief Interleaver of a mode.
 *  \ingroup hf
 *
 * Input: the coded bits of an interleaver block, one packet. Output: the same bits in
 * the order in which they are sent (110C 5.3.2.3.3, C.5.3.3).
 * hf.waveform.interleaver() gives the order. A packet of another length ends the
 * flowgraph with a message that names both.
 */
class HF_API block_interleaver : virtual public gr::tagged_stream_block
{
public:
    typedef std::shared_ptr<block_interleaver> sptr; //!< pointer type for flowgraphs
    /*! \param mode mode, for example 4539-600S
     *  \throws std::invalid_argument for an unknown mode
     */
    static sptr make(const std::string& mode);
};

} // namespace gr::hf

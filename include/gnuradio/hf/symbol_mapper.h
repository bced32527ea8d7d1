/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gnuradio/tagged_stream_block.h>
#include <hf/api.h>

#include <memory>
#include <string>

namespace gr::hf {

/*! \brief Maps interleaved bits to scrambled data symbols.
 *  \ingroup hf
 *
 * Input: the bits of an interleaver block in the order in which they are sent, one
 * packet. Output 0: the points of the data symbols, complex, largest magnitude 1, with
 * the scrambling of that block (110C 5.3.2.3.4 and 5.3.2.3.7, C.5.1). Output 1
 * (optional): their numbers, indices into hf.waveform.constellation(). At 75 bit/s and
 * in wideband waveform 0 two bits select a Walsh word, five or six in our own robust family.
 * The output is its chips.
 * Blocks are counted from the tag tx_sob on. A packet of another length ends the
 * flowgraph with a message that names both.
 */
class HF_API symbol_mapper : virtual public gr::tagged_stream_block
{
public:
    typedef std::shared_ptr<symbol_mapper> sptr; //!< pointer type for flowgraphs
    /*! \param mode mode, for example 4539-600S
     *  \throws std::invalid_argument for an unknown mode
     */
    static sptr make(const std::string& mode);
};

} // namespace gr::hf

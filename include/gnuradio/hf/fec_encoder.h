/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gnuradio/tagged_stream_block.h>
#include <hf/api.h>

#include <memory>
#include <string>

namespace gr::hf {

/*! \brief Convolutional encoder of a mode.
 *  \ingroup hf
 *
 * Input: unpacked bits in packets of one interleaver block, as of hf.message_framer.
 * Output: the coded bits of the block, repeated or punctured, before the interleaver
 * (110C 5.3.2.3.2, C.5.3.2). The register of the serial tone runs on through the
 * blocks; it starts with zeros at the tag tx_sob. Other modes code each block by
 * itself. A packet of another length ends the flowgraph with a message that names
 * both.
 */
class HF_API fec_encoder : virtual public gr::tagged_stream_block
{
public:
    typedef std::shared_ptr<fec_encoder> sptr; //!< pointer type for flowgraphs
    /*! \param mode mode, for example 4539-600S
     *  \throws std::invalid_argument for an unknown mode
     */
    static sptr make(const std::string& mode);
};

} // namespace gr::hf

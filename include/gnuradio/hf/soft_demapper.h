/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gnuradio/tagged_stream_block.h>
#include <hf/api.h>

#include <memory>
#include <string>

namespace gr::hf {

/*! \brief Turns equalised symbols into soft bits.
 *  \ingroup hf
 *
 * Inputs: the estimates of an interleaver block and the variances of their errors, as
 * of hf.equaliser, one packet each. Output: log-likelihood ratios of the bits,
 * positive for 0, in the order of arrival, with the scrambling of that block undone.
 * Blocks are counted from the tag hf_start on. A packet of another length ends the
 * flowgraph with a message that names both.
 */
class HF_API soft_demapper : virtual public gr::tagged_stream_block
{
public:
    typedef std::shared_ptr<soft_demapper> sptr; //!< pointer type for flowgraphs
    /*! \param mode mode, for example 4539-600S
     *  \throws std::invalid_argument for an unknown mode
     */
    static sptr make(const std::string& mode);
};

} // namespace gr::hf

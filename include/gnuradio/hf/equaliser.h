/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gnuradio/block.h>
#include <hf/api.h>

#include <memory>
#include <string>

namespace gr::hf {

/*! \brief Follows the channel of a transmission and equalises its symbols.
 *  \ingroup hf
 *
 * Input: complex baseband with the tags hf_start of hf.preamble_finder. Transmissions
 * of other modes are ignored, also what looks like a preamble while another
 * transmission goes on. Method: channel estimates from known symbols, then block
 * decision feedback (linear in wide bands), as hf.rx with effort = 0.
 *
 * Output 0: estimates of the data symbols as sent, scrambled, largest magnitude 1, in
 * packets of one interleaver block. Output 1: the variance of each estimate's error.
 * Bits instead of symbols come from Walsh words (75 bit/s, wideband waveform 0, our own
 * robust family): the log-likelihood ratios of two bits are real and imaginary part of an
 * item of output 0. Output 1 is then 1.
 *
 * Tags: packet_len on both outputs. On output 0 hf_start at the first block of a
 * transmission (symbol_0 counted from the first input sample), snr_db (double) at each
 * block, and at each frame taps (c32vector, steps of half a symbol; none with Walsh
 * words) and noise (double). Blocks go on until there has been no signal for 10 s or
 * the next transmission starts: this block does not know that a message has ended.
 */
class HF_API equaliser : virtual public gr::block
{
public:
    typedef std::shared_ptr<equaliser> sptr; //!< pointer type for flowgraphs
    /*! \param mode mode, for example 4539-600S
     *  \throws std::invalid_argument for an unknown mode
     */
    static sptr make(const std::string& mode);
};

} // namespace gr::hf

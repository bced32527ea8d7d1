/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gnuradio/block.h>
#include <hf/api.h>

#include <memory>
#include <string>

namespace gr::hf {

/*! \brief Shapes symbols into complex baseband.
 *  \ingroup hf
 *
 * Input: symbols, complex, with the tags tx_sob and tx_eob at the first and the last
 * of a transmission. Output: complex baseband at four samples per symbol (9600
 * samples/s at 3 kHz, 153600 at 48 kHz), centred at 0 Hz, with the same tags. Each
 * symbol is a root raised cosine of roll-off 0.35 and 10 symbols to either side (110C
 * Appendix C recommends it). Mean power of the samples: that of the symbols.
 */
class HF_API pulse_shaper : virtual public gr::block
{
public:
    typedef std::shared_ptr<pulse_shaper> sptr; //!< pointer type for flowgraphs
    /*! \param mode mode, for example 4539-600S; its bandwidth counts
     *  \param gap_ms silence before and after each transmission, 0 to 60000
     *  \param continuous zeros while there are no symbols, all the time: then a later
     *         block must limit the pace and end the flowgraph
     *  \param level highest magnitude of the samples, 0.001 to 10, as of hf.tx
     *  \throws std::invalid_argument
     */
    static sptr make(const std::string& mode,
                     double gap_ms = 100,
                     bool continuous = false,
                     double level = 1.6);

    //! Highest magnitude of the samples from now on, as \p level of make(). Any thread may
    //! call it. \throws std::invalid_argument
    virtual void set_level(double level) = 0;
};

} // namespace gr::hf

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <gnuradio/sync_block.h>
#include <hf/api.h>

#include <cstdint>
#include <memory>
#include <string>

namespace gr::hf {

/*! \brief Finds the preambles of transmissions, and tags them.
 *  \ingroup hf
 *
 * Input: complex baseband, 3200 samples/s for each kHz of bandwidth (9600 in 3 kHz),
 * the subcarrier at 0 Hz, any level. Output: the same samples. A preamble of any mode
 * of the bandwidth within 75 Hz (110C C.6.3) gets the tag hf_start some 5 ms after it
 * was recognised, at most a second after its end.
 *
 * The tag is a dictionary: mode (symbol), snr_db (double, in the bandwidth),
 * freq_offset_hz (double), symbol_0 (double: samples from the tag to the first symbol
 * after the preamble, at delay 0; negative ones are earlier), profile (f32vector:
 * power at each delay, steps of half a symbol), first_tap (integer: delay of the first
 * path, index into profile), noise (double: variance of a half-symbol sample),
 * first_symbol (integer: first preamble symbol seen, negative), read_symbol (integer:
 * first one of the stretch that gave the profile), preamble (c32vector: its symbols as
 * sent, empty: the usual ones of the mode).
 *
 * hf.rx also blanks impulses, takes out carriers of other stations and joins
 * transmissions without their preamble; this block does not.
 */
class HF_API preamble_finder : virtual public gr::sync_block
{
public:
    typedef std::shared_ptr<preamble_finder> sptr; //!< pointer type for flowgraphs
    /*! \param mode mode, for example 4539-600S. Its bandwidth counts; with the zero
     *         interleaver (Z), short interleavers of the serial tone mean none
     *  \throws std::invalid_argument for an unknown mode
     */
    static sptr make(const std::string& mode);

    //! Preambles tagged.
    virtual uint64_t found() const = 0;
};

} // namespace gr::hf

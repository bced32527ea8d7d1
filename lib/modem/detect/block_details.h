/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/detect/soft_symbols.h"
#include "waveform/coding/constellation.h"

#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gr::hf::kernel {

/*! \brief Intermediate results of an interleaver block, for displays and dumps. Kept only
 *         on request.
 */
struct block_details {
    /*! \brief Equalised data symbols of the last round, in order of arrival, PSK without
     *         its scrambling. The largest magnitude of a point is 1. Empty at 75 bit/s.
     */
    std::vector<std::complex<float>> symbols;
    //! Log-likelihood ratios given to the decoder, positive for 0, in order of arrival.
    std::vector<float> llrs;
    /*! \brief Channel taps in the middle of each frame, frame by frame, turned to one
     *         carrier. Each frame has as many taps as the report's profile. Empty at 75
     *         bit/s.
     */
    std::vector<std::complex<float>> taps;
};

//! A data symbol before scrambling. QAM symbols stay, as their scrambling only permutes
//! points.
inline std::complex<float>
unscrambled(const constellation& alphabet, uint8_t scramble, const symbol_estimate& e)
{
    return alphabet.rule == scrambling::add_mod_8
               ? e.value * std::conj(alphabet.points[scramble & 7])
               : e.value;
}

} // namespace gr::hf::kernel

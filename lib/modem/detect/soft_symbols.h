/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/detect/belief.h"
#include "waveform/coding/constellation.h"

#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gr::hf::kernel {

//! An equaliser's result for a symbol: estimate = symbol + error, E|error|^2.
struct symbol_estimate {
    std::complex<float> value; //!< unbiased
    float error = 1;           //!< variance of the error
};

//! Converts estimates of symbols to soft bits, and soft bits to beliefs about symbols.
class soft_symbols
{
public:
    //! \p alphabet outlives this.
    explicit soft_symbols(const constellation& alphabet);

    /*! \brief Soft bits of a label from an estimate, max-log: positive for 0, first bit
     *         of the label first. \p llr gets alphabet.bits values.
     */
    void soft_bits(uint8_t scrambling, const symbol_estimate& e, float* llr) const;

    /*! \brief The same, if other evidence gives ratios \p prior of the label's bits. \p llr
     *         gets the evidence of the estimate alone (extrinsic). Method: iterative
     *         demapping, ten Brink 1998.
     */
    void soft_bits(uint8_t scrambling,
                   const symbol_estimate& e,
                   const float* prior,
                   float* llr) const;

    //! Mean and variance of a symbol, from the alphabet.bits ratios of its label's bits.
    symbol_belief belief_of(uint8_t scrambling, const float* llr) const;

private:
    bool is_inverted(uint8_t scrambling, unsigned bit) const;

    const constellation& d_alphabet;
    size_t d_labels;
    /* QAM: the label is the number with some bits inverted by scrambling. So work on bits
     * of the number, and change the sign of inverted bits at the end. */
    bool d_inverts;
    std::vector<float> d_re, d_im; // points by number
    // Points and their power, by the later half of the number's bits, then by the first
    // half.
    size_t d_first, d_later; // number of values of each half
    std::vector<float> d_sums[3];
};

} // namespace gr::hf::kernel

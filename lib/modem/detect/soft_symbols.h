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

//! What an equaliser finds out about a symbol: estimate = symbol + error, E|error|^2.
struct symbol_estimate {
    std::complex<float> value; //!< unbiased
    float error = 1;           //!< variance of the error
};

//! From estimates of symbols to soft bits, and from soft bits to beliefs about symbols.
class soft_symbols
{
public:
    //! \p alphabet outlives this.
    explicit soft_symbols(const constellation& alphabet);

    /*! \brief Soft bits of a label from an estimate, max-log: positive for 0; first bit of the
     *         label first. \p llr gets alphabet.bits values.
     */
    void soft_bits(uint8_t scrambling, const symbol_estimate& e, float* llr) const;

    //! Mean and variance of a symbol whose label has bits with such ratios, alphabet.bits values.
    symbol_belief belief_of(uint8_t scrambling, const float* llr) const;

private:
    const constellation& d_alphabet;
    size_t d_labels;
    /* QAM: the label is the number but for the scrambling, which inverts bits of it. So bits of
     * the number are worked on, and those that are inverted change their sign in the end. */
    bool d_inverts;
    std::vector<float> d_re, d_im; // points by number
    // By the later half of the number's bits, then by the first one: points and their power.
    size_t d_first, d_later; // how many values each half has
    std::vector<float> d_sums[3];
};

} // namespace gr::hf::kernel

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gr::hf::kernel::wideband {

//! A channel symbol as received: 2 m / variance for each di-bit, m its correlation.
using dibit_evidence = std::array<std::complex<float>, 4>;

//! Code words of a super-frame: the di-bits of each, all of one length.
using dibit_words = std::vector<std::vector<uint8_t>>;

//! Logarithms of probabilities, up to a common constant.
struct preamble_scores {
    std::vector<float> counts; //!< of the downcount at the first super-frame
    std::vector<float> words;  //!< of the waveform's words
};

/*! \brief Adds the evidence of a super-frame to the scores.
 *
 * On a steady channel the phases of the channel symbols lie on a line. A word then
 * counts as one correlation, not as the sum of its symbols' magnitudes. Otherwise the
 * phases are random. The score averages all lines and no line, each weighted by the
 * likelihood of the received symbols. This is the likelihood of a word over an unknown
 * channel.
 *
 *  \param scores earlier scores of \p counts and \p words; -1e30: impossible
 *  \param symbols received symbols, those of the downcount first
 *  \param counts code words of the downcount in this super-frame; without di-bits if it
 *        has none
 *  \param words code words of the waveform
 *  \returns log-likelihood ratio of a super-frame to noise, plus the sum of Es / N0 over
 *        all chips of \p symbols
 */
float add_superframe(preamble_scores& scores,
                     const std::vector<dibit_evidence>& symbols,
                     const dibit_words& counts,
                     const dibit_words& words);

/*! \brief Logarithm of the probability that two equal paths with independent Rayleigh
 *         fading are together \p db below their mean.
 */
float faded_by(double db);

} // namespace gr::hf::kernel::wideband

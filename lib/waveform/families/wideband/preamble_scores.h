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

//! What the words of one super-frame may say: the di-bits of each code word, all of one length.
using dibit_words = std::vector<std::vector<uint8_t>>;

//! Logarithms of probabilities, up to a sum that all have in common.
struct preamble_scores {
    std::vector<float> counts; //!< of the downcount at the first super-frame
    std::vector<float> words;  //!< of the waveform's words
};

/*! \brief Adds what a super-frame says to what is known.
 *
 * Where the channel is steady the phases of its channel symbols lie on a line, so that a word
 * counts as one correlation and not as the sum of the magnitudes of its symbols; where it is
 * not, they are anything. All lines and no line at all are averaged, each by how likely it makes
 * what was received: the likelihood of a word whose channel is not known.
 *
 * \param scores what was known before; of \p counts and \p words; -1e30: cannot be
 * \param symbols as received, those of the downcount first
 * \param counts code words of the downcount in this super-frame; without di-bits if it has none
 * \param words code words of the waveform
 * \returns logarithm of how much likelier what was received is if this is a super-frame than if
 *          it is noise, plus the sum of Es / N0 over all chips of \p symbols
 */
float add_superframe(preamble_scores& scores,
                     const std::vector<dibit_evidence>& symbols,
                     const dibit_words& counts,
                     const dibit_words& words);

/*! \brief Logarithm of the probability that two equal paths, each of which fades by itself
 *         (Rayleigh), are together \p db below their mean.
 */
float faded_by(double db);

} // namespace gr::hf::kernel::wideband

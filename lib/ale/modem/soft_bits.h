/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "ale/modem/tone_rows.h"

#include <vector>

namespace gr::hf::ale {

//! The soft bits of a word that would end in some row, its three copies summed.
struct soft_word {
    std::array<float, bits_per_copy> bits{}; //!< positive for 1
    float strength = 0; //!< sum of magnitudes of \ref bits, over \ref norm
    float norm = 0;     //!< root of the sum of squares of all 147 soft bits
};

/*! \brief Soft bits of the tones in every row and at every frequency offset.
 *  \details The logarithm of the likelihood ratio, where each bit counts only its most
 *  likely tones. The level of the tones is taken as known: \ref expected.
 */
class soft_bits
{
public:
    //! Energy of a tone over the noise that the likelihoods assume: at -7 dB in 3 kHz.
    static constexpr float expected = 4.8f;

    /*! \param history_words number of words that remain: the latest tone of a word may be
     *         this number of words old
     */
    explicit soft_bits(size_t history_words);

    //! The next row.
    void push(const tone_rows::row& r);
    //! Rows so far.
    int64_t rows() const { return d_rows; }

    /*! \brief The word whose last tone ends in row \p end at offset \p offset.
     *  \param end at most rows() - 1; older ones than the history give zeros
     */
    soft_word at(int64_t end, size_t offset) const;
    /*! \brief How many of 48 bits are equal in all three copies, 0 to 48: the votes that
     *         are unanimous (A.5.2.6.3).
     */
    int votes(int64_t end, size_t offset) const;

private:
    static constexpr size_t bits_per_word = tones_per_word * bits_per_tone;

    const float* word_at(int64_t end, size_t offset) const;

    const size_t d_kept, d_room; // bits that remain, and that there is room for
    // Bits of the tones that are rows_per_tone rows apart, in order of time. By row modulo
    // rows_per_tone, then offset.
    std::vector<std::vector<float>> d_streams;
    std::array<size_t, rows_per_tone> d_used{};
    int64_t d_rows = 0;
};

} // namespace gr::hf::ale

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "ale/words/word.h"

#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gr::hf::ale {

/*! \brief Measures SNR and frequency offset of a word that was read.
 *  \details It keeps the latest samples of the rows (tone_rows), and evaluates them at the
 *  eight tones where the word was.
 */
class word_meter
{
public:
    struct result {
        float snr_db = 0; //!< in 3 kHz
        float offset_hz = 0;
    };

    //! \param history_words number of later words after which a word can still be measured
    explicit word_meter(size_t history_words);

    //! Take \p n samples, at tone_row_sample_rate, the middle tone at 0 Hz.
    void push(const std::complex<float>* x, size_t n);

    /*! \brief Measure a word.
     *  \param end its last row
     *  \param offset index of the frequency offset at which it was read
     */
    result measure(const word& text, int64_t end, size_t offset) const;

private:
    float energy(int64_t first, size_t count, double hz) const;

    std::vector<std::complex<float>> d_samples; // the latest ones, a ring
    int64_t d_count = 0;
};

} // namespace gr::hf::ale

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "ale/words/word.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gr::hf::ale {

constexpr size_t tone_count = 8;
constexpr size_t bits_per_tone = 3;
constexpr size_t bits_per_copy = 49;  //!< of a word: two codewords and a stuff bit
constexpr size_t copies = 3;          //!< of each word, one after the other
constexpr size_t tones_per_word = 49; //!< 147 bits
constexpr double tone_rate = 125;     //!< tones/s
constexpr double lowest_tone_hz = 750;
constexpr double tone_step_hz = 250;
constexpr double word_s = tones_per_word / tone_rate; //!< Trw, 0.392 s

//! One copy of a word as it is on the air, a bit in each entry.
using coded_word = std::array<uint8_t, bits_per_copy>;

/*! \brief Two Golay codewords, the check bits of the second inverted, interleaved bit by
 *         bit, and a stuff bit of 0 (MIL-STD-188-141B A.5.2.3).
 */
coded_word encode(const word& w);

/*! \brief How well a word fits soft bits: their sum, those of zeros negated.
 *  \param soft 49 soft bits as in coded_word, positive for 1
 */
float correlate(const coded_word& w, const std::array<float, bits_per_copy>& soft);

//! Tone of three bits, the first the highest: 0 for 750 Hz to 7 for 2500 Hz.
unsigned tone_of(unsigned bits);
//! Bits of a tone, 0 to 7. The inverse of tone_of().
unsigned bits_of(unsigned tone);

//! Tones of a word with its three copies.
std::array<uint8_t, tones_per_word> tones_of(const word& w);

//! Kinds of word among which the receiver chooses.
enum class word_set : uint8_t {
    routing,           //!< TO, TIS, TWAS, FROM, THRU with characters of addresses
    command,           //!< CMD with any characters
    address_extension, //!< DATA, REP with characters of addresses
    any_extension      //!< DATA, REP with any characters
};
constexpr size_t word_sets = 4;

//! A word and how well it fits.
struct word_match {
    word what;
    float score = 0; //!< sum of the soft bits, those of zeros negated
};

/*! \brief The word of each set that fits best: maximum likelihood over the whole set.
 *  \param soft 49 soft bits as in coded_word, positive for 1
 */
std::array<word_match, word_sets>
best_words(const std::array<float, bits_per_copy>& soft);

} // namespace gr::hf::ale

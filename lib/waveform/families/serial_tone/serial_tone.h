/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "waveform/description.h"

#include <hf/mode.h>

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

//! The serial-tone family, 75 to 4800 bit/s: MIL-STD-188-110C 5.3.2.
namespace gr::hf::kernel::serial_tone {

constexpr size_t group_symbols = 32;    //!< one word of the preamble, sent four times
constexpr size_t segment_symbols = 480; //!< 15 groups, 200 ms
constexpr size_t fixed_groups = 9;      //!< groups 0..8 are the same in every segment
constexpr size_t fixed_symbols = fixed_groups * group_symbols; //!< 288

//! Positions of the variable groups in a segment.
constexpr size_t d1_group = 9, d2_group = 10, c1_group = 11, c2_group = 12, c3_group = 13;

//! The eight words of 8 chips; each chip is 0 or 4 (110C table XIII). \p word is 0..7.
const std::array<uint8_t, 8>& walsh_word(unsigned word);

//! The words of the 15 groups of a segment. \p count is the countdown value, 0..63.
std::array<uint8_t, 15> segment_words(unsigned d1, unsigned d2, unsigned count);

//! One preamble segment of 480 symbols as sent (scrambled), numbers 0..7.
std::vector<uint8_t> preamble_segment(unsigned d1, unsigned d2, unsigned count);

//! The first 288 symbols of every segment, as sent.
const std::vector<uint8_t>& fixed_preamble();

//! The words that identify a mode, each 4..7.
struct mode_words {
    uint8_t d1 = 0, d2 = 0;
};

//! D1, D2 of serial-tone mode \p m. \throws std::invalid_argument for other modes.
mode_words words_of(const mode& m);

/*! \brief The mode for D1, D2. Empty for reserved combinations, on which a receiver must
 *         not lock.
 *  \param zero_for_short the same words stand for the short and the zero interleaver,
 *        and both ends agree beforehand. true: return Z where the table says S
 */
std::optional<mode> mode_of(unsigned d1, unsigned d2, bool zero_for_short = false);

//! Value 0..63 of the countdown words C1..C3; empty if one is not in 4..7.
std::optional<unsigned> countdown_of(unsigned c1, unsigned c2, unsigned c3);

//! Segments in the preamble: 24 with the long interleaver, else 3.
size_t segments(const mode& m);

//! Every mode of the family.
const std::vector<mode>& modes();

//! The description of a serial-tone mode. \throws std::invalid_argument for other modes.
description describe(const mode& m);

} // namespace gr::hf::kernel::serial_tone

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gr::hf::kernel {

/*! \brief Serial tone, data phase: 160 values 0..7, then again from the start.
 *
 * 12-bit Galois register x^12+x^6+x^4+x+1, loaded with 0xBAD, shifted 8 times before each
 * value (110C 5.3.2.3.7.2.3). Unknown and known symbols alike are added modulo 8.
 */
const std::array<uint8_t, 160>& serial_tone_data_scrambler();

//! Serial tone, preamble: 32 values 0..7, repeated (110C 5.3.2.3.7.2.1).
const std::array<uint8_t, 32>& serial_tone_sync_scrambler();

//! Direction in which the register of frame_scrambler() runs.
enum class register_shift {
    right, //!< as in figure D-6 of 110C: 1 0 0 1 4 0 3 0 ... for 3 bits
    left   //!< the reversed reading of 5069: 1 0 2 1 4 1 1 6 ...
};

/*! \brief High rate and wideband: values for the data symbols of one frame.
 *
 * 9-bit register x^9+x^4+1, loaded with 1 at the start of every frame's data; the low
 * \p bits bits are the value, then the register shifts \p bits times (110C C.5.1.4).
 * \param bits of a value: 3 for PSK (QPSK too), bits per symbol for QAM; 1 to 8.
 * \param count number of values: the data symbols of a frame.
 * \param shift to the left: the feedback, of the cells x^9 and x^4, enters on the right.
 * \throws std::invalid_argument for \p bits out of range.
 */
std::vector<uint8_t> frame_scrambler(unsigned bits,
                                     size_t count,
                                     register_shift shift = register_shift::right);

} // namespace gr::hf::kernel

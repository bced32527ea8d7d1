/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "waveform/description.h"

#include <hf/mode.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

/*! \brief Our own robust family, 50 to 300 bit/s in 3 kHz, for SNRs below -4 dB. No standard
 *         has it.
 *
 * A word is one of 32 or 64 Walsh functions of 32 or 64 chips, repeated up to three times
 * and scrambled with 8PSK. A convolutional code (K = 7, tail-biting) and an interleaver
 * precede the words. The receiver passes beliefs between words and decoder in rounds, so
 * the words act as the inner code.
 *
 * Numbers that name no other source are from a model of the words, the code and unknown
 * phases on AWGN: docs/receiver.md, "The robust family".
 */
namespace gr::hf::kernel::robust {

//! Symbols of one period of the preamble's fixed part: an m-sequence.
constexpr size_t period_symbols = 63;
/*! \brief Periods of the fixed part. The search needs search_periods of them, and starts
 *         once in look_periods.
 */
constexpr size_t search_periods = 24, look_periods = 27,
                 fixed_periods = search_periods + look_periods + 1;
//! Periods of the part that names the mode.
constexpr size_t mode_periods = 12;

//! Period of the fixed part, numbers 0 and 4.
const std::array<uint8_t, period_symbols>& preamble_period();

//! The part that names mode number \p mode of modes(), numbers 0 to 7.
std::vector<uint8_t> mode_part(size_t mode);

//! Every mode of the family, in the order of their numbers on the air.
const std::vector<mode>& modes();

//! The description of a mode. \throws std::invalid_argument for modes of other families.
description describe(const mode& m);

} // namespace gr::hf::kernel::robust

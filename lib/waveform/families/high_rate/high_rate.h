/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "waveform/description.h"

#include <hf/mode.h>

#include <array>
#include <complex>
#include <cstdint>
#include <optional>
#include <vector>

//! The high-rate family, 3200 to 12800 bit/s: MIL-STD-188-110C Appendix C.
namespace gr::hf::kernel::high_rate {

constexpr size_t data_symbols = 256; //!< data symbols of a frame
constexpr size_t probe_symbols = 31; //!< mini-probe at the end of a frame
constexpr size_t frame_symbols = data_symbols + probe_symbols;
constexpr size_t superframe_frames = 72; //!< frames between reinserted preambles
constexpr size_t set_probes = 18;        //!< mini-probes in one repetition of the mode

constexpr size_t sync_symbols = 184;     //!< first section of the preamble
constexpr size_t preamble_symbols = 287; //!< whole preamble
constexpr size_t reinserted_symbols = 72;
//! Start of the sections of the preamble.
constexpr size_t probe_plus_begin = 184, words_begin = 216, probe_minus_begin = 256;

//! The 184 fixed symbols (110C C.5.2.1.1), 8PSK numbers.
const std::vector<uint8_t>& sync();

//! The mini-probe "+" (31 symbols); the mini-probe "-" has 4 added modulo 8 (110C
//! C.5.2.2).
const std::vector<uint8_t>& mini_probe();

//! The 13 chips of the Barker code, 0 or 4.
const std::array<uint8_t, 13>& barker();

//! The mode as the preamble and the mini-probes announce it, 3 bits each (110C
//! C.5.2.1.2).
struct mode_codes {
    uint8_t rate = 0;        //!< 3200=1 4800=2 6400=3 8000=4 9600=5 12800=6
    uint8_t interleaver = 0; //!< US=1 VS=2 S=3 M=4 L=5 VL=6
};

//! Codes of high-rate mode \p m. \throws std::invalid_argument for other modes.
mode_codes codes_of(const mode& m);

/*! \brief The mode for these codes; empty for reserved codes.
 *  \details 12800 requires interleaver code 1, the one in the standard.
 */
std::optional<mode> mode_of(mode_codes c);

//! The codes as three QPSK symbols D0, D1, D2 (8PSK numbers 0, 2, 4, 6).
std::array<uint8_t, 3> words_of(mode_codes c);
//! Codes for D0, D1, D2; empty if one of them is odd or above 7.
std::optional<mode_codes> codes_of_words(const std::array<uint8_t, 3>& d);

//! The whole preamble of 287 symbols, 8PSK numbers.
std::vector<uint8_t> preamble(mode_codes c);
//! The reinserted preamble: symbols 215 to 286 of the preamble.
std::vector<uint8_t> reinserted(mode_codes c);

/*! \brief Points of symbols 184 to 286 of the preamble, 0 for the three mode words.
 *  \details Every reinserted preamble repeats them, together with the mini-probe before
 *  it.
 */
std::vector<std::complex<float>> preamble_tail();

/*! \brief Signs of the mini-probes 1..72 after the preamble; 1 means "-".
 *
 * There are four sets of 18: - - - - - - - +, three bits of rate, three of interleaver,
 * three of the set's number 1..4, +. A "-" is a one.
 */
std::array<uint8_t, superframe_frames> probe_signs(mode_codes c);

//! Every mode of the family.
const std::vector<mode>& modes();

//! The description of a high-rate mode. \throws std::invalid_argument for other modes.
description describe(const mode& m);

} // namespace gr::hf::kernel::high_rate

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "waveform/description.h"
#include "waveform/families/wideband/tables.h"

#include <hf/mode.h>

#include <array>
#include <cstdint>
#include <vector>

/*! \brief The wideband family, 75 bit/s in 3 kHz to 240 kbit/s in 48 kHz: STANAG 5069,
 *         MIL-STD-188-110C Appendix D (3 to 24 kHz) and 110D Appendix D (30 to 48 kHz).
 *
 * docs/wideband.md gives the source of each number.
 */
namespace gr::hf::kernel::wideband {

//! Every bandwidth of the family, kHz.
constexpr std::array<int, 12> bandwidths_khz{
    3, 6, 9, 12, 15, 18, 21, 24, 30, 36, 42, 48
};

//! Every mode of the family: each waveform, interleaver and constraint length.
const std::vector<mode>& modes();

/*! \brief Readings found on the air besides that of the standard: reversed in 3 kHz.
 *  \details As packet-net/pdn-soundmodem transmits since 2026: the register of the data
 *  scrambler shifts to the left, the generators of the code are reversed in time, the
 *  shifted probe marks the block in use, waveform 0 has no exceptional last word, the
 *  scrambling of the preamble runs on, and the most significant bit of an octet is first.
 */
std::vector<waveform_reading> other_readings(const mode& m);

//! The description of a wideband mode. \throws std::invalid_argument for other modes.
description describe(const mode& m);

//! The printed row of mode \p m. \throws std::invalid_argument for other modes.
const waveform_row& row_of(const mode& m);
//! Column of an interleaver in the rows: US, S, M, L. \throws std::invalid_argument for
//! other interleavers.
size_t column_of(interleaver il);

/*! \brief The code of rate \p num / \p den: tail-biting, 110C table D-XLII.
 *  \throws std::invalid_argument for a rate or constraint length that the table lacks.
 */
code_plan code_of(unsigned num, unsigned den, int constraint_length);

//! A mini-probe: its base sequence repeated cyclically, in both phases (110C D.5.2.2).
struct mini_probe {
    size_t base = 0;              //!< period, symbols
    size_t shift = 0;             //!< symbols by which the boundary probe is ahead
    std::vector<uint8_t> normal;  //!< numbers in known_points()
    std::vector<uint8_t> shifted; //!< marks a boundary
};

/*! \brief The mini-probe of \p length symbols.
 *
 * Bases of square length m*m are Frank sequences, exp(-j*2*pi*r*c/m) at place m*r + c;
 * their periodic autocorrelation is zero off the peak. 13 is a Barker code. 19 is a
 * sequence of signs with -1 off the peak.
 *  \throws std::invalid_argument for a length that no waveform has
 */
mini_probe mini_probe_of(size_t length);

/*! \brief Points of the known symbols of waveforms with probes of \p length: the eight of
 *         8PSK, then the roots of unity used by the base sequence.
 */
std::vector<std::complex<float>> known_points(size_t length);

/*! \brief True if the probe after data frame \p frame (0 is the first of the
 *         transmission) is shifted. The shifted probe precedes the last frame of each
 *         **Long** block, with any interleaver (110C D.5.2.2).
 */
bool boundary_probe(const waveform_row& w, uint64_t frame);
/*! \brief The same in another reading found on the air: before the last frame of each
 *         block of the interleaver in use.
 */
bool boundary_probe_of_block(size_t frames_per_block, uint64_t frame);

/*! \brief Waveform 0: the chips of di-bit \p dibit, 0 or 4, before scrambling.
 *  \param alternate the set for the last di-bit of every interleaver block; the eight
 *        words are orthogonal. Some transmitters do not change the set, so a receiver
 *        tries both
 */
std::vector<uint8_t> walsh_word(unsigned dibit, bool alternate);

//! Waveform 0: 2048 values 0..7, repeated, that scramble the chips of each block.
const std::vector<uint8_t>& chip_scrambler();

} // namespace gr::hf::kernel::wideband

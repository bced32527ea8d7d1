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

/*! \brief The preamble of the wideband family, for transmitter and receiver: 110C
 *         D.5.2.1.
 *
 * It has M super-frames. Each has a fixed part of nine channel symbols, four channel
 * symbols of downcount and five that identify the waveform. A channel symbol is a
 * di-bit: it selects one of four Walsh words of four chips, which is repeated for
 * 13.333 ms and scrambled.
 */
namespace gr::hf::kernel::wideband {

//! The parts of a super-frame, each with its own scrambling sequence.
enum class preamble_part { fixed, countdown, waveform };

constexpr size_t countdown_symbols = 4; //!< channel symbols c3 c2 c1 c0
constexpr size_t waveform_symbols = 5;  //!< channel symbols w4 w3 w2 w1 w0
constexpr size_t max_superframes = 32;
//! The di-bits of the fixed part (110C D.5.2.1.1).
constexpr std::array<uint8_t, 9> fixed_dibits{ 0, 0, 2, 1, 2, 1, 0, 2, 3 };

/*! \brief Chips of a channel symbol: 32 per 3 kHz.
 *
 * Printed up to 24 kHz (110C table D-XIII). **Derived above**: no known table gives the
 * length there. preamble_above_24_khz::same_time keeps the rule, so that a channel
 * symbol lasts 13.333 ms in every bandwidth. preamble_above_24_khz::same_chips keeps the
 * 256 chips of 24 kHz. Only this function and the index of the scrambling sequence in
 * channel_symbol() depend on the choice.
 */
size_t
channel_symbol_chips(int bandwidth_khz,
                     preamble_above_24_khz rule = preamble_above_24_khz::same_time);

/*! \brief A channel symbol as sent: 8PSK numbers.
 *  \param position place of the symbol in its part, 0 is the first; matters only if the
 *        scrambling runs on through the part
 *  \param dibit 0 to 3
 */
std::vector<uint8_t> channel_symbol(preamble_part part,
                                    size_t position,
                                    unsigned dibit,
                                    int bandwidth_khz,
                                    const preamble_options& o = {});

/*! \brief The same as points of magnitude 1, for the receiver's correlation.
 *
 * The four points for dibit = 0 .. 3 are orthogonal over every four chips. Both readings
 * of the scrambling give the same points at 24 kHz, and for the last of the nine symbols
 * of the fixed part in every bandwidth up to 24 kHz.
 */
std::vector<std::complex<float>> channel_symbol_points(preamble_part part,
                                                       size_t position,
                                                       unsigned dibit,
                                                       int bandwidth_khz,
                                                       const preamble_options& o = {});

//! The fixed part as points: nine channel symbols, or one (di-bit 3) in the short form.
std::vector<std::complex<float>> fixed_part_points(int bandwidth_khz,
                                                   const preamble_options& o = {});

//! Di-bits c3 c2 c1 c0 of downcount \p count, 0 to 31 (110C D.5.2.1.2).
std::array<uint8_t, countdown_symbols> countdown_dibits(unsigned count);
//! The downcount of these di-bits; empty if a parity bit is wrong.
std::optional<unsigned>
countdown_of(const std::array<uint8_t, countdown_symbols>& dibits);

//! The waveform as the preamble announces it (110C D.5.2.1.3). The bandwidth is not
//! signalled.
struct waveform_word {
    unsigned wid = 0; //!< 0 to 13
    interleaver il = interleaver::short_;
    int constraint_length = 7;

    bool operator==(const waveform_word& o) const
    {
        return wid == o.wid && il == o.il && constraint_length == o.constraint_length;
    }
};

/*! \brief Di-bits w4 .. w0.
 *  \throws std::invalid_argument for a word without a code in the standard
 */
std::array<uint8_t, waveform_symbols> waveform_dibits(const waveform_word& w);
/*! \brief The word of these di-bits. Empty if a parity bit is wrong, for the reserved
 *         numbers 14 and 15, and for waveform 0 with the UltraShort interleaver, which
 *         it lacks.
 */
std::optional<waveform_word>
waveform_of(const std::array<uint8_t, waveform_symbols>& dibits);

//! A code word of the preamble and its meaning, for soft decisions over all code words.
template <class Meaning, size_t N>
struct codeword {
    std::array<uint8_t, N> dibits;
    Meaning meaning;
};
//! All 32 downcounts, in order.
const std::vector<codeword<unsigned, countdown_symbols>>& countdown_codebook();
//! All 110 waveform words; a bandwidth may lack some, see mode_of().
const std::vector<codeword<waveform_word, waveform_symbols>>& waveform_codebook();

//! The mode of a word in this bandwidth; empty if there is none.
std::optional<mode> mode_of(int bandwidth_khz, const waveform_word& w);
//! The word of wideband mode \p m. \throws std::invalid_argument for other modes.
waveform_word word_of(const mode& m);

/*! \brief Number of preamble super-frames of mode \p m, unless the operator decides
 *         otherwise.
 *
 * The standard leaves M to the operator (110C D.5.2.1). One is enough, except for
 * waveforms whose data are readable at SNRs at which one is missed too often. Waveform 0
 * has three in 3 kHz and two in wider bands, with more chips. Waveform 1 has two in
 * 3 kHz. The reversed reading has three, as the receiver of its maker expects several.
 *
 *  \throws std::invalid_argument for a mode of another family
 */
int usual_superframes(const mode& m);

/*! \brief TLC block and preamble of mode \p m, including the mini-probe after it.
 *  \throws std::invalid_argument for another mode, or options that the standard does not
 *        allow
 */
preamble_plan preamble(const mode& m, const preamble_options& o = {});

} // namespace gr::hf::kernel::wideband

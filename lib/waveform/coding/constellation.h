/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gr::hf::kernel {

//! How a scrambling value changes the number of a data symbol.
enum class scrambling {
    add_mod_8,   //!< PSK: number = (number + value) mod 8
    exclusive_or //!< QAM: number = number xor value
};

/*! \brief The alphabet of the data symbols of one mode.
 *
 * Bits get on the air in three steps:
 * - \c bits bits, the first fetched bit most significant, form a *label*.
 * - The label selects a *symbol number* (label_to_number, Gray-like coding).
 * - The scrambler turns the symbol number into the number sent, an index into \c points.
 *
 * PSK always sends one of eight phases: QPSK and BPSK have 8 points and use all of them
 * by scrambling. In the 75 bit/s mode the number selects a Walsh word instead of a point
 * (see description::words), and each chip of the word is scrambled.
 */
struct constellation {
    unsigned bits = 0; //!< bits per channel symbol, 1 to 6, or 8
    scrambling rule = scrambling::add_mod_8;
    std::vector<std::complex<float>>
        points;                           //!< by number as sent; largest magnitude is 1
    std::vector<uint8_t> label_to_number; //!< 2^bits entries

    //! The number sent for \p label under scrambling value \p s.
    uint8_t scramble(uint8_t label, uint8_t s) const
    {
        const uint8_t n = label_to_number[label];
        return rule == scrambling::add_mod_8 ? (n + s) & 7 : n ^ s;
    }
    //! The point sent for \p label under scrambling value \p s.
    std::complex<float> point(uint8_t label, uint8_t s) const
    {
        return points[scramble(label, s)];
    }
    //! Mean power of the points for random bits.
    double mean_power() const;
};

//! exp(j*pi*k/4) for k = 0..7: the alphabet of all known symbols.
const std::vector<std::complex<float>>& psk8_points();

/*! \brief Serial tone: 8PSK points. Labels pass the modified Gray decoder (110C
 *         5.3.2.3.3), and numbers are evenly spaced on the circle.
 *  \param bits 1, 2 or 3 per symbol
 */
constellation serial_tone_psk(unsigned bits);

//! Serial tone, 75 bit/s: labels of 2 bits select the Walsh words 0 to 3 (110C
//! 5.3.2.3.7.2.2).
constellation serial_tone_walsh();

/*! \brief High rate and wideband: BPSK, QPSK or 8PSK on 8PSK points. Labels pass the
 *         transcoding tables (110C C.5.1.2, D.5.1.2).
 *  \param bits 1, 2 or 3 per symbol
 */
constellation transcoded_psk(unsigned bits);
/*! \brief High rate and wideband: QAM, in which the label is the number (110C C.5.1.3,
 *         D.5.1.2).
 *  \param bits 4, 5, 6 or 8 (wideband only) per symbol
 *  \throws std::invalid_argument for other values
 */
constellation qam(unsigned bits);

} // namespace gr::hf::kernel

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace gr::hf::ale {

//! Data words of the code.
constexpr unsigned golay_words = 4096;

/*! \brief Codeword of the extended Golay code (24,12): 12 data bits, 11 check bits, even
 *         parity (MIL-STD-188-141B A.5.2.3.2). The first bit on the air is the highest.
 *  \param data 0 to 4095
 */
uint32_t golay_encode(uint32_t data);

/*! \brief Correlation of soft bits with every codeword.
 *  \param soft 24 soft bits, the first on the air first, positive for 1
 *  \param out for each data word the sum of the soft bits, those of zeros negated
 *  \details 4096 sums of three table entries: a codeword in octets.
 */
void golay_correlate(const std::array<float, 24>& soft,
                     std::array<float, golay_words>& out);

} // namespace gr::hf::ale

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gr::hf::kernel {

/*! \brief Decode a piece of the running code of the serial tone whose last six bits before
 *         it were zeros (110C 5.3.2.3.2). Viterbi algorithm.
 *  \param pairs log-likelihood ratios, positive for 0, T1 and T2 of each bit. Those after
 *               the wanted bits help to decode the last of them.
 *  \param bits  wanted, at most half the number of ratios
 *  \return the bits, one per element
 */
std::vector<uint8_t> decode_after_zeros(std::vector<float> pairs, size_t bits);

} // namespace gr::hf::kernel

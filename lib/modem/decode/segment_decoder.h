/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "waveform/coding/convolutional_code.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gr::hf::kernel {

/*! \brief Decode a piece of a running code before which the encoder's register was zero.
 *         Viterbi algorithm.
 *  \param code  its repetition and puncturing do not count
 *  \param pairs log-likelihood ratios, positive for 0, T1 and T2 of each bit. Those after
 *               the wanted bits help to decode the last of them.
 *  \param bits  wanted, at most half the number of ratios
 *  \return the bits, one per element
 *  \throws std::invalid_argument for a code of another constraint length than 7 and 9
 */
std::vector<uint8_t>
decode_after_zeros(const code_plan& code, std::vector<float> pairs, size_t bits);

} // namespace gr::hf::kernel

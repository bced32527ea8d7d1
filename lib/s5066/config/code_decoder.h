/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace gr::hf::s5066 {

/*! \brief Decoder of the modem's running code, for a node that repairs segments from soft
 *         bits: log-likelihood ratios of the code after six zeros, and the number of
 *         wanted bits. Returns one bit per element. The modem has one, see
 *         kernel::decode_after_zeros().
 */
using code_decoder = std::function<std::vector<uint8_t>(std::vector<float>, size_t)>;

} // namespace gr::hf::s5066

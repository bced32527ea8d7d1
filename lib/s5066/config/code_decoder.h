/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "waveform/description.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace gr::hf::s5066 {

/*! \brief Decoder of a code that runs through the blocks, for a node that repairs segments
 *         from soft bits: the code of the waveform, log-likelihood ratios of a piece of it
 *         after zeros, and the number of wanted bits. Returns one bit per element. The
 *         modem has one, see kernel::decode_after_zeros().
 */
using code_decoder = std::function<
    std::vector<uint8_t>(const kernel::code_plan&, std::vector<float>, size_t)>;

} // namespace gr::hf::s5066

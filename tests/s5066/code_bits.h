/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "waveform/coding/convolutional_code.h"

#include <hf/modem_user.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace gr::hf::s5066 {

/*! \brief Code bits of \p octets with noise, as the modem gives them in rx_octets::ratios.
 *  \param noise   deviation, where a code bit has the amplitude 1
 *  \param assumed deviation that the log-likelihood ratios are computed for
 */
inline std::vector<int8_t>
code_bits(const std::vector<uint8_t>& octets,
          double noise,
          double assumed,
          std::mt19937_64& random,
          const kernel::code_plan& code = kernel::serial_tone_code(1))
{
    std::vector<uint8_t> bits, coded;
    for (const uint8_t o : octets)
        for (unsigned i = 0; i < 8; ++i)
            bits.push_back(o >> i & 1);
    kernel::convolutional_encoder(code.mother()).encode(bits.data(), bits.size(), coded);
    std::normal_distribution<double> gauss(0, noise);
    std::vector<int8_t> ratios;
    for (const uint8_t c : coded) {
        const double ratio = 2 / (assumed * assumed) * ((c ? -1 : 1) + gauss(random));
        ratios.push_back(static_cast<int8_t>(
            std::clamp(ratio / rx_octets::ratio_unit, -127.0, 127.0)));
    }
    return ratios;
}

//! Codes that run through the blocks, and of which no waveform in use has one.
inline std::vector<kernel::code_plan> other_codes()
{
    const kernel::code_plan usual = kernel::serial_tone_code(1);
    kernel::code_plan longer = usual, punctured = usual;
    longer.constraint_length = 9; // 110D table D-XLII
    longer.t1 = 0561;
    longer.t2 = 0753;
    punctured.puncture = { 1, 1, 1, 0, 0, 1 };
    punctured.repetition = 2;
    return { longer, usual.reversed(), punctured };
}

} // namespace gr::hf::s5066

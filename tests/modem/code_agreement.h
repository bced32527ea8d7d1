/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/loopback.h"
#include "waveform/coding/convolutional_code.h"

#include <cstdint>
#include <vector>

namespace loopback {

/*! \brief Of each block, the share of its ratios that agree with the code of the received
 *         octets. Ratios beyond the octets do not count.
 *  \param counted gets the number of ratios compared
 */
inline std::vector<double> code_agreement(const reception& r, size_t& counted)
{
    std::vector<uint8_t> bits, code;
    for (const uint8_t o : r.octets)
        for (unsigned i = 0; i < 8; ++i)
            bits.push_back(o >> i & 1);
    gr::hf::kernel::convolutional_encoder(gr::hf::kernel::serial_tone_code(1))
        .encode(bits.data(), bits.size(), code);
    std::vector<double> shares;
    uint64_t octets = 0;
    for (const auto& b : r.blocks) {
        const uint64_t from = 2 * (8 * octets + b.ratios_from);
        size_t right = 0, all = 0;
        for (size_t k = 0; k < b.ratios.size() && from + k < code.size(); ++k) {
            right += b.ratios[k] != 0 && (b.ratios[k] < 0) == (code[from + k] != 0);
            ++all;
        }
        if (all > 0)
            shares.push_back(static_cast<double>(right) / static_cast<double>(all));
        counted += all;
        octets += b.octets.size();
    }
    return shares;
}

} // namespace loopback

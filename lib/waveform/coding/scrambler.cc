/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "waveform/coding/scrambler.h"

#include <stdexcept>
#include <string>

namespace gr::hf::kernel {

const std::array<uint8_t, 160>& serial_tone_data_scrambler()
{
    static const auto values = [] {
        std::array<uint8_t, 160> v{};
        unsigned reg = 0xBAD;
        for (auto& value : v) {
            for (int shift = 0; shift < 8; ++shift) {
                const unsigned out = reg >> 11;
                reg = (reg << 1) & 0xFFF;
                if (out)
                    reg ^= 0x053; // x^6 + x^4 + x + 1
            }
            value = reg & 7;
        }
        return v;
    }();
    return values;
}

const std::array<uint8_t, 32>& serial_tone_sync_scrambler()
{
    static const std::array<uint8_t, 32> values{ 7, 4, 3, 0, 5, 1, 5, 0, 2, 2, 1,
                                                 1, 5, 7, 4, 3, 5, 0, 2, 6, 2, 1,
                                                 6, 2, 0, 0, 5, 0, 5, 2, 6, 6 };
    return values;
}

std::vector<uint8_t> frame_scrambler(unsigned bits, size_t count, register_shift shift)
{
    if (bits < 1 || bits > 8)
        throw std::invalid_argument("frame scrambler: " + std::to_string(bits) +
                                    " bits per value, allowed are 1 to 8");
    std::vector<uint8_t> v(count);
    unsigned reg = 1;
    for (auto& value : v) {
        value = static_cast<uint8_t>(reg & ((1u << bits) - 1));
        for (unsigned k = 0; k < bits; ++k)
            reg = shift == register_shift::right
                      ? reg >> 1 | ((reg >> 4 ^ reg) & 1) << 8
                      : (reg << 1 | ((reg >> 8 ^ reg >> 4) & 1)) & 0x1FF;
    }
    return v;
}

} // namespace gr::hf::kernel

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ale/words/golay.h"

namespace gr::hf::ale {

namespace {

// x^11 + x^9 + x^7 + x^6 + x^5 + x + 1.
constexpr uint32_t generator = 0xae3;

uint32_t computed(uint32_t data)
{
    uint32_t rest = data << 11;
    for (int k = 22; k >= 11; --k)
        if (rest >> k & 1)
            rest ^= generator << (k - 11);
    const uint32_t word = data << 11 | rest;
    uint32_t parity = word;
    for (const int by : { 16, 8, 4, 2, 1 })
        parity ^= parity >> by;
    return word << 1 | (parity & 1);
}

const std::array<uint32_t, golay_words>& codewords()
{
    static const auto all = [] {
        std::array<uint32_t, golay_words> a{};
        for (uint32_t d = 0; d < golay_words; ++d)
            a[d] = computed(d);
        return a;
    }();
    return all;
}

// Sums of 8 soft bits for every octet.
void octet_sums(const float* soft, std::array<float, 256>& sums)
{
    sums[0] = 0;
    for (int k = 0; k < 8; ++k)
        sums[0] -= soft[k];
    for (size_t octet = 1; octet < 256; ++octet) {
        // The lowest bit that is set, and the sum without it.
        const auto bit = static_cast<size_t>(__builtin_ctz(static_cast<unsigned>(octet)));
        sums[octet] = sums[octet & (octet - 1)] + 2 * soft[7 - bit];
    }
}

} // namespace

uint32_t golay_encode(uint32_t data) { return codewords()[data & (golay_words - 1)]; }

void golay_correlate(const std::array<float, 24>& soft,
                     std::array<float, golay_words>& out)
{
    std::array<float, 256> first, second, third;
    octet_sums(soft.data(), first);
    octet_sums(soft.data() + 8, second);
    octet_sums(soft.data() + 16, third);
    const auto& all = codewords();
    for (size_t d = 0; d < golay_words; ++d)
        out[d] = first[all[d] >> 16] + second[all[d] >> 8 & 0xff] + third[all[d] & 0xff];
}

} // namespace gr::hf::ale

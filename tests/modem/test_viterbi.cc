/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/viterbi.h"
#include "waveform/convolutional_code.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

using namespace gr::hf::kernel;

namespace {

std::vector<uint8_t> random_bits(size_t n, std::mt19937& rng)
{
    std::vector<uint8_t> b(n);
    for (auto& x : b)
        x = rng() & 1;
    return b;
}

// Coded bits as soft values with noise; \p sigma relative to 1.
std::vector<float>
soft(const std::vector<uint8_t>& coded, double sigma, std::mt19937& rng)
{
    std::normal_distribution<float> noise(0, static_cast<float>(sigma));
    std::vector<float> s;
    for (const uint8_t c : coded)
        s.push_back((c ? -1.0f : 1.0f) + (sigma > 0 ? noise(rng) : 0));
    return s;
}

} // namespace

TEST(viterbi, running_code_comes_back_with_its_delay)
{
    std::mt19937 rng(1);
    const auto bits = random_bits(3000, rng);
    convolutional_encoder enc(serial_tone_code(1));
    std::vector<uint8_t> coded;
    enc.encode(bits.data(), bits.size(), coded);
    const auto s = soft(coded, 0.5, rng); // Eb/N0 6 dB
    viterbi_decoder dec;
    dec.reset();
    std::vector<uint8_t> got;
    for (size_t k = 0; k < bits.size();) { // blocks of 45, as 75 bit/s short has
        dec.decode_running(&s[2 * k], 45 < bits.size() - k ? 45 : bits.size() - k, got);
        k += 45;
        EXPECT_EQ(got.size(), std::min(k, bits.size()) - viterbi_decoder::decision_delay);
    }
    ASSERT_EQ(got.size(), bits.size() - viterbi_decoder::decision_delay);
    EXPECT_TRUE(std::equal(got.begin(), got.end(), bits.begin()));
}

TEST(viterbi, tail_biting_needs_no_known_start)
{
    std::mt19937 rng(2);
    for (const size_t n : { 384u, 1152u, 20736u }) {
        const auto bits = random_bits(n, rng);
        code_plan plan = high_rate_code();
        plan.puncture.clear();
        convolutional_encoder enc(plan);
        std::vector<uint8_t> coded;
        enc.encode(bits.data(), n, coded);
        auto s = soft(coded, 0.3, rng);
        for (size_t i = 0; i < s.size(); ++i) // punctured to 3/4
            if (i % 6 == 3 || i % 6 == 4)
                s[i] = 0;
        viterbi_decoder dec;
        std::vector<uint8_t> got;
        dec.decode_tail_biting(s.data(), n, got);
        EXPECT_EQ(got, bits) << n;
    }
}

TEST(viterbi, corrects_as_much_as_the_code_can)
{
    // Soft decisions at Eb/N0 = 4 dB: BER of this code is about 1e-5; hard errors before
    // decoding are 5.6 %.
    std::mt19937 rng(3);
    const auto bits = random_bits(200000, rng);
    convolutional_encoder enc(serial_tone_code(1));
    std::vector<uint8_t> coded;
    enc.encode(bits.data(), bits.size(), coded);
    const double sigma = std::sqrt(1 / (2 * 0.5 * std::pow(10, 0.4)));
    const auto s = soft(coded, sigma, rng);
    viterbi_decoder dec;
    dec.reset();
    std::vector<uint8_t> got;
    dec.decode_running(s.data(), bits.size(), got);
    size_t errors = 0;
    for (size_t i = 0; i < got.size(); ++i)
        errors += got[i] != bits[i];
    EXPECT_LT(errors, 20u);
}

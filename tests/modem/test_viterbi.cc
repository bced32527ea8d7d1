/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/decode/viterbi.h"
#include "waveform/coding/convolutional_code.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <stdexcept>
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

// The code of 110C table D-XLII with K = 9, otherwise like \p p.
code_plan nine(code_plan p)
{
    p.constraint_length = 9;
    p.t1 = 0561;
    p.t2 = 0753;
    return p;
}

} // namespace

TEST(viterbi, refuses_codes_it_does_not_know)
{
    code_plan p = serial_tone_code(1);
    p.constraint_length = 8;
    EXPECT_THROW(viterbi_decoder{ p }, std::invalid_argument);
    p = nine(serial_tone_code(1));
    p.t1 = 0560; // a last coefficient of 0: its butterflies are others
    EXPECT_THROW(viterbi_decoder{ p }, std::invalid_argument);
}

class viterbi_of : public testing::TestWithParam<unsigned>
{
protected:
    static code_plan plan(const code_plan& p) { return GetParam() == 9 ? nine(p) : p; }
};
INSTANTIATE_TEST_SUITE_P(K, viterbi_of, testing::Values(7u, 9u));

TEST_P(viterbi_of, running_code_comes_back_with_its_delay)
{
    std::mt19937 rng(1);
    const auto bits = random_bits(3000, rng);
    convolutional_encoder enc(plan(serial_tone_code(1)));
    std::vector<uint8_t> coded;
    enc.encode(bits.data(), bits.size(), coded);
    const auto s = soft(coded, 0.5, rng); // Eb/N0 6 dB
    viterbi_decoder dec(enc.plan());
    EXPECT_EQ(dec.decision_delay(), GetParam() == 9 ? 58u : 45u);
    std::vector<uint8_t> got;
    for (size_t k = 0; k < bits.size();) { // blocks of 45, as 75 bit/s short has
        dec.decode_running(&s[2 * k], 45 < bits.size() - k ? 45 : bits.size() - k, got);
        k += 45;
        const size_t told = std::min(k, bits.size());
        EXPECT_EQ(got.size(), told - std::min(told, dec.decision_delay()));
    }
    ASSERT_EQ(got.size(), bits.size() - dec.decision_delay());
    EXPECT_TRUE(std::equal(got.begin(), got.end(), bits.begin()));
}

TEST_P(viterbi_of, tail_biting_needs_no_known_start)
{
    std::mt19937 rng(2);
    for (const size_t n : { 384u, 1152u, 20736u }) {
        const auto bits = random_bits(n, rng);
        code_plan mother = plan(high_rate_code());
        mother.puncture.clear();
        convolutional_encoder enc(mother);
        std::vector<uint8_t> coded;
        enc.encode(bits.data(), n, coded);
        auto s = soft(coded, 0.3, rng);
        for (size_t i = 0; i < s.size(); ++i) // punctured to 3/4
            if (i % 6 == 3 || i % 6 == 4)
                s[i] = 0;
        viterbi_decoder dec(mother);
        std::vector<uint8_t> got;
        dec.decode_tail_biting(s.data(), n, got);
        EXPECT_EQ(got, bits) << n;
    }
}

TEST_P(viterbi_of, corrects_as_much_as_the_code_can)
{
    // Soft decisions at Eb/N0 = 4 dB: BER of the code with K = 7 is about 1e-5, with K = 9 less;
    // hard errors before decoding are 5.6 %.
    std::mt19937 rng(3);
    const auto bits = random_bits(200000, rng);
    convolutional_encoder enc(plan(serial_tone_code(1)));
    std::vector<uint8_t> coded;
    enc.encode(bits.data(), bits.size(), coded);
    const double sigma = std::sqrt(1 / (2 * 0.5 * std::pow(10, 0.4)));
    const auto s = soft(coded, sigma, rng);
    viterbi_decoder dec(enc.plan());
    std::vector<uint8_t> got;
    dec.decode_running(s.data(), bits.size(), got);
    size_t errors = 0;
    for (size_t i = 0; i < got.size(); ++i)
        errors += got[i] != bits[i];
    EXPECT_LT(errors, 20u);
}

TEST(viterbi, nine_corrects_more_than_seven)
{
    // At Eb/N0 = 3 dB the codes' BERs are about 4e-4 and 6e-5, in bursts of some ten errors.
    size_t errors[2] = {};
    for (const bool k9 : { false, true }) {
        std::mt19937 rng(4);
        const auto bits = random_bits(1000000, rng);
        convolutional_encoder enc(k9 ? nine(serial_tone_code(1)) : serial_tone_code(1));
        std::vector<uint8_t> coded;
        enc.encode(bits.data(), bits.size(), coded);
        const double sigma = std::sqrt(1 / (2 * 0.5 * std::pow(10, 0.3)));
        const auto s = soft(coded, sigma, rng);
        viterbi_decoder dec(enc.plan());
        std::vector<uint8_t> got;
        dec.decode_running(s.data(), bits.size(), got);
        for (size_t i = 0; i < got.size(); ++i)
            errors[k9] += got[i] != bits[i];
    }
    EXPECT_GT(errors[0], 200u);
    EXPECT_LT(3 * errors[1], errors[0]);
}

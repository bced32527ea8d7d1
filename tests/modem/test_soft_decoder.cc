/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/decode/soft_decoder.h"
#include "modem/decode/viterbi.h"
#include "waveform/coding/convolutional_code.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

using namespace gr::hf::kernel;

namespace {

struct noisy_word {
    std::vector<uint8_t> coded;
    std::vector<float> llr;
};

// Code of constraint length 7 (110C 5.3.2.3.2) or 9 (table D-XLII).
code_plan running_code(unsigned k)
{
    code_plan p = serial_tone_code(1);
    if (k == 9) {
        p.constraint_length = 9;
        p.t1 = 0561;
        p.t2 = 0753;
    }
    return p;
}

code_plan tail_biting_code(unsigned k)
{
    code_plan p = running_code(k);
    p.tail_biting = true;
    return p;
}

// Log-likelihood ratios of coded random bits in noise of \p sigma relative to 1.
noisy_word make_word(const code_plan& plan, size_t n, double sigma, unsigned seed)
{
    std::mt19937 rng(seed);
    std::normal_distribution<double> noise(0, sigma);
    std::vector<uint8_t> bits(n);
    for (auto& b : bits)
        b = rng() & 1;
    noisy_word w;
    convolutional_encoder(plan).encode(bits.data(), n, w.coded);
    for (const uint8_t c : w.coded)
        w.llr.push_back(
            static_cast<float>(2 / (sigma * sigma) * ((c ? -1 : 1) + noise(rng))));
    return w;
}

// Best metric with coded bit \p k forced to \p value, by trying every word.
float best_metric(const std::vector<std::vector<uint8_t>>& words,
                  const std::vector<float>& llr,
                  size_t k,
                  uint8_t value)
{
    float best = -1e30f;
    for (const auto& w : words) {
        if (w[k] != value)
            continue;
        float m = 0;
        for (size_t i = 0; i < w.size(); ++i)
            m += (w[i] ? -0.5f : 0.5f) * llr[i];
        best = std::max(best, m);
    }
    return best;
}

class soft_decoder_of : public testing::TestWithParam<unsigned>
{
};
INSTANTIATE_TEST_SUITE_P(K, soft_decoder_of, testing::Values(7u, 9u));

} // namespace

TEST_P(soft_decoder_of, equals_the_comparison_of_all_words)
{
    constexpr size_t n = 11; // all 2048 words
    std::vector<std::vector<uint8_t>> words;
    for (unsigned v = 0; v < 1u << n; ++v) {
        std::vector<uint8_t> bits(n);
        for (size_t i = 0; i < n; ++i)
            bits[i] = v >> i & 1;
        words.emplace_back();
        convolutional_encoder(running_code(GetParam()))
            .encode(bits.data(), n, words.back());
    }
    soft_decoder dec(running_code(GetParam()));
    std::vector<float> out;
    for (unsigned seed = 0; seed < 5; ++seed) {
        const auto w = make_word(running_code(GetParam()), n, 1, seed);
        dec.decode_running(w.llr.data(), n, dec.at_zero(), out);
        ASSERT_EQ(out.size(), 2 * n);
        for (size_t k = 0; k < 2 * n; ++k)
            EXPECT_NEAR(out[k],
                        best_metric(words, w.llr, k, 0) - best_metric(words, w.llr, k, 1),
                        1e-3)
                << k;
    }
}

TEST_P(soft_decoder_of, a_running_code_goes_on_over_blocks)
{
    const auto w = make_word(running_code(GetParam()), 3000, 0.7, 1);
    soft_decoder dec(running_code(GetParam()));
    std::vector<float> whole, piece;
    dec.decode_running(w.llr.data(), 3000, dec.at_zero(), whole);
    auto m = dec.at_zero();
    size_t at = 0;
    for (const size_t n : { 700u, 45u, 1255u, 1000u }) {
        m = dec.decode_running(&w.llr[2 * at], n, m, piece);
        const size_t sure = n < 100 ? 0 : n - 100; // the end does not know what follows
        for (size_t k = 0; k < 2 * sure; ++k)
            ASSERT_NEAR(piece[k], whole[2 * at + k], 1e-2) << at << " " << k;
        at += n;
    }
}

TEST_P(soft_decoder_of, decides_tail_biting_words_as_viterbi_does)
{
    for (const size_t n : { 40u, 300u, 512u, 1500u, 20736u }) {
        const auto w =
            make_word(tail_biting_code(GetParam()), n, 0.75, static_cast<unsigned>(n));
        soft_decoder dec(running_code(GetParam()));
        std::vector<float> out;
        dec.decode_tail_biting(w.llr.data(), n, out);
        viterbi_decoder viterbi(running_code(GetParam()));
        std::vector<uint8_t> bits, best;
        viterbi.decode_tail_biting(w.llr.data(), n, bits);
        convolutional_encoder(tail_biting_code(GetParam())).encode(bits.data(), n, best);
        size_t differ = 0;
        for (size_t k = 0; k < 2 * n; ++k)
            differ += (out[k] < 0) != (best[k] != 0);
        EXPECT_EQ(differ, 0u) << n;
    }
}

TEST_P(soft_decoder_of, says_more_than_it_was_told)
{
    const auto w = make_word(tail_biting_code(GetParam()), 20000, 0.75, 3);
    soft_decoder dec(running_code(GetParam()));
    std::vector<float> out;
    dec.decode_tail_biting(w.llr.data(), 20000, out);
    size_t before = 0, after = 0;
    for (size_t k = 0; k < w.llr.size(); ++k) {
        before += (w.llr[k] < 0) != (w.coded[k] != 0);
        after += (out[k] < 0) != (w.coded[k] != 0);
    }
    EXPECT_GT(before, 3000u); // 9 %
    EXPECT_LT(after, before / 20);
}

// Every processor must give the same numbers.
TEST_P(soft_decoder_of, has_the_same_steps_on_every_processor)
{
    const auto plan = tail_biting_code(GetParam());
    const auto w = make_word(plan, 333, 0.9, 7);
    const size_t n = w.llr.size() / 2;
    const auto plain = make_plain_soft_steps(plan), fast = make_soft_steps(plan);
    ASSERT_EQ(plain->states(), fast->states());
    const size_t states = plain->states();
    std::vector<float> kept[2], metric[2], out[2];
    size_t i = 0;
    for (const auto* s : { plain.get(), fast.get() }) {
        kept[i].resize(n * states);
        metric[i].assign(states, 0);
        out[i].resize(2 * n);
        s->forward(w.llr.data(), n, metric[i].data(), kept[i].data());
        s->backward(w.llr.data(), n, metric[i].data());
        s->combine(w.llr.data(), n, kept[i].data(), metric[i].data(), out[i].data());
        ++i;
    }
    EXPECT_EQ(kept[0], kept[1]);
    EXPECT_EQ(metric[0], metric[1]);
    EXPECT_EQ(out[0], out[1]);
}

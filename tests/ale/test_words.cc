/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ale/modem/transmitter.h"
#include "ale/vectors.h"
#include "ale/words/coding.h"
#include "ale/words/golay.h"

#include <gtest/gtest.h>

#include <bitset>
#include <map>
#include <stdexcept>

namespace gr::hf::test {
namespace {

using namespace ale;

TEST(golay, example_of_the_standard)
{
    // Figure A-8.
    EXPECT_EQ(golay_encode(0b110100010101), 0b110100010101'010101100110u);
}

TEST(golay, weights_are_those_of_the_code)
{
    std::map<size_t, int> weights;
    for (uint32_t d = 0; d < golay_words; ++d)
        ++weights[std::bitset<24>(golay_encode(d)).count()];
    const std::map<size_t, int> expected{
        { 0, 1 }, { 8, 759 }, { 12, 2576 }, { 16, 759 }, { 24, 1 }
    };
    EXPECT_EQ(weights, expected);
}

TEST(golay, correlation_is_that_of_each_codeword)
{
    std::array<float, 24> soft{};
    for (size_t k = 0; k < 24; ++k)
        soft[k] = static_cast<float>(static_cast<int>(k * 7 % 11) - 5);
    std::array<float, golay_words> fit{};
    golay_correlate(soft, fit);
    for (const uint32_t d : { 0u, 1u, 77u, 2048u, 4095u }) {
        float expected = 0;
        for (size_t k = 0; k < 24; ++k)
            expected += golay_encode(d) >> (23 - k) & 1 ? soft[k] : -soft[k];
        EXPECT_FLOAT_EQ(fit[d], expected) << d;
    }
}

std::string tone_digits(const word& w)
{
    std::string digits;
    for (const uint8_t tone : tones_of(w))
        digits += static_cast<char>('0' + tone);
    return digits;
}

TEST(word, golden_words_to_tones)
{
    const auto all = load_word_vectors();
    ASSERT_EQ(all.size(), 106u);
    int with_tones = 0;
    for (const auto& v : all) {
        const auto w = word::parse(v.text);
        ASSERT_TRUE(w) << v.text;
        EXPECT_EQ(w->bits(), std::stoul(v.hex, nullptr, 16)) << v.text;
        EXPECT_EQ(w->to_string(), v.text);
        if (v.tones != "-") {
            EXPECT_EQ(tone_digits(*w), v.tones) << v.text;
            ++with_tones;
        }
    }
    EXPECT_EQ(with_tones, 78);
}

// Soft bits of one copy, of magnitude 1.
std::array<float, bits_per_copy> soft_bits(const std::string& tones)
{
    std::array<float, bits_per_copy> soft{};
    for (size_t k = 0; k < bits_per_copy; ++k) {
        const unsigned b = bits_of(static_cast<unsigned>(tones[k / 3] - '0'));
        soft[k] = b >> (2 - k % 3) & 1 ? 1.0f : -1.0f;
    }
    return soft;
}

TEST(word, golden_tones_to_words)
{
    for (const auto& v : load_word_vectors()) {
        const auto tones = v.tones == "-" ? tone_digits(*word::parse(v.text)) : v.tones;
        auto soft = soft_bits(tones);
        // Three wrong bits in each half, 2 and 3 bits apart.
        for (const size_t wrong : { 0, 1, 10, 13, 30, 41 })
            soft[wrong] = -soft[wrong];
        float best = 0;
        word found;
        for (const auto& match : best_words(soft))
            if (match.score > best) {
                best = match.score;
                found = match.what;
            }
        EXPECT_EQ(found.to_string(), v.text);
        EXPECT_EQ(best, 49.0f - 2 * 6) << v.text;
    }
}

TEST(word, best_words_are_of_their_sets)
{
    const auto of_data =
        best_words(soft_bits(tone_digits({ preamble::data, { 'a', 'B', 'C' } })));
    EXPECT_EQ(of_data[size_t(word_set::any_extension)].what.to_string(), "DATA:aBC");
    const auto basic = of_data[size_t(word_set::address_extension)].what;
    EXPECT_TRUE(is_extension(basic.kind) && is_basic(basic.text[0]));
    const auto routing = of_data[size_t(word_set::routing)].what;
    EXPECT_TRUE(is_routing(routing.kind) && is_basic(routing.text[2]));
    EXPECT_EQ(of_data[size_t(word_set::command)].what.kind, preamble::cmd);
}

TEST(word, text_that_is_no_word)
{
    for (const auto* text : { "",
                              "TO",
                              "TO:",
                              "TO:AB",
                              "TO:ABCD",
                              "XX:ABC",
                              "TO:A\\x8fB",
                              "TO:AB\\",
                              "TO:AB\\xg0",
                              "to:ABC",
                              "TO:AB\n" })
        EXPECT_FALSE(word::parse(text)) << text;
    EXPECT_EQ(word::parse("CMD:a\\\\\\x00")->to_string(), "CMD:a\\\\\\x00");
}

TEST(transmitter, phase_runs_on_and_tones_change_at_crests)
{
    const std::vector<word> words{ { preamble::to, { 'B', 'O', 'B' } } };
    transmitter t(words, 8000);
    EXPECT_EQ(t.length(), 3136u);
    std::vector<std::complex<float>> x(4000);
    x.resize(t.produce(x.data(), x.size()));
    ASSERT_EQ(x.size(), 3136u);
    EXPECT_EQ(t.produce(x.data(), 1), 0u);
    for (size_t k = 0; k < x.size(); k += 64)
        EXPECT_NEAR(x[k].real(), 1, 1e-4);
    const auto tones = tones_of(words[0]);
    for (size_t k = 0; k + 1 < x.size(); ++k) {
        const double hz = std::arg(x[k + 1] * std::conj(x[k])) / (2 * M_PI) * 8000;
        EXPECT_NEAR(hz, 750 + 250 * tones[k / 64], 1e-1) << k;
    }
    EXPECT_THROW(transmitter(words, 5000), std::invalid_argument);
    EXPECT_NO_THROW(transmitter(words, 2000, 1625));
}

} // namespace
} // namespace gr::hf::test

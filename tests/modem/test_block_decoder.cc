/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/decode/block_decoder.h"
#include "waveform/block_encoder.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

using namespace gr::hf;
using namespace gr::hf::kernel;

namespace {

std::vector<uint8_t> random_bits(size_t n, std::mt19937& rng)
{
    std::vector<uint8_t> bits(n);
    for (auto& b : bits)
        b = rng() & 1;
    return bits;
}

} // namespace

TEST(block_decoder, undoes_the_encoder_of_every_mode)
{
    std::mt19937 rng(1);
    size_t modes = 0;
    for (const mode& m : mode::all()) {
        const description& d = describe(m);
        const bool wideband = m.family == waveform_family::wideband;
        // Longer blocks of the wideband modes are the same code again, in minutes.
        if (wideband && d.input_bits > 4000)
            continue;
        ++modes;
        // Wideband and our own family have blocks of hundreds of bits: at rates above 2/3
        // one wrong bit in 200 may be too many for them.
        const bool small = wideband || m.family == waveform_family::robust;
        const bool flips =
            d.code.coded && (!small || 3 * d.input_bits <= 2 * d.coded_bits);
        block_encoder enc(d);
        block_decoder dec(d);
        std::vector<uint8_t> sent, got;
        for (uint64_t block = 0; block < 3; ++block) {
            const auto bits = random_bits(d.input_bits, rng);
            enc.encode(bits.data(), block);
            std::vector<float> soft;
            for (const uint8_t b : enc.fetched()) {
                const float l = b ? -4.0f : 4.0f;
                // Not half: four of those and two others would make two paths equal.
                soft.push_back(flips && rng() % 200 == 0 ? -0.45f * l : l);
            }
            const auto out = dec.decode(soft);
            sent.insert(sent.end(), bits.begin(), bits.end());
            got.insert(got.end(), out.bits.begin(), out.bits.end());
            if (!out.bits.empty()) {
                EXPECT_GT(out.quality, 0.7) << m.to_string();
            }
        }
        const size_t delay = d.code.coded && !d.code.tail_biting
                                 ? viterbi_decoder(d.code).decision_delay()
                                 : 0;
        ASSERT_EQ(got.size(), sent.size() - delay) << m.to_string();
        EXPECT_TRUE(std::equal(got.begin(), got.end(), sent.begin())) << m.to_string();
    }
    EXPECT_GE(modes, 440u); // all 51 of 3 kHz
}

// The CRC-32 of D_PDUs (STANAG 5066 C.3.2.11) finds no error in zeros: after a header with a
// good CRC-16 they would count as data.
TEST(block_decoder, erased_bits_become_ones)
{
    std::mt19937 rng(1);
    size_t modes = 0;
    for (const mode& m : mode::all()) {
        const description& d = describe(m);
        if (m.family == waveform_family::wideband && d.input_bits > 4000)
            continue;
        ++modes;
        block_encoder enc(d);
        block_decoder dec(d);
        std::vector<uint8_t> got;
        for (uint64_t block = 0; block < 3; ++block) {
            const auto bits = random_bits(d.input_bits, rng);
            enc.encode(bits.data(), block);
            std::vector<float> soft;
            for (const uint8_t b : enc.fetched())
                soft.push_back(block == 1 ? 0.0f : b ? -4.0f : 4.0f);
            const auto out = dec.decode(soft);
            got.insert(got.end(), out.bits.begin(), out.bits.end());
        }
        // The path needs some bits of a running code until it is free, and again at its end.
        const size_t edge =
            d.code.coded && !d.code.tail_biting ? 2 * d.code.constraint_length : 0;
        size_t zeros = 0;
        for (size_t i = d.input_bits + edge; i + edge < 2 * d.input_bits; ++i)
            zeros += got[i] == 0;
        EXPECT_EQ(zeros, 0u) << m.to_string() << " of " << d.input_bits;
    }
    EXPECT_GE(modes, 440u);
}

TEST(block_decoder, noise_has_no_quality)
{
    std::mt19937 rng(2);
    std::normal_distribution<float> g(0, 1);
    for (const char* name : { "4539-600S", "4539-150S", "4539-9600S" }) {
        const mode m = mode::parse(name);
        const description& d = describe(m);
        block_decoder dec(d);
        double q = 0;
        for (int i = 0; i < 20; ++i) {
            std::vector<float> soft(d.coded_bits);
            for (auto& x : soft)
                x = g(rng);
            q += dec.decode(soft).quality / 20;
        }
        EXPECT_LT(q, 0.06) << name;
    }
}

TEST(block_decoder, noise_has_no_quality_in_any_wideband_code)
{
    // 110C table D-XLII: repetition, masks of T1 and T2 for K = 7, for K = 9.
    struct {
        unsigned repetition;
        const char *k7_t1, *k7_t2, *k9_t1, *k9_t2;
    } const rows[] = {
        { 1, "111101110", "100010001", "111000101", "100111010" },
        { 1, "11110100", "10001011", "11100000", "10011111" },
        { 1, "11010", "10101", "10110", "11001" },
        { 1, "1111", "1000", "1101", "1010" },
        { 1, "110", "101", "111", "100" },
        { 1, "11", "10", "11", "10" },
        { 1, "111101111", "111111011", "111101111", "111111011" },
        { 1, "1", "1", "1", "1" },
        { 2, "1110", "1010", "1110", "1010" },
        { 2, "11", "10", "11", "10" },
        { 2, "1111", "0111", "1111", "0111" },
        { 8, "1", "1", "1", "1" },
    };
    std::mt19937 rng(3);
    std::normal_distribution<float> g(0, 1);
    for (const auto& row : rows)
        for (const unsigned k : { 7u, 9u }) {
            description d;
            d.code.coded = d.code.tail_biting = true;
            if (k == 9) {
                d.code.constraint_length = 9;
                d.code.t1 = 0561;
                d.code.t2 = 0753;
            }
            d.code.repetition = row.repetition;
            const std::string t1 = k == 9 ? row.k9_t1 : row.k7_t1;
            const std::string t2 = k == 9 ? row.k9_t2 : row.k7_t2;
            for (size_t i = 0; t1.size() > 1 && i < t1.size(); ++i) {
                d.code.puncture.push_back(t1[i] == '1');
                d.code.puncture.push_back(t2[i] == '1');
            }
            d.input_bits = 7200;
            d.coded_bits = d.code.coded_bits(d.input_bits);
            d.interleave = no_interleaver(d.coded_bits);
            block_decoder dec(d);
            std::vector<float> soft(d.coded_bits);
            for (auto& x : soft)
                x = g(rng);
            EXPECT_LT(dec.decode(soft).quality, 0.08) << t1 << " " << t2 << " K " << k;
            std::vector<uint8_t> bits(d.input_bits), coded;
            for (auto& b : bits)
                b = rng() & 1;
            convolutional_encoder(d.code).encode(bits.data(), bits.size(), coded);
            for (size_t i = 0; i < soft.size(); ++i)
                soft[i] = coded[i] ? -1.0f : 1.0f;
            const auto out = dec.decode(soft);
            EXPECT_EQ(out.bits, bits) << t1 << " " << t2 << " K " << k;
            EXPECT_GT(out.quality, 0.999);
        }
}

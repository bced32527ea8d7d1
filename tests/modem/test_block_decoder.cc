/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/block_decoder.h"
#include "waveform/block_encoder.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

using namespace gr::hf;
using namespace gr::hf::kernel;

TEST(block_decoder, undoes_the_encoder_of_every_mode)
{
    std::mt19937 rng(1);
    size_t modes = 0;
    for (const mode& m : mode::all()) {
        if (m.family == waveform_family::wideband)
            continue;
        ++modes;
        const description& d = describe(m);
        block_encoder enc(d);
        block_decoder dec(d);
        std::vector<uint8_t> sent, got;
        for (uint64_t block = 0; block < 3; ++block) {
            std::vector<uint8_t> bits(d.input_bits);
            for (auto& b : bits)
                b = rng() & 1;
            enc.encode(bits.data(), block);
            std::vector<float> soft;
            for (const uint8_t b : enc.fetched()) {
                const float l = b ? -4.0f : 4.0f;
                soft.push_back(d.code.coded && rng() % 200 == 0 ? -0.5f * l : l);
            }
            const auto out = dec.decode(soft);
            sent.insert(sent.end(), bits.begin(), bits.end());
            got.insert(got.end(), out.bits.begin(), out.bits.end());
            if (!out.bits.empty()) {
                EXPECT_GT(out.quality, 0.7) << m.to_string();
            }
        }
        const size_t delay =
            d.code.coded && !d.code.tail_biting ? viterbi_decoder::decision_delay : 0;
        ASSERT_EQ(got.size(), sent.size() - delay) << m.to_string();
        EXPECT_TRUE(std::equal(got.begin(), got.end(), sent.begin())) << m.to_string();
    }
    EXPECT_GE(modes, 51u);
}

TEST(block_decoder, noise_has_no_quality)
{
    std::mt19937 rng(2);
    std::normal_distribution<float> g(0, 1);
    for (const char* name : { "4539-600S", "4539-150S", "4539-9600S" }) {
        const description& d = describe(mode::parse(name));
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

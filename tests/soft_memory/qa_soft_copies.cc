/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Damaged copies of a segment, added up as soft bits.
#include "soft_memory/soft_copies.h"

#include "s5066/pdu/d_pdu.h"
#include "waveform/coding/convolutional_code.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

using namespace gr::hf;
using namespace gr::hf::s5066;

namespace {

// Noise of each code bit of amplitude 1. One copy has 0 dB of Eb/N0, five have 7 dB.
constexpr double sigma = 1;

struct copy {
    std::vector<uint8_t> header;
    std::vector<float> ratios;
};

struct soft_copy : testing::Test {
    soft_copy()
    {
        pdu.dst = address("1.2.3.4");
        pdu.src = address("1.2.3.5");
        pdu.arq.fsn = 7;
        for (size_t k = 0; k < 200; ++k)
            pdu.segment.push_back(static_cast<uint8_t>(random()));
    }

    // A copy with the EOT and a neighbour of its own.
    copy receive(uint8_t eot, double noise = sigma)
    {
        pdu.eot = eot;
        auto octets = encode(pdu);
        const size_t header = pdu.header_octets();
        copy c;
        c.header.assign(octets.begin(), octets.begin() + static_cast<long>(header));
        for (unsigned k = 0; k < 8; ++k)
            octets.push_back(static_cast<uint8_t>(random()));
        std::vector<uint8_t> bits, code;
        for (const uint8_t o : octets)
            for (unsigned i = 0; i < 8; ++i)
                bits.push_back(o >> i & 1);
        kernel::convolutional_encoder encoder(kernel::serial_tone_code(1));
        encoder.encode(bits.data(), bits.size(), code);
        std::normal_distribution<double> gauss(0, noise);
        for (size_t k = 16 * header; k < code.size(); ++k)
            c.ratios.push_back(static_cast<float>(2 / (sigma * sigma) *
                                                  ((code[k] ? -1 : 1) + gauss(random))));
        return c;
    }

    soft_copies::key key() const { return { pdu.src, pdu.arq.fsn, pdu.segment.size() }; }

    std::mt19937_64 random{ 1 };
    d_pdu pdu;
    soft_copies copies;
};

} // namespace

TEST_F(soft_copy, some_make_a_segment_that_none_has)
{
    for (unsigned trial = 0; trial < 20; ++trial) {
        std::optional<std::vector<uint8_t>> good;
        for (uint8_t k = 0; k < 5 && !good; ++k) {
            const copy c = receive(static_cast<uint8_t>(40 - 7 * k));
            ASSERT_FALSE(soft_copies().add({}, key(), c.header, c.ratios)) << trial;
            good = copies.add({}, key(), c.header, c.ratios);
        }
        ASSERT_TRUE(good) << trial;
        EXPECT_EQ(*good, pdu.segment);
        EXPECT_EQ(copies.ratios(), 0u);
    }
}

// The first pairs depend on the header's CRC, which covers the EOT. The second copy has
// none of these pairs, so the first bits come from the other header's copy.
TEST_F(soft_copy, the_headers_may_differ)
{
    copy first = receive(40, 0);
    for (size_t k = 400; k < 800; ++k)
        first.ratios[k] = -first.ratios[k];
    EXPECT_FALSE(copies.add({}, key(), first.header, first.ratios));
    copy second = receive(3, 0);
    for (float& r : second.ratios)
        r *= 1.5f;
    for (size_t k = 0; k < 100; ++k)
        second.ratios[k] = 0;
    const auto good = copies.add({}, key(), second.header, second.ratios);
    ASSERT_TRUE(good);
    EXPECT_EQ(*good, pdu.segment);
}

TEST_F(soft_copy, other_segments_stay_apart)
{
    const copy first = receive(40), second = receive(17), third = receive(3);
    auto other = key();
    ++other.number;
    copies.add({}, key(), first.header, first.ratios);
    copies.add({}, other, second.header, second.ratios);
    other = key();
    other.from = address("1.2.3.6");
    EXPECT_FALSE(copies.add({}, other, third.header, third.ratios));
    EXPECT_EQ(copies.ratios(), 3 * 2 * 8 * 204u);
    copies.drop_all(key().from);
    EXPECT_EQ(copies.ratios(), 2 * 8 * 204u);
}

TEST_F(soft_copy, old_ones_are_dropped)
{
    const copy first = receive(40);
    copies.add(from_seconds(1), key(), first.header, first.ratios);
    copies.expire(from_seconds(1 + soft_copies::longest_age_s));
    EXPECT_GT(copies.ratios(), 0u);
    copies.expire(from_seconds(1.1 + soft_copies::longest_age_s));
    EXPECT_EQ(copies.ratios(), 0u);
}

TEST_F(soft_copy, memory_is_bounded_and_the_newest_stay)
{
    pdu.segment.resize(max_segment);
    auto k = key();
    const copy one = receive(1, 5);
    for (k.number = 0; k.number < 80; ++k.number) {
        copies.add({}, k, one.header, one.ratios);
        ASSERT_LE(copies.ratios(), soft_copies::most_ratios);
    }
    EXPECT_EQ(copies.ratios() / (16 * (max_segment + 4)),
              soft_copies::most_ratios / (16 * (max_segment + 4)));
    const size_t before = copies.ratios();
    k.number = 79;
    copies.drop(k);
    EXPECT_LT(copies.ratios(), before);
    k.number = 0;
    const size_t after = copies.ratios();
    copies.drop(k);
    EXPECT_EQ(copies.ratios(), after);
}

TEST_F(soft_copy, noise_and_nonsense_give_nothing)
{
    copy c = receive(1);
    for (unsigned k = 0; k < 40; ++k) {
        for (float& r : c.ratios)
            r = static_cast<float>(std::normal_distribution<double>()(random));
        EXPECT_FALSE(copies.add({}, key(), c.header, c.ratios));
    }
    c.ratios.assign(c.ratios.size(), std::numeric_limits<float>::quiet_NaN());
    c.ratios[1] = std::numeric_limits<float>::infinity();
    copies.drop(key());
    EXPECT_FALSE(copies.add({}, key(), c.header, c.ratios));
    copies.drop(key());
    EXPECT_FALSE(copies.add({}, key(), {}, c.ratios));
    c.ratios.assign(c.ratios.size(), 0); // of a gap: zeros have a good CRC
    EXPECT_FALSE(copies.add({}, key(), c.header, c.ratios));
    copies.drop(key());
    c.ratios.resize(2 * 8 * 204 - 1);
    EXPECT_FALSE(copies.add({}, key(), c.header, c.ratios));
    EXPECT_FALSE(copies.add({}, { pdu.src, 1, 0 }, c.header, c.ratios));
    EXPECT_EQ(copies.ratios(), 0u);
    const copy good = receive(1, 0);
    EXPECT_EQ(copies.add({}, key(), good.header, good.ratios), pdu.segment);
}

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Damaged copies of a segment, added up as soft bits.
#include "s5066/dts/rx/soft_copies.h"

#include "code_bits.h"
#include "modem/decode/segment_decoder.h"
#include "s5066/dts/rx/code_ratios.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

using namespace gr::hf;
using namespace gr::hf::s5066;

namespace {

// Noise of each code bit of amplitude 1. One copy has 0 dB of Eb/N0, five have 7 dB.
constexpr double sigma = 1;

struct soft_copy : testing::Test {
    soft_copy()
    {
        pdu.dst = address("1.2.3.4");
        pdu.src = address("1.2.3.5");
        pdu.arq.fsn = 7;
        for (size_t k = 0; k < 200; ++k)
            pdu.segment.push_back(static_cast<uint8_t>(random()));
    }

    // A copy with the EOT and a neighbour of its own, as the node receives it.
    received_d_pdu on_air(uint8_t eot)
    {
        pdu.eot = eot;
        received_d_pdu r;
        r.octets = encode(pdu);
        r.pdu = *decode_d_pdu(r.octets);
        r.pdu.segment_ok = false;
        return r;
    }
    rx_octets heard(const received_d_pdu& r, double noise = sigma)
    {
        rx_octets e;
        e.octets = r.octets;
        for (unsigned k = 0; k < 8; ++k)
            e.octets.push_back(static_cast<uint8_t>(random()));
        e.ratios = code_bits(e.octets, noise, sigma, random, code);
        return e;
    }
    code_piece receive(uint8_t eot, double noise = sigma)
    {
        const auto r = on_air(eot);
        code_ratios all;
        all.reset(code);
        all.push(heard(r, noise));
        return all.of_segment(r);
    }

    soft_copies::key key() const
    {
        return { pdu.src, 1, pdu.arq.fsn, pdu.segment.size() };
    }

    std::mt19937_64 random{ 1 };
    d_pdu pdu;
    kernel::code_plan code = kernel::serial_tone_code(4);
    soft_copies copies{ kernel::decode_after_zeros };
};

} // namespace

TEST_F(soft_copy, some_make_a_segment_that_none_has)
{
    for (unsigned trial = 0; trial < 20; ++trial) {
        std::optional<std::vector<uint8_t>> good;
        for (uint8_t k = 0; k < 5 && !good; ++k) {
            const code_piece c = receive(static_cast<uint8_t>(40 - 7 * k));
            soft_copies alone(kernel::decode_after_zeros);
            ASSERT_FALSE(alone.add({}, key(), c)) << trial;
            good = copies.add({}, key(), c);
        }
        ASSERT_TRUE(good) << trial;
        EXPECT_EQ(*good, pdu.segment);
        EXPECT_EQ(copies.ratios(), 0u);
    }
}

TEST_F(soft_copy, a_segment_is_decoded_in_the_code_of_its_waveform)
{
    for (const kernel::code_plan& other : other_codes()) {
        code = other;
        EXPECT_EQ(copies.add({}, key(), receive(40, 0)), pdu.segment);
        std::optional<std::vector<uint8_t>> good;
        for (uint8_t k = 0; k < 5 && !good; ++k)
            good = copies.add({}, key(), receive(static_cast<uint8_t>(40 - 7 * k)));
        EXPECT_EQ(good, pdu.segment);
    }
}

// The peer has changed to a mode with another code. Either copy has half of the segment.
TEST_F(soft_copy, copies_in_another_code_are_not_added)
{
    const auto half = [this](bool second) {
        code_piece c = receive(40, 0);
        const auto middle = c.ratios.begin() + 8 * 200;
        std::fill(second ? c.ratios.begin() : middle,
                  second ? middle : c.ratios.end(),
                  int8_t{ 0 });
        return c;
    };
    EXPECT_FALSE(copies.add({}, key(), half(false)));
    code = other_codes().front();
    EXPECT_FALSE(copies.add({}, key(), half(true)));
    EXPECT_EQ(copies.add({}, key(), half(false)), pdu.segment);
}

TEST_F(soft_copy, codes_that_no_piece_can_be_taken_of_have_no_ratios)
{
    code.constraint_length = code_ratios::longest_constraint + 1;
    EXPECT_TRUE(receive(40, 0).ratios.empty());
    code = kernel::high_rate_code(); // tail-biting
    const auto r = on_air(40);
    code_ratios all;
    all.reset(code);
    code = kernel::serial_tone_code(1);
    all.push(heard(r, 0));
    EXPECT_TRUE(all.of_segment(r).ratios.empty());
}

// The first pairs depend on the header's CRC, which covers the EOT. The second copy has
// none of these pairs, so the first bits come from the other header's copy.
TEST_F(soft_copy, the_headers_may_differ)
{
    code_piece first = receive(40, 0);
    for (size_t k = 400; k < 800; ++k)
        first.ratios[k] = static_cast<int8_t>(-first.ratios[k]);
    EXPECT_FALSE(copies.add({}, key(), first));
    code_piece second = receive(3, 0);
    for (int8_t& r : second.ratios)
        r = static_cast<int8_t>(r * 3 / 2);
    for (size_t k = 0; k < 100; ++k)
        second.ratios[k] = 0;
    const auto good = copies.add({}, key(), second);
    ASSERT_TRUE(good);
    EXPECT_EQ(*good, pdu.segment);
}

TEST_F(soft_copy, other_segments_stay_apart)
{
    auto number = key(), numbering = key(), station = key();
    ++number.number;
    ++numbering.numbering;
    station.from = address("1.2.3.6");
    for (const auto& k : { key(), number, numbering, station })
        EXPECT_FALSE(copies.add({}, k, receive(40)));
    EXPECT_EQ(copies.ratios(), 4 * 2 * 8 * 204u);
    copies.drop(numbering);
    EXPECT_EQ(copies.ratios(), 3 * 2 * 8 * 204u);
}

TEST_F(soft_copy, old_ones_are_dropped)
{
    copies.add(from_seconds(1), key(), receive(40));
    copies.expire(from_seconds(1 + soft_copies::longest_age_s));
    EXPECT_GT(copies.ratios(), 0u);
    copies.expire(from_seconds(1.1 + soft_copies::longest_age_s));
    EXPECT_EQ(copies.ratios(), 0u);
}

TEST_F(soft_copy, memory_is_bounded_and_the_newest_stay)
{
    pdu.segment.resize(max_segment);
    auto k = key();
    code_piece one{ code, std::vector<int8_t>(16 * (max_segment + 4)) };
    for (int8_t& r : one.ratios)
        r = static_cast<int8_t>(random());
    for (k.number = 0; k.number < 80; ++k.number) {
        copies.add({}, k, one);
        ASSERT_LE(copies.ratios(), soft_copies::max_ratios);
    }
    EXPECT_EQ(copies.ratios() / (16 * (max_segment + 4)),
              soft_copies::max_ratios / (16 * (max_segment + 4)));
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
    code_piece c = receive(1);
    for (unsigned k = 0; k < 40; ++k) {
        for (int8_t& r : c.ratios)
            r = static_cast<int8_t>(random());
        EXPECT_FALSE(copies.add({}, key(), c));
    }
    copies.drop(key());
    c.ratios.assign(c.ratios.size(), 0); // of a gap: zeros have a good CRC
    EXPECT_FALSE(copies.add({}, key(), c));
    copies.drop(key());
    c.ratios.assign(c.ratios.size(), 127);
    EXPECT_FALSE(copies.add({}, key(), c));
    copies.drop(key());
    c.ratios.resize(2 * 8 * 204 - 1);
    EXPECT_FALSE(copies.add({}, key(), c));
    EXPECT_FALSE(copies.add({}, { pdu.src, 1, 1, 0 }, receive(1, 0)));
    EXPECT_FALSE(soft_copies({}).add({}, key(), receive(1, 0)));
    EXPECT_EQ(copies.ratios(), 0u);
    EXPECT_EQ(copies.add({}, key(), receive(1, 0)), pdu.segment);
}

// The last copy of a block of many may be of other content.
TEST_F(soft_copy, it_starts_again_after_the_most_copies)
{
    code_piece other = receive(1, 0);
    for (int8_t& r : other.ratios)
        r = static_cast<int8_t>(random() % 2 ? r : -r);
    for (unsigned k = 0; k < soft_copies::max_copies; ++k)
        EXPECT_FALSE(copies.add({}, key(), other));
    EXPECT_EQ(copies.add({}, key(), receive(1, 0)), pdu.segment);
}

TEST_F(soft_copy, ratios_have_their_places)
{
    const auto r = on_air(9);
    const rx_octets whole = heard(r, 0);
    // The same in pieces: ratios precede the octets, as from a modem.
    code_ratios pieces, at_once;
    pieces.reset(mode::parse("4539-600S"));
    at_once.reset(mode::parse("4539-600S"));
    at_once.push(whole);
    const size_t block = 30, late = 7; // octets
    for (size_t at = 0; at < whole.octets.size(); at += block) {
        const size_t from = at < late ? 0 : at - late;
        const size_t to = std::min(at + block, whole.octets.size());
        rx_octets e;
        e.octets.assign(whole.octets.begin() + static_cast<long>(from),
                        whole.octets.begin() +
                            static_cast<long>(to - std::min(to, late)));
        e.ratios.assign(whole.ratios.begin() + static_cast<long>(16 * at),
                        whole.ratios.begin() + static_cast<long>(16 * to));
        e.ratios_from = 8 * (at - from);
        pieces.push(e);
    }
    EXPECT_EQ(pieces.of_segment(r).ratios, at_once.of_segment(r).ratios);
    EXPECT_EQ(at_once.of_segment(r).ratios.size(),
              2 * (8 * 204 + code_ratios::bits_after));
}

TEST_F(soft_copy, ratios_in_wrong_places_are_not_taken)
{
    const auto r = on_air(9);
    const rx_octets good = heard(r, 0);
    const auto after = [&](auto spoil, const char* m = "4539-600S") {
        code_ratios all;
        all.reset(mode::parse(m));
        rx_octets e = good;
        spoil(e);
        all.push(e);
        return all.of_segment(r).ratios;
    };
    const auto as_it_is = [](rx_octets&) {};
    EXPECT_FALSE(after(as_it_is).empty());
    EXPECT_TRUE(after(as_it_is, "4539-9600S").empty()); // another code
    EXPECT_TRUE(after([](rx_octets& e) { e.ratios.clear(); }).empty());
    EXPECT_TRUE(after([](rx_octets& e) { e.ratios.resize(100); }).empty());
    EXPECT_TRUE(after([](rx_octets& e) { e.ratios_from = UINT64_MAX; }).empty());
    EXPECT_TRUE(
        after([](rx_octets& e) { e.ratios_from = code_ratios::max_bits; }).empty());
    EXPECT_TRUE(
        after([](rx_octets& e) { e.ratios.resize(4 * code_ratios::max_bits); }).empty());
    // The CRC of a segment that has slipped by a bit may be good. The header is not.
    for (const uint64_t from : { 1u, 2u, 3u, 8u, 360u, 100000u })
        EXPECT_TRUE(after([from](rx_octets& e) { e.ratios_from = from; }).empty())
            << from;
    EXPECT_TRUE(after([](rx_octets& e) {
                    e.ratios.erase(e.ratios.begin(), e.ratios.begin() + 2);
                }).empty());
    EXPECT_TRUE(after([this](rx_octets& e) {
                    for (int8_t& x : e.ratios)
                        x = static_cast<int8_t>(random());
                }).empty());
    auto cut_off = r;
    cut_off.octets.resize(100);
    cut_off.pdu = *decode_d_pdu(cut_off.octets);
    code_ratios all;
    all.reset(mode::parse("4539-600S"));
    all.push(good);
    EXPECT_TRUE(all.of_segment(cut_off).ratios.empty());
}

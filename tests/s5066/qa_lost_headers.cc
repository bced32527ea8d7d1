/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// D_PDUs whose header has errors, read by what is known of it.
#include "s5066/dts/rx/lost_headers.h"

#include "code_bits.h"
#include "modem/decode/segment_decoder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

using namespace gr::hf;
using namespace gr::hf::s5066;

namespace {

// Noise of each code bit of amplitude 1: 4 dB of Eb/N0, at which most headers decode.
constexpr double sigma = 0.63;
constexpr double bits_per_second = 600;
using numbers_t = std::vector<unsigned>;

//! A transmission of DATA-ONLY D_PDUs at 600 bit/s.
struct lost_header : testing::Test {
    void add(uint16_t number, size_t octets = 100)
    {
        d_pdu d;
        d.dst = address("1.2.3.4");
        d.src = address("1.2.3.5");
        d.arq.fsn = number;
        d.arq.start = number % 5 == 0;
        d.arq.end = number % 5 == 4;
        d.arq.lwe = number == 0;
        for (size_t k = 0; k < octets; ++k)
            d.segment.push_back(static_cast<uint8_t>(random()));
        pdus.push_back(d);
    }
    void add_many(uint16_t count)
    {
        for (uint16_t k = 0; k < count; ++k)
            add(k);
    }
    //! EOT of each: the time to the end, rounded up. \p spoilt: indices of lost headers.
    void send(const std::vector<size_t>& spoilt)
    {
        size_t left = 0;
        for (const d_pdu& d : pdus)
            left += d.octets();
        for (size_t k = 0; k < pdus.size(); ++k) {
            pdus[k].eot = static_cast<uint8_t>(
                std::ceil(16 * static_cast<double>(left) / bits_per_second));
            const auto v = encode(pdus[k]);
            begins.push_back(air.octets.size());
            air.octets.insert(air.octets.end(), v.begin(), v.end());
            left -= v.size();
        }
        air.ratios = code_bits(air.octets, sigma, sigma, random, code);
        for (const size_t k : spoilt)
            air.octets[begins[k] + 7] ^= 0x10;
    }
    void noise(size_t first_octet, size_t end_octet)
    {
        for (size_t k = 16 * first_octet; k < 16 * end_octet; ++k)
            air.ratios[k] = static_cast<int8_t>(random());
    }
    //! Numbers of the D_PDUs read, in order.
    numbers_t receive(code_decoder decode = kernel::decode_after_zeros)
    {
        const mode m = mode::parse("4539-600S");
        lost_headers lost(std::move(decode));
        code_ratios ratios;
        d_pdu_deframer deframer;
        lost.reset(m);
        ratios.reset(code);
        ratios.push(air);
        deframer.push(air.octets);
        while (auto r = deframer.next())
            found += lost.take(std::move(*r), ratios);
        found += lost.end(ratios);
        numbers_t numbers;
        while (const auto r = lost.next()) {
            numbers.push_back(r->pdu.arq.fsn);
            const auto sent =
                std::find_if(pdus.begin(), pdus.end(), [&r](const d_pdu& d) {
                    return d.arq.fsn == r->pdu.arq.fsn;
                });
            if (sent == pdus.end()) {
                ADD_FAILURE() << r->pdu.arq.fsn << " was not sent";
                continue;
            }
            EXPECT_EQ(r->pdu.eot, sent->eot);
            EXPECT_EQ(r->pdu.arq.start, sent->arq.start);
            EXPECT_EQ(r->pdu.arq.end, sent->arq.end);
            EXPECT_EQ(r->pdu.arq.lwe, sent->arq.lwe);
            EXPECT_EQ(r->bit_offset, 8 * begins[size_t(sent - pdus.begin())]);
            if (r->pdu.segment_ok) {
                EXPECT_EQ(r->pdu.segment, sent->segment);
            }
            good += r->pdu.segment_ok;
        }
        return numbers;
    }

    std::mt19937_64 random{ 1 };
    std::vector<d_pdu> pdus;
    std::vector<size_t> begins; // octets
    kernel::code_plan code = kernel::serial_tone_code(4);
    rx_octets air;
    size_t found = 0, good = 0;
};

} // namespace

TEST_F(lost_header, is_read_between_two_others)
{
    add_many(12);
    send({ 2, 5, 6, 9 });
    EXPECT_EQ(receive(), (numbers_t{ 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 }));
    EXPECT_EQ(found, 4u);
    EXPECT_GT(good, 8u); // their segments too, if they can be decoded
}

TEST_F(lost_header, is_read_in_the_code_of_the_waveform)
{
    add_many(6);
    for (const kernel::code_plan& other : other_codes()) {
        code = other;
        begins.clear();
        air = {};
        send({ 2 });
        EXPECT_EQ(receive(), (numbers_t{ 0, 1, 2, 3, 4, 5 }));
    }
}

TEST_F(lost_header, is_read_at_both_ends)
{
    add_many(8);
    send({ 0, 1, 6, 7 });
    EXPECT_EQ(receive(), (numbers_t{ 0, 1, 2, 3, 4, 5, 6, 7 }));
}

TEST_F(lost_header, needs_a_decoder_and_a_neighbour)
{
    add_many(3);
    send({ 1 });
    EXPECT_EQ(receive({}), (numbers_t{ 0, 2 }));
    begins.clear();
    air = {};
    send({ 0, 1, 2 });
    EXPECT_TRUE(receive().empty());
}

TEST_F(lost_header, has_a_number_between_those_of_its_neighbours)
{
    for (const uint16_t number : { 0, 1, 77, 3, 4, 5 })
        add(number);
    send({ 2 });
    EXPECT_EQ(receive(), (numbers_t{ 0, 1, 3, 4, 5 }));
}

// Copies fill the end: numbers go back there.
TEST_F(lost_header, may_stand_before_copies)
{
    for (const uint16_t number : { 3, 4, 5, 0, 1 })
        add(number);
    send({ 1, 4 });
    EXPECT_EQ(receive(), (numbers_t{ 3, 4, 5, 0, 1 }));
}

TEST_F(lost_header, of_another_size_is_left_alone)
{
    add(0);
    add(1);
    add(2, 37);
    add(3);
    send({ 2 });
    EXPECT_EQ(receive(), (numbers_t{ 0, 1, 3 }));
}

// 2000 gaps of noise.
TEST_F(lost_header, is_not_made_of_noise)
{
    for (unsigned trial = 0; trial < 40; ++trial) {
        pdus.clear();
        begins.clear();
        air = {};
        for (uint16_t k = 0; k < 52; ++k)
            add(k, 10);
        std::vector<size_t> spoilt;
        for (size_t k = 1; k < 51; ++k)
            spoilt.push_back(k);
        send(spoilt);
        noise(begins[1], begins[51]);
        EXPECT_EQ(receive(), (numbers_t{ 0, 51 }));
    }
    EXPECT_EQ(found, 0u);
}

// The modem makes zeros of a gap; a segment of zeros has a good CRC.
TEST_F(lost_header, has_no_segment_of_zeros)
{
    add_many(3);
    send({ 1 });
    const size_t header = pdus[1].header_octets();
    std::fill(air.ratios.begin() + static_cast<long>(16 * (begins[1] + header)),
              air.ratios.begin() + static_cast<long>(16 * begins[2]),
              int8_t{ 0 });
    receive();
    EXPECT_EQ(good, 2u);
}

TEST_F(lost_header, costs_a_bounded_time)
{
    add(0, 1);
    send({});
    air.ratios.resize(2 * code_ratios::max_bits);
    noise(begins[0] + 30, air.ratios.size() / 16);
    EXPECT_EQ(receive(), numbers_t{ 0 });
}

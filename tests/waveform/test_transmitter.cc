/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "waveform/transmitter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <stdexcept>

using namespace gr::hf;
using namespace gr::hf::kernel;

namespace {

// Numbers on the air of a transmission of `octets`, produced in chunks of `chunk`.
std::vector<uint8_t> numbers(const char* m,
                             const std::vector<uint8_t>& octets,
                             size_t chunk,
                             tx_options o = {})
{
    transmitter tx(mode::parse(m), o);
    std::vector<tx_symbol> symbols(chunk);
    std::vector<uint8_t> all;
    size_t given = 0;
    while (!tx.done()) {
        if (const size_t wanted = tx.octets_wanted()) {
            const size_t n = std::min(wanted, octets.size() - given);
            tx.give(octets.data() + given, n, given + n == octets.size());
            given += n;
        }
        const size_t made = tx.produce(symbols.data(), chunk);
        for (size_t i = 0; i < made; ++i)
            all.push_back(symbols[i].number);
    }
    return all;
}

std::vector<uint8_t> noise(size_t n)
{
    std::mt19937 random(7);
    std::vector<uint8_t> v(n);
    for (auto& b : v)
        b = static_cast<uint8_t>(random());
    return v;
}

} // namespace

TEST(transmitter, asks_for_exactly_the_octets_of_a_block)
{
    // 45 bits per block: 6 octets leave 3 bits over, 6 more leave 6, then 5 do.
    transmitter tx(mode::parse("4539-75S"));
    std::vector<tx_symbol> symbols(2000);
    const std::vector<uint8_t> octets(6);
    EXPECT_EQ(tx.octets_wanted(), 0u);
    EXPECT_EQ(tx.produce(symbols.data(), 2000), 1440u);
    size_t bits = 0;
    for (size_t block = 0; block < 32; ++block) {
        const size_t wanted = tx.octets_wanted();
        EXPECT_EQ(tx.block_symbol(), 1440 * (block + 1));
        EXPECT_EQ(wanted, (45 * (block + 1) - bits + 7) / 8);
        bits += 8 * wanted;
        tx.give(octets.data(), wanted, false);
        EXPECT_EQ(tx.octets_wanted(), 0u);
        EXPECT_EQ(tx.produce(symbols.data(), 2000), 1440u);
    }
    EXPECT_EQ(bits, 32 * 45u); // 1440 bits are whole octets again
}

TEST(transmitter, tail_takes_the_blocks_it_needs)
{
    // 176 bits of marker and flush after nothing: 4 blocks of 45 bits.
    EXPECT_EQ(numbers("4539-75S", {}, 500).size(), 1440u * 5);
    // One octet less fits into the first of two blocks, one more needs the next.
    EXPECT_EQ(numbers("4539-2400S", noise((1440 - 176) / 8), 500).size(), 2880u);
    EXPECT_EQ(numbers("4539-2400S", noise((1440 - 176) / 8 + 1), 500).size(), 4320u);
    // High rate: only the marker, and only if wanted.
    const size_t frame = 287;
    tx_options plain;
    plain.eom = false;
    EXPECT_EQ(numbers("4539-3200US", noise(44), 500).size(), 287 + frame);
    EXPECT_EQ(numbers("4539-3200US", noise(45), 500).size(), 287 + 2 * frame);
    EXPECT_EQ(numbers("4539-3200US", noise(48), 500, plain).size(), 287 + frame);
    EXPECT_EQ(numbers("4539-3200US", {}, 500, plain).size(), 287u);
}

TEST(transmitter, preamble_is_reinserted_only_when_more_frames_follow)
{
    tx_options plain;
    plain.eom = false;
    const size_t frames = 287 + 72 * 287;
    EXPECT_EQ(numbers("4539-3200US", noise(72 * 48), 500, plain).size(), frames);
    EXPECT_EQ(numbers("4539-3200US", noise(72 * 48 + 1), 500, plain).size(),
              frames + 72 + 287);
    EXPECT_EQ(numbers("4539-3200US", noise(72 * 48), 500).size(), frames + 72 + 287);

    // Without notice that the message is over, the transmitter asks first.
    transmitter tx(mode::parse("4539-3200US"), plain);
    std::vector<tx_symbol> symbols(30000);
    const std::vector<uint8_t> octets(48);
    size_t made = tx.produce(symbols.data(), symbols.size());
    for (int block = 0; block < 72; ++block) {
        tx.give(octets.data(), octets.size(), false);
        made += tx.produce(symbols.data(), symbols.size());
    }
    EXPECT_EQ(made, frames);
    EXPECT_EQ(tx.octets_wanted(), 48u);
    EXPECT_EQ(tx.block_symbol(), frames + 72);
    tx.give(nullptr, 0, true);
    EXPECT_TRUE(tx.done());
    EXPECT_EQ(tx.produced(), frames);
}

TEST(transmitter, chunks_do_not_matter)
{
    for (const char* m : { "4539-75S", "4539-300S", "4539-4800N", "4539-8000VS" }) {
        const auto octets = noise(700);
        const auto whole = numbers(m, octets, 100000);
        EXPECT_EQ(numbers(m, octets, 1), whole);
        EXPECT_EQ(numbers(m, octets, 97), whole);
    }
}

TEST(transmitter, surplus_octets_are_cut_off)
{
    transmitter tx(mode::parse("4539-600S"));
    std::vector<tx_symbol> symbols(5000);
    const auto octets = noise(1000);
    tx.give(octets.data(), 1000, true); // nothing is wanted yet: ignored
    tx.produce(symbols.data(), 5000);
    ASSERT_EQ(tx.octets_wanted(), 45u);
    tx.give(octets.data(), 1000, false);
    EXPECT_EQ(tx.produce(symbols.data(), 5000), 1440u);
    EXPECT_EQ(tx.octets_wanted(), 45u);
    tx.give(octets.data(), 44, false); // fewer than wanted: the end
    EXPECT_EQ(tx.produce(symbols.data(), 5000), 2880u);
    EXPECT_TRUE(tx.done());
    EXPECT_EQ(tx.produce(symbols.data(), 5000), 0u);
}

TEST(transmitter, options_are_checked)
{
    const mode serial = mode::parse("4539-600S"), high = mode::parse("4539-9600VL");
    EXPECT_THROW(transmitter(serial, { 1, true }), std::invalid_argument);
    EXPECT_THROW(transmitter(serial, { 0, false }), std::invalid_argument);
    EXPECT_THROW(transmitter(high, { 8, true }), std::invalid_argument);
    EXPECT_THROW(transmitter(high, { -1, true }), std::invalid_argument);
    EXPECT_NO_THROW(transmitter(high, { 7, false }));
    mode unknown = serial;
    unknown.rate_bps = 601;
    try {
        transmitter tx(unknown);
        FAIL();
    } catch (const std::invalid_argument& e) {
        EXPECT_NE(std::string(e.what()).find("4539-601S"), std::string::npos) << e.what();
    }
}

TEST(transmitter, agc_blocks_are_conjugate_sync_sections)
{
    tx_options o;
    o.agc_blocks = 3;
    const auto all = numbers("4539-6400S", noise(10), 1000, o);
    for (size_t i = 0; i < 3 * 184; ++i)
        EXPECT_EQ((all[i] + all[3 * 184 + i % 184]) % 8, 0) << i;
}

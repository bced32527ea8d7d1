/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/decode/message_parser.h"
#include "modem/incoming_message.h"

#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

using namespace gr::hf::kernel;

namespace {

void append(std::vector<uint8_t>& bits, const std::vector<uint8_t>& octets)
{
    for (const uint8_t o : octets)
        for (int i = 0; i < 8; ++i)
            bits.push_back(o >> i & 1);
}

void append_marker(std::vector<uint8_t>& bits)
{
    for (int i = 31; i >= 0; --i)
        bits.push_back(eom_marker >> i & 1);
}

} // namespace

TEST(message_parser, gives_what_stands_before_the_marker)
{
    const std::vector<uint8_t> message{ 'H', 'F', 0, 255, 17 };
    for (size_t extra = 0; extra < 8; ++extra) // the marker need not be on an octet
        for (size_t cut = 1; cut < 60; cut += 7) {
            std::vector<uint8_t> bits;
            append(bits, message);
            bits.insert(bits.end(), extra, 1);
            append_marker(bits);
            const size_t end = bits.size();
            bits.insert(bits.end(), 144, 0);
            message_parser p;
            std::vector<uint8_t> octets;
            std::optional<uint64_t> found;
            for (size_t i = 0; i < bits.size() && !found; i += cut)
                found = p.push(
                    { bits.begin() + static_cast<long>(i),
                      bits.begin() + static_cast<long>(std::min(bits.size(), i + cut)) },
                    octets);
            ASSERT_TRUE(found);
            EXPECT_EQ(*found, end);
            EXPECT_EQ(octets, message);
        }
}

TEST(message_parser, marker_alone_and_flush)
{
    std::vector<uint8_t> bits, octets;
    append_marker(bits);
    message_parser p;
    EXPECT_EQ(p.push(bits, octets), 32u);
    EXPECT_TRUE(octets.empty());

    bits.clear();
    append(bits, { 1, 2, 3, 4, 5, 6 });
    message_parser q;
    EXPECT_FALSE(q.push(bits, octets));
    EXPECT_EQ(octets, (std::vector<uint8_t>{ 1, 2 }));
    q.flush(octets);
    EXPECT_EQ(octets, (std::vector<uint8_t>{ 1, 2, 3, 4, 5, 6 }));

    message_parser r; // fewer bits than a marker
    octets.clear();
    bits.resize(16);
    r.push(bits, octets);
    r.flush(octets);
    EXPECT_EQ(octets, (std::vector<uint8_t>{ 1, 2 }));
}

namespace {

std::vector<uint8_t> with_damaged_marker(unsigned errors, size_t fill)
{
    std::vector<uint8_t> bits;
    append(bits, { 'H', 'F', 1, 2, 3, 4, 5, 6 });
    append_marker(bits);
    for (unsigned i = 0; i < errors; ++i)
        bits[bits.size() - 2 - 5 * i] ^= 1;
    bits.insert(bits.end(), fill, 0);
    return bits;
}

const std::vector<uint8_t> message{ 'H', 'F', 1, 2, 3, 4, 5, 6 };

} // namespace

TEST(message_parser, marker_with_bit_errors_before_the_fill_ends_at_once)
{
    for (unsigned errors = 1; errors <= 3; ++errors) {
        message_parser p;
        std::vector<uint8_t> octets;
        auto bits = with_damaged_marker(errors, 144);
        bits[110] = bits[150] = 1; // the fill has errors too
        EXPECT_EQ(p.push(bits, octets), 96u) << errors;
        EXPECT_EQ(octets, message);
    }
}

TEST(message_parser, badly_damaged_marker_counts_when_nothing_follows)
{
    for (const auto& [errors, fill] :
         { std::pair{ 6u, 144 }, std::pair{ 4u, 40 }, std::pair{ 3u, 5 } }) {
        message_parser p;
        std::vector<uint8_t> octets;
        const auto bits = with_damaged_marker(errors, static_cast<size_t>(fill));
        EXPECT_FALSE(p.push(bits, octets)) << errors;
        p.push(std::vector<uint8_t>(200, 1), octets, false); // noise after the signal
        EXPECT_EQ(p.finish(octets), 96u) << errors;
        EXPECT_EQ(octets, message) << errors;
    }
}

// An apparent badly damaged marker at the very end of the input may be data. It needs 32
// zeros after it; a marker with up to 3 errors needs none.
TEST(message_parser, badly_damaged_marker_needs_zeros_behind_it)
{
    struct row {
        unsigned errors;
        size_t fill;
        bool marker;
    };
    for (const row& r : { row{ 4, 0, false },
                          row{ 4, 31, false },
                          row{ 4, 32, true },
                          row{ 6, 31, false },
                          row{ 6, 32, true },
                          row{ 3, 0, true },
                          row{ 3, 31, true } }) {
        message_parser p;
        std::vector<uint8_t> octets;
        const auto bits = with_damaged_marker(r.errors, r.fill);
        EXPECT_FALSE(p.push(bits, octets));
        const auto marker = p.finish(octets);
        EXPECT_EQ(marker.has_value(), r.marker) << r.errors << " " << r.fill;
        if (r.marker) {
            EXPECT_EQ(octets, message) << r.errors << " " << r.fill;
        } else { // every octet that was received
            EXPECT_EQ(octets.size(), bits.size() / 8) << r.errors << " " << r.fill;
            octets.resize(message.size());
            EXPECT_EQ(octets, message);
        }
    }
}

TEST(message_parser, message_that_goes_on_is_complete)
{
    for (unsigned errors = 3; errors <= 6; ++errors) {
        auto bits = with_damaged_marker(errors, 40);
        std::vector<uint8_t> more, octets, expected;
        append(more, { 255, 254, 253, 252, 251, 250, 249, 248, 247 });
        message_parser p;
        EXPECT_FALSE(p.push(bits, octets));
        EXPECT_FALSE(p.push(more, octets));
        EXPECT_FALSE(p.finish(octets));
        bits.insert(bits.end(), more.begin(), more.end());
        for (size_t i = 0; i + 8 <= bits.size(); i += 8) {
            uint8_t o = 0;
            for (size_t b = 0; b < 8; ++b)
                o = static_cast<uint8_t>(o | bits[i + b] << b);
            expected.push_back(o);
        }
        EXPECT_EQ(octets, expected) << errors;
    }
}

// An apparent damaged marker in the data of a block that goes on: the bits after it show
// that it is none.
TEST(message_parser, ones_after_a_damaged_marker_show_that_the_block_goes_on)
{
    for (const size_t ones : { 0u, 4u, 5u, 9u }) {
        auto bits = with_damaged_marker(3, 64);
        for (size_t i = 0; i < ones; ++i)
            bits[bits.size() - 2 - 6 * i] = 1;
        message_parser p;
        std::vector<uint8_t> octets;
        const auto end = p.push(bits, octets);
        EXPECT_EQ(end.has_value(), ones <= 4) << ones;
        EXPECT_EQ(octets, message) << ones;
    }
    message_parser p; // too few bits for a proof
    std::vector<uint8_t> octets;
    EXPECT_FALSE(p.push(with_damaged_marker(3, 63), octets));
}

TEST(message_parser, holds_a_mebibit_at_most_after_a_damaged_marker)
{
    message_parser p;
    std::vector<uint8_t> octets;
    p.push(with_damaged_marker(5, 0), octets);
    const size_t most = 1 << 20;
    p.push(std::vector<uint8_t>(most), octets);
    EXPECT_TRUE(p.suspicious());
    EXPECT_EQ(octets, message);
    p.push({ 0 }, octets);
    EXPECT_FALSE(p.suspicious());
    EXPECT_EQ(octets.size(), message.size() + most / 8);
}

TEST(message_parser, random_bits_never_upset_it)
{
    std::mt19937 rng(4);
    for (int run = 0; run < 2000; ++run) {
        message_parser p;
        std::vector<uint8_t> octets;
        size_t total = 0;
        for (int k = 0; k < 20; ++k) {
            std::vector<uint8_t> bits(rng() % 90);
            for (auto& b : bits)
                b = rng() & 1;
            total += bits.size();
            ASSERT_FALSE(p.push(bits, octets, rng() % 8 > 0));
        }
        p.flush(octets);
        EXPECT_EQ(octets.size(), total / 8);
    }
}

// The CRC-32 of D_PDUs over zeros is zero: a gap of zeros after a header would be a good
// segment.
TEST(incoming_message, missing_blocks_are_not_zeros)
{
    const description& d = describe(gr::hf::mode::parse("4539-600L"));
    incoming_message m(d, 10);
    const auto gap = m.go_on_at(3, 0);
    EXPECT_EQ(m.block(), 3u);
    // The parser still holds the length of a marker.
    EXPECT_EQ(gap.octets, std::vector<uint8_t>((3 * d.input_bits - eom_bits) / 8, 0xff));
    EXPECT_EQ(gap.quality, 0);
}

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A sound device drops samples, or plays nothing for a while: the receiver continues
after the hole. */
#include "modem/loopback.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace gr::hf;
using namespace gr::hf::kernel;

namespace {

enum class kind {
    deleted, //!< the receiver lost samples: what follows comes earlier
    silent,  //!< samples are zero
    inserted //!< the sender played nothing for a while: what follows comes later
};

struct hole {
    kind what;
    double seconds;
};

struct setup {
    std::string m;
    std::string channel;
    size_t blocks = 0; //!< sent
    double at = 0.42;  //!< of the blocks
};

struct outcome {
    size_t touched = 0, lost = 0; // blocks
    std::vector<loopback::reception> got;
    int64_t end = 0; // sample at which it ends
};

// Symbols of a block, and input samples of its begin after the first of the data.
size_t sample_of(const description& d, double block)
{
    const auto whole = static_cast<uint64_t>(block);
    return symbol_grid::samples_per_symbol *
           static_cast<size_t>(static_cast<double>(d.block_begin(whole)) +
                               (block - static_cast<double>(whole)) *
                                   static_cast<double>(d.block_symbols()));
}

// Blocks that are not among the octets that were given.
size_t lost_blocks(const std::vector<uint8_t>& sent,
                   size_t block,
                   const std::vector<loopback::reception>& got)
{
    std::vector<uint8_t> all;
    for (const auto& r : got)
        all.insert(all.end(), r.octets.begin(), r.octets.end());
    size_t lost = 0;
    for (auto k = sent.begin(); sent.end() - k >= static_cast<long>(block);
         k += static_cast<long>(block))
        lost += std::search(all.begin(), all.end(), k, k + static_cast<long>(block)) ==
                all.end();
    return lost;
}

outcome run(const setup& s, const hole& h)
{
    const mode m = mode::parse(s.m);
    const description& d = describe(m);
    const double rate = loopback::sample_rate(m);
    const size_t block = d.input_bits / 8;
    // The end of the message takes some of the last block.
    const auto sent = loopback::random_octets(s.blocks * block - 30, 1);
    auto x = loopback::transmit(m, sent);
    const auto missing = static_cast<size_t>(h.seconds * rate);
    const double at = s.at * static_cast<double>(s.blocks);
    const size_t data = x.size() - sample_of(d, static_cast<double>(s.blocks));
    const size_t begin = data + sample_of(d, at);
    const size_t end = begin + (h.what == kind::inserted ? 1 : missing);
    outcome o;
    for (size_t k = 0; k < s.blocks; ++k)
        o.touched += data + sample_of(d, static_cast<double>(k)) < end &&
                     data + sample_of(d, static_cast<double>(k + 1)) > begin;
    if (h.what == kind::inserted)
        x.insert(x.begin() + static_cast<long>(begin), missing, 0.0f);
    o.end = static_cast<int64_t>(x.size());
    loopback::pause(x, static_cast<size_t>(1.5 * rate));
    auto air = loopback::through(x, s.channel, 1, mean_power(d), rate);
    const auto from = air.begin() + static_cast<long>(begin);
    if (h.what == kind::deleted) {
        air.erase(from, from + static_cast<long>(missing));
        o.end -= static_cast<int64_t>(missing);
    } else if (h.what == kind::silent) {
        std::fill_n(from, missing, 0.0f);
    }
    o.got = loopback::receive(*loopback::receiver_of(m), air);
    o.lost = lost_blocks(sent, block, o.got);
    return o;
}

std::string name_of(const setup& s, const hole& h)
{
    const char* what = h.what == kind::deleted  ? "deleted"
                       : h.what == kind::silent ? "silent"
                                                : "inserted";
    return s.m + " " + s.channel + ": " + std::to_string(h.seconds) + " s " + what;
}

void expect_resumed(const setup& s, const std::vector<hole>& holes)
{
    for (const hole& h : holes) {
        const outcome o = run(s, h);
        EXPECT_LE(o.lost, o.touched + 1) << name_of(s, h);
        ASSERT_FALSE(o.got.empty());
        const auto& last = o.got.back();
        ASSERT_TRUE(last.end) << name_of(s, h);
        EXPECT_EQ(last.end->reason, rx_end_reason::eom) << name_of(s, h);
        EXPECT_NEAR(static_cast<double>(last.end_sample), static_cast<double>(o.end), 100)
            << name_of(s, h);
    }
}

/* A hole as long as a whole number of periods of the scrambler, 1/15 s in most serial-tone modes, 0.2 s in
 * others, leaves the probes in their place: nobody sees it. */
const std::vector<hole> all_holes = {
    { kind::deleted, 0.029 },  { kind::deleted, 0.21 },  { kind::deleted, 0.5 },
    { kind::silent, 0.029 },   { kind::silent, 0.21 },   { kind::silent, 0.5 },
    { kind::inserted, 0.029 }, { kind::inserted, 0.21 }, { kind::inserted, 0.5 },
};

} // namespace

// A muted receiver gives digital silence. The CRC-32 of D_PDUs finds no error in zeros, so
// after the header of a D_PDU they would count as its data.
TEST(holes, silence_is_not_received_as_zeros)
{
    for (const char* mode : { "4539-600S", "4539-2400S", "4539-75S", "4539-4800N" }) {
        const outcome o = run({ mode, "awgn snr=40", 24, 0.3 }, { kind::silent, 3 });
        size_t octets = 0, zeros = 0, most = 0;
        for (const auto& r : o.got)
            for (const uint8_t octet : r.octets) {
                ++octets;
                zeros = octet == 0 ? zeros + 1 : 0;
                most = std::max(most, zeros);
            }
        EXPECT_GT(octets, 0u) << mode;
        EXPECT_LE(most, 3u) << mode;
    }
}

TEST(holes, high_rate_goes_on)
{
    expect_resumed({ "4539-9600S", "awgn snr=30", 12 }, all_holes);
}

TEST(holes, every_frame_a_block_goes_on)
{
    expect_resumed({ "4539-3200US", "awgn snr=30", 40 },
                   { { kind::deleted, 0.029 }, { kind::inserted, 0.5 } });
}

TEST(holes, serial_tone_goes_on)
{
    expect_resumed({ "4539-1200S", "awgn snr=30", 10 }, all_holes);
}

TEST(holes, serial_tone_with_long_blocks_goes_on)
{
    expect_resumed({ "4539-600L", "awgn snr=30", 4 },
                   { { kind::deleted, 0.029 }, { kind::inserted, 0.21 } });
}

// Its probes are all alike. Only decoding shows to which frames they belong.
TEST(holes, wideband_goes_on)
{
    expect_resumed({ "5069-3k-9600S", "awgn snr=30", 20 }, all_holes);
}

TEST(holes, wideband_with_long_blocks_goes_on)
{
    expect_resumed({ "5069-3k-600L", "awgn snr=30", 4 }, { { kind::deleted, 0.029 } });
}

TEST(holes, wideband_in_12_khz_goes_on)
{
    expect_resumed({ "5069-12k-38400S", "awgn snr=30 bandwidth=12", 16 },
                   { { kind::deleted, 0.029 }, { kind::inserted, 0.21 } });
}

TEST(holes, poor_goes_on)
{
    expect_resumed({ "4539-3200S", "poor snr=25", 15 },
                   { { kind::deleted, 0.029 },
                     { kind::deleted, 0.21 },
                     { kind::inserted, 0.029 },
                     { kind::inserted, 0.5 } });
}

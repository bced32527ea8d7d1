/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Wideband transmissions joined at a shifted mini-probe, with their mode found by trial
 * decoding. */
#include "modem/loopback.h"
#include "waveform/families/wideband/preamble.h"
#include "waveform/families/wideband/wideband.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

using namespace gr::hf;
using namespace gr::hf::kernel;

namespace {

struct setup {
    mode m;
    std::string channel;
    double missed_s; // of the transmission, its preamble included
    double seconds;  // of data
};

mode mode_of(int khz, unsigned wid, interleaver il, int k = 7)
{
    return wideband::mode_of(khz, { wid, il, k }).value();
}

std::string snr(double db, const mode& m)
{
    return "snr=" + std::to_string(db) +
           " bandwidth=" + std::to_string(m.bandwidth_hz / 1000);
}

struct outcome {
    std::vector<uint8_t> sent;
    std::vector<loopback::reception> got;
};

outcome run(const setup& s, uint64_t seed = 1)
{
    outcome o;
    const auto t = timing_of(s.m);
    const double blocks =
        s.seconds * t.symbol_rate_bd / static_cast<double>(t.block_symbols);
    o.sent = loopback::random_octets(t.octets_in(static_cast<size_t>(blocks)), seed);
    const double rate = loopback::sample_rate(s.m);
    loopback::samples x(static_cast<size_t>(0.2 * rate));
    const auto air = loopback::transmit(s.m, o.sent);
    x.insert(x.end(), air.begin(), air.end());
    std::fill_n(x.begin(), static_cast<long>((0.2 + s.missed_s) * rate), 0.0f);
    loopback::pause(x, static_cast<size_t>(1.5 * rate));
    channel c(channel_spec::parse(s.channel), rate, seed, mean_power(describe(s.m)));
    c.process(x.data(), x.data(), x.size());
    burst_receiver rx(rx_options{}, receptions(s.m.bandwidth_hz));
    o.got = loopback::receive(rx, x, 4800);
    return o;
}

// Octets of a Long block: reception starts with such a block.
size_t octets_per_step(const mode& m)
{
    const description& d = describe(m);
    return d.input_bits * d.blocks_per_cycle() / 8;
}

void expect_joined(const setup& s, size_t missed_steps, uint64_t seed = 1)
{
    const outcome o = run(s, seed);
    const std::string what = s.m.to_string() + " " + s.channel;
    ASSERT_EQ(o.got.size(), 1u) << what;
    ASSERT_TRUE(o.got[0].start) << what;
    EXPECT_EQ(o.got[0].start->m, s.m) << what;
    const size_t from = missed_steps * octets_per_step(s.m);
    ASSERT_LT(from, o.sent.size());
    const std::vector<uint8_t> heard(o.sent.begin() + static_cast<long>(from),
                                     o.sent.end());
    EXPECT_TRUE(o.got[0].octets == heard)
        << what << ": " << o.got[0].octets.size() << " of " << heard.size();
    ASSERT_TRUE(o.got[0].end) << what;
    EXPECT_EQ(o.got[0].end->reason, rx_end_reason::eom) << what;
}

} // namespace

// Long blocks start every 7.68 s in 3 kHz (10.24 s in waveform 1), with any interleaver.
TEST(late_entry, joins_at_the_next_long_block)
{
    for (const auto il : { interleaver::short_, interleaver::long_ }) {
        const mode m = mode_of(3, 6, il, il == interleaver::long_ ? 9 : 7);
        expect_joined({ m, snr(14, m) + " offset=40", 2, 18 }, 1);
    }
    const mode high = mode_of(3, 10, interleaver::medium);
    expect_joined({ high, snr(27, high) + " offset=-70", 9, 20 }, 2);
    const mode low = mode_of(3, 2, interleaver::short_);
    expect_joined({ low, snr(4, low), 3, 24 }, 1);
}

TEST(late_entry, joins_in_wider_bands)
{
    const mode m = mode_of(12, 10, interleaver::short_);
    expect_joined({ m, snr(27, m) + " offset=20", 2, 12 }, 1);
}

TEST(late_entry, joins_on_poor)
{
    const mode m = mode_of(3, 7, interleaver::long_);
    expect_joined({ m, "poor " + snr(24, m), 2, 24 }, 1, 3);
}

TEST(late_entry, takes_a_preamble_that_is_heard)
{
    const mode m = mode_of(3, 6, interleaver::short_);
    expect_joined({ m, snr(14, m), -0.2, 18 }, 0);
}

// On the air for a step, and some blocks more than are missed.
TEST(late_entry, finds_every_waveform)
{
    // SNR that each waveform is made for plus 3 dB: 110C table D-LII, AWGN.
    constexpr double db[] = { 0, 0, 3, 6, 8, 9, 12, 16, 19, 22, 24, 27, 33, 9 };
    for (unsigned wid = 1; wid <= 13; ++wid) {
        const mode m = mode_of(3, wid, interleaver::short_);
        expect_joined({ m, snr(db[wid], m), 2, 16 }, 1, wid);
    }
}

TEST(late_entry, finds_interleaver_and_constraint_length)
{
    for (const auto il : { interleaver::ultra_short, interleaver::medium })
        for (const int k : { 7, 9 }) {
            const mode m = mode_of(3, 8, il, k);
            expect_joined({ m, snr(20, m), 2, 12 }, 1);
        }
}

// Noise, other families, and the waveform without probes.
TEST(late_entry, joins_nothing_else)
{
    const mode m = mode_of(3, 6, interleaver::short_);
    EXPECT_TRUE(run({ m, snr(-40, m), 2, 60 }).got.empty());
    for (const char* other : { "4539-2400S", "5069-3k-75S" }) {
        const mode o = mode::parse(other);
        EXPECT_TRUE(run({ o, snr(20, o), 2, 25 }).got.empty()) << other;
    }
}

// Else the start of octets would be unknown.
TEST(late_entry, long_blocks_hold_whole_octets)
{
    for (const mode& m : wideband::modes()) {
        const description& d = describe(m);
        if (!d.spread()) {
            EXPECT_EQ(d.input_bits * d.blocks_per_cycle() % 8, 0u) << m.to_string();
        }
    }
}

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Readings of the standard by other makers: what they transmit is received, and told apart
 * from what the standard says. */
#include "modem/loopback.h"
#include "waveform/coding/scrambler.h"
#include "waveform/families/wideband/wideband.h"
#include "waveform/transmitter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

using namespace gr::hf;
using namespace gr::hf::kernel;

namespace {

// SNR in 3 kHz by waveform, AWGN and Poor (0: no row): 110C table D-LII.
constexpr double awgn_db[14] = { -6, -3, 0, 3, 5, 6, 9, 13, 16, 19, 21, 24, 30, 6 };
constexpr double poor_db[14] = { -1, 3, 5, 7, 10, 11, 14, 19, 23, 27, 31, 0, 0, 11 };
// Loss of short blocks against the long interleaver's averaging, as in
// test_wideband_receiver.cc.
constexpr double short_block_db = 2;

std::string mode_name(unsigned wid, const std::string& tail)
{
    static const int rates[14] = { 75,   150,  300,  600,  1200,  1600,  3200,
                                   4800, 6400, 8000, 9600, 12000, 16000, 2400 };
    return "5069-3k-" + std::to_string(rates[wid]) + tail;
}

struct result {
    bool right = false;
    waveform_reading reading = waveform_reading::standard;
};

result sent_and_received(const mode& m,
                         const std::string& channel,
                         uint64_t seed,
                         const rx_options& o = {})
{
    const auto t = timing_of(m);
    const auto octets = loopback::random_octets(
        t.octets_in(std::max<size_t>(
            3, static_cast<size_t>(1.5 * t.symbol_rate_bd) / t.block_symbols)),
        seed);
    loopback::samples x(2000 + 17 * seed);
    const auto burst = loopback::transmit(m, octets);
    x.insert(x.end(), burst.begin(), burst.end());
    loopback::pause(x, 12000);
    x = loopback::through(x, channel, seed, mean_power(m));
    const auto got = loopback::receive(*loopback::receiver_of(m, o), x);
    result r;
    r.right = got.size() == 1 && got[0].octets == octets && got[0].end &&
              got[0].end->reason == rx_end_reason::eom;
    if (!got.empty() && !got[0].blocks.empty())
        r.reading = got[0].blocks.back().reading;
    return r;
}

std::string snr(double db) { return "snr=" + std::to_string(db); }

} // namespace

TEST(readings, scrambler_and_code_of_the_reversed_reading)
{
    const std::vector<uint8_t> first{ 1, 0, 2, 1, 4, 1, 1, 6 };
    EXPECT_EQ(frame_scrambler(3, 8, register_shift::left), first);
    const mode m = mode::parse("5069-3k-1200S-reversed");
    const description& d = describe(m);
    EXPECT_EQ(d.code.t1, 0155u);
    EXPECT_EQ(d.code.t2, 0117u);
    for (size_t i = 0; i < first.size(); ++i)
        EXPECT_EQ(d.at(i).value, first[i]);
    const mode m9 = mode::parse("5069-3k-1200S-k9-reversed");
    const description& k9 = describe(m9);
    EXPECT_EQ(k9.code.t1, 0435u);
    EXPECT_EQ(k9.code.t2, 0657u);
}

TEST(readings, the_shifted_probe_marks_the_block_in_use)
{
    for (const char* name : { "5069-3k-1200S-reversed", "5069-3k-9600US-reversed" }) {
        const mode m = mode::parse(name);
        const description& d = describe(m);
        const auto probe = wideband::mini_probe_of(d.known);
        for (size_t f = 0; f < 3 * d.frames_per_block; ++f) {
            const bool before_last = (f + 2) % d.frames_per_block == 0;
            const auto& expected = before_last ? probe.shifted : probe.normal;
            for (size_t i = 0; i < d.known; ++i)
                EXPECT_EQ(d.at(d.frame_begin(f) + d.unknown + i).value, expected[i])
                    << name << " frame " << f;
        }
    }
}

TEST(readings, name_of_the_mode)
{
    const mode m = mode::parse("5069-3k-1200S-reversed");
    EXPECT_EQ(m.reading, waveform_reading::reversed);
    EXPECT_EQ(m.to_string(), "5069-3k-1200S-reversed");
    EXPECT_NE(m, mode::parse("5069-3k-1200S"));
    EXPECT_THROW(mode::parse("5069-12k-4800S-reversed"), std::invalid_argument);
    EXPECT_THROW(mode::parse("4539-1200S-reversed"), std::invalid_argument);
}

TEST(readings, the_most_significant_bit_is_first)
{
    const mode m = mode::parse("5069-3k-300S-reversed");
    const description& d = describe(m);
    transmitter tx(d);
    std::vector<tx_symbol> sent(d.preamble.size() + d.block_symbols());
    size_t at = tx.produce(sent.data(), sent.size());
    const std::vector<uint8_t> octets(tx.octets_wanted(), 0xF1);
    tx.give(octets.data(), octets.size(), true);
    at += tx.produce(sent.data() + at, sent.size() - at);
    ASSERT_EQ(at, sent.size());
    std::vector<uint8_t> bits;
    for (size_t i = 0; i < octets.size(); ++i)
        for (const int b : { 1, 1, 1, 1, 0, 0, 0, 1 })
            bits.push_back(static_cast<uint8_t>(b));
    block_encoder encoder(d);
    const auto& numbers = encoder.encode(bits.data(), 0);
    for (size_t i = 0; i < d.unknown; ++i)
        EXPECT_EQ(sent[d.preamble.size() + i].number, numbers[i]);
}

TEST(readings, every_waveform_of_both_is_received_and_named)
{
    for (unsigned wid = 0; wid < 14; ++wid)
        for (const char* tail : { "S", "S-reversed" })
            for (uint64_t seed = 1; seed <= 20; ++seed) {
                const mode m = mode::parse(mode_name(wid, tail));
                const auto r = sent_and_received(
                    m, snr(awgn_db[wid] + short_block_db), 100 * wid + seed);
                EXPECT_TRUE(r.right) << m.to_string() << " seed " << seed;
                EXPECT_EQ(r.reading, m.reading) << m.to_string() << " seed " << seed;
            }
}

TEST(readings, with_every_interleaver_code_and_effort)
{
    uint64_t seed = 1;
    for (const unsigned wid : { 1, 2, 4, 6, 8 })
        for (const char* tail : { "US", "M", "L", "US-k9", "L-k9" })
            for (const int effort : { 0, 1 })
                for (const char* reading : { "", "-reversed" }) {
                    rx_options o;
                    o.effort = effort;
                    const mode m =
                        mode::parse(mode_name(wid, std::string(tail) + reading));
                    // Blocks of one frame are little more than a tail-biting wrap.
                    const auto r = sent_and_received(m, snr(awgn_db[wid] + 4), ++seed, o);
                    EXPECT_TRUE(r.right) << m.to_string() << " effort " << effort;
                    EXPECT_EQ(r.reading, m.reading)
                        << m.to_string() << " effort " << effort;
                }
}

TEST(readings, no_false_choice_in_fading_and_below_the_threshold)
{
    size_t right[2] = {};
    for (const unsigned wid : { 0, 1, 2, 4, 6, 7, 8, 10, 13 })
        for (uint64_t seed = 1; seed <= 6; ++seed)
            for (const double below : { 0.0, 6.0 })
                for (const bool reversed : { false, true }) {
                    const mode m =
                        mode::parse(mode_name(wid, reversed ? "S-reversed" : "S"));
                    const auto r = sent_and_received(
                        m, "poor " + snr(poor_db[wid] - below), 1000 * wid + seed);
                    right[reversed] += r.right;
                    if (!reversed || r.right) {
                        EXPECT_EQ(r.reading, m.reading)
                            << m.to_string() << " seed " << seed << " -" << below;
                    }
                }
    // The same channels and octets in both.
    EXPECT_GT(right[0], 20u);
    EXPECT_GE(right[1] + 3, right[0]);
}

// In a fade the soft bits are too sure of themselves.
TEST(readings, a_fade_at_the_start_proves_no_other_reading)
{
    for (const unsigned wid : { 11, 12 })
        for (uint64_t seed = 1; seed <= 25; ++seed) {
            const mode m = mode::parse(mode_name(wid, "S"));
            const double db = awgn_db[wid] - 4;
            const auto r = sent_and_received(m, "good " + snr(db), 1000 * wid + seed);
            EXPECT_EQ(r.reading, waveform_reading::standard)
                << m.to_string() << " seed " << seed;
        }
}

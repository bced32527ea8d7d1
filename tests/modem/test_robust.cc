/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Our own robust family: what it is on the air, and at which SNR it is received. */
#include "modem/loopback.h"
#include "waveform/families/robust/reception.h"
#include "waveform/families/robust/robust.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <string>

using namespace gr::hf;
using namespace gr::hf::kernel;

namespace {

struct count {
    size_t lost = 0, blocks = 0, bad = 0;
};

// Transmissions of \p blocks blocks through a channel.
count through(const std::string& name,
              const std::string& channel,
              size_t blocks,
              int trials)
{
    const mode m = mode::parse(name);
    count c;
    for (int seed = 1; seed <= trials; ++seed) {
        const auto sent = loopback::random_octets(timing_of(m).octets_in(blocks),
                                                  static_cast<uint64_t>(seed));
        loopback::samples x(2000 + 371 * static_cast<size_t>(seed));
        const auto t = loopback::transmit(m, sent);
        x.insert(x.end(), t.begin(), t.end());
        loopback::pause(x, 9600);
        x = loopback::through(x, channel, static_cast<uint64_t>(seed), mean_power(m));
        const auto got = loopback::receive(*loopback::receiver_of(m), x);
        c.blocks += blocks;
        if (got.size() != 1 || got[0].start->m != m || got[0].octets.empty()) {
            ++c.lost;
            continue;
        }
        const size_t in_block = sent.size() / blocks;
        for (size_t b = 0; b < blocks; ++b)
            for (size_t i = b * in_block; i < (b + 1) * in_block; ++i)
                if (i >= got[0].octets.size() || got[0].octets[i] != sent[i]) {
                    ++c.bad;
                    break;
                }
    }
    return c;
}

} // namespace

// |correlation| of an m-sequence of 63 with itself: 1 at any other place, and the root of 64
// where the carrier is off by whole lines.
TEST(robust, period_of_the_preamble_resembles_itself_nowhere_else)
{
    const auto& p = robust::preamble_period();
    const auto n = robust::period_symbols;
    for (size_t line = 0; line < 4; ++line)
        for (size_t shift = line == 0 ? 1 : 0; shift < n; ++shift) {
            std::complex<double> sum = 0;
            for (size_t i = 0; i < n; ++i)
                sum += std::polar(p[i] == p[(i + shift) % n] ? 1.0 : -1.0,
                                  2 * M_PI * static_cast<double>(line * i) /
                                      static_cast<double>(n));
            EXPECT_LT(std::abs(sum), 8.001) << line << " " << shift;
        }
}

TEST(robust, words_are_orthogonal_and_blocks_have_whole_octets)
{
    for (const mode& m : robust::modes()) {
        const description& d = describe(m);
        EXPECT_EQ(d.words.size(), size_t{ 2 } << d.alphabet.bits) << m.to_string();
        for (size_t a = 0; a < d.words.size() / 2; ++a)
            for (size_t b = 0; b < a; ++b) {
                size_t same = 0;
                for (size_t i = 0; i < d.chips(); ++i)
                    same += d.words[a][i] == d.words[b][i];
                ASSERT_EQ(2 * same, d.chips()) << m.to_string() << " " << a << " " << b;
            }
        EXPECT_EQ(d.input_bits % 8, 0u) << m.to_string();
        // Rate and duration agree.
        EXPECT_NEAR(static_cast<double>(d.input_bits) * d.symbol_rate_bd /
                        static_cast<double>(d.block_symbols()),
                    m.rate_bps,
                    1e-9)
            << m.to_string();
    }
}

TEST(robust, transmits_what_it_says)
{
    const mode m = mode::parse("grhf-200S");
    EXPECT_EQ(m.family, waveform_family::robust);
    EXPECT_EQ(m.to_string(), "grhf-200S");
    EXPECT_EQ(describe(m).preamble.size(), 64u * 63); // 1.68 s
    EXPECT_THROW(mode::parse("grhf-200VS"), std::invalid_argument);
    EXPECT_THROW(mode::parse("grhf-100S"), std::invalid_argument);
}

TEST(robust, no_other_bandwidth_has_it)
{
    EXPECT_NE(robust::reception(3000), nullptr);
    EXPECT_EQ(robust::reception(6000), nullptr);
}

// SNRs 0.5 to 1 dB above those of 10 % bad blocks, docs/receiver.md.
TEST(robust, is_received_below_minus_8_db)
{
    struct {
        const char* mode;
        double snr_db;
    } const cases[] = { { "grhf-300S", -7.5 },
                        { "grhf-200S", -9.5 },
                        { "grhf-150S", -10.5 },
                        { "grhf-75S", -13.5 },
                        { "grhf-50S", -15 } };
    for (const auto& c : cases) {
        const count n = through(c.mode, "awgn snr=" + std::to_string(c.snr_db), 3, 3);
        EXPECT_EQ(n.lost, 0u) << c.mode;
        EXPECT_EQ(n.bad, 0u) << c.mode << " of " << n.blocks;
    }
}

TEST(robust, is_received_with_a_carrier_offset_and_through_fading)
{
    for (const char* channel : { "awgn snr=-9 offset=75",
                                 "awgn snr=-9 offset=-75",
                                 "paths=0:0:0.5,2:0:0.5 snr=0",
                                 "awgn snr=25" }) {
        const count n = through("grhf-200S", channel, 3, 3);
        EXPECT_EQ(n.lost, 0u) << channel;
        EXPECT_EQ(n.bad, 0u) << channel << " of " << n.blocks;
    }
}

TEST(robust, is_not_heard_in_noise)
{
    loopback::samples x(9600 * 120);
    x = loopback::through(x, "awgn snr=0", 4, 1);
    burst_receiver rx({}, { robust::reception(3000) });
    EXPECT_TRUE(loopback::receive(rx, x).empty());
}

// A tone is as strong as a line of the fixed part, which repeats itself. So the search reports
// candidates, and reading them must refuse all.
TEST(robust, is_not_heard_in_tones_and_steps)
{
    for (const double hz : { 0.0, 37.5, -75.0, 300.0, 1000.0 }) {
        loopback::samples x(9600 * 20);
        for (size_t i = 0; i < x.size(); ++i)
            x[i] = std::polar(i < 9000 ? 1e-3f : 1.0f,
                              static_cast<float>(2 * M_PI * std::fmod(hz * i / 9600, 1)));
        burst_receiver rx({}, { robust::reception(3000) });
        EXPECT_TRUE(loopback::receive(rx, x).empty()) << hz;
    }
}

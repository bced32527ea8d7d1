/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/front/carrier_bins.h"
#include "modem/front/carrier_canceller.h"
#include "modem/front/moving_carriers.h"
#include "modem/front/piecewise_tone.h"
#include "modem/front/tone_sums.h"
#include "modem/loopback.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace gr::hf;
using namespace gr::hf::kernel;
using loopback::samples;

namespace {

constexpr double fs = 9600;

samples all_of(const sample_buffer& b)
{
    return { b.at(b.begin()), b.at(b.begin()) + (b.end() - b.begin()) };
}

// Power of x without the signal, relative to the signal, over the signal's length.
double error_db(const samples& x, const samples& signal, size_t from)
{
    double error = 0, power = 0;
    for (size_t i = from; i < signal.size(); ++i) {
        error += std::norm(x[i] - signal[i]);
        power += std::norm(signal[i]);
    }
    return 10 * std::log10(error / power);
}

} // namespace

TEST(piecewise_tone, every_processor_finds_the_largest_difference)
{
    for (const size_t place : { 0, 3, 7, 9, 15 }) {
        std::vector<double> a(32), b(32, 1.0); // 16 complex numbers
        for (size_t k = 0; k < 32; ++k)
            a[k] = 1 + 0.1 * std::sin(static_cast<double>(k));
        a[place] = 4;       // 3 from b
        a[16 + place] = -3; // and 4
        EXPECT_DOUBLE_EQ(largest_difference(a.data(), b.data(), 16), 25) << place;
        EXPECT_DOUBLE_EQ(plain_largest_difference(a.data(), b.data(), 16), 25) << place;
        EXPECT_EQ(largest_difference(b.data(), b.data(), 16), 0);
    }
}

// A tone of amplitude 0 has no phase: dividing by it gave numbers that are none, and the search
// for the change to it found no place at all.
TEST(piecewise_tone, silence_is_no_tone)
{
    for (const size_t tone : { 0, 960 }) {
        samples x(2 * 960 + tone);
        for (size_t i = 0; i < tone; ++i)
            x[i] = std::polar(1.0f, static_cast<float>(0.3 * static_cast<double>(i)));
        piecewise_tone described(fs);
        for (size_t i = 0; i < x.size(); i += 96)
            described.push(&x[i], 96, 0); // the power of the signal was 0, too
        described.finish();
        samples settled;
        described.take(settled);
        ASSERT_EQ(settled.size(), x.size());
        for (size_t i = tone + 48; i < x.size(); ++i)
            ASSERT_EQ(settled[i], 0.0f) << tone << " " << i;
    }
}

// Constant data under a repeating scrambler consist of lines, as preambles do.
TEST(moving_carriers, passes_signals_unchanged_and_at_once)
{
    const std::vector<uint8_t> constant(1000), random = loopback::random_octets(1000, 1);
    for (const char* name :
         { "4539-9600VL", "4539-3200S", "4539-2400L", "4539-600S", "5069-3k-1200L" })
        for (const char* channel : { "poor snr=15",
                                     "flutter snr=20",
                                     "good snr=30 step=20:1",
                                     "mid-disturbed snr=20 filter=elliptic:-1450:850" })
            for (const auto* octets : { &constant, &random }) {
                auto x = loopback::transmit(mode::parse(name), *octets);
                x.insert(x.begin(), 20000, 0); // noise alone was heard for 2 s
                x = loopback::through(x, channel, 1, 1);
                carrier_canceller steady(symbol_grid(2400), { 1 / 15.0, 0.2 });
                moving_carriers carriers{ symbol_grid(2400) };
                sample_buffer out;
                for (const auto& s : x) {
                    steady.push(s, false);
                    carriers.push(s, 0, steady.repeating(), out);
                    ASSERT_FALSE(carriers.active()) << name << " " << channel;
                }
                EXPECT_EQ(all_of(out), x) << name << " " << channel;
                EXPECT_EQ(out.carriers_until(), INT64_MIN);
            }
}

TEST(moving_carriers, takes_out_what_is_keyed_or_moves)
{
    const auto sent =
        loopback::transmit(mode::parse("4539-9600S"), loopback::random_octets(9000, 1));
    for (const char* carrier : { "morse=300:10",
                                 "rtty=300:10",
                                 "carriers=-900:10:100",
                                 "morse=-600:20",
                                 "morse=300:10 rtty=-700:10",
                                 "morse=300:15 rtty=-700:15",
                                 "morse=300:10 rtty=-700:10 carriers=900:10:10" }) {
        auto x = sent;
        x.resize(sent.size() + 60000);
        x = loopback::through(x, std::string("snr=60 ") + carrier, 1, 1);
        moving_carriers carriers{ symbol_grid(2400) };
        sample_buffer out;
        for (const auto& s : x)
            carriers.push(s, 0, 0, out);
        const auto y = all_of(out);
        // Some wait for the end of a tone.
        EXPECT_GT(y.size(), x.size() - 4000) << carrier;
        EXPECT_LT(error_db(y, sent, 9600), -11) << carrier;
        EXPECT_TRUE(carriers.active()) << carrier;
    }
}

TEST(moving_carriers, every_sample_comes_out_once_when_the_carrier_has_gone)
{
    samples x(30000);
    const auto tone = loopback::through(samples(20000), "carriers=400:0:50", 1, 1);
    x.insert(x.end(), tone.begin(), tone.end());
    x.resize(90000);
    x = loopback::through(x, "snr=20", 1, 1);
    moving_carriers carriers{ symbol_grid(2400) };
    sample_buffer out;
    for (size_t i = 0; i < x.size(); ++i)
        carriers.push(x[i], i == 45000 ? 0.5f : 0, 0, out);
    EXPECT_FALSE(carriers.active());
    ASSERT_EQ(out.end(), static_cast<int64_t>(x.size()));
    const auto y = all_of(out);
    EXPECT_TRUE(std::equal(y.begin(), y.begin() + 30000, x.begin()));
    EXPECT_TRUE(std::equal(y.begin() + 85000, y.end(), x.begin() + 85000));
    ASSERT_EQ(out.erased().size(), 1u);
    EXPECT_EQ(out.erased().front().sample, 45000);
}

TEST(carrier_bins, carriers_keep_their_numbers_and_share_all_bins)
{
    carrier_bins bins(3);
    const auto with = [](std::initializer_list<int> strong) {
        std::vector<float> powers(40, 1);
        for (const int k : strong)
            powers[static_cast<size_t>(k)] = 10;
        return powers;
    };
    const auto expect = [&bins](size_t number, int first, int end) {
        EXPECT_EQ(bins.of(number).first, first);
        EXPECT_EQ(bins.of(number).end, end);
    };
    // Both tones of a teletype are one carrier.
    bins.update(with({ 10, 11, 13, 14 }), 3);
    expect(0, 0, 40);
    EXPECT_TRUE(bins.of(1).empty());
    // Another one comes below it.
    bins.update(with({ 4, 10, 11, 13, 14 }), 3);
    expect(0, 7, 40);
    expect(1, 0, 7);
    // It moves, and the first one ends. A third one is too far away to be it.
    bins.update(with({ 6, 30 }), 3);
    expect(1, 0, 18);
    expect(0, 18, 40);
    EXPECT_TRUE(bins.of(2).empty());
    // More than there may be: the highest takes the rest.
    bins.update(with({ 6, 16, 26, 36 }), 3);
    expect(1, 0, 11);
    EXPECT_EQ(bins.of(0).end + bins.of(2).end, 21 + 40);
    // None.
    bins.update(with({}), 3);
    expect(0, 0, 40);
    EXPECT_TRUE(bins.of(1).empty());
    bins.restart();
    EXPECT_TRUE(bins.of(0).empty());
}

TEST(piecewise_tone, finds_jumps_silence_and_drift)
{
    // 50 ms each: a tone, another one, silence, a tone that rises by 10 Hz.
    samples x(1920);
    double turns = 0;
    for (size_t i = 0; i < x.size(); ++i) {
        const size_t part = i / 480;
        const double hz = part == 0   ? 300
                          : part == 1 ? 130
                                      : -700 + 10 * static_cast<double>(i - 1440) / 480;
        turns += hz / fs;
        if (part != 2)
            x[i] = std::polar(2.0f, static_cast<float>(2 * M_PI * turns));
    }
    piecewise_tone tone(fs);
    samples y;
    for (size_t i = 0; i < x.size(); i += 64) {
        tone.push(&x[i], 64, 1);
        tone.take(y);
        EXPECT_LE(y.size(), i + 64);
    }
    tone.finish();
    tone.take(y);
    ASSERT_EQ(y.size(), x.size());
    EXPECT_LT(error_db(y, x, 0), -25);
}

TEST(piecewise_tone, leaves_noise_alone)
{
    samples x = loopback::through(samples(19200), "snr=0", 1, 0.01);
    piecewise_tone tone(fs);
    samples y;
    tone.push(x.data(), x.size(), 1);
    tone.finish();
    tone.take(y);
    ASSERT_EQ(y.size(), x.size());
    EXPECT_EQ(y, samples(x.size()));
}

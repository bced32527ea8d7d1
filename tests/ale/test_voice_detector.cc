/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Speech on a channel. Required of two seconds of listening (MIL-STD-188-141B A.4.2.2): 80 %
// at 6 dB and 99 % at 9 dB in 3 kHz, at most 1 % false alarms.
#include "ale/speech.h"
#include "ale/station/voice_detector.h"
#include "modem/burst_modulator.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace gr::hf::test {
namespace {

using samples = std::vector<std::complex<float>>;

void add_noise(samples& x, double snr_db, std::mt19937& random)
{
    const double sd =
        std::sqrt(0.5 * std::pow(10, -snr_db / 10) * ale::voice_detector::rate / 3000);
    std::normal_distribution<float> normal(0, static_cast<float>(sd));
    for (auto& v : x)
        v += std::complex<float>(normal(random), normal(random));
}

bool hears(const samples& x)
{
    ale::voice_detector d;
    bool heard = false;
    for (size_t at = 0; at + 96 <= x.size(); at += 96) {
        d.push(&x[at], 96);
        heard = heard || d.present();
    }
    return heard;
}

int heard_of_100(double snr_db)
{
    std::mt19937 random(7);
    int heard = 0;
    for (int k = 0; k < 100; ++k) {
        auto x = speech(static_cast<uint32_t>(k), 90 + 1.5 * k).make(2);
        add_noise(x, snr_db, random);
        heard += hears(x);
    }
    return heard;
}

TEST(voice_detector, hears_speech_within_two_seconds)
{
    const int at_6_db = heard_of_100(6), at_9_db = heard_of_100(9);
    RecordProperty("heard_of_100_at_6_db", at_6_db);
    RecordProperty("heard_of_100_at_9_db", at_9_db);
    EXPECT_GE(at_6_db, 80);
    EXPECT_GE(at_9_db, 99);
}

TEST(voice_detector, hears_no_speech_in_noise)
{
    std::mt19937 random(3);
    for (int k = 0; k < 300; ++k) {
        samples x(static_cast<size_t>(2 * ale::voice_detector::rate));
        add_noise(x, 0, random);
        ASSERT_FALSE(hears(x)) << k;
    }
}

TEST(voice_detector, hears_no_speech_in_a_carrier_or_in_a_modem)
{
    std::mt19937 random(4);
    samples carrier;
    for (int i = 0; i < 20 * 9600; ++i)
        carrier.push_back(std::polar(1.0f, 0.2f * static_cast<float>(i % 31416)));
    add_noise(carrier, 10, random);
    EXPECT_FALSE(hears(carrier));
    for (const char* name : { "4539-75S", "4539-600S", "4539-2400S" }) {
        kernel::burst_modulator m(ale::voice_detector::rate);
        m.start(mode::parse(name), [&random](uint64_t, size_t most) {
            tx_octets o;
            for (size_t k = 0; k < most; ++k)
                o.octets.push_back(static_cast<uint8_t>(random()));
            return o;
        });
        samples x(20 * 9600);
        m.produce(x.data(), x.size());
        add_noise(x, 20, random);
        EXPECT_FALSE(hears(x)) << name;
    }
}

TEST(voice_detector, notices_the_end_of_speech)
{
    std::mt19937 random(5);
    auto x = speech(1, 120).make(4);
    x.resize(x.size() + 4 * 9600);
    add_noise(x, 12, random);
    ale::voice_detector d;
    d.push(x.data(), 4 * 9600);
    EXPECT_TRUE(d.present());
    d.push(&x[4 * 9600], 4 * 9600);
    EXPECT_FALSE(d.present());
    d.push(x.data(), 4 * 9600);
    EXPECT_TRUE(d.present());
    d.reset();
    EXPECT_FALSE(d.present());
}

TEST(voice_detector, survives_samples_that_are_not_numbers)
{
    std::mt19937 random(6);
    auto x = speech(2, 140).make(2);
    add_noise(x, 12, random);
    samples bad(96, { std::numeric_limits<float>::quiet_NaN(), 0 });
    ale::voice_detector d;
    d.push(bad.data(), bad.size());
    d.push(x.data(), x.size());
    EXPECT_TRUE(d.present());
}

} // namespace
} // namespace gr::hf::test

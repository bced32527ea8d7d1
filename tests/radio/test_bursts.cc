/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bursts of noise in a user's audio, and after the filters of radios. */
#include "modem/loopback.h"
#include "radio/audio_to_baseband.h"
#include "radio/baseband_to_audio.h"
#include "waveform/timing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>
#include <string>

using namespace gr::hf;
using namespace gr::hf::kernel;
using loopback::samples;

namespace {

struct row {
    const char* mode;
    double snr_db, burst_db;
    size_t blocks;
};
// 5 bursts per second of 1 ms.
const row rows[] = { { "4539-9600VL", 32, 20, 2 },
                     { "4539-9600VL", 32, 30, 2 },
                     { "4539-3200S", 20, 20, 12 } };

struct sent_message {
    mode m;
    std::vector<uint8_t> octets;
    samples on_air;
};

sent_message send(const row& r, size_t lead = 3000)
{
    sent_message s{ mode::parse(r.mode), {}, samples(lead) };
    s.octets = loopback::random_octets(timing_of(s.m).octets_in(r.blocks), 3);
    const auto x = loopback::transmit(s.m, s.octets);
    s.on_air.insert(s.on_air.end(), x.begin(), x.end());
    loopback::pause(s.on_air, 9600);
    return s;
}

size_t errors(const std::vector<float>& audio, double rate, const sent_message& s)
{
    audio_to_baseband down(rate, 1800, 9600, true);
    burst_receiver rx;
    std::vector<uint8_t> got;
    samples y;
    const auto hear = [&] {
        rx.push(
            y.data(), y.size(), down.erased().empty() ? nullptr : down.erased().data());
        while (const auto e = rx.poll())
            if (const auto* o = std::get_if<rx_octets>(&e->what))
                got.insert(got.end(), o->octets.begin(), o->octets.end());
        y.clear();
    };
    for (size_t at = 0; at < audio.size(); at += 5000) {
        down.push(&audio[at], std::min<size_t>(5000, audio.size() - at), y);
        hear();
    }
    down.finish(y);
    hear();
    y.assign(20000, {});
    rx.push(y.data(), y.size());
    while (const auto e = rx.poll())
        if (const auto* o = std::get_if<rx_octets>(&e->what))
            got.insert(got.end(), o->octets.begin(), o->octets.end());
    size_t wrong = 0;
    for (size_t i = 0; i < s.octets.size(); ++i)
        wrong += i < got.size()
                     ? static_cast<size_t>(__builtin_popcount(got[i] ^ s.octets[i]))
                     : 8;
    return wrong;
}

std::vector<float> audio_of(const samples& x, double rate)
{
    baseband_to_audio up(rate);
    std::vector<float> audio;
    up.push(x.data(), x.size(), audio);
    up.finish(audio);
    return audio;
}

} // namespace

// White over the whole band of the audio, as from a receiver without a narrow filter.
TEST(Bursts, InTheAudio)
{
    for (const double rate : { 8000.0, 48000.0 })
        for (const row& r : rows) {
            const auto s = send(r);
            auto audio = audio_of(s.on_air, rate);
            std::mt19937 g(4);
            std::normal_distribution<float> normal;
            std::bernoulli_distribution begins(5 / rate);
            // A real signal has half the power of the complex one.
            const double power = mean_power(s.m) / 2;
            const auto noise = static_cast<float>(
                std::sqrt(power * rate / 2 / 3000 / std::pow(10, r.snr_db / 10)));
            const auto burst =
                static_cast<float>(std::sqrt(power * std::pow(10, r.burst_db / 10)));
            const auto length = static_cast<size_t>(rate / 1000);
            size_t left = 0, bursts = 0;
            for (float& x : audio) {
                if (begins(g)) {
                    left = length;
                    ++bursts;
                }
                x += noise * normal(g);
                if (left > 0) {
                    x += burst * normal(g);
                    --left;
                }
            }
            EXPECT_GT(bursts, 50u);
            EXPECT_EQ(errors(audio, rate, s), 0u)
                << r.mode << " " << r.burst_db << " dB at " << rate;
        }
}

// Stretched by the radio's filter.
TEST(Bursts, BehindTheFilterOfARadio)
{
    for (const char* filter : { "fir:-1500:1500",
                                "fir:-1350:1350",
                                "butterworth:-1500:1500",
                                "butterworth:-1200:1200" })
        for (const row& r : rows) {
            const auto s = send(r);
            const auto heard =
                loopback::through(s.on_air,
                                  "snr=" + std::to_string(r.snr_db) + " impulses=5:" +
                                      std::to_string(r.burst_db) + " filter=" + filter,
                                  6,
                                  mean_power(s.m));
            EXPECT_EQ(errors(audio_of(heard, 8000), 8000, s), 0u)
                << r.mode << " " << r.burst_db << " dB, " << filter;
        }
}

/* Pulses of 0.1 ms at twice the frequency of the mains, behind the filter of a radio. 6 of
 * 10 ms were erased around each, and nothing was found. */
TEST(Bursts, OfAPowerLine)
{
    const double rate = 48000;
    const auto s = send({ "4539-3200S", 12, 0, 12 }, 9600);
    const double power = mean_power(s.m) / 2;
    for (const double per_second : { 50.0, 100.0 })
        for (const double level_db : { 15.0, 25.0, 35.0 }) {
            std::mt19937 g(4);
            std::normal_distribution<float> normal;
            auto audio = audio_of(s.on_air, rate);
            const auto noise = static_cast<float>(
                std::sqrt(power * rate / 2 / 3000 / std::pow(10, 1.2)));
            // Level of the white pulses before a filter of 3 of 24 kHz.
            const auto pulse =
                static_cast<float>(std::sqrt(power * 8 * std::pow(10, level_db / 10)));
            const auto period = static_cast<size_t>(rate / per_second);
            for (size_t i = 0; i < audio.size(); ++i) {
                audio[i] += noise * normal(g);
                if (i % period < 5)
                    audio[i] += pulse * normal(g);
            }
            samples in_band;
            audio_to_baseband down(rate, 1800, 9600);
            down.push(audio.data(), audio.size(), in_band);
            down.finish(in_band);
            in_band = loopback::through(
                in_band, "awgn snr=90 filter=fir:-1500:1200", 1, mean_power(s.m));
            EXPECT_LT(errors(audio_of(in_band, rate), rate, s), 8 * s.octets.size() / 100)
                << per_second << " per second, " << level_db << " dB";
        }
}

// The samples reported as missing are those of the burst.
TEST(Bursts, TheGapIsWhereTheBurstWas)
{
    for (const double rate : { 8000.0, 9600.0, 44100.0, 48000.0 }) {
        std::vector<float> x(static_cast<size_t>(rate));
        for (size_t i = 0; i < x.size(); ++i)
            x[i] = static_cast<float>(
                std::cos(2 * M_PI * 1800 / rate * static_cast<double>(i)));
        const auto burst = static_cast<size_t>(0.5 * rate);
        for (size_t i = burst; i < burst + static_cast<size_t>(0.001 * rate); ++i)
            x[i] += i % 2 ? 30.0f : -30.0f;
        audio_to_baseband c(rate, 1800, 9600, true);
        samples y;
        std::vector<float> erased;
        const auto tell = [&] {
            auto e = c.erased();
            e.resize(y.size() - erased.size());
            erased.insert(erased.end(), e.begin(), e.end());
        };
        for (size_t at = 0; at < x.size(); at += 333) {
            c.push(&x[at], std::min<size_t>(333, x.size() - at), y);
            tell();
        }
        c.finish(y);
        tell();
        ASSERT_EQ(erased.size(), y.size());
        for (size_t i = 0; i < y.size(); ++i) {
            const double ms = static_cast<double>(i) / 9.6 - 500;
            if (ms > 0 && ms < 1) {
                EXPECT_NEAR(erased[i], 1, 1e-3) << rate << " " << ms;
            } else if (ms < -6 || ms > 7) {
                EXPECT_EQ(erased[i], 0) << rate << " " << ms;
            }
            EXPECT_LT(std::abs(y[i]), 1.3) << rate << " " << ms;
        }
    }
}

// The start of a signal some dB above the noise is no burst.
TEST(Bursts, TheBeginningOfASignalIsKept)
{
    for (const double snr_db : { 5.0, 10.0, 15.0, 25.0 })
        for (const char* name : { "4539-600S", "4539-3200S", "4539-75S", "4539-6400L" }) {
            const auto m = mode::parse(name);
            samples x(9600);
            const auto signal = loopback::transmit(m, loopback::random_octets(40, 1));
            x.insert(x.end(), signal.begin(), signal.end());
            const auto audio = audio_of(
                loopback::through(x, "snr=" + std::to_string(snr_db), 3, mean_power(m)),
                8000);
            audio_to_baseband c(8000, 1800, 9600, true);
            samples y;
            c.push(audio.data(), audio.size(), y);
            const auto& e = c.erased();
            const double lost = std::accumulate(e.begin(), e.end(), 0.0);
            EXPECT_LT(lost, 0.002 * 9600) << name << " " << snr_db;
        }
}

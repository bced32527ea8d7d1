/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Samples of 0 in a user's audio, where a sound device or a network lost some. */
#include "modem/loopback.h"
#include "radio/audio_to_baseband.h"
#include "radio/baseband_to_audio.h"
#include "waveform/timing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

using namespace gr::hf;
using namespace gr::hf::kernel;
using loopback::samples;

namespace {

std::vector<float> tone(double rate, double seconds)
{
    std::vector<float> x(static_cast<size_t>(seconds * rate));
    for (size_t i = 0; i < x.size(); ++i)
        x[i] = static_cast<float>(
            std::cos(2 * M_PI * 1800 / rate * static_cast<double>(i) + 0.3));
    return x;
}

void silence(std::vector<float>& x, double rate, double from_s, double seconds)
{
    std::fill_n(x.begin() + static_cast<long>(from_s * rate),
                static_cast<size_t>(seconds * rate),
                0.0f);
}

// Missing shares of the samples at 9600 samples/s, if pushed in pieces.
std::vector<float> erased_in(const std::vector<float>& x, double rate, size_t piece)
{
    audio_to_baseband c(rate, 1800, 9600, true);
    samples y;
    std::vector<float> all;
    const auto tell = [&] {
        auto e = c.erased();
        e.resize(y.size() - all.size());
        all.insert(all.end(), e.begin(), e.end());
    };
    for (size_t at = 0; at < x.size(); at += piece) {
        c.push(&x[at], std::min(piece, x.size() - at), y);
        tell();
    }
    c.finish(y);
    tell();
    return all;
}

} // namespace

TEST(audio_holes, are_missing_where_they_are)
{
    for (const double rate : { 8000.0, 44100.0, 48000.0 })
        for (const double ms : { 4.0, 20.0, 60.0 }) {
            auto x = tone(rate, 1);
            silence(x, rate, 0.5, ms / 1e3);
            const auto erased = erased_in(x, rate, 333);
            EXPECT_EQ(erased, erased_in(x, rate, 4096)) << rate << " " << ms;
            for (size_t i = 0; i < erased.size(); ++i) {
                const double at = static_cast<double>(i) / 9.6 - 500;
                if (at > 0.2 && at < ms - 0.2) {
                    EXPECT_NEAR(erased[i], 1, 1e-3) << rate << " " << ms << " " << at;
                } else if (at < -1 || at > ms + 1) {
                    EXPECT_EQ(erased[i], 0) << rate << " " << ms << " " << at;
                }
            }
        }
}

// A receiver has to notice that the signal has ended, and a file starts with silence.
TEST(audio_holes, long_silence_is_none)
{
    const double rate = 8000;
    auto x = tone(rate, 3);
    silence(x, rate, 0, 1);
    silence(x, rate, 2, 1);
    const auto erased = erased_in(x, rate, 1000);
    for (size_t i = 0; i < erased.size(); ++i) {
        const double s = static_cast<double>(i) / 9600;
        if (s < 1.9 || s > 2.21) {
            EXPECT_EQ(erased[i], 0) << s;
        }
    }
    // Samples of 0 that a tone has by chance, and two in a row.
    auto y = tone(rate, 1);
    for (size_t i = 0; i + 2 < y.size(); i += 50)
        y[i] = y[i + 1] = 0;
    for (const float share : erased_in(y, rate, 1000))
        EXPECT_EQ(share, 0);
}

// Holes of 20 ms looked like steps of the level: 7400 of 12000 octets were lost.
TEST(audio_holes, cost_no_more_than_their_length)
{
    const double rate = 8000;
    for (const double ms : { 10.0, 17.0, 20.0, 23.0, 40.0, 60.0 })
        for (const auto& [name, snr_db] :
             { std::pair{ "4539-9600S", 26 }, std::pair{ "4539-3200S", 14 } }) {
            const mode m = mode::parse(name);
            const auto sent = loopback::random_octets(timing_of(m).octets_in(12), 3);
            samples on_air(3000);
            const auto t = loopback::transmit(m, sent);
            on_air.insert(on_air.end(), t.begin(), t.end());
            loopback::pause(on_air, 9600);
            baseband_to_audio up(rate);
            std::vector<float> audio;
            const auto heard = loopback::through(
                on_air, "snr=" + std::to_string(snr_db), 5, mean_power(m));
            up.push(heard.data(), heard.size(), audio);
            up.finish(audio);
            const auto seconds = static_cast<double>(audio.size()) / rate;
            for (double at = 1.5; at + 1 < seconds; at += 1.3)
                silence(audio, rate, at, ms / 1e3);
            audio_to_baseband down(rate, 1800, 9600, true);
            samples y;
            down.push(audio.data(), audio.size(), y);
            const auto erased = down.erased();
            ASSERT_EQ(erased.size(), y.size());
            burst_receiver rx;
            rx.push(y.data(), y.size(), erased.data());
            const samples after(20000);
            rx.push(after.data(), after.size());
            std::vector<uint8_t> got;
            while (const auto e = rx.poll())
                if (const auto* o = std::get_if<rx_octets>(&e->what))
                    got.insert(got.end(), o->octets.begin(), o->octets.end());
            EXPECT_EQ(got, sent) << name << " " << ms;
        }
}

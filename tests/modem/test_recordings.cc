/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/burst_receiver.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

using namespace gr::hf;
using namespace gr::hf::kernel;

namespace {

// Converts real 48 kHz audio around 1800 Hz to complex baseband at 9600 samples/s.
std::vector<std::complex<float>> baseband(const std::vector<int16_t>& audio)
{
    constexpr int taps = 161, half = taps / 2;
    constexpr double cutoff = 2600;
    std::vector<double> h(taps);
    double sum = 0;
    for (int i = 0; i < taps; ++i) {
        const double t = i - half, x = 2 * cutoff / 48000 * t;
        h[static_cast<size_t>(i)] = (t == 0 ? 1 : std::sin(M_PI * x) / (M_PI * x)) *
                                    (0.54 + 0.46 * std::cos(2 * M_PI * t / taps));
        sum += h[static_cast<size_t>(i)];
    }
    std::vector<std::complex<double>> mixed(audio.size());
    for (size_t i = 0; i < audio.size(); ++i)
        mixed[i] = static_cast<double>(audio[i]) *
                   std::polar(1.0, -2 * M_PI * 1800 * static_cast<double>(i) / 48000);
    std::vector<std::complex<float>> out;
    for (size_t i = 0; i < audio.size(); i += 5) {
        std::complex<double> y = 0;
        for (int k = 0; k < taps; ++k) {
            const auto j = static_cast<int64_t>(i) + k - half;
            if (j >= 0 && j < static_cast<int64_t>(mixed.size()))
                y += mixed[static_cast<size_t>(j)] * h[static_cast<size_t>(k)];
        }
        out.emplace_back(y / sum);
    }
    return out;
}

// Directory of the recordings: from the environment, or the one given by CMake.
std::string directory()
{
    const char* d = std::getenv("HF_RECORDINGS");
    return d ? d : HF_RECORDINGS;
}

void decode(const std::string& file, const std::string& expected_mode)
{
    std::ifstream in(directory() + "/" + file, std::ios::binary);
    if (!in)
        GTEST_SKIP() << "no recording " << directory() << "/" << file
                     << " (tests/recordings/README.md says where to get it)";
    std::vector<int16_t> audio;
    for (char b[2]; in.read(b, 2);)
        audio.push_back(static_cast<int16_t>(static_cast<uint8_t>(b[0]) |
                                             static_cast<uint8_t>(b[1]) << 8));
    auto x = baseband(audio);
    x.resize(x.size() + 9600);
    burst_receiver rx;
    rx.push(x.data(), x.size());
    std::string text, m;
    std::optional<rx_end> end;
    while (auto e = rx.poll()) {
        if (auto* s = std::get_if<rx_start>(&e->what)) {
            m = s->m.to_string();
            // Centre of the first preamble symbol, measured in the recording: 257 / 5.
            EXPECT_NEAR(static_cast<double>(e->sample), 51.4, 4);
        } else if (auto* o = std::get_if<rx_octets>(&e->what)) {
            text.append(o->octets.begin(), o->octets.end());
        } else if (auto* d = std::get_if<rx_end>(&e->what); d && !end) {
            end = *d;
        }
    }
    EXPECT_EQ(m, expected_mode);
    EXPECT_EQ(text, "THE QUICK BROWN FOX JUMPS OVER THE LAZY DOG 1234567890");
    ASSERT_TRUE(end);
    EXPECT_EQ(end->reason, rx_end_reason::eom);
}

} // namespace

TEST(recordings, serial_tone_1200_long_of_another_maker)
{
    decode("serial_tone_1200L.s16le", "4539-1200L");
}

TEST(recordings, serial_tone_600_short_of_another_maker)
{
    decode("serial_tone_600S.s16le", "4539-600S");
}

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The filter of the radio, learned from the noise between transmissions, and undone where the
 * preambles show that this helps. */
#include "modem/front/noise_whitener.h"
#include "modem/loopback.h"
#include "waveform/timing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace gr::hf;
using namespace gr::hf::kernel;
using loopback::samples;

namespace {

constexpr double rate = 9600;

// Noise behind a filter, "" for none.
samples noise(const std::string& filter, double seconds)
{
    samples x(static_cast<size_t>(seconds * rate));
    return loopback::through(x, "snr=0" + filter, 3, 1);
}

// Ratio of the powers of two parts of the spectrum, each \p width Hz wide, dB.
double fall_db(const samples& x, double at_hz, double from_hz, double width)
{
    const auto power = [&](double hz) {
        double sum = 0;
        for (double f = hz - width / 2; f <= hz + width / 2; f += 10) {
            std::complex<double> bin = 0;
            for (size_t begin = 0; begin + 960 <= x.size(); begin += 960) {
                bin = 0;
                for (size_t i = 0; i < 960; ++i)
                    bin += std::complex<double>(x[begin + i]) *
                           std::polar(0.5 - 0.5 * std::cos(2 * M_PI * double(i) / 960),
                                      -2 * M_PI * f / rate * static_cast<double>(i));
                sum += std::norm(bin);
            }
        }
        return sum;
    };
    return 10 * std::log10(power(at_hz) / power(from_hz));
}

struct burst {
    double snr_db; // of the blocks
    size_t bad;    // octets
};

// Equal transmissions with pauses between them, by one receiver.
std::vector<burst> bursts(const std::string& channel, int count)
{
    const mode m = mode::parse("4539-9600S");
    const auto sent = loopback::random_octets(timing_of(m).octets_in(12), 5);
    const samples on_air = loopback::transmit(m, sent);
    samples x;
    for (int k = 0; k < count; ++k) {
        loopback::pause(x, 5 * 9600);
        x.insert(x.end(), on_air.begin(), on_air.end());
    }
    loopback::pause(x, 9600);
    burst_receiver rx;
    std::vector<burst> found;
    for (const auto& r :
         loopback::receive(rx, loopback::through(x, channel, 7, mean_power(m)))) {
        double power = 0;
        for (const auto& block : r.blocks)
            power += std::pow(10, block.snr_db / 10);
        size_t bad = 0;
        for (size_t k = 0; k < sent.size(); ++k)
            bad += k >= r.octets.size() || r.octets[k] != sent[k];
        found.push_back(
            { 10 * std::log10(power / static_cast<double>(r.blocks.size())), bad });
    }
    return found;
}

} // namespace

TEST(noise_whitener, makes_noise_behind_a_filter_white)
{
    const auto x = noise(" filter=elliptic:-1450:850", 14);
    noise_whitener w{ symbol_grid(2400) };
    w.set_idle(true);
    samples y;
    for (const auto& s : x)
        y.push_back(w.push(s, 0).x);
    ASSERT_TRUE(w.active());
    const samples last(y.end() - 4 * 9600, y.end()), before(x.end() - 4 * 9600, x.end());
    EXPECT_LT(fall_db(before, 950, 0, 60), -14);
    EXPECT_GT(fall_db(last, 950, 0, 60), -3);
    EXPECT_NEAR(fall_db(last, 800, 0, 60), 0, 1.5);
    EXPECT_NEAR(fall_db(last, -1400, 0, 60), 0, 1.5);
}

TEST(noise_whitener, leaves_what_is_no_filter_alone)
{
    for (const char* channel :
         { "", " filter=fir:-1800:1800", " carriers=300:20", " rtty=300:15:45:170" }) {
        noise_whitener w{ symbol_grid(2400) };
        w.set_idle(true);
        for (const auto& s : noise(channel, 20)) {
            const auto y = w.push(s, 0);
            ASSERT_EQ(y.x, s) << channel;
        }
        EXPECT_FALSE(w.active()) << channel;
    }
}

TEST(noise_whitener, learns_nothing_while_there_is_a_signal)
{
    noise_whitener w{ symbol_grid(2400) };
    const auto x = noise(" filter=elliptic:-1450:850", 10);
    for (const auto& s : x)
        w.push(s, 0);
    EXPECT_FALSE(w.active()) << "nobody said that it is noise";
    w.set_idle(true);
    for (size_t k = 0; k < x.size(); ++k)
        w.push(x[k], k % 250 == 0 ? 1.0f : 0.0f);
    EXPECT_FALSE(w.active()) << "each window has a hole";
}

TEST(noise_whitener, tells_how_much_of_a_sample_is_missing)
{
    noise_whitener w{ symbol_grid(2400) };
    w.set_idle(true);
    const auto x = noise(" filter=elliptic:-1450:850", 10);
    for (const auto& s : x)
        w.push(s, 0);
    ASSERT_TRUE(w.active());
    float before = 1;
    EXPECT_GT(w.push(0, 1).erased, 0.1f);
    double sum = 0;
    for (int k = 0; k < 64; ++k) {
        before = w.push(x[static_cast<size_t>(k)], 0).erased;
        sum += before;
    }
    EXPECT_GT(sum, 0.1);
    EXPECT_EQ(w.push(x[64], 0).erased, 0.0f) << before;
}

TEST(steep_filters, a_crystal_filter_is_undone_from_the_second_transmission_on)
{
    const auto plain = bursts("awgn snr=30", 1);
    const auto got = bursts("awgn snr=30 filter=elliptic:-1450:850", 4);
    ASSERT_EQ(got.size(), 4u);
    EXPECT_LT(got[0].snr_db, plain.at(0).snr_db - 4);
    for (size_t k = 1; k < got.size(); ++k)
        EXPECT_GT(got[k].snr_db, plain[0].snr_db - 2) << k;
}

TEST(steep_filters, one_of_linear_phase_is_left_alone)
{
    const auto got = bursts("awgn snr=24 filter=fir:-1500:900", 5);
    ASSERT_EQ(got.size(), 5u);
    for (const burst& b : got) {
        EXPECT_NEAR(b.snr_db, got[0].snr_db, 0.4);
        EXPECT_EQ(b.bad, 0u);
    }
}

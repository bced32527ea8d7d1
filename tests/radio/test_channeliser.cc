/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "radio/channeliser.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <string>

using namespace gr::hf::kernel;

namespace {

using cf = std::complex<float>;
constexpr double rate = 96000;

std::string refusal(double stream_rate, double centre_hz, double channel_rate = 9600)
{
    try {
        channeliser c(stream_rate, { centre_hz }, channel_rate);
    } catch (const std::invalid_argument& e) {
        return e.what();
    }
    return "";
}

} // namespace

TEST(channeliser, a_channel_keeps_its_signal_and_nothing_else)
{
    for (const double centre : { 0.0, 3000.0, -12340.0, 20007.5 }) {
        // A signal in the channel, and two beside it that are 40 dB stronger.
        std::vector<cf> x(96000);
        const std::pair<double, float> tones[] = { { centre + 1500, 1.0f },
                                                   { centre + 5000, 100.0f },
                                                   { centre - 4000, 100.0f } };
        for (size_t k = 0; k < x.size(); ++k)
            for (const auto& [hz, amplitude] : tones)
                x[k] += std::polar(
                    amplitude,
                    static_cast<float>(2 * M_PI *
                                       std::fmod(hz * static_cast<double>(k) / rate, 1)));
        channeliser c(rate, { 0, centre });
        ASSERT_EQ(c.channels(), 2u);
        std::vector<std::vector<cf>> out(2);
        for (size_t at = 0, n = 1; at < x.size(); at += n) {
            n = std::min<size_t>(1 + 7 * n % 5000, x.size() - at);
            c.push(&x[at], n, out);
        }
        EXPECT_EQ(out[0].size(), out[1].size());
        ASSERT_GT(out[1].size(), 9000u);
        // Turned back, what is left of the signal does not move.
        for (size_t k = 500; k < out[1].size() - 50; ++k) {
            const double t = static_cast<double>(k) / 9600 - channeliser::delay_s;
            const cf still =
                out[1][k] *
                std::polar(1.0f, static_cast<float>(-2 * M_PI * std::fmod(1500 * t, 1)));
            ASSERT_NEAR(std::abs(still), 1, 1e-2) << centre << " " << k;
        }
    }
}

TEST(channeliser, what_does_not_fit_is_named)
{
    EXPECT_EQ(refusal(rate, 44832), ""); // half the stream's rate less the stop band
    EXPECT_NE(refusal(rate, 44833).find("channel at 44833 Hz"), std::string::npos);
    EXPECT_NE(refusal(rate, -44833).find("within 44832 Hz"), std::string::npos);
    EXPECT_NE(refusal(rate, std::nan("")), "");
    EXPECT_NE(refusal(96001, 0).find("multiples of 20 from 19200 on"), std::string::npos);
    EXPECT_EQ(refusal(19200, 0), "");
    EXPECT_NE(refusal(19180, 0), "");
    EXPECT_NE(refusal(rate, 0, 9620).find("multiples of 40"), std::string::npos);
    EXPECT_NE(refusal(rate, 0, 0), "");
}

TEST(channeliser, a_grid_has_a_channel_in_the_middle)
{
    const auto centres = channeliser::grid(rate, 3000);
    ASSERT_EQ(centres.size(), 29u);
    for (int k = 0; k < 29; ++k)
        EXPECT_EQ(centres[static_cast<size_t>(k)], 3000 * (k - 14));
}

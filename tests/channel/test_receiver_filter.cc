/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "channel/channel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

using namespace gr::hf::kernel;

namespace {

using samples = std::vector<std::complex<float>>;

samples run(const std::string& spec, const samples& in, size_t chunk)
{
    channel c(channel_spec::parse(spec), 9600, 3, 1);
    samples out(in.size());
    for (size_t i = 0; i < in.size(); i += chunk)
        c.process(&in[i], &out[i], std::min(chunk, in.size() - i));
    return out;
}

double gain_db(const std::string& filter, double hz)
{
    samples x(9600);
    for (size_t i = 0; i < x.size(); ++i)
        x[i] = std::complex<float>(
            std::polar(1.0, 2 * M_PI * hz / 9600 * static_cast<double>(i)));
    const auto y = run("filter=" + filter, x, 1000);
    double power = 0;
    for (size_t i = 4800; i < y.size(); ++i)
        power += std::norm(y[i]);
    return 10 * std::log10(power / 4800 + 1e-20);
}

} // namespace

TEST(receiver_filter, passes_its_band_alone)
{
    for (const char* kind : { "fir", "butterworth", "elliptic" }) {
        const std::string filter = std::string(kind) + ":-1450:850";
        for (const double hz : { -1200.0, -300.0, 600.0 })
            EXPECT_NEAR(gain_db(filter, hz), 0, 1.1) << kind << " " << hz;
        for (const double hz : { -3200.0, 2600.0, 4000.0 })
            EXPECT_LT(gain_db(filter, hz), -30) << kind << " " << hz;
    }
}

TEST(receiver_filter, everything_that_the_radio_hears_goes_through_it)
{
    const auto y = run("snr=0 impulses=20:20 morse=3000:20 filter=elliptic:-1000:1000",
                       samples(19200),
                       960);
    double power = 0, high = 0;
    for (size_t i = 1; i < y.size(); ++i) {
        power += std::norm(y[i]);
        high += std::norm(y[i] - y[i - 1]);
    }
    // The remaining signal ends at 1 kHz: neighbours differ little.
    EXPECT_LT(high, 0.2 * power);
}

TEST(morse, is_keyed_and_does_not_depend_on_the_chunks)
{
    const samples silence(96000);
    const auto x = run("morse=500:6:20", silence, 1),
               y = run("morse=500:6:20", silence, 4096);
    EXPECT_EQ(x, y);
    // A dot lasts 60 ms: down for about half of the time, as strong as it should be.
    size_t down = 0, changes = 0;
    for (size_t i = 1; i < x.size(); ++i) {
        const bool now = std::norm(x[i]) > 2, before = std::norm(x[i - 1]) > 2;
        down += now;
        changes += now != before;
        ASSERT_LT(std::norm(x[i]), 4.1);
    }
    EXPECT_NEAR(static_cast<double>(down) / 96000, 0.5, 0.15);
    EXPECT_NEAR(static_cast<double>(changes), 10 / 0.12, 20);
}

TEST(rtty, jumps_between_two_frequencies_without_a_step_of_phase)
{
    const samples silence(96000);
    const auto x = run("rtty=500:6:50:170", silence, 1),
               y = run("rtty=500:6:50:170", silence, 4096);
    EXPECT_EQ(x, y);
    size_t high = 0, changes = 0;
    bool before = true;
    for (size_t i = 1; i < x.size(); ++i) {
        ASSERT_NEAR(std::norm(x[i]), 3.98, 0.01);
        const double hz = std::arg(x[i] * std::conj(x[i - 1])) * 9600 / (2 * M_PI);
        const bool now = hz > 500;
        ASSERT_NEAR(hz, now ? 585 : 415, 1);
        high += now;
        changes += now != before;
        before = now;
    }
    // 7.5 bits a character: stop and half of the data are high.
    EXPECT_NEAR(static_cast<double>(high) / 96000, 4 / 7.5, 0.05);
    // 67 characters; within one, half of the 4 inner borders change, and start and stop do.
    EXPECT_NEAR(static_cast<double>(changes), 67 * 4, 30);
}

TEST(carriers, move_and_turn_round_at_the_edge)
{
    const samples silence(6 * 9600);
    const auto x = run("carriers=1300:0:100", silence, 1),
               y = run("carriers=1300:0:100", silence, 4096),
               down = run("carriers=-1300:0:-100", silence, 960);
    EXPECT_EQ(x, y);
    for (size_t i = 1; i < x.size(); ++i) {
        const double t = static_cast<double>(i) / 9600;
        const double hz = std::arg(x[i] * std::conj(x[i - 1])) * 9600 / (2 * M_PI);
        ASSERT_NEAR(hz, 1500 - std::abs(2 - t) * 100, 1) << t;
        ASSERT_NEAR(
            std::arg(down[i] * std::conj(down[i - 1])) * 9600 / (2 * M_PI), -hz, 1);
    }
}

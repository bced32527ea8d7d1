/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "channel/shared_air.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <stdexcept>
#include <string>
#include <vector>

using namespace gr::hf::kernel;

namespace {

using cf = std::complex<float>;
using samples = shared_air::samples;

air_options three_stations(const std::string& channel = "clear")
{
    air_options o;
    o.stations = 3;
    o.channel = channel;
    return o;
}

//! What a station receives in the next \p n samples.
samples receive(shared_air& air, size_t station, size_t n)
{
    std::vector<samples> heard;
    air.take(station, n, heard);
    samples out(n);
    air.mix(station, heard, out.data(), n);
    return out;
}

double power(const samples& x)
{
    double sum = 0;
    for (const auto& v : x)
        sum += std::norm(v);
    return sum / static_cast<double>(x.size());
}

std::string refusal(const air_options& o)
{
    try {
        shared_air air(o);
    } catch (const std::invalid_argument& e) {
        return e.what();
    }
    return "";
}

} // namespace

TEST(shared_air, refuses_what_it_cannot_be)
{
    air_options o;
    for (const size_t stations : { 1u, 65u }) {
        o = {};
        o.stations = stations;
        EXPECT_NE(refusal(o).find("allowed are 2 to 64"), std::string::npos);
    }
    for (const int khz : { 0, 101 }) {
        o = {};
        o.bandwidth_khz = khz;
        EXPECT_NE(refusal(o).find("allowed are 1 to 100 kHz"), std::string::npos);
    }
    for (const double ms : { 9.9, 1001.0 }) {
        o = {};
        o.delay_ms = ms;
        EXPECT_NE(refusal(o).find("allowed are 10 to 1000 ms"), std::string::npos);
    }
    for (const size_t stations : { 2u, 64u }) {
        o = {};
        o.stations = stations;
        o.bandwidth_khz = stations == 2 ? 1 : 100;
        o.delay_ms = stations == 2 ? 10 : 1000;
        EXPECT_EQ(refusal(o), "");
    }
}

TEST(shared_air, a_station_receives_the_sum_of_all_others_after_the_delay)
{
    shared_air air(three_stations());
    ASSERT_EQ(air.delay_samples(), 96u); // 10 ms at 9600 samples/s
    const samples one(500, cf(1, 0)), two(500, cf(0, 2)), three(500, cf(4, 0));
    air.write(0, one.data(), one.size());
    air.write(1, two.data(), two.size());
    EXPECT_EQ(air.available(0), 96u) << "the third station has sent nothing yet";
    air.write(2, three.data(), three.size());
    EXPECT_EQ(air.available(0), 596u);
    const samples heard = receive(air, 0, 596);
    for (size_t k = 0; k < heard.size(); ++k)
        ASSERT_EQ(heard[k], k < 96 ? cf() : cf(4, 2)) << k;
    EXPECT_EQ(air.taken(0), 596u);
    EXPECT_EQ(air.available(0), 0u);
    EXPECT_EQ(air.available(1), 596u) << "others have their own place";
}

TEST(shared_air, a_station_is_ahead_of_the_last_listener_which_may_be_itself)
{
    shared_air air(three_stations());
    const samples sent(500);
    for (size_t k = 0; k < 3; ++k)
        air.write(k, sent.data(), sent.size());
    receive(air, 2, 100);
    EXPECT_EQ(air.ahead(0), 500u);
    air.set_listens(1, false); // a transmitter alone
    EXPECT_EQ(air.ahead(0), 500u);
    receive(air, 0, 300);
    EXPECT_EQ(air.ahead(0), 400u);
    receive(air, 2, 496);
    EXPECT_EQ(air.ahead(0), 200u);
    EXPECT_EQ(air.ahead(1), 200u);
    receive(air, 0, 296);
    EXPECT_EQ(air.ahead(0), 0u) << "the delay goes on after what was sent";
    for (size_t k = 0; k < 3; ++k)
        air.set_listens(k, false);
    air.write(0, sent.data(), sent.size());
    EXPECT_EQ(air.ahead(0), 0u) << "nobody waits for nobody";
}

// Samples that all have taken are forgotten in large pieces, which must not move the rest.
TEST(shared_air, the_samples_do_not_depend_on_the_chunks)
{
    const size_t total = 20000;
    samples sent(total);
    for (size_t k = 0; k < total; ++k)
        sent[k] = cf(static_cast<float>(k), -1);
    shared_air whole(three_stations("poor snr=20")), parts(three_stations("poor snr=20"));
    for (size_t s = 0; s < 3; ++s)
        whole.write(s, sent.data(), total);
    const samples expected = receive(whole, 1, total);
    samples got;
    for (size_t at = 0, chunk = 1; at < total; at += chunk) {
        chunk = std::min<size_t>(1 + 7 * chunk % 1000, total - at);
        for (size_t s = 0; s < 3; ++s)
            parts.write(s, &sent[at], chunk);
        for (size_t s = 0; s < 3; ++s) {
            const samples some = receive(parts, s, chunk);
            if (s == 1)
                got.insert(got.end(), some.begin(), some.end());
        }
    }
    ASSERT_EQ(got.size(), total);
    for (size_t k = 0; k < total; ++k)
        ASSERT_NEAR(
            std::abs(got[k] - expected[k]), 0, 1e-3 * std::abs(expected[k]) + 1e-3)
            << k;
}

TEST(shared_air, noise_belongs_to_the_receiver)
{
    // 200000 samples: one standard deviation of the power is 0.01 dB.
    const size_t total = 200000;
    const samples silence(total);
    samples first;
    for (const size_t stations : { 2u, 8u }) {
        auto o = three_stations("awgn snr=10");
        o.stations = stations;
        o.signal_power = 0.5;
        shared_air air(o);
        for (size_t s = 0; s < stations; ++s)
            air.write(s, silence.data(), total);
        const samples noise = receive(air, 0, total);
        // In 3 of the 9.6 kHz.
        EXPECT_NEAR(10 * std::log10(0.5 / (power(noise) * 3000 / 9600)), 10, 0.05);
        const samples other = receive(air, 1, total);
        EXPECT_NE(noise, other);
    }
}

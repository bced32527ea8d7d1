/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "radio/audio_to_baseband.h"
#include "radio/channel_filter.h"
#include "radio/rx_timeline.h"
#include "radio/tx_bursts.h"
#include "radio/tx_log.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <ostream>
#include <random>
#include <stdexcept>

using namespace gr::hf::kernel;

namespace {

using value = std::complex<float>;

// Noise in the modem's band (1620 of 9600 Hz), which every filter passes; different at
// every sample.
std::vector<value> band_noise(size_t n, unsigned seed)
{
    std::mt19937 g(seed);
    std::normal_distribution<float> d;
    const auto taps = low_pass(1450.0 / 9600, 1620.0 / 9600, 70);
    std::vector<value> x(n + taps.size()), y(n);
    for (auto& s : x)
        s = { d(g), d(g) };
    for (size_t k = 0; k < n; ++k)
        for (size_t i = 0; i < taps.size(); ++i)
            y[k] += taps[i] * x[k + i];
    return y;
}

struct burst {
    device_time time;
    std::vector<value> samples;
    std::vector<bool> key;
    uint64_t released = 0; // modem sample
};

// One transmission of x after `before` samples, in ticks of 96.
std::vector<burst> send(tx_bursts& t, const std::vector<value>& x, size_t before)
{
    std::vector<burst> found;
    tx_bursts::output out;
    const size_t n = before + x.size() + 9600;
    std::vector<value> tick(96);
    for (size_t k = 0; k + 96 <= n; k += 96) {
        std::optional<size_t> first, last;
        for (size_t i = 0; i < 96; ++i) {
            const size_t at = k + i;
            const bool on = at >= before && at < before + x.size();
            tick[i] = on ? x[at - before] : value();
            if (at == before)
                first = i;
            if (at == before + x.size() - 1)
                last = i;
        }
        const size_t keys = out.key.size();
        t.push(tick.data(), 96, first, last, out);
        if (out.key.size() > keys && !out.key.back() && !found.empty())
            found.back().released = k + 96;
        for (const auto& m : out.marks)
            if (m.begin)
                found.push_back({ m.time, {}, {}, 0 });
        out.marks.clear();
    }
    if (!found.empty()) {
        found.back().samples = out.samples;
        found.back().key = out.key;
    }
    return found;
}

struct rates {
    double device, modem;
};

void PrintTo(const rates& r, std::ostream* out)
{
    *out << r.device << "_for_" << r.modem;
}

class tx_time : public testing::TestWithParam<rates>
{
};

// The sample on the air paired with received sample k is sample k. Put the burst at its
// time, convert it back, and compare it with the modem's samples.
TEST_P(tx_time, is_that_of_the_opposite_sample)
{
    const auto [device, modem] = GetParam();
    const device_time origin{ 1000, 0.123456789 };
    for (const size_t before : { size_t{ 4000 }, size_t{ 4001 }, size_t{ 4777 } }) {
        if (device != std::floor(device) && before != 4001)
            continue; // filters of 768 phases take seconds to design
        tx_bursts t({ device, modem, 0.05 });
        t.set_origin(origin);
        const auto x = band_noise(2000, 3);
        const auto found = send(t, x, before);
        ASSERT_EQ(found.size(), 1u);
        const auto& b = found[0];
        const double at = (b.time - origin - t.delay_s()) * device;
        const auto index = static_cast<size_t>(std::llround(at));
        EXPECT_NEAR(at, std::round(at), 1e-6); // on the grid of the received samples
        EXPECT_NEAR(t.delay_s(), 0.05, 0.5 / device);

        std::vector<value> air(index + b.samples.size()), down;
        std::copy(b.samples.begin(), b.samples.end(), air.begin() + index);
        audio_to_baseband c(device, 0, modem);
        c.push(air.data(), air.size(), down);
        c.finish(down);
        double error = 0, power = 0;
        // The ends begin and stop at once, which no filter passes.
        for (size_t k = 150; k < x.size() - 150; ++k) {
            error += std::norm(down.at(before + k) - x[k]);
            power += std::norm(x[k]);
        }
        // An error of a quarter of a sample of 48 kHz would give -30 dB.
        EXPECT_LT(10 * std::log10(error / power), -50) << device << " " << before;
        const auto expected = static_cast<double>(x.size()) * device / modem;
        EXPECT_NEAR(static_cast<double>(b.samples.size()), expected, 24 * device / modem);
    }
}

INSTANTIATE_TEST_SUITE_P(of_devices,
                         tx_time,
                         testing::Values(rates{ 48000, 9600 },
                                         rates{ 62500, 9600 },
                                         rates{ 195312.5, 9600 },
                                         rates{ 250000, 9600 },
                                         rates{ 9600, 9600 },
                                         rates{ 192000, 38400 },
                                         rates{ 200000, 153600 },
                                         rates{ 1e6, 153600 },
                                         rates{ 2e6, 9600 }));

TEST(tx_bursts, keys_from_the_first_sample_to_the_tail)
{
    tx_bursts t({ 48000, 9600, 0.05, 0.2, 0.1 });
    t.set_origin({ 5, 0 });
    const auto x = band_noise(960, 1);
    const auto found = send(t, x, 960);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].key, (std::vector<bool>{ true, false }));
    EXPECT_NEAR(t.delay_s(), 0.25, 1e-4);
    // Sample 1960 is the last one; latency, lead and tail later it has left.
    const double end = 960 + static_cast<double>(x.size()) + 9600 * (0.25 + 0.1);
    EXPECT_GE(static_cast<double>(found[0].released), end);
    EXPECT_LE(static_cast<double>(found[0].released), end + 96 + 10);
    EXPECT_FALSE(t.keyed());
}

TEST(tx_bursts, hold_lead_and_tail_where_the_device_keys)
{
    const auto x = band_noise(960, 1);
    tx_bursts plain({ 48000, 9600, 0.05 }),
        keying({ 48000, 9600, 0.05, 0.02, 0.01, true });
    plain.set_origin({ 5, 0 });
    keying.set_origin({ 5, 0 });
    const auto a = send(plain, x, 9600), b = send(keying, x, 9600);
    EXPECT_EQ(b[0].samples.size(), a[0].samples.size() + 960 + 480);
    EXPECT_NEAR(
        b[0].time - a[0].time, 0, 1e-9); // the signal is 20 ms later, the zeros are not
    for (size_t k = 0; k < 960; ++k)
        ASSERT_EQ(b[0].samples[k], value());
    EXPECT_EQ(b[0].samples[960], a[0].samples[0]);
    EXPECT_EQ(b[0].samples.back(), value());
}

// The filter passes 0 Hz unchanged. So five times as many samples have five times the sum, if
// none of the response is cut off. Zeros after it are of no use on the air.
TEST(tx_bursts, hold_the_whole_response_of_the_filter_and_no_zeros)
{
    tx_bursts t({ 48000, 9600, 0.05 });
    t.set_origin({ 5, 0 });
    const std::vector<value> x(50, value(1, 0));
    tx_bursts::output out;
    t.push(x.data(), x.size(), 0, x.size() - 1, out);
    const value sum = std::accumulate(out.samples.begin(), out.samples.end(), value());
    EXPECT_NEAR(sum.real(), 250, 2.5);
    EXPECT_NE(out.samples.back(), value());
}

TEST(tx_bursts, hard_behind_each_other_do_not_overlap)
{
    tx_bursts t({ 48000, 9600, 0.05 });
    t.set_origin({ 5, 0 });
    const auto x = band_noise(500, 1);
    tx_bursts::output out;
    t.push(x.data(), 500, 0, 499, out);
    t.push(x.data(), 500, 1, 499, out);
    ASSERT_EQ(out.marks.size(), 4u);
    EXPECT_TRUE(!out.marks[1].begin && out.marks[2].begin);
    EXPECT_EQ(out.marks[2].at, out.marks[1].at + 1);
    EXPECT_NEAR((out.marks[2].time - out.marks[1].time) * 48000, 1, 1e-6);
    EXPECT_EQ(out.marks[2].number, 2u);
    EXPECT_EQ(out.key, (std::vector<bool>{ true })); // down all the time
}

// The first transmission's release, 50 ms after its end, falls into the second.
TEST(tx_bursts, stay_keyed_through_one_hard_behind_another)
{
    tx_bursts t({ 48000, 9600, 0.05 });
    t.set_origin({ 5, 0 });
    const auto x = band_noise(500, 1);
    tx_bursts::output out;
    t.push(x.data(), 500, 0, 499, out);
    t.push(x.data(), 500, 0, {}, out);
    for (int k = 0; k < 5; ++k)
        t.push(x.data(), 500, {}, {}, out);
    EXPECT_EQ(out.key, (std::vector<bool>{ true })) << "in mid-air";
    t.push(x.data(), 500, {}, 499, out);
    for (int k = 0; k < 3; ++k)
        t.push(x.data(), 500, {}, {}, out);
    EXPECT_EQ(out.key, (std::vector<bool>{ true, false }));
}

TEST(tx_bursts, under_way_go_on_when_the_time_is_forgotten_and_none_begins)
{
    tx_bursts t({ 48000, 9600, 0.05 });
    t.set_origin({ 5, 0 });
    const auto x = band_noise(500, 1);
    tx_bursts::output out;
    t.push(x.data(), 500, 0, {}, out);
    t.forget_origin();
    t.push(x.data(), 500, {}, 499, out);
    ASSERT_EQ(out.marks.size(), 2u);
    EXPECT_FALSE(out.marks[1].begin);
    EXPECT_NEAR(out.marks[1].time - out.marks[0].time,
                static_cast<double>(out.samples.size() - 1) / 48000,
                1e-9);
    EXPECT_FALSE(out.untimed);
    t.push(x.data(), 500, 0, 499, out);
    EXPECT_EQ(out.untimed, 2u);
    EXPECT_EQ(out.marks.size(), 2u);
}

TEST(tx_bursts, are_not_sent_before_the_device_told_a_time)
{
    tx_bursts t({ 48000, 9600, 0.05 });
    const auto x = band_noise(500, 1);
    tx_bursts::output out;
    t.push(x.data(), 500, 0, 499, out);
    EXPECT_EQ(out.untimed, 1u);
    EXPECT_TRUE(out.samples.empty() && out.marks.empty() && out.key.empty());
    t.set_origin({ 0, 0 });
    t.push(x.data(), 500, 0, 499, out);
    EXPECT_EQ(out.marks.size(), 2u);
}

TEST(tx_bursts, refuse_what_is_out_of_range)
{
    EXPECT_THROW(tx_bursts({ 8000, 9600, 0.05 }), std::invalid_argument);
    EXPECT_THROW(tx_bursts({ 3e6, 9600, 0.05 }), std::invalid_argument);
    EXPECT_THROW(tx_bursts({ 48000, 9600, 2.5 }), std::invalid_argument);
    EXPECT_THROW(tx_bursts({ 48000, 9600, -0.1 }), std::invalid_argument);
    EXPECT_THROW(tx_bursts({ 48000, 9600, 0.05, 3 }), std::invalid_argument);
    EXPECT_THROW(tx_bursts({ 48000, 9600, 0.05, 0, NAN }), std::invalid_argument);
}

TEST(rx_timeline, puts_in_what_is_lost)
{
    rx_timeline t(195312.5);
    t.at({ 7, 0.25 });
    t.counted(1000000);
    const auto after = device_time{ 7, 0.25 }.after(1000777, 195312.5);
    const auto v = t.at(after);
    EXPECT_EQ(v.lost, 777u);
    EXPECT_EQ(v.repeated, 0u);
    t.counted(777);
    EXPECT_EQ(t.at(after).lost, 0u);
    EXPECT_EQ(t.origin()->seconds, 7);
}

TEST(rx_timeline, does_not_step_back)
{
    rx_timeline t(48000);
    t.at({ 0, 0.5 });
    t.counted(48000);
    const auto v = t.at({ 1, 0.4 });
    EXPECT_EQ(v.repeated, 4800u);
    EXPECT_EQ(v.lost, 0u);
    EXPECT_EQ(t.count(), 48000u);
}

TEST(rx_timeline, takes_rounding_for_nothing)
{
    rx_timeline t(48000);
    t.at({ 0, 0 });
    for (int k = 1; k < 1000; ++k) {
        t.counted(4801); // no whole number of nanoseconds
        auto time = device_time{ 0, 0 }.after(4801 * k, 48000);
        time.fraction = std::floor(time.fraction * 1e6) * 1e-6;
        const auto v = t.at(time);
        ASSERT_EQ(v.lost + v.repeated, 0u) << k;
    }
}

TEST(rx_timeline, takes_a_clock_that_was_set_as_such)
{
    for (const device_time set : { device_time{ 0, 0 }, device_time{ 100000, 0 } }) {
        rx_timeline t(48000);
        t.at({ 50, 0 });
        t.counted(480000);
        const auto v = t.at(set);
        EXPECT_TRUE(v.time_was_set);
        EXPECT_EQ(v.lost + v.repeated, 0u);
        EXPECT_NEAR(*t.origin() - set, -10, 1e-9);
        EXPECT_FALSE(t.at(set).time_was_set);
    }
}

TEST(rx_timeline, is_exact_after_a_year)
{
    const double rate = 195312.5;
    const auto samples = static_cast<int64_t>(365.0 * 86400 * rate);
    const auto t = device_time{ 3, 0.5 }.after(samples, rate);
    EXPECT_EQ(t.seconds, 3 + 365 * 86400);
    EXPECT_NEAR(t.fraction, 0.5, 1e-9);
}

TEST(tx_log, finds_the_transmission_that_suffered)
{
    tx_log log;
    EXPECT_EQ(log.report(tx_trouble::late, {}).transmission, 0u);
    log.began(1, { 10, 0 });
    log.ended(1, { 12, 0 });
    log.began(2, { 20, 0 });
    auto e = log.report(tx_trouble::underflow, device_time{ 11, 0 });
    EXPECT_EQ(e.transmission, 1u);
    EXPECT_TRUE(e.first);
    EXPECT_FALSE(log.report(tx_trouble::underflow, device_time{ 11, 0.1 }).first);
    EXPECT_EQ(log.report(tx_trouble::late, {}).transmission, 2u);
    EXPECT_EQ(log.report(tx_trouble::late, device_time{ 21, 0 }).transmission, 2u);
    for (uint64_t k = 3; k < 3 + 2 * tx_log::most; ++k)
        log.began(k, { static_cast<int64_t>(10 * k), 0 });
    EXPECT_EQ(log.report(tx_trouble::late, device_time{ 11, 0 }).transmission,
              2 + 2 * tx_log::most); // forgotten: the latest
}

} // namespace

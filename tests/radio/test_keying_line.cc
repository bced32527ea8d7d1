/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "radio/keying_line.h"
#include "radio/keying_tone.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

using namespace gr::hf::kernel;

namespace {

using value = std::complex<float>;

// 100 samples/s: a sample is 10 ms.
keying_settings settings(double lead, double tail, double delay = 0, double buffer = 0)
{
    return { 100, lead, tail, delay, std::max(delay, buffer) };
}

struct run {
    std::vector<value> out;
    std::vector<keying_line::event> events;

    void zeros(keying_line& l, size_t n)
    {
        const std::vector<value> x(n);
        add(l.push(x.data(), n, {}, {}, out));
    }
    // Samples 1, 2, 3 ... n
    void transmission(keying_line& l, size_t n)
    {
        std::vector<value> x;
        for (size_t k = 0; k < n; ++k)
            x.emplace_back(static_cast<float>(k + 1));
        add(l.push(x.data(), n, 0, n - 1, out));
    }
    void add(const std::vector<keying_line::event>& e)
    {
        events.insert(events.end(), e.begin(), e.end());
    }
    // Where in the output the n-th transmission's first sample is.
    size_t first(size_t n = 1) const
    {
        for (size_t k = 0; k < out.size(); ++k)
            if (out[k] == value(1) && --n == 0)
                return k;
        return out.size();
    }
};

TEST(keying_line, the_lead_lies_between_key_and_first_sample)
{
    for (const double delay : { 0., 0.05, 0.2, 0.5 }) {
        keying_line l(settings(0.2, 0, delay));
        run r;
        r.zeros(l, 50);
        r.transmission(l, 30);
        r.zeros(l, 200);
        ASSERT_EQ(r.events.size(), 2u);
        EXPECT_TRUE(r.events[0].down);
        EXPECT_EQ(r.events[0].sample, 50u);
        // In the line, and then in the device.
        const double on_air = 0.01 * static_cast<double>(r.first() - 50) + delay;
        EXPECT_NEAR(on_air, std::max(0.2, delay), 1e-9) << delay;
    }
}

TEST(keying_line, the_key_is_released_when_the_device_is_empty_and_the_tail_over)
{
    keying_line l(settings(0.2, 0.05, 0.02, 0.12));
    run r;
    r.transmission(l, 30);
    r.zeros(l, 200);
    ASSERT_EQ(r.events.size(), 2u);
    EXPECT_FALSE(r.events[1].down);
    const size_t behind = r.events[1].sample - (r.first() + 30);
    EXPECT_EQ(behind, 17u); // 0.12 s and 0.05 s
    EXPECT_TRUE(l.idle());
}

TEST(keying_line, the_key_waits_for_what_the_device_says_that_it_holds)
{
    keying_line l(settings(0, 0.05, 0, 0.1));
    run r;
    r.zeros(l, 5);
    l.device_holds(0.3); // a host that stalled caught up
    r.transmission(l, 30);
    r.zeros(l, 10);
    l.device_holds(0.4); // again, while the end was waited for
    r.zeros(l, 10);
    l.device_holds(0.05); // little is left of it, which was known
    r.zeros(l, 200);
    ASSERT_EQ(r.events.size(), 2u);
    EXPECT_EQ(r.events[1].sample, r.first() + 30 + 45);
    l.device_holds(0.1);
    r.transmission(l, 30);
    r.zeros(l, 200);
    ASSERT_EQ(r.events.size(), 4u);
    EXPECT_EQ(r.events[3].sample, r.first(2) + 30 + 15);
}

TEST(keying_line, all_samples_of_a_transmission_leave_in_order_and_no_other)
{
    keying_line l(settings(0.33, 0.1));
    l.trim(7);
    run r;
    r.zeros(l, 20);
    r.transmission(l, 40);
    l.trim(-1000000); // waits until it is idle
    r.transmission(l, 40);
    r.zeros(l, 300);
    for (const size_t n : { 1, 2 })
        for (size_t k = 0; k < 40; ++k)
            ASSERT_EQ(r.out[r.first(n) + k], value(static_cast<float>(k + 1)));
    EXPECT_EQ(std::count(r.out.begin(), r.out.end(), value()),
              static_cast<ptrdiff_t>(r.out.size()) - 80);
    EXPECT_EQ(r.first(2), r.first(1) + 40); // nothing was put in or left out between them
}

TEST(keying_line, a_transmission_that_follows_at_once_keeps_the_key_down)
{
    keying_line l(settings(0.1, 0.2));
    run r;
    r.transmission(l, 10);
    r.zeros(l, 15);
    r.transmission(l, 10);
    r.zeros(l, 100);
    ASSERT_EQ(r.events.size(), 2u);
    EXPECT_EQ(r.events[1].sample, r.first(2) + 10 + 20);
}

TEST(keying_line, zeros_are_added_and_left_out_while_idle)
{
    keying_line l(settings(0.1, 0));
    run r;
    l.trim(25);
    r.zeros(l, 10);
    EXPECT_EQ(r.out.size(), 35u);
    l.trim(-4);
    r.zeros(l, 10);
    EXPECT_EQ(r.out.size(), 41u);
    EXPECT_EQ(l.added(), 25);
    EXPECT_EQ(l.left_out(), 4);
    r.zeros(l, 10);
    EXPECT_EQ(r.out.size(), 51u);
    EXPECT_TRUE(r.events.empty());
}

TEST(keying_line, the_line_makes_up_for_what_the_device_lacks_of_the_lead)
{
    keying_line l(settings(0.2, 0, 0.1));
    run r;
    const auto expect_line = [&](size_t n, size_t samples) {
        const size_t begin = r.out.size();
        const int64_t was = static_cast<int64_t>(l.delay()) - l.added() + l.left_out();
        r.transmission(l, 5);
        r.zeros(l, 100);
        EXPECT_EQ(r.first(n) - begin, samples);
        EXPECT_EQ(r.out.size(), 105 * n); // one for one, whatever the line does
        // A shift of the transmission is reported.
        EXPECT_EQ(static_cast<int64_t>(l.delay()) - l.added() + l.left_out(), was);
    };
    expect_line(1, 10);
    l.device_delay(0.15);
    expect_line(2, 5);
    l.device_delay(0.5);
    expect_line(3, 0);
    l.device_delay(-1); // it has run empty
    expect_line(4, 20);
}

TEST(keying_line, a_line_that_holds_a_transmission_keeps_its_length)
{
    keying_line l(settings(0.2, 0, 0));
    run r;
    r.transmission(l, 10);
    l.device_delay(0.2);
    r.transmission(l, 10);
    r.zeros(l, 100);
    EXPECT_EQ(r.first(1), 20u);
    EXPECT_EQ(r.first(2), 30u);
}

TEST(keying_line, settings_out_of_range_are_named)
{
    const auto refused = [](keying_settings s) {
        try {
            keying_line l(s);
        } catch (const std::invalid_argument& e) {
            return std::string(e.what());
        }
        return std::string();
    };
    EXPECT_NE(refused(settings(2.5, 0)).find("lead_s 2.5: allowed are 0 to 2"),
              std::string::npos);
    EXPECT_NE(refused(settings(0, -1)).find("tail_s -1"), std::string::npos);
    EXPECT_NE(refused(settings(0, 0, std::numeric_limits<double>::quiet_NaN()))
                  .find("device_delay_s nan"),
              std::string::npos);
    keying_settings s = settings(0, 0, 1);
    s.device_buffer_s = 0.5;
    EXPECT_NE(refused(s).find("device_buffer_s 0.5: allowed are 1 to 4"),
              std::string::npos);
}

} // namespace

// Keyed at sample 2 of the line is keyed at sample 10 of a tone with five times its rate.
TEST(keying_tone, is_there_while_the_key_is_down_and_has_no_gaps)
{
    for (const size_t chunk : { 1u, 3u, 40u }) {
        keying_tone tone(5, 0.3);
        std::vector<float> out(40, 2);
        tone.key(true, 2);
        tone.key(false, 5);
        for (size_t at = 0; at < out.size(); at += chunk)
            tone.produce(&out[at], std::min(chunk, out.size() - at));
        for (size_t k = 0; k < out.size(); ++k) {
            const double expected =
                k >= 10 && k < 25 ? 0.5 * std::sin(0.3 * double(k)) : 0;
            ASSERT_NEAR(out[k], expected, 1e-6) << k << " in chunks of " << chunk;
        }
    }
}

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Level, clipping and silence of a receiver's audio.
#include "radio/audio_meter.h"

#include <gtest/gtest.h>

#include <vector>

using gr::hf::kernel::audio_meter;

namespace {

constexpr size_t rate = 8000;

// A tone of a quarter of the sample rate.
std::vector<float> tone(float amplitude, size_t n)
{
    std::vector<float> x(n);
    for (size_t k = 0; k < n; ++k)
        x[k] = k % 2 == 0 ? 0 : k % 4 == 1 ? amplitude : -amplitude;
    return x;
}

} // namespace

TEST(audio_meter, levels_are_those_of_the_last_whole_second)
{
    audio_meter meter(rate);
    meter.push(tone(0.5f, rate - 1).data(), rate - 1);
    EXPECT_EQ(meter.reading().peak_db, audio_meter::floor_db);
    meter.push(tone(0.5f, 1).data(), 1);
    EXPECT_NEAR(meter.reading().peak_db, -6.02, 0.01);
    EXPECT_NEAR(meter.reading().rms_db, -9.03, 0.01);
    meter.push(tone(0.05f, rate).data(), rate);
    EXPECT_NEAR(meter.reading().peak_db, -26.02, 0.01);
    EXPECT_NEAR(meter.reading().rms_db, -29.03, 0.01);
    const std::vector<float> silence(rate);
    meter.push(silence.data(), rate);
    EXPECT_EQ(meter.reading().peak_db, audio_meter::floor_db);
    EXPECT_EQ(meter.reading().rms_db, audio_meter::floor_db);
}

TEST(audio_meter, counts_samples_at_full_scale)
{
    audio_meter meter(rate);
    const std::vector<float> x = { 1, -1, audio_meter::full_scale, 0.9999f, 0 };
    meter.push(x.data(), x.size());
    meter.push(x.data(), x.size());
    EXPECT_EQ(meter.reading().clipped, 6u);
}

// A device that gives the same value again and again is deaf.
TEST(audio_meter, silence_is_the_time_without_any_change)
{
    audio_meter meter(rate);
    meter.push(tone(0.5f, rate).data(), rate);
    EXPECT_EQ(meter.reading().silent_s, 0);
    const std::vector<float> same(rate / 2, 0.25f);
    meter.push(same.data(), same.size());
    EXPECT_NEAR(meter.reading().silent_s, 0.5, 1.5 / rate);
    meter.push(same.data(), same.size());
    EXPECT_NEAR(meter.reading().silent_s, 1, 1.5 / rate);
    meter.push(tone(0.5f, 3).data(), 3);
    EXPECT_EQ(meter.reading().silent_s, 0);
}

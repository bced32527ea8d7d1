/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/find/preamble_search.h"
#include "modem/loopback.h"
#include "waveform/families/high_rate/reception.h"
#include "waveform/families/serial_tone/reception.h"
#include "waveform/family.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <vector>

using namespace gr::hf;
using namespace gr::hf::kernel;

namespace {

// Families that are searched for at all times. Tones and the robust family: test_robust.cc.
listened_families permanent()
{
    listened_families all;
    for (const family_reception* f : receptions(3000, false))
        if (f->look_every_s == 0)
            all.push_back(f);
    return all;
}

std::optional<preamble_candidate> search(const loopback::samples& x)
{
    sample_buffer in;
    in.append(x.data(), x.size());
    preamble_search s(symbol_grid(2400), permanent(), 75);
    return s.advance(in);
}

} // namespace

TEST(preamble_search, finds_both_families_at_any_offset)
{
    for (const char* name : { "4539-600S", "4539-3200US" })
        for (const double offset : { -75.0, -33.0, 0.0, 52.0, 75.0 }) {
            const mode m = mode::parse(name);
            loopback::samples x(3000);
            const auto t = loopback::transmit(m, { 1, 2, 3 });
            x.insert(x.end(), t.begin(), t.end());
            x = loopback::through(
                x, "snr=6 gain=-40 offset=" + std::to_string(offset), 3, 1);
            const auto c = search(x);
            ASSERT_TRUE(c) << name << offset;
            const auto* expected = m.family == waveform_family::serial_tone
                                       ? serial_tone::reception(3000)
                                       : high_rate::reception(3000);
            EXPECT_EQ(permanent()[c->family], expected);
            EXPECT_EQ(c->pattern, 0u);
            EXPECT_NEAR(static_cast<double>(c->sample), 3040, 3) << name << offset;
            EXPECT_NEAR(c->frequency_hz, offset, 5) << name;
            EXPECT_GT(c->score, 80);
        }
}

TEST(preamble_search, is_deaf_to_tones_silence_and_steps)
{
    EXPECT_FALSE(search(loopback::samples(20000)));
    for (const double hz : { 0.0, 37.5, -75.0, 300.0, 1000.0 }) {
        loopback::samples x(40000);
        for (size_t i = 0; i < x.size(); ++i)
            x[i] = std::polar(i < 9000 ? 1e-3f : 1.0f,
                              static_cast<float>(2 * M_PI * std::fmod(hz * i / 9600, 1)));
        EXPECT_FALSE(search(x)) << hz;
    }
}

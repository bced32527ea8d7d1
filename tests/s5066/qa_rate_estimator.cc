/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/adaptive_rate.h"

#include <gtest/gtest.h>

#include <optional>

using namespace gr::hf;
using namespace gr::hf::s5066;

namespace {

// Rounds of which each is sent in the mode that is thought best; how many were in vain.
unsigned
in_vain(rate_estimator& e, std::optional<mode>& present, bool fast, unsigned rounds)
{
    const auto modes = rate_range::parse("auto")->modes();
    unsigned lost = 0;
    for (unsigned k = 0; k < rounds; ++k) {
        const mode m = e.best(modes, present);
        present = m;
        const bool arrives = !fast || m.family != waveform_family::high_rate;
        lost += !arrives;
        e.on_blocks(m, { 29, 31, 28, 32, 29, 31, 28, 32, 30, 30 });
        e.on_share(m, arrives ? 1 : 0, 10);
    }
    return lost;
}

} // namespace

// At 30 dB and 10 Hz of Doppler spread 2400 bit/s arrives and no high rate ever does.
TEST(rate_estimator, leaves_rates_that_fail_at_any_ratio)
{
    rate_estimator e;
    e.on_blocks(mode::parse("4539-600S"), { 29, 31, 28, 32, 29, 31, 28, 32, 30, 30 });
    std::optional<mode> present;
    EXPECT_LE(in_vain(e, present, true, 20), 12u);
    EXPECT_EQ(present->rate_bps, 2400);
    EXPECT_LE(in_vain(e, present, true, 100), 10u);
    EXPECT_EQ(present->rate_bps, 2400);
    // Fading has become slow: back to where the ratio says.
    in_vain(e, present, false, 60);
    EXPECT_GE(present->rate_bps, 8000);
}

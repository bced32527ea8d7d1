/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "radio/transmission_cut.h"

#include <gtest/gtest.h>

using namespace gr::hf::kernel;

namespace {

void expect_run(const transmission_run& run,
                size_t at,
                size_t count,
                std::optional<size_t> first,
                std::optional<size_t> last)
{
    EXPECT_EQ(run.at, at);
    EXPECT_EQ(run.count, count);
    EXPECT_EQ(run.first, first);
    EXPECT_EQ(run.last, last);
}

} // namespace

TEST(TransmissionCut, SamplesWithoutEndsAreOneRun)
{
    const auto silence = cut_transmissions(7, {}, {});
    ASSERT_EQ(silence.size(), 1u);
    expect_run(silence[0], 0, 7, std::nullopt, std::nullopt);
    const auto begun = cut_transmissions(7, { 3 }, {});
    ASSERT_EQ(begun.size(), 1u);
    expect_run(begun[0], 0, 7, 3, std::nullopt);
    EXPECT_TRUE(cut_transmissions(0, {}, {}).empty());
}

TEST(TransmissionCut, ThreeTransmissionsInOnePieceAreThreeRuns)
{
    // The tags may be in any order.
    const auto runs = cut_transmissions(20, { 15, 1, 6 }, { 9, 5, 18 });
    ASSERT_EQ(runs.size(), 4u);
    expect_run(runs[0], 0, 6, 1, 5);
    expect_run(runs[1], 6, 4, 0, 3);
    expect_run(runs[2], 10, 9, 5, 8);
    expect_run(runs[3], 19, 1, std::nullopt, std::nullopt);
}

TEST(TransmissionCut, OfTwoBeginsWithoutAnEndTheFirstCounts)
{
    const auto runs = cut_transmissions(10, { 2, 4 }, { 8, 8 });
    ASSERT_EQ(runs.size(), 2u);
    expect_run(runs[0], 0, 9, 2, 8);
    expect_run(runs[1], 9, 1, std::nullopt, std::nullopt);
}

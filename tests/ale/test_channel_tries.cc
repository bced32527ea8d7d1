/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Order in which a call tries channels.
#include "ale/link/channel_tries.h"

#include <gtest/gtest.h>

#include <vector>

namespace gr::hf::test {
namespace {

using namespace ale;
using channels = std::vector<size_t>;

// Channels in the order in which they were tried, all of them busy.
channels tried(channel_tries t)
{
    channels all;
    while (const auto channel = t.next()) {
        all.push_back(*channel);
        t.busy(*channel);
    }
    return all;
}

TEST(channel_tries, busy_channels_come_last_and_once_more)
{
    EXPECT_EQ(tried(channel_tries({ 3, 1, 2 })), (channels{ 3, 1, 2, 3, 1, 2 }));
    EXPECT_EQ(tried(channel_tries()), channels());
    channel_tries t({ 3, 1, 2 });
    t.busy(t.next().value());
    EXPECT_EQ(tried(t), (channels{ 1, 2, 3, 1, 2 }));
}

} // namespace
} // namespace gr::hf::test

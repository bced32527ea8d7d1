/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Link establishment (ALE) decides when and for whom the channel may be used.
#include "s5066/scripted_peer.h"

#include <gtest/gtest.h>

namespace gr::hf::test {
namespace {

using namespace s5066;

TEST(channel_grant, data_wait_until_the_channel_is_open)
{
    scripted_peer p;
    p.bind(1, 3);
    p.n.set_grant(p.now, false, {});
    EXPECT_FALSE(p.n.wanted());
    p.submit(1, 10);
    EXPECT_FALSE(p.wait(120));
    ASSERT_TRUE(p.n.wanted());
    EXPECT_FALSE(p.n.active());
    EXPECT_FALSE(p.answer<s_subnet_availability>()); // clients notice nothing
    p.n.set_grant(p.now, true, p.n.wanted());
    EXPECT_TRUE(p.n.active());
    EXPECT_TRUE(p.wait(5));
}

TEST(channel_grant, data_for_others_wait)
{
    scripted_peer p;
    p.bind(1, 3);
    p.n.set_grant(p.now, true, address("9.9.9.9"));
    p.submit(1, 10);
    EXPECT_FALSE(p.wait(120));
    EXPECT_TRUE(p.n.wanted());
    EXPECT_FALSE(p.n.active());
}

} // namespace
} // namespace gr::hf::test

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "radio/buffer_target.h"

#include <gtest/gtest.h>

using gr::hf::kernel::buffer_target;

TEST(buffer_target, a_stall_lengthens_it_until_a_minute_was_quiet)
{
    buffer_target b(0.1);
    b.lacked(0.05, 1000);
    b.at(1001);
    EXPECT_NEAR(b.wanted_s(), 0.15, 1e-9);
    b.lacked(0.02, 1030);
    b.at(1089);
    EXPECT_NEAR(b.wanted_s(), 0.17, 1e-9);
    EXPECT_NEAR(b.added_s(), 0.07, 1e-9);
    b.at(1090);
    EXPECT_NEAR(b.wanted_s(), 0.1, 1e-9);
}

TEST(buffer_target, a_stall_that_no_buffer_bridges_does_not_lengthen_it)
{
    buffer_target b(0.1);
    b.lacked(2, 1000);
    EXPECT_NEAR(b.wanted_s(), 0.1, 1e-9);
    b.lacked(0.4, 1010);
    EXPECT_NEAR(b.wanted_s(), buffer_target::max_s, 1e-9);
    b.lacked(0.1, 1020); // does not make the minute begin again
    b.at(1070);
    EXPECT_NEAR(b.wanted_s(), 0.1, 1e-9);
}

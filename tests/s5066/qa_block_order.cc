/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/dts/rx/block_order.h"

#include <gtest/gtest.h>

using namespace gr::hf;
using namespace gr::hf::s5066;

namespace {

rx_octets block(uint64_t number)
{
    rx_octets e{ { 1, 2, 3 } };
    e.number = number;
    return e;
}

//! Number of missing blocks before the one with \p number, which is the first to arrive.
unsigned missing_before(block_order& order, uint64_t number)
{
    order.push(block(number));
    unsigned missing = 0;
    for (;; ++missing) {
        const auto e = order.take(true);
        if (!e || !e->octets.empty()) {
            return missing;
        }
    }
}

} // namespace

// A larger gap means that the numbers make no sense, so nothing is put in.
TEST(block_order, fills_a_gap_of_sixteen_blocks)
{
    block_order order;
    EXPECT_EQ(missing_before(order, 16), 16u);
    EXPECT_TRUE(order.in_place());
    order.reset();
    EXPECT_EQ(missing_before(order, 17), 0u);
    EXPECT_FALSE(order.in_place());
    order.reset();
    EXPECT_TRUE(order.in_place());
}

TEST(block_order, waits_for_a_missing_block_while_three_others_wait)
{
    block_order order;
    for (const uint64_t number : { 1u, 2u, 3u }) {
        order.push(block(number));
        EXPECT_FALSE(order.take(false)) << number;
    }
    order.push(block(4));
    const auto given_up = order.take(false);
    ASSERT_TRUE(given_up);
    EXPECT_TRUE(given_up->octets.empty());
    for (uint64_t number = 1; number <= 4; ++number) {
        EXPECT_EQ(order.take(false)->number, number);
    }
    order.push(block(0)); // too late
    EXPECT_FALSE(order.take(true));
}

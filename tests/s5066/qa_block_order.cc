/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "s5066/dts/rx/block_order.h"
#include "scripted_peer.h"

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

// The reception would have begun before all time, so its EOT would be over.
TEST(block_order, a_number_without_sense_does_not_shorten_the_wait_for_the_end)
{
    for (const uint64_t number : { uint64_t(17), uint64_t(1) << 40 }) {
        scripted_peer p;
        p.bind(1, 3);
        p.make_link();
        auto d = scripted_peer::data(0);
        d.eot = 20; // 10 s
        auto e = block(number);
        e.octets = encode(d);
        rx_start s;
        s.m = mode::parse("4539-75S"); // its blocks are shorter than the D_PDU
        p.n.on_rx_start(p.now, s);
        p.now += std::chrono::milliseconds(600);
        p.n.on_rx_octets(p.now, e);
        rx_end end;
        end.reason = rx_end_reason::lost;
        end.air_end = p.now;
        p.n.on_rx_end(p.now, end);
        EXPECT_FALSE(p.wait(8)) << number;
        EXPECT_TRUE(p.wait(5)) << number;
    }
}

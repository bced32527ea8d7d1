/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Credits of flows for short transmissions.
#include "s5066/dts/peer/flow_credits.h"
#include "s5066/pdu/s_pdu.h"

#include <gtest/gtest.h>

using namespace gr::hf;
using namespace gr::hf::s5066;
using namespace std::chrono_literals;

namespace {

unsigned taken(flow_credits& c, station_time now, flow_number flow)
{
    c.prompted(now, flow);
    unsigned n = 0;
    while (c.left() && n < 1000) {
        c.take();
        ++n;
    }
    return n;
}

} // namespace

TEST(flow_credits, each_flow_has_its_own_up_to_those_of_all)
{
    flow_credits c;
    EXPECT_EQ(taken(c, 0s, 1), 14u);
    EXPECT_EQ(taken(c, 0s, 1), 0u);
    EXPECT_EQ(taken(c, 0s, 2), 14u);
    EXPECT_EQ(taken(c, 0s, 3), 14u);
    EXPECT_EQ(taken(c, 0s, 4), 14u);
    EXPECT_EQ(taken(c, 0s, 5), 0u) << "56 for all together";
    EXPECT_EQ(taken(c, 30s, 5), 1u);
    EXPECT_EQ(taken(c, 1h, 1), 14u);
}

TEST(flow_credits, of_many_flows_are_bounded)
{
    flow_credits c;
    unsigned n = 0;
    for (flow_number flow = 0; flow < 10000; ++flow) {
        n += taken(c, 0s, flow);
    }
    EXPECT_EQ(n, 56u);
}

TEST(flow_credits, a_flow_is_the_same_in_both_directions)
{
    const auto number = [](uint8_t from, uint8_t to, uint8_t stream, bool ttd) {
        s_pdu s;
        s.src_sap = from;
        s.dst_sap = to;
        if (ttd) {
            s.ttd = time_to_die{ 1, 2 };
        }
        s.u_pdu = { 0x60, stream, 7 };
        const auto octets = encode(s);
        return flow_of(octets.data(), octets.size());
    };
    EXPECT_EQ(number(3, 4, 9, false), number(4, 3, 9, false));
    EXPECT_EQ(number(3, 4, 9, true), number(4, 3, 9, false));
    EXPECT_NE(number(3, 4, 9, false), number(3, 4, 8, false));
    EXPECT_NE(number(3, 4, 9, false), number(3, 5, 9, false));
    EXPECT_EQ(flow_of(nullptr, 0), 0u);
}

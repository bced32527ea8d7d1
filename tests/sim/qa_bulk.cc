/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "two_stations.h"

#include <gtest/gtest.h>

using namespace gr::hf;
using namespace gr::hf::sim;

TEST(bulk, clean_9600)
{
    two_stations net("4539-9600S");
    if (getenv("TRACE")) net.print_trace();
    const double bps = net.goodput(1000000, net.a.node().aligned_u_pdu_octets(), 3000);
    printf("9600S 1 MB: %.2f %% of line rate, %llu transmissions, %.1f s\n", bps / 96, (unsigned long long)net.air.transmissions(), to_seconds(net.sink_b.last()));
    EXPECT_EQ(net.sink_b.octets(), 1000000u);
    EXPECT_GE(bps / 9600, 0.94);
}

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// TCP through the IP client: the two queue policies against each other.
#include "sim/stations/ip_load.h"

#include <gtest/gtest.h>

using namespace gr::hf;
using namespace gr::hf::sim;

TEST(ip_load, one_transfer_alone_beats_the_published_time)
{
    ip_load l;
    l.octets = { 1'000'000 };
    const auto r = measure(l);
    EXPECT_GT(r.transfer_s[0], 930.7) << "the limit";
    EXPECT_LT(r.transfer_s[0], 1033);
}

TEST(ip_load, the_fair_queue_carries_more_of_many_transfers)
{
    for (const char* mode : { "4539-9600S", "4539-1200S" }) {
        ip_load l;
        l.mode = mode;
        l.octets.assign(3, mode == std::string("4539-9600S") ? 600'000 : 75'000);
        l.ping_every_s = 30;
        l.queue.policy = ip::queue_policy::whole;
        const auto whole = measure(l);
        l.queue.policy = ip::queue_policy::fair;
        const auto fair = measure(l);
        EXPECT_GE(fair.utilisation, whole.utilisation) << mode;
        for (const double t : fair.transfer_s)
            EXPECT_GT(t, 0);
        EXPECT_GT(fair.ping_s.size(), 5u);
        RecordProperty(std::string(mode) + " fair", std::to_string(fair.utilisation));
        RecordProperty(std::string(mode) + " whole", std::to_string(whole.utilisation));
    }
}

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A rate policy is added as docs/where-to-put-things.md says. This one sends each transmission
 * in another mode. Two nodes exchange data with it. */
#include "s5066/rate/rate_policy.h"
#include "sim/two_stations.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>

using namespace gr::hf;
using namespace gr::hf::s5066;

namespace {

class sham_policy : public rate_policy
{
public:
    mode choose(station_time, const tx_context& c) override
    {
        to.insert(c.peer.to_string());
        const char* name = ++choices % 2 ? "4539-3200S" : "4539-6400VS";
        chosen.insert(name);
        return mode::parse(name);
    }
    double longest_s(const tx_context&) const override { return 10; }
    void on_reception(station_time, address, const s5066::reception& r) override
    {
        heard.insert(r.m.to_string());
    }
    void on_frames(station_time, address, const sent_data& d) override
    {
        reported.insert(d.m.to_string());
        delivered += d.sent - d.lost;
    }
    std::optional<size_t> segment_octets(address, const mode&) const override
    {
        return 150;
    }

    unsigned choices = 0, delivered = 0;
    std::set<std::string> to, chosen, heard, reported;
};

} // namespace

TEST(sham_policy, chooses_the_modes_of_two_nodes)
{
    sim::two_stations net("auto");
    sham_policy* policy[2];
    for (int k = 0; k < 2; ++k) {
        auto p = std::make_unique<sham_policy>();
        policy[k] = p.get();
        (k == 0 ? net.a : net.b).node().set_rate_policy(std::move(p));
    }
    constexpr size_t octets = 30000;
    net.goodput(octets, 1000, 600);
    EXPECT_EQ(net.sink_b.octets(), octets);
    const std::set<std::string> both{ "4539-3200S", "4539-6400VS" };
    EXPECT_EQ(policy[0]->chosen, both);
    EXPECT_EQ(policy[1]->heard, both);
    EXPECT_EQ(policy[0]->to, std::set<std::string>{ net.b.address().to_string() });
    // At 6400 bit/s ten seconds take 8000 octets at most.
    EXPECT_GE(policy[0]->choices, 4u);
    EXPECT_FALSE(policy[0]->reported.empty());
    EXPECT_GE(policy[0]->delivered, octets / 150);
}

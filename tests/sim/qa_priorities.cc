/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// An urgent U_PDU waits for the transmission under way, and for nothing else.
#include "sim/scenarios/scenario.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

using namespace gr::hf;
using namespace gr::hf::sim;

namespace {

scenario_traffic flow(const char* to, unsigned priority)
{
    scenario_traffic t;
    t.from = "A";
    t.to = to;
    t.priority = priority;
    return t;
}

// Delays of U_PDUs of 50 octets and priority 14 from A to B, one in two minutes, beside others.
std::vector<double> urgent_delays(uint64_t seed, std::vector<scenario_traffic> others)
{
    scenario s;
    s.duration_s = 4 * 3600;
    s.seed = seed;
    for (const char* name : { "A", "B", "C" }) {
        s.stations.emplace_back();
        s.stations.back().name = name;
    }
    s.traffic.push_back(flow("B", 14));
    s.traffic.back().kind = traffic_kind::interactive;
    s.traffic.back().interval_s = 120;
    s.traffic.back().u_pdu = 50;
    s.traffic.back().start_s = 300;
    s.traffic.insert(s.traffic.end(), others.begin(), others.end());
    const auto r = run(s);
    EXPECT_EQ(r.flows.at(0).rejected, 0u);
    return r.flows.at(0).times;
}

} // namespace

TEST(priorities, data_below_bulk_to_another_station_do_not_hold_back_urgent_data)
{
    for (uint64_t seed = 1; seed <= 4; ++seed) {
        const auto delays = urgent_delays(seed, { flow("B", 0), flow("C", 1) });
        ASSERT_GT(delays.size(), 60u);
        EXPECT_LE(*std::max_element(delays.begin(), delays.end()), 30) << "seed " << seed;
    }
}

TEST(priorities, urgent_data_wait_for_no_mix_of_other_traffic)
{
    for (uint64_t seed = 1; seed <= 20; ++seed) {
        std::mt19937_64 r(seed);
        std::vector<scenario_traffic> others;
        for (size_t n = 1 + r() % 4; n > 0; --n) {
            auto t = flow(r() % 2 ? "B" : "C", r() % 14);
            t.arq = r() % 4 != 0;
            t.u_pdu = 100 + r() % 1900;
            if (r() % 3 == 0) {
                t.rate_bps = 200;
            }
            others.push_back(t);
        }
        const auto delays = urgent_delays(seed, others);
        ASSERT_GT(delays.size(), 60u);
        const double longest = *std::max_element(delays.begin(), delays.end());
        std::printf("seed %u: %zu U_PDUs, longest %.1f s\n",
                    unsigned(seed),
                    delays.size(),
                    longest);
        EXPECT_LE(longest, 30) << "seed " << seed;
    }
}

TEST(priorities, data_with_and_without_arq_of_the_same_priority_share_a_link)
{
    scenario s;
    s.duration_s = 4 * 3600;
    for (const char* name : { "A", "B" }) {
        s.stations.emplace_back();
        s.stations.back().name = name;
        s.stations.back().mode = "4539-2400S";
    }
    s.traffic = { flow("B", 0), flow("B", 0) };
    s.traffic[1].arq = false;
    const auto r = run(s);
    for (const auto& f : r.flows) {
        std::printf("%.0f bit/s\n", f.goodput_bps);
        EXPECT_GE(f.goodput_bps, 0.42 * 2400);
    }
    s.traffic[0].priority = 1;
    EXPECT_GE(run(s).flows.at(0).goodput_bps, 0.85 * 2400);
}

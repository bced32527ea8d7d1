/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Where some stations do not hear each other, each flow gets a third of an equal share.
// hf-lab bench hidden draws 200 nets.
#include "sim/scenarios/scenario.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace gr::hf;
using namespace gr::hf::sim;

namespace {

//! Stations from A on. \p heard: pairs that hear each other, \p flows: those with data,
//! as in "AB BC". At most \p wait_s without a delivery, and \p rejected U_PDUs.
struct net {
    size_t stations;
    std::string heard, flows;
    double wait_s;
    uint64_t rejected;
    uint64_t seeds;
};

scenario of(const net& c, uint64_t seed)
{
    scenario s;
    s.seed = seed;
    s.duration_s = 4 * 3600;
    s.record = true;
    air_path none;
    none.loss = 1;
    for (size_t a = 0; a < c.stations; ++a) {
        auto& one = s.stations.emplace_back();
        one.name = std::string(1, static_cast<char>('A' + a));
        one.mode = "4539-2400S";
    }
    for (const auto& a : s.stations) {
        for (const auto& b : s.stations) {
            const bool near = c.heard.find(a.name + b.name) != std::string::npos ||
                              c.heard.find(b.name + a.name) != std::string::npos;
            if (a.name != b.name && !near) {
                s.paths.push_back({ a.name, b.name, none });
            }
        }
    }
    for (size_t k = 0; k < c.flows.size(); k += 3) {
        auto& t = s.traffic.emplace_back();
        t.from = c.flows.substr(k, 1);
        t.to = c.flows.substr(k + 1, 1);
        t.u_pdu = 1000;
    }
    return s;
}

uint64_t rejected(const scenario_result& r)
{
    uint64_t n = 0;
    for (const auto& f : r.flows) {
        n += f.rejected;
    }
    return n;
}

} // namespace

TEST(hidden, every_flow_gets_a_third_of_an_equal_share)
{
    const std::vector<net> nets = {
        { 4, "AB BC CD", "AB BC CD DC", 7200, 128, 2 },
        // Two flows begin without meeting a third one
        { 8, "AB AC AD AE AF AG AH", "AB HA", 300, 0, 2 },
        // Two dialogues of the same length beside each other
        { 6, "AB AC AD BF CE", "BF FB CA AC BA AB", 7200, 240, 1 },
        // A station that answers one peer between each two turns
        { 6, "AB BC BD BE BF CE CF DE DF EF", "FD BF DB BC", 7200, 240, 1 },
        // A station known to nobody calls after an invitation
        { 8, "AB AE BC BH CD CF EG", "AB HB EG", 7200, 240, 1 },
        // A neighbour that only answers
        { 7,
          "AB AC BC BE BF BG CD CE CG DE EF FG",
          "EF DE DC EB CA BE AC",
          3600,
          240,
          1 },
    };
    for (const auto& c : nets) {
        for (uint64_t seed = 1; seed <= c.seeds; ++seed) {
            const auto r = run(of(c, seed));
            std::vector<double> last(r.flows.size());
            double longest_s = 0;
            for (const auto& d : r.deliveries) {
                longest_s = std::max(longest_s, d.time_s - last[d.flow]);
                last[d.flow] = d.time_s;
            }
            const double share = 2400.0 / static_cast<double>(r.flows.size());
            for (size_t k = 0; k < r.flows.size(); ++k) {
                const auto& f = r.flows[k];
                longest_s = std::max(longest_s, r.end_s - last[k]);
                EXPECT_GE(f.goodput_bps, share / 3)
                    << f.from << f.to << " of " << c.heard << ", seed " << seed;
            }
            EXPECT_LE(rejected(r), c.rejected) << c.heard << ", seed " << seed;
            EXPECT_LE(longest_s, c.wait_s) << c.heard << ", seed " << seed;
            std::printf("%s, seed %u: longest wait %.0f s, %.0f bit/s, %u rejected\n",
                        c.flows.c_str(),
                        static_cast<unsigned>(seed),
                        longest_s,
                        r.goodput_bps,
                        static_cast<unsigned>(rejected(r)));
        }
    }
}

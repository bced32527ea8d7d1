/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// The end of an idle link.
#include "two_stations.h"

#include <gtest/gtest.h>

using namespace gr::hf;
using namespace gr::hf::sim;
using namespace std::chrono_literals;

namespace {

//! Messages back and forth, then silence until the link has ended.
void idle_link(const std::string& mode, const air_path& p, uint64_t seed, size_t back)
{
    two_stations net(mode, p, seed);
    net.source_a.send(net.b.address(), 600, 300);
    net.s.run_until(20s);
    if (back > 0) {
        net.source_b.send(net.a.address(), back, back);
    }
    net.s.run_until(900s);
    EXPECT_EQ(net.sink_b.octets(), 600u) << mode << ", seed " << seed;
    for (station* s : { &net.a, &net.b }) {
        EXPECT_EQ(s->node().state().links, 0u) << mode << ", seed " << seed;
        EXPECT_EQ(s->node().stats().warnings_sent, 0u)
            << mode << ", seed " << seed << ", " << back << " octets back";
    }
}

} // namespace

TEST(link_end, of_an_idle_link_needs_no_warning)
{
    for (const char* mode : { "4539-300S", "4539-2400S", "4539-9600S", "auto" }) {
        for (uint64_t seed = 1; seed <= 3; ++seed) {
            for (const size_t back : { 0u, 40u, 900u }) {
                idle_link(mode, air_path(), seed, back);
            }
        }
    }
}

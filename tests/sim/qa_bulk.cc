/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Throughput of the data link against the limits of waveform and framing.
#include "two_stations.h"

#include <gtest/gtest.h>

using namespace gr::hf;
using namespace gr::hf::s5066;
using namespace gr::hf::sim;

namespace {

struct bulk_case {
    const char* mode;
    size_t octets;
    double ber;
    double loss;
    double least; // share of the line rate
};

void PrintTo(const bulk_case& c, std::ostream* os)
{
    *os << c.mode << " " << c.octets << " octets, BER " << c.ber << ", loss " << c.loss;
}

class bulk : public testing::TestWithParam<bulk_case>
{
};

} // namespace

TEST_P(bulk, reaches_its_share_of_the_line_rate)
{
    const auto& c = GetParam();
    air_path p;
    p.ber = c.ber;
    p.loss = c.loss;
    const double rate = mode::parse(c.mode).rate_bps;
    // A single run depends on which transmissions and D_PDUs are lost, and strays by 7
    // points. So only the mean counts.
    const unsigned runs = c.loss > 0 ? 60 : c.ber > 0 ? 5 : 1;
    double mean = 0;
    for (unsigned run = 0; run < runs; ++run) {
        auto ca = test_config(1, c.mode), cb = test_config(2, c.mode);
        // Many losses in a row must not end the link here.
        ca.max_silent_rounds = cb.max_silent_rounds = 20;
        ca.link_tries = cb.link_tries = 20;
        ca.link_idle_s = cb.link_idle_s = 1e5;
        two_stations net(ca, cb, p, 7 + run);
        const size_t size = net.a.node().aligned_u_pdu_octets();
        const double limit_s = 30 * 8.0 * static_cast<double>(c.octets) / rate;
        const double share = net.goodput(c.octets, size, limit_s) / rate;
        const auto& s = net.a.node().stats();
        std::printf(
            "%s %zu octets BER %g loss %g: %.2f %% of the line rate, %llu transmissions, "
            "%llu D_PDUs repeated, %llu fill, %llu silent rounds\n",
            c.mode,
            c.octets,
            c.ber,
            c.loss,
            100 * share,
            static_cast<unsigned long long>(net.air.transmissions()),
            static_cast<unsigned long long>(s.d_pdus_repeated),
            static_cast<unsigned long long>(s.d_pdus_fill),
            static_cast<unsigned long long>(s.silent_rounds));
        EXPECT_EQ(net.sink_b.octets(), c.octets);
        EXPECT_EQ(net.sink_b.repeated(), 0u);
        EXPECT_EQ(net.sink_b.altered(), 0u);
        EXPECT_EQ(net.sink_b.out_of_order(), 0u);
        EXPECT_EQ(s.out_of_sync + net.b.node().stats().out_of_sync, 0u);
        mean += share / runs;
    }
    EXPECT_GE(mean, c.least);
}

// The framing alone allows 96.3 % at 9600 bit/s, 95.7 % at 1200, 91.2 % at 75.
INSTANTIATE_TEST_SUITE_P(
    modes,
    bulk,
    testing::Values(bulk_case{ "4539-9600S", 1000000, 0, 0, 0.95 },
                    bulk_case{ "4539-9600S", 2000000, 1e-5, 0, 0.885 },
                    bulk_case{ "4539-9600S", 1000000, 1e-4, 0, 0.69 },
                    bulk_case{ "4539-9600S", 6000000, 1e-4, 0, 0.70 },
                    bulk_case{ "4539-9600S", 1000000, 0, 0.2, 0.7 },
                    bulk_case{ "4539-9600S", 300000, 1e-4, 0.2, 0.3 },
                    bulk_case{ "4539-6400S", 500000, 0, 0, 0.95 },
                    bulk_case{ "4539-3200S", 200000, 0, 0, 0.95 },
                    bulk_case{ "4539-2400S", 200000, 0, 0, 0.94 },
                    bulk_case{ "4539-1200S", 100000, 0, 0, 0.93 },
                    bulk_case{ "4539-1200L", 100000, 0, 0, 0.85 },
                    bulk_case{ "4539-1200S", 100000, 1e-4, 0.1, 0.6 },
                    bulk_case{ "4539-300S", 50000, 0, 0, 0.90 },
                    bulk_case{ "4539-75S", 20000, 0, 0, 0.885 }));

TEST(bulk_result, is_the_same_for_the_same_seed)
{
    air_path p;
    p.ber = 5e-5;
    p.loss = 0.1;
    station_time last[3];
    for (int i = 0; i < 3; ++i) {
        two_stations net("4539-4800S", p, i == 2 ? 6 : 5);
        net.goodput(100000, 1000, 10000);
        EXPECT_EQ(net.sink_b.octets(), 100000u);
        last[i] = net.sink_b.last();
    }
    EXPECT_EQ(last[0], last[1]);
    EXPECT_NE(last[0], last[2]);
}

TEST(non_arq_bulk, loses_nothing_on_a_clear_channel)
{
    delivery_mode m;
    m.mode = transmission_mode::non_arq;
    two_stations net("4539-9600S", air_path(), 1, m);
    const double share = net.goodput(2000000, 2042, 3000) / 9600;
    std::printf("non-ARQ at 9600 bit/s: %.1f %% of the line rate\n", 100 * share);
    EXPECT_EQ(net.sink_b.octets(), 2000000u)
        << "C_PDUs that go over two transmissions too";
    EXPECT_GT(share, 0.95); // slots of a modem with a carrier detector
}

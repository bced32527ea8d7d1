/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// The interleaver of acknowledgements: short where nothing is lost, that of the data
// where a lost acknowledgement costs more than a long one.
#include "two_stations.h"

#include "s5066/rate/fixed_rate.h"

#include <gtest/gtest.h>

using namespace gr::hf;
using namespace gr::hf::sim;
using namespace gr::hf::s5066;

namespace {

struct outcome {
    double goodput_bps = 0;
    uint64_t short_acks = 0, long_acks = 0, silent = 0;
};

// Bulk data in a mode with the long interleaver.
outcome bulk(const std::string& data_mode,
             const std::string& ack_mode,
             const air_path& there,
             const air_path& back,
             double hours,
             uint64_t seed)
{
    auto a = test_config(1, data_mode), b = test_config(2, data_mode);
    a.ack_mode = b.ack_mode = ack_mode;
    a.default_ttl_s = 1e6;
    two_stations net(a, b, there, seed);
    net.air.set_path(net.b.modem(), net.a.modem(), back);
    outcome o;
    const size_t receiver = net.b.modem().id();
    net.air.on_transmission = [&](const transmission_record& t) {
        if (t.station == receiver) {
            ++(t.m.il == interleaver::long_ ? o.long_acks : o.short_acks);
        }
    };
    net.source_a.send(net.b.address(), size_t{ 1 } << 40, 2042);
    net.s.run_until(from_seconds(3600 * hours));
    o.goodput_bps = 8.0 * static_cast<double>(net.sink_b.octets()) / (3600 * hours);
    o.silent = net.a.node().stats().silent_rounds;
    return o;
}

//! The same transfer with the acknowledgements that the station chooses, and always short
//! or long.
struct comparison {
    outcome chosen, all_short, all_long;

    void add(const std::string& data_mode,
             const air_path& there,
             const air_path& back,
             double hours,
             uint64_t seed)
    {
        auto short_mode = data_mode;
        short_mode.back() = 'S';
        const auto more = [&](outcome& to, const std::string& ack_mode) {
            const auto o = bulk(data_mode, ack_mode, there, back, hours, seed);
            to.goodput_bps += o.goodput_bps;
            to.short_acks += o.short_acks;
            to.long_acks += o.long_acks;
            to.silent += o.silent;
        };
        more(chosen, "auto");
        more(all_short, short_mode);
        more(all_long, "same");
    }
    void print(const std::string& what) const
    {
        std::printf(
            "%s: chosen %.0f bit/s (%d short, %d long, %d lost), all short %.0f (%d "
            "lost), all long %.0f (%d lost)\n",
            what.c_str(),
            chosen.goodput_bps,
            int(chosen.short_acks),
            int(chosen.long_acks),
            int(chosen.silent),
            all_short.goodput_bps,
            int(all_short.silent),
            all_long.goodput_bps,
            int(all_long.silent));
    }
};

air_path measured(const std::string& channel, double snr_db)
{
    air_path p;
    p.blocks = std::make_shared<block_error_curves>(measured_block_errors(channel));
    p.snr_db = snr_db;
    return p;
}

air_path fading(double mean_db, uint64_t seed)
{
    trace_config c;
    c.mean_db = mean_db;
    c.fading_hz = 1;
    c.duration_s = 20000;
    c.seed = seed;
    air_path p;
    p.fading = std::make_shared<snr_trace>(snr_trace::make(c));
    return p;
}

} // namespace

TEST(acknowledgements, are_short_on_a_clear_channel)
{
    const auto clear = measured("awgn", 20);
    const auto o = bulk("4539-1200L", "auto", clear, clear, 2, 1);
    EXPECT_EQ(o.long_acks, 0u);
    EXPECT_GT(o.goodput_bps, 0.90 * 1200);
}

// Independent blocks with the errors measured on the Poor channel. At 3.9 dB, 1200 bit/s,
// a quarter of the short ones is lost, and both kinds cost the same within 3 %. Losses would
// then be for nothing.
TEST(acknowledgements, are_not_lost_where_both_kinds_cost_the_same)
{
    comparison c;
    for (uint64_t seed = 1; seed <= 3; ++seed) {
        c.add("4539-1200L", measured("poor", 3.9), measured("poor", 3.9), 5, seed);
    }
    EXPECT_NEAR(c.all_short.goodput_bps / c.all_long.goodput_bps, 1, 0.035);
    EXPECT_GT(c.chosen.long_acks, 9 * c.chosen.short_acks);
    EXPECT_LT(10 * c.chosen.silent, c.all_short.silent);
    EXPECT_GT(c.chosen.goodput_bps, 0.97 * c.all_short.goodput_bps);
}

TEST(acknowledgements, are_long_where_losses_cost_more)
{
    for (const auto& [mode, snr_db] : { std::pair("4539-1200L", 3.0),
                                        { "4539-1200L", 3.5 },
                                        { "4539-300L", -2.5 },
                                        { "4539-300L", -3.0 } }) {
        comparison c;
        for (uint64_t seed = 1; seed <= 12; ++seed) {
            c.add(mode, measured("poor", snr_db), measured("poor", snr_db), 6, seed);
        }
        c.print(std::string(mode) + ", " + std::to_string(snr_db) + " dB Poor");
        EXPECT_GT(c.chosen.long_acks, 4 * c.chosen.short_acks);
        EXPECT_LT(2 * c.chosen.silent, c.all_short.silent);
        EXPECT_GT(c.chosen.goodput_bps, 1.02 * c.all_short.goodput_bps);
        EXPECT_GT(c.chosen.goodput_bps, 0.97 * c.all_long.goodput_bps);
    }
}

// At every SNR the choice is about as good as the better of the two kinds.
TEST(acknowledgements, are_of_the_kind_that_costs_less)
{
    const auto each = [](const std::string& mode, double snr_db, bool curves) {
        comparison c;
        for (uint64_t seed = 1; seed <= 3; ++seed) {
            const auto poor = measured("poor", snr_db);
            c.add(mode,
                  curves ? poor : fading(snr_db, seed),
                  curves ? poor : fading(snr_db, seed + 100),
                  5,
                  seed);
        }
        c.print(mode + ", " + std::to_string(snr_db) + " dB Poor" +
                (curves ? ", independent blocks" : ""));
        EXPECT_GT(c.chosen.goodput_bps,
                  0.95 * std::max(c.all_short.goodput_bps, c.all_long.goodput_bps));
    };
    for (const double snr_db : { 4.0, 5.0, 6.0, 10.0 }) {
        each("4539-1200L", snr_db, true);
        each("4539-2400L", snr_db + 4, true);
    }
    for (const double snr_db : { 5.0, 6.0, 10.0 }) {
        each("4539-1200L", snr_db, false);
    }
}

TEST(acknowledgements, cost_their_time_and_that_of_asking_again)
{
    const auto s = mode::parse("4539-1200S"), l = mode::parse("4539-1200L");
    const auto cost = [](const mode& m, const char* channel, double snr_db) {
        return fixed_rate_policy::cost_s(
            fixed_rate_policy::acknowledgement, m, channel, snr_db, 30);
    };
    EXPECT_LT(cost(s, "awgn", 20), cost(l, "awgn", 20));
    EXPECT_GT(cost(s, "poor", 3), cost(l, "poor", 3));
    EXPECT_LT(cost(s, "poor", 16), cost(l, "poor", 16));
    EXPECT_DOUBLE_EQ(cost(l, "awgn", 20), 9.6);
    EXPECT_THROW(measured_block_errors("tea"), std::invalid_argument);
}

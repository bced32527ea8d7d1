/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Scenarios: every kind of traffic and fault, the same result for the same seed, clear
// errors.
#include "sim/scenarios/scenario.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace gr::hf;
using namespace gr::hf::sim;

namespace {

scenario with_stations(size_t n, const std::string& mode = "4539-4800S")
{
    scenario s;
    for (size_t i = 0; i < n; ++i) {
        scenario_station x;
        x.name = std::string(1, static_cast<char>('A' + i));
        x.mode = mode;
        s.stations.push_back(x);
    }
    return s;
}

scenario_traffic bulk(uint64_t octets)
{
    scenario_traffic t;
    t.from = "A";
    t.to = "B";
    t.octets = octets;
    t.u_pdu = 1000;
    return t;
}

scenario_fault fault(fault_kind k, const std::string& at, double at_s, double for_s)
{
    scenario_fault f;
    f.kind = k;
    f.station = at;
    f.at_s = at_s;
    f.for_s = for_s;
    return f;
}

air_path with(double ber, double duplicate, double reorder)
{
    air_path p;
    p.ber = ber;
    p.duplicate = duplicate;
    p.reorder = reorder;
    return p;
}

std::string refusal(const scenario& s)
{
    try {
        run(s);
    } catch (const std::invalid_argument& e) {
        return e.what();
    }
    return {};
}

double goodput(scenario s)
{
    const auto r = run(s);
    EXPECT_TRUE(r.complete);
    EXPECT_EQ(r.flows[0].altered + r.flows[0].repeated, 0u);
    return r.goodput_bps;
}

} // namespace

TEST(scenario, bulk_is_complete_and_the_same_every_time)
{
    auto s = with_stations(2);
    s.traffic = { bulk(200000) };
    s.paths = { { "", "", with(2e-5, 0, 0) } };
    s.record = true;
    const auto a = run(s), b = run(s);
    ASSERT_TRUE(a.complete);
    EXPECT_EQ(a.flows[0].octets_delivered, 200000u);
    EXPECT_GT(a.goodput_bps, 0.7 * 4800);
    ASSERT_EQ(a.transmissions.size(), b.transmissions.size());
    for (size_t i = 0; i < a.transmissions.size(); ++i) {
        EXPECT_EQ(a.transmissions[i].begin_s, b.transmissions[i].begin_s);
        EXPECT_EQ(a.transmissions[i].data, b.transmissions[i].data);
    }
    s.seed = 2;
    EXPECT_NE(run(s).flows[0].last_s, a.flows[0].last_s);
}

TEST(scenario, fixed_modes_cut_segments_again_where_long_ones_never_arrive)
{
    for (const char* mode : { "4539-9600S", "4539-2400S", "4539-600S" }) {
        for (const double ber : { 1e-4, 1e-3 }) {
            const auto with_segments = [&](double octets) {
                auto s = with_stations(2, mode);
                s.paths = { { "", "", with(ber, 0, 0) } };
                s.traffic = { bulk(0) };
                s.traffic[0].u_pdu = 2042;
                for (auto& x : s.stations) {
                    x.data_link["segment_octets"] = octets;
                }
                return run(s).flows[0].octets_delivered;
            };
            uint64_t best = 0;
            for (const double octets : { 20, 32, 100, 150, 220 }) {
                best = std::max(best, with_segments(octets));
            }
            EXPECT_GE(double(with_segments(0)), 0.8 * double(best)) << mode << " " << ber;
        }
    }
}

TEST(scenario, up_to_500_stations_run)
{
    scenario s;
    s.duration_s = 60;
    for (size_t k = 0; k < max_stations; ++k) {
        s.stations.emplace_back();
        s.stations.back().name = "S" + std::to_string(k);
    }
    s.traffic = { bulk(2000) };
    s.traffic[0].from = "S3";
    s.traffic[0].to = "S499";
    EXPECT_TRUE(run(s).complete);
    s.stations.emplace_back();
    s.stations.back().name = "one more";
    EXPECT_NE(refusal(s).find("500"), std::string::npos);
}

TEST(scenario, transmissions_contain_what_was_sent)
{
    auto s = with_stations(2);
    s.traffic = { bulk(100000) };
    s.record = true;
    const auto r = run(s);
    size_t data = 0, again = 0, acks = 0, control = 0, on_air = 0;
    double before = 0;
    for (const auto& t : r.transmissions) {
        EXPECT_GE(t.begin_s, before) << "half duplex, and nobody else";
        before = t.end_s;
        data += t.data;
        again += t.repeated;
        acks += t.acks;
        control += t.control;
        on_air += static_cast<size_t>(4800 * (t.end_s - t.begin_s) / 8);
    }
    EXPECT_GT(data, 95000u);
    EXPECT_LT(data, 105000u);
    EXPECT_GT(data + again, 102000u) << "headers";
    EXPECT_GT(acks, 0u);
    EXPECT_GT(control, 0u);
    EXPECT_GT(on_air, data + again);
    uint64_t delivered = 0;
    for (const auto& d : r.deliveries) {
        delivered += d.octets;
    }
    EXPECT_EQ(delivered, 100000u);
}

TEST(scenario, every_fault_is_survived)
{
    auto s = with_stations(2);
    s.traffic = { bulk(300000) };
    const double clear = goodput(s);
    EXPECT_GT(clear, 0.9 * 4800);

    s.faults = { fault(fault_kind::noise, "", 50, 20) };
    const double noisy = goodput(s);
    EXPECT_LT(noisy, clear);
    EXPECT_GT(noisy, 0.8 * clear);

    s.faults = { fault(fault_kind::deaf, "A", 100, 100) };
    const double deaf = goodput(s);
    EXPECT_LT(deaf, clear);
    EXPECT_GT(deaf, 0.6 * clear);

    s.faults = { fault(fault_kind::restart, "B", 200, 30) };
    auto r = run(s);
    EXPECT_EQ(r.flows[0].u_pdus_delivered, 300u)
        << "what the receiver lost is sent again";
    EXPECT_EQ(r.flows[0].altered, 0u);
    EXPECT_LT(r.goodput_bps, clear);

    s.faults = { fault(fault_kind::restart, "A", 200, 30) };
    r = run(s);
    EXPECT_LT(r.flows[0].u_pdus_delivered, 300u) << "the sender's queue is gone";
    EXPECT_GT(r.flows[0].u_pdus_delivered, 150u) << "and the rest goes on";
    EXPECT_EQ(r.flows[0].altered, 0u);

    for (const double step : { 5000.0, -60.0 }) {
        for (const char* at : { "A", "B" }) {
            s.faults = { fault(fault_kind::clock_step, at, 200, 0) };
            s.faults[0].step_s = step;
            EXPECT_GT(goodput(s), 0.6 * clear) << at << " " << step;
        }
    }
}

TEST(scenario, octets_delivered_twice_and_out_of_order_do_no_harm)
{
    auto s = with_stations(2, "4539-2400S");
    s.traffic = { bulk(50000) };
    s.traffic[0].u_pdu = 100;
    s.traffic[0].in_order = true;
    const double clear = goodput(s);
    s.paths = { { "", "", with(0, 0.02, 0.02) } };
    const double disturbed = goodput(s);
    EXPECT_GT(disturbed, 0.98 * clear); // the last block may be late
    EXPECT_EQ(run(s).flows[0].out_of_order, 0u);
}

TEST(scenario, pings_messages_and_broadcasts_are_timed)
{
    auto s = with_stations(3, "4539-1200S");
    scenario_traffic ping;
    ping.kind = traffic_kind::ping;
    ping.from = "A";
    ping.to = "B";
    ping.u_pdu = 32;
    ping.count = 4;
    ping.interval_s = 20;
    s.traffic = { ping };
    auto r = run(s);
    ASSERT_EQ(r.flows[0].times.size(), 4u);
    EXPECT_NEAR(r.flows[0].times[0], 3.3, 0.7) << "with the link set-up";
    EXPECT_NEAR(r.flows[0].times[1], 2.7, 0.7);

    auto chat = ping;
    chat.kind = traffic_kind::interactive;
    chat.answer = 60;
    chat.count = 20;
    chat.interval_s = 60;
    s.traffic = { chat };
    r = run(s);
    EXPECT_TRUE(r.complete);
    EXPECT_EQ(r.flows[0].times.size(), 20u);
    EXPECT_GT(*std::min_element(r.flows[0].times.begin(), r.flows[0].times.end()), 2.4);

    auto news = ping;
    news.kind = traffic_kind::broadcast;
    news.to = "all";
    news.arq = false;
    news.repeats = 1;
    news.count = 10;
    s.traffic = { news };
    r = run(s);
    EXPECT_EQ(r.flows[0].receivers, 2u);
    EXPECT_EQ(r.flows[0].u_pdus_delivered, 20u);

    s.stations[2].groups = { "31.1.2.3" };
    s.traffic[0].to = "31.1.2.3";
    r = run(s);
    EXPECT_EQ(r.flows[0].receivers, 1u);
    EXPECT_EQ(r.flows[0].u_pdus_delivered, 10u);
}

TEST(scenario, steady_and_unlimited_flows_share_the_channel)
{
    auto s = with_stations(2, "4539-9600S");
    s.duration_s = 4 * 3600;
    auto there = bulk(0), back = bulk(0);
    there.stop_s = back.stop_s = 4 * 3600 - 100;
    back.from = "B";
    back.to = "A";
    back.rate_bps = 2000;
    s.traffic = { there, back };
    const auto r = run(s);
    EXPECT_NEAR(r.flows[1].goodput_bps, 2000, 100);
    EXPECT_GT(r.flows[0].goodput_bps + r.flows[1].goodput_bps, 0.85 * 9600);
}

TEST(scenario, says_what_is_wrong)
{
    auto s = with_stations(1);
    EXPECT_NE(refusal(s).find("stations 1: must be 2 to 500"), std::string::npos);
    s = with_stations(2);
    s.stations[1].name = "A";
    EXPECT_NE(refusal(s).find("station 2: name 'A'"), std::string::npos);
    s = with_stations(2);
    s.traffic = { bulk(1000) };
    s.traffic[0].to = "C";
    EXPECT_NE(refusal(s).find("traffic 1: to 'C': no station; there are A, B"),
              std::string::npos);
    s.traffic[0].to = "B";
    s.traffic[0].u_pdu = 3000;
    EXPECT_NE(refusal(s).find("u_pdu 3000: must be 4 to 2048"), std::string::npos);
    s.traffic = { bulk(1000) };
    s.paths = { { "A", "X", air_path() } };
    EXPECT_NE(refusal(s).find("path 1: to 'X'"), std::string::npos);
    s.paths = { { "", "", with(0.7, 0, 0) } };
    EXPECT_NE(refusal(s).find("ber 0.7: must be 0 to 0.5"), std::string::npos);
    s.paths.clear();
    s.faults = { fault(fault_kind::restart, "", 1, 1) };
    EXPECT_NE(refusal(s).find("fault 1: station ''"), std::string::npos);
    s.faults.clear();
    s.traffic.assign(16, bulk(10));
    EXPECT_NE(refusal(s).find("15 SAPs"), std::string::npos);
}

TEST(block_errors, make_blocks_bad)
{
    s5066::block_error_curves c;
    c.add(mode::parse("4539-4800S"),
          { { 8, 0.2, 1, 0.3 }, { 10, 0, 0.4, 0.1 }, { 12, 0, 0, 0 } });

    auto s = with_stations(2);
    s.traffic = { bulk(100000) };
    air_path p;
    p.blocks = std::make_shared<s5066::block_error_curves>(c);
    double last = 0;
    for (const double snr : { 11.0, 11.5, 14.0 }) {
        p.snr_db = snr;
        s.paths = { { "", "", p } };
        const double g = goodput(s);
        EXPECT_GT(g, last) << snr;
        last = g;
    }
    EXPECT_GT(last, 0.9 * 4800);
}

TEST(scenario, two_that_always_send_share_the_channel_for_hours)
{
    auto s = with_stations(2, "4539-9600S");
    s.duration_s = 3 * 3600;
    auto there = bulk(0), back = bulk(0);
    back.from = "B";
    back.to = "A";
    s.traffic = { there, back };
    const auto r = run(s);
    EXPECT_GT(r.fairness, 0.98);
    EXPECT_GT(r.goodput_bps, 0.88 * 9600);
}

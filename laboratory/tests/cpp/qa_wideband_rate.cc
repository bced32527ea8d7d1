/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Rate adaptation over the modes of a bandwidth above 3 kHz.
#include "s5066/pdu/eow.h"
#include "s5066/rate/adaptive_rate.h"
#include "s5066/rate/block_errors.h"
#include "trials/rate_trial.h"
#include "waveform/description.h"

#include "two_stations.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

using namespace gr::hf;
using namespace gr::hf::s5066;
using namespace gr::hf::sim;

namespace {

const address there("1.2.0.0");
constexpr int bandwidths_khz[] = { 3, 6, 9, 12, 15, 18, 21, 24, 30, 36, 42, 48 };

reception heard(const mode& m, double snr_db)
{
    reception r;
    r.m = m;
    r.block_snr_db.assign(20, snr_db);
    r.good_d_pdus = 20;
    r.d_pdu_octets = 600;
    return r;
}

tx_context bulk()
{
    tx_context c;
    c.peer = there;
    c.backlog_octets = 10'000'000;
    return c;
}

// "auto" has STANAG 4539, too.
std::string range_of_5069(int khz)
{
    return khz == 3 ? "auto:5069" : "auto:" + std::to_string(khz) + "k";
}

} // namespace

TEST(wideband_range, reads_its_forms)
{
    for (const int khz : bandwidths_khz) {
        const auto r = rate_range::parse(range_of_5069(khz));
        ASSERT_TRUE(r) << khz;
        std::set<int> rates;
        for (const mode& m : mode::all()) {
            if (m.family == waveform_family::wideband && m.bandwidth_hz == 1000 * khz) {
                rates.insert(m.rate_bps);
            }
        }
        EXPECT_EQ(r->modes().size(), 4 * rates.size()) << khz << ": two codes";
        EXPECT_EQ(r->floor.rate_bps, *rates.begin());
        EXPECT_EQ(r->ceiling.rate_bps, *rates.rbegin());
        for (const mode& m : r->modes()) {
            EXPECT_EQ(m.bandwidth_hz, 1000 * khz);
        }
    }
    const auto some = rate_range::parse("auto:48k-9600..240000");
    EXPECT_EQ(some->floor.to_string(), "5069-48k-9600S");
    EXPECT_EQ(some->ceiling.to_string(), "5069-48k-240000S");
    EXPECT_EQ(rate_range::parse("auto:48k-9600S..48000S")->modes().size(), 8u);
    EXPECT_EQ(rate_range::in_bandwidth("auto", 48), "auto:48k");
    EXPECT_EQ(rate_range::in_bandwidth("auto:1200..4800", 12), "auto:12k-1200..4800");
    for (const char* same : { "auto:24k", "4539-600S", "5069-12k-600S" }) {
        EXPECT_EQ(rate_range::in_bandwidth(same, 48), same);
    }
    EXPECT_EQ(rate_range::in_bandwidth("auto", 3), "auto");
    for (const char* bad : { "auto:7k",
                             "auto:48k-",
                             "auto:48k9600..240000",
                             "auto:48k-9600",
                             "auto:48k-600..240000",
                             "auto:48k-240000..9600",
                             "auto:48",
                             "auto:k",
                             "auto:480k" }) {
        try {
            rate_range::parse(bad);
            ADD_FAILURE() << bad;
        } catch (const std::invalid_argument& e) {
            EXPECT_NE(std::string(e.what()).find(bad), std::string::npos);
            EXPECT_NE(std::string(e.what()).find("auto:<kHz>k-<rate>..<rate>"),
                      std::string::npos);
        }
    }
}

TEST(wideband_advice, every_mode_both_ways)
{
    for (const int khz : bandwidths_khz) {
        std::set<uint16_t> codes;
        for (const mode& m : rate_range::parse(range_of_5069(khz))->modes()) {
            const auto eow = encode_rate_advice(m);
            ASSERT_TRUE(eow) << m.to_string();
            EXPECT_EQ(eow_kind(*eow), 8u);
            EXPECT_TRUE(codes.insert(*eow).second) << m.to_string();
            EXPECT_EQ(decode_rate_advice(*eow, m.bandwidth_hz), m);
        }
    }
    EXPECT_EQ(*encode_rate_advice(mode::parse("5069-48k-240000L")), 0x8ce);
    EXPECT_EQ(*encode_rate_advice(mode::parse("5069-48k-240000L-k9")), 0x8cf);
    EXPECT_FALSE(decode_rate_advice(0x802, 48000)) << "waveform 0 has no ultra short";
    EXPECT_FALSE(decode_rate_advice(0x8f6, 48000)) << "there are not so many rates";
    EXPECT_FALSE(decode_rate_advice(0x8c4, 48000)) << "no family";
    EXPECT_FALSE(decode_rate_advice(0x8c6, 7000)) << "no such bandwidth";
}

TEST(wideband_policy, advises_what_the_ratio_in_the_band_carries)
{
    for (const int khz : { 6, 24, 48 }) {
        const auto range = *rate_range::parse("auto:" + std::to_string(khz) + "k");
        int before = 0;
        for (double snr_db = -8; snr_db <= 40; snr_db += 6) {
            adaptive_rate_policy p(range, large_window);
            p.on_reception({}, there, heard(range.floor, snr_db));
            const auto m = p.advice(there);
            ASSERT_TRUE(m);
            EXPECT_GE(m->rate_bps, before) << khz << " kHz at " << snr_db;
            EXPECT_LE(measured_block_errors("awgn").needed_db(*m).value(), snr_db + 2);
            before = m->rate_bps;
        }
        EXPECT_EQ(before, range.ceiling.rate_bps) << khz;
    }
}

TEST(wideband_policy, begins_with_the_waveform_of_600_bit_s_in_3_khz)
{
    adaptive_rate_policy p(*rate_range::parse("auto:48k"));
    EXPECT_EQ(p.choose({}, bulk()).to_string(), "5069-48k-9600S");
    EXPECT_LE(p.longest_s(bulk()), 10);
    p.on_advice({}, there, mode::parse("5069-48k-240000L"));
    EXPECT_EQ(p.choose({}, bulk()).to_string(), "5069-48k-240000L");
    auto c = bulk();
    c.silent_rounds = 1;
    const mode less = p.choose({}, c);
    const auto& steady = measured_block_errors("awgn");
    EXPECT_LE(*steady.needed_db(less),
              *steady.needed_db(mode::parse("5069-48k-240000L")) - 6)
        << less.to_string();
}

// A usual window is 4.5 s at 240 kbit/s, so a long block would be half empty.
TEST(wideband_promise, knows_the_window)
{
    const mode longest = mode::parse("5069-48k-240000L");
    const auto bps = [&](unsigned window) {
        return mode_promises::of(longest, window).at(0, 45).goodput_bps.back();
    };
    EXPECT_LT(bps(usual_window), 0.6 * longest.rate_bps);
    EXPECT_GT(bps(large_window), 0.9 * longest.rate_bps);
}

TEST(wideband_rates, reach_the_best_fixed_mode)
{
    for (const double snr_db : { 4.0, 14.0, 24.0, 36.0 }) {
        rate_trial t;
        t.channel.mean_db = snr_db;
        // All modes on the same air: at one peak PSK has more power than QAM.
        t.channel.signal_power =
            kernel::mean_power(rate_range::parse("auto:48k")->ceiling);
        t.duration_s = 600;
        double best = 0;
        std::string best_mode;
        for (const mode& m : rate_range::parse("auto:48k")->modes()) {
            const auto needed = measured_block_errors("awgn").needed_db(m);
            if (m.il == interleaver::short_ && needed && *needed > snr_db - 12 &&
                *needed < snr_db + 4) {
                t.mode = m.to_string();
                const double bps = run(t).goodput_bps;
                best_mode = bps > best ? t.mode : best_mode;
                best = std::max(best, bps);
            }
        }
        t.mode = "auto:48k";
        const auto r = run(t);
        std::printf("%.0f dB in 48 kHz: %.0f bit/s, best fixed mode %.0f (%s): %.1f %%\n",
                    snr_db,
                    r.goodput_bps,
                    best,
                    best_mode.c_str(),
                    100 * r.goodput_bps / best);
        EXPECT_GE(r.goodput_bps, 0.88 * best) << snr_db;
        EXPECT_EQ(r.altered, 0u);
        EXPECT_EQ(r.links_failed, 0u);
    }
}

TEST(wideband_rates, begin_slowly_climb_and_come_down_with_a_fade)
{
    // 36 dB, from 300 to 900 s 8 dB, then 36 dB again.
    std::vector<float> db(15000, 36);
    std::fill(db.begin() + 3000, db.begin() + 9000, 8.0f);
    air_path p;
    p.fading = std::make_shared<snr_trace>(db, 0.1);
    two_stations net(test_config(1, "auto:48k"), test_config(2, "auto:48k"), p);
    net.source_a.send(net.b.address(), 100'000'000, 2042);
    std::map<int, int> rates; // of data, by time in s
    for (int s = 1; s < 1300; ++s) {
        net.s.run_until(std::chrono::seconds(s));
        const auto state = net.a.node().state();
        if (!state.tx_mode.empty()) {
            rates[s] = mode::parse(state.tx_mode).rate_bps;
        }
    }
    EXPECT_EQ(rates.begin()->second, 9600) << "nothing is known yet";
    EXPECT_EQ(rates[60], 240000);
    EXPECT_EQ(rates[299], 240000);
    EXPECT_LE(rates[899], 48000);
    EXPECT_GT(rates[899], 2400);
    EXPECT_EQ(rates[1299], 240000);
    EXPECT_EQ(net.sink_b.repeated() + net.sink_b.altered(), 0u);
    EXPECT_GT(net.sink_b.octets(), 15'000'000u);
}

// A peer that does not know our EOW 8 reports so once, and is then judged by what is
// heard of it.
TEST(wideband_rates, a_fixed_peer_is_served_too)
{
    air_path p;
    p.fading = std::make_shared<snr_trace>(std::vector<float>(10, 28), 1);
    two_stations net(test_config(1, "auto:48k"), test_config(2, "5069-48k-9600S"), p);
    const double bps = net.goodput(2'000'000, 2042, 3600);
    EXPECT_EQ(net.sink_b.octets(), 2'000'000u);
    EXPECT_GT(bps, 60000);
}

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Several stations on one channel: no collapse, no starvation.
#include "sim/scenarios/scenario.h"
#include "trials/sharing.h"
#include "two_stations.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <vector>

using namespace gr::hf;
using namespace gr::hf::sim;

namespace {

struct sharing_case {
    unsigned stations;
    // Share of the data rate, by all together; 0: more than can be sent.
    double load;
    double utilisation; // at least
    double fairness;    // at least
};
void PrintTo(const sharing_case& c, std::ostream* os)
{
    *os << c.stations << " stations, load " << c.load;
}
class sharing : public testing::TestWithParam<sharing_case>
{
};

} // namespace

TEST_P(sharing, without_collapse_or_starvation)
{
    const auto& c = GetParam();
    sharing_trial t;
    t.mode = "4539-2400S";
    t.stations = c.stations;
    t.duration_s = 4 * 3600;
    t.load_bps = c.load * 2400 / c.stations;
    const auto r = run(t);
    std::printf("%u stations, load %.0f %%: utilisation %.1f %%, fairness %.2f, "
                "%llu transmissions, %llu collisions\n",
                c.stations,
                100 * c.load,
                100 * r.utilisation,
                r.fairness,
                static_cast<unsigned long long>(r.transmissions),
                static_cast<unsigned long long>(r.collisions));
    EXPECT_GE(r.utilisation, c.utilisation);
    EXPECT_GE(r.fairness, c.fairness);
    EXPECT_GT(*std::min_element(r.octets.begin(), r.octets.end()), 20000u);
    EXPECT_LE(r.altered, 1u);
}

INSTANTIATE_TEST_SUITE_P(stations,
                         sharing,
                         testing::Values(sharing_case{ 2, 0, 0.93, 0.99 },
                                         sharing_case{ 3, 0, 0.85, 0.95 },
                                         sharing_case{ 8, 0, 0.80, 0.85 },
                                         sharing_case{ 3, 0.5, 0.46, 0.95 },
                                         sharing_case{ 8, 0.5, 0.44, 0.95 }));

namespace {

struct saturated_case {
    unsigned stations;
    sharing_pattern pattern;
    double utilisation; // at least
};
void PrintTo(const saturated_case& c, std::ostream* os)
{
    constexpr const char* names[] = { "one-way", "two-way", "mixed" };
    *os << c.stations << " stations, " << names[static_cast<int>(c.pattern)];
}
class saturated : public testing::TestWithParam<saturated_case>
{
};

} // namespace

// An hour after switching on, with default settings.
TEST_P(saturated, everyone_gets_the_channel_within_ten_minutes)
{
    const auto& c = GetParam();
    for (uint64_t seed = 1; seed <= 3; ++seed) {
        sharing_trial t;
        t.stations = c.stations;
        t.pattern = c.pattern;
        t.seed = seed;
        const auto r = run(t);
        const double wait_s = *std::max_element(r.wait_s.begin(), r.wait_s.end());
        std::printf("seed %u: utilisation %.1f %%, fairness %.3f, longest wait %.0f s\n",
                    static_cast<unsigned>(seed),
                    100 * r.utilisation,
                    r.fairness,
                    wait_s);
        EXPECT_GE(r.utilisation, c.utilisation) << seed;
        EXPECT_GE(r.fairness, 0.95) << seed;
        EXPECT_LE(wait_s, 600) << seed;
        EXPECT_EQ(r.altered, 0u);
    }
}

INSTANTIATE_TEST_SUITE_P(
    stations,
    saturated,
    testing::Values(saturated_case{ 2, sharing_pattern::two_way, 0.93 },
                    saturated_case{ 3, sharing_pattern::one_way, 0.88 },
                    saturated_case{ 3, sharing_pattern::two_way, 0.88 },
                    saturated_case{ 8, sharing_pattern::one_way, 0.86 },
                    saturated_case{ 8, sharing_pattern::two_way, 0.86 },
                    saturated_case{ 8, sharing_pattern::mixed, 0.86 }));

TEST(sharing, a_station_that_comes_late_gets_the_channel)
{
    // At many points of the transmissions of the other stations. In 1 of 440 runs (seeds 1 to 110) a
    // collision costs the turn, and the next one comes a cycle (share_cycle_s) later.
    unsigned second_turn = 0;
    for (uint64_t seed = 1; seed <= 12; ++seed) {
        for (const unsigned stations : { 3u, 8u }) {
            for (const auto pattern :
                 { sharing_pattern::one_way, sharing_pattern::two_way }) {
                sharing_trial t;
                t.stations = stations;
                t.pattern = pattern;
                t.late_s = 1800 + 43 * static_cast<double>(seed);
                t.duration_s = t.late_s + 1500;
                t.seed = seed;
                const auto r = run(t);
                second_turn += r.wait_s.back() > 600 ? 1 : 0;
                EXPECT_LE(r.wait_s.back(), 900) << stations << " stations, seed " << seed;
            }
        }
    }
    EXPECT_LE(second_turn, 1u) << "of 48";
}

// Two stations that always send leave a pause after two longest transmissions.
TEST(sharing, a_pair_lets_a_late_station_begin_soon)
{
    std::vector<double> waits_s;
    double with_pauses = 0, without = 0;
    // A step of 43 s: at all points of the 276 s between two pauses.
    for (uint64_t seed = 1; seed <= 72; ++seed) {
        sharing_trial t;
        t.stations = 3;
        t.pattern = sharing_pattern::two_way;
        t.late_s = 1800 + 43 * static_cast<double>(seed);
        t.duration_s = t.late_s + 600;
        t.seed = seed;
        const auto r = run(t);
        ASSERT_FALSE(r.last_delays_s.empty()) << seed;
        waits_s.push_back(r.last_delays_s.front());
        t.stations = 2;
        t.late_s = 0;
        t.duration_s = 3600;
        with_pauses += run(t).utilisation;
        t.base.lone_run_s = 1e6;
        without += run(t).utilisation;
    }
    std::sort(waits_s.begin(), waits_s.end());
    const double lost = 1 - with_pauses / without;
    std::printf("median %.0f s, longest %.0f s, the pair loses %.1f %%\n",
                waits_s[waits_s.size() / 2],
                waits_s.back(),
                100 * lost);
    EXPECT_LE(waits_s[waits_s.size() / 2], 150);
    EXPECT_LE(waits_s.back(), 300);
    EXPECT_LE(lost, 0.05);
}

// Two stations always send, a third one has a U_PDU every 15 min.
TEST(sharing, a_pair_lets_a_station_that_speaks_seldom_begin_soon)
{
    std::vector<double> delays_s;
    for (uint64_t seed = 1; seed <= 12; ++seed) {
        sharing_trial t;
        t.stations = 3;
        t.pattern = sharing_pattern::two_way;
        t.last_load_bps = 8.0 * static_cast<double>(t.u_pdu_octets) / 900;
        t.duration_s = 4 * 3600;
        t.seed = seed;
        const auto r = run(t);
        delays_s.insert(delays_s.end(), r.last_delays_s.begin(), r.last_delays_s.end());
    }
    std::sort(delays_s.begin(), delays_s.end());
    std::printf("%zu U_PDUs: median %.0f s, longest %.0f s\n",
                delays_s.size(),
                delays_s[delays_s.size() / 2],
                delays_s.back());
    EXPECT_LE(delays_s[delays_s.size() / 2], 150);
    EXPECT_LE(delays_s.back(), 300);
}

// Each station has data for all others, so that it has many links. Stations with no room
// for more links once kept the channel with calls to each other: 18 % of the data rate.
TEST(sharing, many_links_do_not_block_the_channel)
{
    for (const unsigned max_links : { 8u, s5066::node_config().max_links }) {
        sharing_trial t;
        t.stations = 20;
        t.pattern = sharing_pattern::any;
        t.duration_s = 2 * 3600;
        t.load_bps = 0.6 * 2400 / t.stations;
        t.base.max_links = max_links;
        const auto r = run(t);
        std::printf("%u links: utilisation %.1f %%\n", max_links, 100 * r.utilisation);
        EXPECT_GE(r.utilisation, max_links == 8 ? 0.34 : 0.42) << max_links;
        EXPECT_EQ(r.u_pdus_rejected, 0u);
    }
}

TEST(sharing, whoever_sends_without_arq_goes_last)
{
    constexpr unsigned runs = 20;
    double sum_bps = 0;
    for (uint64_t seed = 1; seed <= runs; ++seed) {
        scenario s;
        s.seed = seed;
        s.duration_s = 4 * 3600;
        for (const char* name : { "A", "B", "C" }) {
            s.stations.emplace_back().name = name;
        }
        auto& endless = s.traffic.emplace_back();
        endless.from = "A";
        endless.to = "B";
        endless.arq = false;
        auto& message = s.traffic.emplace_back();
        message.kind = traffic_kind::interactive;
        message.from = "C";
        message.to = "B";
        message.u_pdu = 500;
        message.count = 3;
        message.interval_s = 1200;
        const auto r = run(s);
        EXPECT_EQ(r.flows[1].u_pdus_delivered, 3u) << seed;
        EXPECT_EQ(r.flows[1].rejected, 0u) << seed;
        sum_bps += r.flows[0].goodput_bps;
        EXPECT_GT(r.flows[0].goodput_bps, 0.70 * 9600)
            << seed; // 7082 once, else 8109 and more
    }
    std::printf("mean of %u runs: %.0f bit/s\n", runs, sum_bps / runs);
    EXPECT_GT(sum_bps / runs, 0.90 * 9600);
}

TEST(sharing_trial, refuses_what_makes_no_sense)
{
    sharing_trial t;
    t.stations = 1;
    EXPECT_THROW(run(t), std::invalid_argument);
    t.stations = 3;
    t.u_pdu_octets = 3000;
    EXPECT_THROW(run(t), std::invalid_argument);
}

namespace {

//! Pauses before the transmissions of a bulk transfer that starts after \p silence, s.
std::vector<double> pauses_after_silence(station_time silence)
{
    two_stations net("4539-9600S");
    std::vector<double> pauses;
    station_time end{};
    net.air.on_transmission = [&](const transmission_record& t) {
        if (t.station == net.a.modem().id() && end > station_time::zero())
            pauses.push_back(to_seconds(t.begin - end));
        end = t.end;
    };
    net.s.run_until(silence);
    net.goodput(1000000, net.a.node().aligned_u_pdu_octets(), 2000);
    return pauses;
}

} // namespace

// Several stations may have been waiting to start, so the first pause has room for them.
// If it passes unused, there are none. The later pauses are then as short as those of a
// station that started at once.
TEST(sharing, who_begins_after_silence_makes_one_long_pause)
{
    using namespace std::chrono_literals;
    const auto at_once = pauses_after_silence(1ms);
    const double usual_s = *std::max_element(at_once.begin(), at_once.end());
    EXPECT_LT(usual_s, 3);
    for (const auto silence : { 1s, 10s, 3600s }) {
        const auto later = pauses_after_silence(silence);
        ASSERT_GT(later.size(), 5u);
        EXPECT_EQ(std::count_if(later.begin(),
                                later.end(),
                                [&](double s) { return s > usual_s + 1; }),
                  1)
            << silence.count() << " s of silence";
    }
}

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// A loud third station with real waveforms answers in the name of each of two others. What
// it can do at most is a table of docs/reliability.md.
#include "intruder.h"
#include "sim/air/lock_step.h"
#include "sim/stations/traffic_client.h"
#include "two_stations.h"

#include <gtest/gtest.h>

using namespace gr::hf;
using namespace gr::hf::sim;
using namespace std::chrono_literals;

namespace {

constexpr auto attack = 60s;
constexpr auto patience = 900s; // explore::max_quiet_s
constexpr const char* mode_text = "4539-2400S";
constexpr float loud = 10; // times the amplitude of the others: 20 dB

kernel::half_duplex_options cheap_modem()
{
    kernel::half_duplex_options o;
    o.effort = 0;
    return o;
}

kernel::air_options three_stations()
{
    kernel::air_options o;
    o.stations = 3;
    o.channel = "awgn snr=30";
    return o;
}

//! Two stations and an intruder in lock step.
struct live_air {
    live_air(const s5066::node_config& a,
             const s5066::node_config& b,
             const intruder::plan& p)
        : stations{ { { a, cheap_modem() }, { b, cheap_modem() } } },
          third(a.own, b.own, p), modem(third, cheap_modem()), air(three_stations()),
          rx(modem.tick_samples()), tx(rx.size())
    {
    }

    station_time now() const { return modem.now(); }
    bool run_until(station_time limit, const std::function<bool()>& done)
    {
        while (now() < limit && !done()) {
            tick();
        }
        return done();
    }
    void tick()
    {
        for (size_t k = 0; k < 3; ++k) {
            air.take(k, rx.size(), heard);
            air.mix(k, heard, rx.data(), rx.size());
            if (k < 2) {
                stations[k].run(rx.data(), tx.data());
            } else {
                modem.run(rx.data(), tx.data());
                std::for_each(tx.begin(), tx.end(), [](auto& s) { s *= loud; });
            }
            air.write(k, tx.data(), rx.size());
        }
    }

    std::array<lock_step_station, 2> stations;
    intruder third;
    kernel::half_duplex_modem modem;
    kernel::shared_air air;
    std::vector<kernel::shared_air::samples> heard;
    kernel::shared_air::samples rx, tx;
};

class live_link : public testing::TestWithParam<unsigned>
{
};

} // namespace

TEST_P(live_link, a_lie_costs_time_only)
{
    intruder::plan p;
    p.forgery = static_cast<explore::forgery>(GetParam());
    p.sap = 12;
    p.until = attack;
    live_air live(test_config(1, mode_text), test_config(2, mode_text), p);
    std::vector<std::unique_ptr<lock_step_engine<traffic_client>>> clients;
    for (size_t k = 0; k < 2; ++k) {
        traffic_client::config c;
        c.peer = test_config(static_cast<int>(2 - k), mode_text).own;
        c.octets = k == 0 ? 1000000 : 0;
        c.u_pdu_octets = 500;
        c.outstanding = 1500;
        clients.push_back(std::make_unique<lock_step_engine<traffic_client>>(c));
        live.stations[k].attach(*clients.back());
    }
    live.run_until(attack, [] { return false; });
    const auto& acked = live.stations[0].node().stats().d_pdus_acked;
    const auto& arrived = clients[1]->engine.state();
    const uint64_t before = acked, octets_before = arrived.octets_received;
    const bool works = live.run_until(attack + patience, [&] {
        return acked > before && arrived.octets_received > octets_before;
    });
    EXPECT_TRUE(works) << to_string(live.stations[0].node().state().phase) << ", "
                       << to_string(live.stations[1].node().state().phase);
    EXPECT_GT(live.third.lies(), 1u);
    const bool foreign = p.forgery == explore::forgery::data;
    const uint64_t damaged =
        arrived.octets_damaged + clients[0]->engine.state().octets_damaged;
    EXPECT_EQ(damaged > 0, foreign);
    std::printf(
        "%s: %u lies, %llu octets arrived during 60 s, data again after %.0f s, "
        "%llu rejected, %llu of the attacker's\n",
        explore::to_string(p.forgery),
        live.third.lies(),
        static_cast<unsigned long long>(octets_before),
        to_seconds(live.now() - attack),
        static_cast<unsigned long long>(clients[0]->engine.state().octets_rejected),
        static_cast<unsigned long long>(damaged));
}

INSTANTIATE_TEST_SUITE_P(hostile, live_link, testing::Range(0u, explore::forgeries));

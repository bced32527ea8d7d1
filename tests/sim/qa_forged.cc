/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Forged D_PDUs with good CRCs stop no station, on emulated and on real modems.
#include "forger.h"
#include "sim/air/lock_step.h"
#include "sim/stations/traffic_client.h"
#include "two_stations.h"

#include <gtest/gtest.h>

using namespace gr::hf;
using namespace gr::hf::sim;
using namespace std::chrono_literals;

namespace {

constexpr auto attack = 600s;

/*! The modem of a flowgraph asks in each tick whether to transmit, before it checks
 * whether it can. The node's answer holds only for that tick.
 */
struct in_ticks : modem_user {
    explicit in_ticks(s5066::node& of) : n(of) {}
    void on_tick(station_time now) override
    {
        n.on_tick(now);
        key_up = n.want_tx(now);
    }
    std::optional<mode> want_tx(station_time) override
    {
        return std::exchange(key_up, {});
    }
    tx_octets pull(station_time now, station_time at, size_t room) override
    {
        return n.pull(now, at, room);
    }
    void on_tx_end(station_time now) override { n.on_tx_end(now); }
    void on_rx_start(station_time now, const rx_start& e) override
    {
        n.on_rx_start(now, e);
    }
    void on_rx_octets(station_time now, const rx_octets& e) override
    {
        n.on_rx_octets(now, e);
    }
    void on_rx_end(station_time now, const rx_end& e) override { n.on_rx_end(now, e); }
    void on_carrier(station_time now, bool present) override
    {
        n.on_carrier(now, present);
    }

    s5066::node& n;
    std::optional<mode> key_up;
};

} // namespace

TEST(forged, d_pdus_do_not_stop_stations_on_emulated_modems)
{
    for (uint64_t seed = 1; seed <= 6; ++seed) {
        scheduler s;
        emulated_air air(s, seed);
        std::vector<std::unique_ptr<s5066::node>> nodes;
        std::vector<std::unique_ptr<in_ticks>> users;
        std::vector<std::unique_ptr<emulated_modem>> modems;
        for (int k = 1; k <= 2; ++k) {
            auto c = test_config(k, "4539-2400S");
            c.seed += 10 * seed;
            nodes.push_back(std::make_unique<s5066::node>(c));
            users.push_back(std::make_unique<in_ticks>(*nodes.back()));
            modems.push_back(std::make_unique<emulated_modem>(
                s, air, *users.back(), modem_config(), nullptr));
        }
        forger f(nodes[0]->config().own, nodes[1]->config().own, seed, attack);
        emulated_modem third(s, air, f, modem_config(), nullptr);
        third.poke();
        const auto send = [&](size_t k) {
            s5066::s_unidata_request r;
            r.dst = nodes[1 - k]->config().own;
            r.dst_sap = 3;
            r.mode.mode = s5066::transmission_mode::arq;
            r.ttl = 86400;
            r.u_pdu.assign(500, 1);
            nodes[k]->sis_in(modems[k]->clock(), 1, encode(s5066::s_primitive(r)));
        };
        for (size_t k = 0; k < 2; ++k) {
            modems[k]->poke();
            s5066::s_bind_request b;
            b.sap = 3;
            nodes[k]->sis_in(0s, 1, encode(s5066::s_primitive(b)));
        }
        for (auto at = 10s; at < attack; at += 10s) {
            s.run_until(at);
            send(0);
            send(1);
        }
        s.run_until(attack + 600s);
        const uint64_t before[] = { nodes[0]->stats().u_pdus_delivered,
                                    nodes[1]->stats().u_pdus_delivered };
        send(0);
        send(1);
        s.run_until(attack + 900s);
        for (size_t k = 0; k < 2; ++k) {
            EXPECT_GT(nodes[k]->stats().u_pdus_delivered, before[k])
                << "seed " << seed << ", station " << k << ", "
                << to_string(nodes[k]->state().phase);
        }
    }
}

// A station with real waveforms at 30 dB, and a forger on the air: it receives forged
// D_PDUs, too.
TEST(forged, d_pdus_do_not_stop_stations_on_real_modems)
{
    constexpr auto real_attack = 60s;
    kernel::half_duplex_options modem;
    modem.effort = 0;
    std::vector<std::unique_ptr<lock_step_station>> stations;
    using client = lock_step_engine<traffic_client>;
    std::vector<std::unique_ptr<client>> clients;
    for (int k = 1; k <= 2; ++k) {
        const auto c = test_config(k, "4539-2400S");
        stations.push_back(std::make_unique<lock_step_station>(c, modem));
        traffic_client::config t;
        t.peer = test_config(3 - k, "4539-2400S").own;
        t.octets = k == 1 ? 1000000 : 0;
        t.u_pdu_octets = 500;
        t.outstanding = 20000;
        clients.push_back(std::make_unique<client>(t));
        stations.back()->attach(*clients.back());
    }
    forger f(test_config(1, "4539-2400S").own,
             test_config(2, "4539-2400S").own,
             1,
             real_attack);
    kernel::half_duplex_modem third(f, modem);
    kernel::air_options o;
    o.stations = 3;
    o.channel = "awgn snr=30";
    kernel::shared_air air(o);
    std::vector<kernel::shared_air::samples> heard;
    kernel::shared_air::samples rx(third.tick_samples()), tx(rx.size());
    const auto tick = [&] {
        for (size_t k = 0; k < 3; ++k) {
            air.take(k, rx.size(), heard);
            air.mix(k, heard, rx.data(), rx.size());
            if (k < 2) {
                stations[k]->run(rx.data(), tx.data());
            } else {
                third.run(rx.data(), tx.data());
            }
            air.write(k, tx.data(), rx.size());
        }
    };
    while (third.now() < real_attack) {
        tick();
    }
    const auto& acked = stations[0]->node().stats().d_pdus_acked;
    const uint64_t before = acked;
    while (third.now() < real_attack + 300s && acked == before) {
        tick();
    }
    EXPECT_GT(acked, before) << to_string(stations[0]->node().state().phase) << ", "
                             << to_string(stations[1]->node().state().phase);
}

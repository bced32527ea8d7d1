/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Cost of an aborted connection: SIS has no primitive that withdraws a U_PDU.
#include "sim/stations/pep_station.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <random>

namespace gr::hf::test {
namespace {

struct cost {
    double last_data_s = 0; // until the last data D_PDU was sent
    double answer_s = 0;    // until the first octets of the next connection arrive
};

//! An upload of 1 MB is aborted \p at_s after its start. Another connection of the same
//! class starts at that moment.
cost abort_after(double at_s)
{
    sim::proxy_pair n("4539-9600S");
    n.pb.edge().on_server = [](auto& s) { s.eof_after_eof = true; };
    std::mt19937 rng(5);
    sim::octets noise(1'000'000);
    for (auto& o : noise)
        o = uint8_t(rng());
    const auto bulk = n.pa.edge().accept(n.s.now(), "10.0.0.1", 9000);
    n.pa.edge().sockets[bulk].to_send = noise;
    n.pa.drain();
    n.run_for(at_s, [] { return false; });
    const station_time begin = n.s.now();
    n.pa.edge().abort(begin, bulk);
    const auto next = n.pa.edge().accept(begin, "10.0.0.1", 9001);
    n.pa.edge().sockets[next].to_send = sim::octets(40, 'n');
    n.pa.drain();
    cost c;
    const auto server = [&]() -> sim::tcp_host::socket* {
        const auto& all = n.pb.edge().connects;
        return all.size() < 2 ? nullptr : &n.pb.edge().sockets[all[1]];
    };
    EXPECT_TRUE(n.run_for(
        600, [&] { return server() != nullptr && server()->got.size() == 40; }));
    c.answer_s = to_seconds(n.s.now() - begin);
    const auto& all = n.pb.edge().connects;
    EXPECT_TRUE(n.run_for(600, [&] { return n.pb.edge().sockets[all[0]].reset; }));
    station_time last = begin;
    uint64_t seen = 0;
    n.run_for(500, [&] {
        const auto& by_type = n.a.node().stats().d_pdus_sent;
        const uint64_t data = by_type[0] + by_type[2];
        if (data != seen)
            last = n.s.now();
        seen = data;
        return false;
    });
    c.last_data_s = to_seconds(last - begin);
    return c;
}

TEST(abort, others_need_not_wait_for_what_sis_still_holds)
{
    // Time to send what SIS may hold, at 9600 bit/s, with headers and turns.
    constexpr double drained_s = 1.25 * 127.5;
    for (const double at_s : { 60.0, 100.0, 160.0, 200.0, 250.0 }) {
        const auto c = abort_after(at_s);
        std::printf("aborted after %.0f s: next connection %.1f s, last data %.1f s\n",
                    at_s,
                    c.answer_s,
                    c.last_data_s);
        // The interleaver block being filled, one whole block of 1.08 s, decoding, and a
        // pause in which stations not heard yet may start.
        constexpr double pause_s = 0.7 + 0.7;
        EXPECT_LT(c.answer_s, 2 * 1.08 + 0.3 + pause_s) << at_s;
        EXPECT_LT(c.last_data_s, drained_s) << at_s;
    }
}

} // namespace
} // namespace gr::hf::test

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Proxies on data links with emulated modems: when connections to a station that has died end.
#include "sim/stations/pep_station.h"

#include <gtest/gtest.h>

namespace gr::hf::test {
namespace {

using namespace std::chrono_literals;
using sim::octets;

octets noise(size_t n)
{
    octets v(n);
    uint32_t x = 1;
    for (auto& o : v)
        o = static_cast<uint8_t>((x = x * 1664525 + 1013904223) >> 24);
    return v;
}

sim::proxy_link::changes with_outage(station_time outage)
{
    sim::proxy_link::changes c;
    c.pep = [outage](hfpep::proxy_config& e) {
        for (auto& r : e.rules)
            r.outage_max = outage;
    };
    return c;
}

//! The far station dies while it sends a download of this size; seconds until the reset.
double
reset_after_s(const char* mode, station_time outage, size_t download, double dies_s)
{
    sim::proxy_pair n(mode, {}, 1, with_outage(outage));
    n.pb.edge().on_server = [download](auto& s) {
        s.reply_after = 18;
        s.reply = octets(download, 7);
    };
    const auto c = n.pa.edge().accept(n.s.now(), "10.1.2.3", 80);
    n.pa.edge().sockets[c].to_send = octets(18, 1);
    n.pa.drain();
    n.proxy_link::run_for(dies_s);
    EXPECT_FALSE(n.pa.edge().sockets[c].reset) << mode;
    const station_time died = n.s.now();
    n.b.power_off();
    EXPECT_TRUE(n.run_for(3600, [&] { return n.pa.edge().sockets[c].reset; })) << mode;
    return to_seconds(n.s.now() - died);
}

TEST(hfpep_outage, counts_from_the_last_sign_of_life)
{
    for (const char* mode : { "4539-9600S", "4539-1200S" })
        for (const station_time outage : { 20s, 60s, 300s })
            for (const double dies_s : { 25.0, 47.0 }) {
                const double s = reset_after_s(mode, outage, 1'000'000, dies_s);
                EXPECT_LE(s, to_seconds(outage) + 30)
                    << mode << " " << to_seconds(outage) << " " << dies_s;
            }
}

TEST(hfpep_outage, an_upload_ends_as_soon_as_its_transmission_and_the_outage_allow)
{
    // While it transmits the station cannot know.
    sim::proxy_pair n("4539-9600S", {}, 1, with_outage(20s));
    const auto c = n.pa.edge().accept(n.s.now(), "10.1.2.3", 443);
    n.pa.edge().sockets[c].to_send = octets(1'000'000, 3);
    n.pa.drain();
    n.proxy_link::run_for(40);
    ASSERT_FALSE(n.pa.edge().sockets[c].reset);
    const station_time died = n.s.now();
    n.b.power_off();
    EXPECT_TRUE(n.run_for(3600, [&] { return n.pa.edge().sockets[c].reset; }));
    EXPECT_LE(to_seconds(n.s.now() - died), 127.5 + 30);
}

TEST(hfpep_outage, is_no_long_transmission_and_no_busy_channel)
{
    // Transmissions last six times as long as the outage that connections live through.
    sim::proxy_pair n("4539-9600S", {}, 1, with_outage(20s));
    const auto c = n.pa.edge().accept(n.s.now(), "10.1.2.3", 443);
    n.pa.edge().sockets[c].to_send = octets(600'000, 3);
    n.pa.edge().sockets[c].then_eof = true;
    n.pa.drain();
    ASSERT_TRUE(n.run_for(1200, [&] {
        return !n.pb.edge().connects.empty() &&
               n.pb.edge().sockets[n.pb.edge().connects[0]].got.size() == 600'000;
    }));
    EXPECT_FALSE(n.pa.edge().sockets[c].reset);
    EXPECT_GT(to_seconds(n.a.node().stats().tx_time) /
                  static_cast<double>(n.a.node().stats().transmissions),
              60);
}

TEST(hfpep_outage, that_is_shorter_than_its_limit_ends_nothing)
{
    sim::proxy_pair n("4539-9600S", {}, 1, with_outage(100s));
    n.pb.edge().on_server = [](auto& s) {
        s.reply_after = 18;
        s.reply = octets(200'000, 7);
    };
    const auto c = n.pa.edge().accept(n.s.now(), "10.1.2.3", 80);
    n.pa.edge().sockets[c].to_send = octets(18, 1);
    n.pa.drain();
    n.proxy_link::run_for(45);
    sim::air_path gone;
    gone.loss = 1;
    n.air.set_default_path(gone);
    n.proxy_link::run_for(70);
    n.air.set_default_path({});
    ASSERT_TRUE(
        n.run_for(900, [&] { return n.pa.edge().sockets[c].got.size() == 200'000; }));
    EXPECT_FALSE(n.pa.edge().sockets[c].reset);
}

// The far proxy holds up to 140 s of the channel in SIS.
TEST(hfpep_outage, a_download_that_is_cut_stops_the_far_station_within_a_transmission)
{
    for (const double cut_s : { 20.0, 60.0, 150.0 }) {
        sim::proxy_pair n("4539-9600S");
        n.pb.edge().on_server = [](auto& s) {
            s.reply_after = 18;
            s.reply = noise(1'000'000);
        };
        const auto c = n.pa.edge().accept(n.s.now(), "10.1.2.3", 443);
        n.pa.edge().sockets[c].to_send = octets(18, 1);
        n.pa.drain();
        n.proxy_link::run_for(cut_s);
        ASSERT_FALSE(n.pa.edge().sockets[c].reset);
        const auto sent = [&n] {
            const auto& all = n.b.node().stats().d_pdus_sent;
            return all[0] + all[2] + all[9] + all[11];
        };
        const station_time cut = n.s.now();
        n.pa.edge().abort(cut, c);
        n.pa.drain();
        station_time last = cut;
        for (uint64_t before = sent(); n.s.now() < cut + 400s; before = sent()) {
            n.proxy_link::run_for(1);
            last = sent() > before ? n.s.now() : last;
        }
        EXPECT_LT(to_seconds(last - cut), 30) << cut_s;
        EXPECT_TRUE(n.pb.edge().pep.connections().empty());
    }
}

TEST(hfpep_outage, what_is_taken_back_is_that_of_the_stream_alone)
{
    sim::proxy_pair n("4539-9600S");
    n.pb.edge().on_server = [](auto& s) {
        s.reply_after = 18;
        s.reply = noise(200'000);
    };
    hfpep::connection_id ids[2];
    for (auto& id : ids) {
        id = n.pa.edge().accept(n.s.now(), "10.1.2.3", 443);
        n.pa.edge().sockets[id].to_send = octets(18, 1);
    }
    n.pa.drain();
    n.proxy_link::run_for(40);
    n.pa.edge().abort(n.s.now(), ids[0]);
    n.pa.drain();
    ASSERT_TRUE(n.run_for(
        400, [&] { return n.pa.edge().sockets[ids[1]].got.size() == 200'000; }));
    EXPECT_EQ(n.pa.edge().sockets[ids[1]].got, noise(200'000));
    // 200 kB, and the part of the other that had arrived by then.
    EXPECT_LT(to_seconds(n.s.now()), 240);
}

} // namespace
} // namespace gr::hf::test

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// HF-PEP over the whole stack for a long time: broken links, restarts, noise, many
// connections, and the memory held while the link is slow.
#include "pep/heap.h"
#include "pep/rules.h"
#include "sim/transfers/exchanges.h"
#include "slep/slep_user.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <utility>

namespace gr::hf::test {
namespace {

//! One transfer of the soak: its octets, and its fate.
struct transfer {
    sim::proxy_on_station* from = nullptr;
    hfpep::connection_id id = 0;
    octets content;
    uint16_t port = 0; // tells the server its reply
    int starts = 0;    // of the proxy that accepted it
    bool complete = false, failed = false, wrong = false;
};

//! The server's end of a transfer: its number is in the first octets.
octets numbered(uint32_t number, size_t size)
{
    octets v = pattern(std::max<size_t>(size, 4), number + 1);
    for (int k = 0; k < 4; ++k)
        v[size_t(k)] = uint8_t(number >> (24 - 8 * k));
    return v;
}

//! Answer of the server at \p port to the first octets.
octets reply_of(uint16_t port) { return pattern(size_t(port) * 7 % 5000 + 1, port); }

class soak_of_transfers : public testing::TestWithParam<unsigned>
{
};
// Each seed is another course of events.
INSTANTIATE_TEST_SUITE_P(seeds, soak_of_transfers, testing::Range(11u, 17u));

TEST_P(soak_of_transfers, nothing_is_lost_or_altered_whatever_happens_to_the_link)
{
    const char* wanted = std::getenv("HF_SOAK_TRANSFERS");
    const size_t transfers = wanted ? std::strtoul(wanted, nullptr, 10) : 1000;
    std::mt19937_64 rng(GetParam());
    sim::proxy_pair n("4539-9600S", {}, 5, { {}, [](hfpep::proxy_config& c) {
                                                for (auto& r : c.rules)
                                                    r.outage_max =
                                                        std::chrono::seconds(600);
                                            } });
    std::vector<transfer> all;
    std::map<uint32_t, octets> arrived; // whole, as the server saw it
    size_t altered = 0, missing = 0;
    const auto wrong = [&](size_t& count, size_t number, const char* what) {
        if (std::exchange(all[number].wrong, true))
            return;
        ++count;
        std::printf("%10.0f s: transfer %zu %s\n", to_seconds(n.s.now()), number, what);
    };
    int starts[2] = { 1, 1 }, node_restarts = 0;
    // The default of hf.pep.
    const auto fresh = [&](int which) {
        ++starts[which];
        return uint16_t(rng() | 1);
    };
    const auto prepare = [&](sim::proxy_on_station& x) {
        x.edge().on_server = [](auto& s) {
            s.eof_after_eof = true;
            s.reply_after = 4;
            s.reply = reply_of(s.to.port);
        };
    };
    prepare(n.pa);
    prepare(n.pb);
    // What has arrived so far must be the beginning of what was sent, and all of it if the
    // sender was told that it was closed in order.
    const auto collect = [&](sim::proxy_on_station& x) {
        for (const auto id : x.edge().connects) {
            auto& s = x.edge().sockets[id];
            if (s.got.size() < 4 || !s.to.port)
                continue;
            const uint32_t number = uint32_t(s.got[0]) << 24 | uint32_t(s.got[1]) << 16 |
                                    uint32_t(s.got[2]) << 8 | s.got[3];
            if (number >= all.size()) {
                ++altered;
                continue;
            }
            const octets& sent = all[number].content;
            if (s.got.size() > sent.size() ||
                !std::equal(s.got.begin(), s.got.end(), sent.begin()))
                wrong(altered, number, "is altered at the server");
            if (s.got_eof && s.got == sent)
                arrived[number] = s.got;
        }
    };
    const auto settle = [&] {
        size_t open = 0;
        for (size_t k = 0; k < all.size(); ++k) {
            transfer& t = all[k];
            if (t.complete || t.failed)
                continue;
            const int now = starts[t.from == &n.pa ? 0 : 1];
            const auto& sockets = t.from->edge().sockets;
            const auto s = sockets.find(t.id);
            // With its own proxy gone the application saw its connection break.
            t.failed = now != t.starts || s == sockets.end() || s->second.reset;
            t.complete = !t.failed && s->second.closed;
            if (!t.failed) {
                const octets reply = reply_of(t.port);
                const octets& got = s->second.got;
                if (got.size() > reply.size() ||
                    !std::equal(got.begin(), got.end(), reply.begin()))
                    wrong(altered, k, "has an altered reply");
                else if (t.complete && got.size() != reply.size())
                    wrong(missing, k, "was closed without all of the reply");
            }
            open += !t.complete && !t.failed;
        }
        return open;
    };
    while (all.size() < transfers) {
        const uint32_t number = uint32_t(all.size());
        transfer t;
        t.from = rng() % 2 ? &n.pa : &n.pb;
        t.starts = starts[t.from == &n.pa ? 0 : 1];
        t.content = numbered(number, 4 + rng() % (rng() % 8 ? 3000 : 60000));
        all.push_back(t);
        auto& edge = t.from->edge();
        all.back().port = uint16_t(1000 + rng() % 50);
        all.back().id = edge.accept(n.s.now(), "10.0.0.1", all.back().port);
        if (edge.verdict != hfpep::rule_action::proxy) {
            all.back().failed = true; // and its application knows
            continue;
        }
        auto& s = edge.sockets[all.back().id];
        s.to_send = t.content;
        s.then_eof = true;
        sim::air_path p;
        const auto weather = rng() % 10;
        p.ber = weather < 4 ? 0 : weather < 7 ? 1e-5 : 5e-5;
        p.loss = weather == 8 ? 0.3 : weather == 9 ? 1.0 : 0;
        n.air.set_default_path(p);
        n.run_for(double(rng() % 60), [] { return false; });
        collect(n.pa);
        collect(n.pb);
        settle();
        const auto event = rng() % 40;
        node_restarts += event < 2;
        if (event == 0) {
            n.a.restart(rng());
            n.pa.reattach();
        } else if (event == 1) {
            n.b.restart(rng());
            n.pb.reattach();
        } else if (event == 2) {
            n.pa.restart(n.pep_config(1, fresh(0)));
            prepare(n.pa);
        } else if (event == 3) {
            n.pb.restart(n.pep_config(2, fresh(1)));
            prepare(n.pb);
        }
    }
    n.air.set_default_path({});
    EXPECT_TRUE(n.run_for(7200, [&] { return settle() == 0; }));
    collect(n.pa);
    collect(n.pb);
    size_t complete = 0, failed = 0;
    for (uint32_t k = 0; k < all.size(); ++k) {
        complete += all[k].complete;
        failed += all[k].failed;
        if (all[k].complete && arrived.count(k) == 0)
            wrong(missing, k, "was closed before the server had all");
    }
    std::printf(
        "%zu transfers: %zu complete, %zu reported failed, %zu altered, %zu lost, "
        "%d proxy restarts, %d node restarts, %.1f h\n",
        transfers,
        complete,
        failed,
        altered,
        missing,
        starts[0] + starts[1] - 2,
        node_restarts,
        to_seconds(n.s.now()) / 3600);
    EXPECT_EQ(altered, 0u);
    EXPECT_EQ(missing, 0u);
    EXPECT_EQ(complete + failed, transfers);
    EXPECT_GT(complete, transfers / 2);
}

//! Fates of a connection. The port tells the server its role.
enum fate : uint16_t {
    used = 8000,
    half_closed,   // the server sends and closes first, the client goes on
    aborted_here,  // by the client, in the middle
    aborted_there, // by the server
    refused
};

//! The server's part.
void play_servers(sim::tcp_host& x, std::vector<hfpep::connection_id>& doomed)
{
    x.on_connect = [](const hfpep::destination& to) {
        return to.port == refused ? hfpep::status::refused : hfpep::status::connected;
    };
    x.on_server = [&x, &doomed](sim::tcp_host::socket& s) {
        if (s.to.port == aborted_there)
            doomed.push_back(x.connects.back());
        if (s.to.port == half_closed)
            s.to_send = pattern(100);
        s.then_eof = s.to.port == half_closed;
        s.eof_after_eof = s.to.port == used;
    };
}

TEST(soak, nothing_is_left_of_thousands_of_connections)
{
    // A number of a stream rests for ten minutes: that many connections at a time.
    const char* wanted = std::getenv("HF_SOAK_CONNECTIONS");
    const size_t total = wanted ? std::strtoul(wanted, nullptr, 10) : 5'000;
    sim::proxy_pair n("4539-9600S");
    auto &a = n.pa.edge(), &b = n.pb.edge();
    std::vector<hfpep::connection_id> doomed;
    play_servers(b, doomed);
    size_t begun[5] = {}, most = 0, heap_early = 0, whole = 0;
    for (size_t done = 0; done < total;
         most = std::max(most, a.pep.connections().size())) {
        const size_t batch = std::min<size_t>(200, total - done);
        std::vector<hfpep::connection_id> ids, to_abort;
        for (size_t k = 0; k < batch; ++k, ++done) {
            const auto what = fate(used + k % 5);
            ids.push_back(a.accept(n.s.now(), "10.0.0.1", what));
            ASSERT_EQ(a.verdict, hfpep::rule_action::proxy);
            ++begun[what - used];
            auto& s = a.sockets[ids.back()];
            s.to_send = pattern(50, uint32_t(k));
            s.then_eof = what == used;
            // The client closes a connection half closed by the server after it has all
            // octets.
            s.eof_after_eof = what == half_closed;
            if (what == aborted_here)
                to_abort.push_back(ids.back());
        }
        n.run_for(2 + double(done % 7), [] { return false; });
        for (const auto id : to_abort)
            a.abort(n.s.now(), id);
        ASSERT_TRUE(n.run_for(1200, [&] {
            for (const auto id : doomed)
                if (b.sockets[id].got.size() == 50)
                    b.abort(n.s.now(), id);
            return a.pep.connections().empty() && b.pep.connections().empty();
        })) << done;
        n.s.run_until(n.s.now() + std::chrono::seconds(5));
        for (const auto id : ids)
            whole += a.sockets[id].closed;
        for (auto* x : { &a, &b }) {
            EXPECT_TRUE(x->pep.connections().empty());
            EXPECT_EQ(x->pep.link().streams(), 0u);
            x->sockets.clear();
            x->connects.clear();
        }
        doomed.clear();
        n.s.run_until(n.s.now() + std::chrono::seconds(115));
        if (heap_early == 0 && done >= total / 5)
            heap_early = heap_in_use();
    }
    const size_t heap_late = heap_in_use();
    std::printf("%zu connections: heap %zu octets after a fifth, %zu at the end\n",
                total,
                heap_early,
                heap_late);
    EXPECT_LT(heap_late, heap_early + 65'536);
    EXPECT_LT(n.s.pending(), 1000u);
    EXPECT_EQ(whole, begun[used - used] + begun[half_closed - used]);
    const auto &sa = a.pep.stats(), &sb = b.pep.stats();
    EXPECT_EQ(sa.closed, whole);
    EXPECT_EQ(sa.accepted, sa.closed + sa.reset);
    EXPECT_EQ(sa.failed, begun[refused - used]);
    EXPECT_EQ(sa.rejected + sb.rejected, 0u);
    EXPECT_EQ(sb.requested, sb.closed + sb.reset + sb.failed);
    EXPECT_GE(sb.closed, whole);
}

TEST(soak, a_large_upload_over_a_slow_link_holds_only_a_set_amount)
{
    sim::proxy_pair n("4539-300S");
    // A port that is not compressed: all octets are counted as they are.
    const auto id = n.pa.edge().accept(n.s.now(), "10.0.0.1", 443);
    auto& client = n.pa.edge().sockets[id];
    client.to_send = octets(10'000'000, 'x');
    size_t most = 0, waiting = 0;
    n.run_for(4 * 3600, [&] {
        const auto& connects = n.pb.edge().connects;
        const size_t got =
            connects.empty() ? 0 : n.pb.edge().sockets[connects[0]].got.size();
        most = std::max(most, client.sent - got);
        for (const auto& c : n.pa.edge().pep.connections())
            waiting = std::max(waiting, c.waiting);
        return false;
    });
    const auto c = n.pep_config(1, 1).slep;
    EXPECT_GT(n.pb.edge().sockets[n.pb.edge().connects.at(0)].got.size(), 400'000u);
    // In the buffer of the stream, in SIS, and what one transmission has not confirmed yet.
    EXPECT_LE(most, c.send_buffer + 2 * c.queue_octets + 4096);
    EXPECT_LE(waiting, c.send_buffer + c.queue_octets + 4096);
    EXPECT_GT(waiting, c.send_buffer / 2); // it was filled
    std::printf(
        "10 MB at 300 bit/s: at most %zu octets outside the application, %zu of them "
        "in the proxy\n",
        most,
        waiting);
}

TEST(soak, compressed_transfers_of_every_size_arrive)
{
    for (const size_t size : { 1u, 100u, 20'000u, 50'000u, 400'000u })
        for (const bool noise : { false, true }) {
            sim::tcp_transfer t;
            t.content = noise ? pattern(size) : octets(size, 'a');
            const double plain = sim::measure(t).total_s;
            t.compress = true;
            const auto r = sim::measure(t);
            EXPECT_TRUE(r.complete) << size << noise;
            EXPECT_LT(r.total_s, 1.03 * plain + 1.2) << size << noise;
            if (!noise && size >= 20'000) {
                EXPECT_LT(r.total_s, plain / 2);
            }
        }
}

TEST(soak, an_interactive_stream_overtakes_bulk)
{
    sim::proxy_pair n("4539-9600S");
    n.pb.edge().on_server = [](auto& s) { s.eof_after_eof = true; };
    const auto bulk = n.pa.edge().accept(n.s.now(), "10.0.0.1", 25);
    n.pa.edge().sockets[bulk].to_send = pattern(1'000'000);
    n.run_for(60, [] { return false; });
    // In the middle of a long transmission: SSH has a lower class and a higher priority.
    const station_time begin = n.s.now();
    const auto key = n.pa.edge().accept(begin, "10.0.0.1", 22);
    n.pa.edge().sockets[key].to_send = pattern(40);
    ASSERT_TRUE(n.run_for(200, [&] {
        const auto& all = n.pb.edge().connects;
        return all.size() == 2 && n.pb.edge().sockets[all[1]].got.size() == 40;
    }));
    const double delay = to_seconds(n.s.now() - begin);
    std::printf("interactive octets behind 1 MB at 9600 bit/s: %.2f s\n", delay);
    // The interleaver block being filled, one whole block of 1.08 s, and decoding.
    EXPECT_LT(delay, 2 * 1.08 + 0.3);
}

} // namespace
} // namespace gr::hf::test

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// A third station injects forged SLEP and HF-PEP PDUs with good CRCs, in the name of two
// stations with proxies. What each can do at most is a table of docs/reliability.md.
#include "sim/stations/pep_station.h"
#include "slep/slep_user.h"
#include "slep_forger.h"

#include <algorithm>
#include <cstdlib>
#include <gtest/gtest.h>
#include <map>

using namespace gr::hf;
using namespace gr::hf::sim;
using namespace std::chrono_literals;

namespace {

constexpr auto attack_from = 5s, attack = 180s;
// Seeds of each row. The table of docs/reliability.md has 40.
const uint64_t seeds = [] {
    const char* text = std::getenv("HF_FORGED_SEEDS");
    return text == nullptr ? 3ull : std::strtoull(text, nullptr, 10);
}();
// A stream whose PDU is missing ends with the second answer to its probes, 15 min after its
// last sign of life. A forgery may be such a sign. 40 seeds took 3655 s at most.
constexpr double patience_s = 4500;
constexpr uint16_t first_port = 1000;
constexpr const char* mode_text = "4539-9600S";

//! What became of the genuine connections.
struct tally {
    unsigned connections = 0, whole = 0, reset = 0;
    unsigned wrong = 0;   // ends that read other octets, and then a reset
    unsigned foreign = 0; // connections that the attacker made
    unsigned forgeries = 0;
    uint64_t refused = 0; // U_PDUs that proved nothing
    double quiet_s = 0;   // from the end of the attack until all were over

    void add(const tally& t)
    {
        connections += t.connections;
        whole += t.whole;
        reset += t.reset;
        wrong += t.wrong;
        foreign += t.foreign;
        forgeries += t.forgeries;
        refused += t.refused;
        quiet_s = std::max(quiet_s, t.quiet_s);
    }
};

octets request_of(uint16_t port) { return test::pattern(500 + 37u * port % 9000, port); }
octets reply_of(uint16_t port) { return test::pattern(200 + 53u * port % 7000, ~port); }

//! A net key at both stations, if the stations seal.
proxy_link::changes keys_of(const slep_forger::plan& p)
{
    if (!p.sealed) {
        return {};
    }
    return { [](s5066::node_config& c) {
                c.auth.keys[0].fill(1);
                c.auth.start_minutes = 30000000;
            },
             {} };
}

//! Two proxies whose applications exchange data, and the attacker.
class attacked
{
public:
    explicit attacked(const slep_forger::plan& p)
        : net(mode_text, {}, p.seed, keys_of(p)),
          forger(net.node(0).config().own, net.node(1).config().own, p),
          modem(net.s, net.air, forger, modem_config(), [this] {
              return forger.next_deadline();
          })
    {
        for (const size_t k : { 0, 1 }) {
            tcp_host& host = net.edge(k);
            host.on_connect = [&host](const hfpep::destination& to) {
                host.sockets[host.connects.back()].reply = reply_of(to.port);
                host.sockets[host.connects.back()].reply_after =
                    to.port == forged_port ? 1 : request_of(to.port).size();
                host.sockets[host.connects.back()].eof_after_eof = true;
                return std::optional(hfpep::status::connected);
            };
        }
        modem.poke();
    }

    //! A client at \p side sends a request and closes its direction.
    hfpep::connection_id connect(size_t side)
    {
        const uint16_t port = d_next_port++;
        tcp_host& host = net.edge(side);
        const auto id = host.accept(net.now(), "10.0.0.1", port);
        if (host.verdict == hfpep::rule_action::proxy) {
            auto& s = host.sockets[id];
            s.to.port = port;
            s.to_send = request_of(port);
            s.then_eof = true;
            clients.push_back({ side, id });
        }
        net.drain();
        return id;
    }
    bool over() const
    {
        const auto done = [](const auto& e) { return e.second.closed || e.second.reset; };
        auto& pair = const_cast<proxy_pair&>(net);
        const auto& a = pair.edge(0).sockets;
        const auto& b = pair.edge(1).sockets;
        return std::all_of(a.begin(), a.end(), done) &&
               std::all_of(b.begin(), b.end(), done);
    }
    const tcp_host::socket& socket(const std::pair<size_t, hfpep::connection_id>& c) const
    {
        return const_cast<proxy_pair&>(net).edge(c.first).sockets.at(c.second);
    }
    //! What every end of a connection has seen. An end that was not reset read exactly
    //! what the other application sent.
    tally judge() const
    {
        tally t;
        for (const auto& c : clients) {
            const auto& s = socket(c);
            ++t.connections;
            t.whole += s.closed;
            t.reset += s.reset;
            judge_end(s, reply_of(s.to.port), t);
            judge_pair(c.first, s);
        }
        for (const size_t k : { 0, 1 }) {
            const tcp_host& host = const_cast<proxy_pair&>(net).edge(k);
            for (const auto id : host.connects) {
                const auto& s = host.sockets.at(id);
                t.foreign += s.to.port == forged_port;
                if (s.to.port != forged_port) {
                    judge_end(s, request_of(s.to.port), t);
                }
            }
        }
        return t;
    }

    proxy_pair net;
    slep_forger forger;
    emulated_modem modem;
    std::vector<std::pair<size_t, hfpep::connection_id>> clients;

private:
    //! The client ends its direction first. A clean end of the reply tells it that the
    //! server has all of the request. As in TCP, the side that ends last learns no more.
    void judge_pair(size_t side, const tcp_host::socket& client) const
    {
        const tcp_host& far = const_cast<proxy_pair&>(net).edge(1 - side);
        const bool read =
            std::any_of(far.connects.begin(), far.connects.end(), [&](const auto id) {
                const auto& s = far.sockets.at(id);
                return s.to.port == client.to.port && s.got == request_of(s.to.port);
            });
        EXPECT_TRUE(read || !(client.closed || client.got_eof))
            << "port " << client.to.port << ": an end before the server has all";
    }
    static void judge_end(const tcp_host::socket& s, const octets& expected, tally& t)
    {
        const bool begins = s.got.size() <= expected.size() &&
                            std::equal(s.got.begin(), s.got.end(), expected.begin());
        if (s.got_eof || s.closed) {
            EXPECT_TRUE(begins && s.got.size() == expected.size())
                << "an untrue clean end of port " << s.to.port << ": " << s.got.size()
                << " octets of " << expected.size() << ", right: " << begins;
        } else if (!begins) {
            ++t.wrong;
        }
        EXPECT_TRUE(begins || s.reset) << "wrong octets at port " << s.to.port;
    }
    uint16_t d_next_port = first_port;
};

//! Nothing grows without a limit, whatever was received.
void expect_bounds(proxy_pair& n)
{
    for (const size_t k : { 0, 1 }) {
        const auto& pep = n.edge(k).pep;
        const auto& c = pep.config();
        EXPECT_LE(pep.connections().size(), c.max_connections);
        EXPECT_LE(pep.link().streams(), c.slep.streams_max);
        for (const auto& s : pep.link().list()) {
            EXPECT_LE(s.unread, c.slep.buffer_high + 4096) << s.state;
            EXPECT_LE(s.waiting, c.slep.send_buffer) << s.state;
        }
    }
}

tally run_attack(const slep_forger::plan& p)
{
    attacked run(p);
    for (unsigned k = 0; to_seconds(run.net.now()) < to_seconds(attack); ++k) {
        run.connect(k % 2);
        run.net.run_for(20, [] { return false; });
        expect_bounds(run.net);
    }
    const auto begin = run.net.now();
    EXPECT_TRUE(run.net.run_for(patience_s, [&] { return run.over(); })) << "a hang";
    const double quiet_s = to_seconds(run.net.now() - begin);
    tally t = run.judge();
    t.quiet_s = quiet_s;
    t.forgeries = run.forger.sent();
    for (const size_t k : { 0, 1 }) {
        t.refused += run.net.node(k).stats().u_pdus_refused;
    }
    // Nothing of the attack remains: of some new connections at the latest the second one
    // of each side is whole.
    for (const size_t side : { 0, 1 }) {
        bool whole = false;
        for (unsigned tries = 0; tries < 2 && !whole; ++tries) {
            const auto id = run.connect(side);
            EXPECT_TRUE(run.net.run_for(patience_s, [&] { return run.over(); }));
            whole = run.socket({ side, id }).closed;
        }
        EXPECT_TRUE(whole) << "no connection from station " << side << " after it";
    }
    run.judge();
    expect_bounds(run.net);
    return t;
}

//! One row of the table: all seeds of a forgery.
tally run_seeds(slep_forger::plan p)
{
    tally all;
    p.from = attack_from;
    p.until = attack;
    const std::string what =
        std::string(to_string(p.forgery)) + (p.listens ? ", listens" : ", blind") +
        (p.arq ? ", ARQ" : ", without ARQ") + (p.sealed ? ", keys" : "");
    for (p.seed = 1; p.seed <= seeds; ++p.seed) {
        SCOPED_TRACE(what + ", seed " + std::to_string(p.seed));
        const tally t = run_attack(p);
        EXPECT_GT(t.forgeries, 10u);
        all.add(t);
    }
    std::printf("%s: %u forgeries, %llu refused; of %u connections %u whole, %u reset, "
                "%u ends with wrong octets before the reset; %u of the attacker; over "
                "%.0f s after it\n",
                what.c_str(),
                all.forgeries,
                static_cast<unsigned long long>(all.refused),
                all.connections,
                all.whole,
                all.reset,
                all.wrong,
                all.foreign,
                all.quiet_s);
    return all;
}

class forged_slep : public testing::TestWithParam<unsigned>
{
};

} // namespace

TEST_P(forged_slep, never_a_wrong_octet_before_a_clean_end_and_no_hang)
{
    for (const bool listens : { false, true }) {
        for (const bool arq : { false, true }) {
            slep_forger::plan p;
            p.forgery = static_cast<slep_forgery>(GetParam());
            p.listens = listens;
            p.arq = arq;
            const tally all = run_seeds(p);
            // Without ARQ nothing of a stream is accepted.
            if (!arq) {
                EXPECT_EQ(all.wrong, 0u);
            }
        }
    }
}

TEST_P(forged_slep, with_keys_no_end_reads_a_wrong_octet_and_no_connection_is_forged)
{
    for (const bool listens : { false, true }) {
        for (const bool arq : { false, true }) {
            slep_forger::plan p;
            p.forgery = static_cast<slep_forgery>(GetParam());
            p.listens = listens;
            p.arq = arq;
            p.sealed = true;
            const tally all = run_seeds(p);
            EXPECT_EQ(all.wrong, 0u);
            EXPECT_EQ(all.foreign, 0u);
            EXPECT_GT(all.refused, 0u);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(hostile, forged_slep, testing::Range(0u, slep_forgeries));

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// docs/conformance.md, rows X.3 and X.4: lossy channels, nodes of different editions.
#include "scripted_peer.h"
#include "sim/two_stations.h"

#include <gtest/gtest.h>

using namespace gr::hf;
using namespace gr::hf::s5066;
using t = d_pdu_type;

namespace {

//! Sends U_PDUs both ways and counts what arrives how often.
struct exchange {
    exchange(const sim::air_path& path,
             const node_config& ca,
             const node_config& cb,
             uint64_t seed)
        : air(s, seed), a(s, air, ca), b(s, air, cb)
    {
        air.set_default_path(path);
        for (sim::station* st : { &a, &b }) {
            auto& seen = st == &a ? at_a : at_b;
            const auto c = st->attach([this, &seen](station_time, const s_primitive& p) {
                if (const auto* i = std::get_if<s_unidata_indication>(&p)) {
                    order += !seen.empty() && i->u_pdu.size() > 2 && !i->expedited &&
                                     last[&seen] > i->u_pdu[0] + 256u * i->u_pdu[1]
                                 ? 1
                                 : 0;
                    const unsigned n = i->u_pdu[0] + 256u * i->u_pdu[1];
                    if (!i->expedited) {
                        last[&seen] = n;
                    }
                    ++seen[n];
                }
                rejected += std::holds_alternative<s_unidata_request_rejected>(p) ? 1 : 0;
            });
            s_bind_request r;
            r.sap = 3;
            st->send(c, r);
            (st == &a ? client_a : client_b) = c;
        }
    }

    void send(bool from_a, unsigned n, size_t octets, bool expedited = false)
    {
        s_unidata_request r;
        r.dst = from_a ? b.address() : a.address();
        r.dst_sap = 3;
        r.expedited = expedited;
        r.mode.mode = transmission_mode::arq;
        r.mode.confirmation = delivery_confirmation::node;
        r.u_pdu.assign(octets, 0x5a);
        r.u_pdu[0] = static_cast<uint8_t>(n);
        r.u_pdu[1] = static_cast<uint8_t>(n >> 8);
        (from_a ? a : b).send(from_a ? client_a : client_b, r);
    }

    sim::scheduler s;
    sim::emulated_air air;
    sim::station a, b;
    client_id client_a = 0, client_b = 0;
    std::map<unsigned, unsigned> at_a, at_b;
    std::map<const void*, unsigned> last;
    unsigned rejected = 0;
    unsigned order = 0; // deliveries out of order
};

void exactly_once(const std::map<unsigned, unsigned>& seen, unsigned count)
{
    EXPECT_EQ(seen.size(), count);
    for (const auto& [n, times] : seen) {
        EXPECT_EQ(times, 1u) << n;
    }
}

} // namespace

namespace {

void lossy_channels(uint64_t seed)
{
    for (const bool drc : { false, true }) {
        for (const double loss : { 0.0, 0.1, 0.3, 0.5 }) {
            for (const double ber : { 0.0, 1e-4 }) {
                auto ca = sim::test_config(1, "4539-1200S");
                auto cb = sim::test_config(2, "4539-1200S");
                for (auto* c : { &ca, &cb }) {
                    c->drc = drc;
                    c->max_silent_rounds = 50;
                    c->management_tries = 50;
                    c->link_tries = 50;
                    c->reset_tries = 50;
                    // A node that breaks an idle link cannot repeat its acknowledgement
                    // of expedited data then. With half of the transmissions lost, ten in
                    // a row may be lost.
                    c->link_idle_s = loss < 0.5 ? 30 : 1e5;
                }
                sim::air_path path;
                path.loss = loss;
                path.ber = ber;
                SCOPED_TRACE("seed " + std::to_string(seed) + " drc " +
                             std::to_string(drc) + " loss " + std::to_string(loss) +
                             " ber " + std::to_string(ber));
                exchange x(path, ca, cb, seed);
                unsigned n = 0, expedited = 0;
                for (; n < 30; ++n) {
                    x.send(true, n, 2 + 61 * n % 1500);
                    x.send(false, n, 2 + 97 * n % 1500);
                    if (n % 5 == 0) {
                        x.send(true, 1000 + expedited++, 30, true);
                    }
                }
                x.s.run_until(
                    [&] { return x.at_a.size() == n && x.at_b.size() == n + expedited; },
                    std::chrono::hours(12));
                x.s.run_until(x.s.now() + std::chrono::minutes(30));
                exactly_once(x.at_a, n);
                exactly_once(x.at_b, n + expedited);
                EXPECT_EQ(x.rejected, 0u) << "loss " << loss << " ber " << ber;
                EXPECT_EQ(x.order, 0u);
                const auto& sa = x.a.node().stats();
                EXPECT_EQ(sa.d_pdus_sent[6] > 0, drc);
                if (loss == 0) {
                    EXPECT_EQ(sa.warnings_sent + x.b.node().stats().warnings_sent, 0u);
                    EXPECT_EQ(sa.resets, 0u);
                }
            }
        }
    }
}

} // namespace

TEST(Conformance, RowX_03_LossyChannelDeliversEverythingExactlyOnce)
{
    for (uint64_t seed = 1; seed <= 8; ++seed) {
        lossy_channels(seed);
    }
}

TEST(Conformance, RowX_04_UnknownTypesAndEow15DoNoHarm)
{
    scripted_peer p;
    p.bind(1, 3);
    p.make_link();
    // As an extended node would send them, between data.
    std::vector<d_pdu> list{ scripted_peer::data(0) };
    for (const unsigned type : { 9u, 10u, 11u, 12u, 13u, 14u }) {
        auto d = scripted_peer::from_peer(static_cast<t>(type));
        d.other.assign(type - 8, 0x90);
        list.push_back(d);
        list.push_back(scripted_peer::data(static_cast<uint8_t>(type - 8)));
    }
    list[2].eow = 0xf9f; // EP7
    p.receive(list);
    EXPECT_EQ(p.primitives().size(), 7u);
    const auto d = p.transmission();
    const auto acks = of_type(d, t::ack_only);
    ASSERT_FALSE(acks.empty());
    EXPECT_EQ(acks[0].ack.rx_lwe, 7);
    EXPECT_EQ(acks[0].eow >> 8, 0);
    EXPECT_EQ(p.n.state().links, 1u);
    // Warnings at most once per transmission and kind.
    EXPECT_EQ(p.n.stats().warnings_sent, of_type(d, t::warning).size());
    std::map<unsigned, unsigned> kinds;
    for (const auto& w : of_type(d, t::warning)) {
        EXPECT_EQ(w.warning.reason, 0);
        ++kinds[w.warning.received_type];
    }
    EXPECT_EQ(kinds.size(), 1u);
}

// The number of clients that never bind is limited (node_config::max_clients). The oldest
// one is dropped, with what it asked before.
TEST(clients, that_do_not_bind_are_forgotten_beyond_the_limit)
{
    node_config c;
    c.max_clients = 3;
    scripted_peer p(c);
    const auto answered = [&](client_id k) {
        p.send(k, s_keep_alive{});
        return !p.primitives().empty();
    };
    EXPECT_TRUE(answered(1));
    EXPECT_FALSE(answered(1)); // once in 120 s
    EXPECT_TRUE(answered(2));
    EXPECT_TRUE(answered(3));
    EXPECT_FALSE(answered(1)); // three are known
    EXPECT_TRUE(answered(4));  // the fourth replaces the first
    EXPECT_FALSE(answered(4));
    EXPECT_TRUE(answered(1));
}

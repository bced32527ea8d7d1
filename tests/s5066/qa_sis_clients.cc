/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Clients of a node: their queued primitives, their limits and their withdrawals.
#include "s5066/between/link_report.h"
#include "s5066/sis/sis_clients.h"
#include "scripted_peer.h"

#include <gtest/gtest.h>

using namespace gr::hf;
using namespace gr::hf::s5066;

namespace {

struct clients_alone {
    bool bind(client_id c, uint8_t sap, uint8_t rank = 0)
    {
        s_bind_request r;
        r.sap = sap;
        r.rank = rank;
        return clients.bind(now, clients.arrive(c), r, false);
    }
    // Primitives of 1000 octets and their header, until one is dropped. Returns their
    // number.
    int fill(client_id c)
    {
        s_unidata_indication i;
        i.u_pdu.resize(1000);
        int count = 0;
        for (const auto before = stats.indications_dropped;; ++count) {
            clients.send(c, i);
            if (stats.indications_dropped > before) {
                return count;
            }
        }
    }

    node_config config;
    node_stats stats;
    std::vector<client_id> unbound;
    sis_clients clients{ config, stats, [this](station_time, client_id c) {
                            unbound.push_back(c);
                        } };
    station_time now = std::chrono::seconds(10);
};

s_unidata_request data_of(uint8_t octet, size_t octets)
{
    s_unidata_request r;
    r.dst = address("1.2.0.0");
    r.dst_sap = 3;
    r.mode.confirmation = delivery_confirmation::node;
    r.u_pdu.assign(octets, octet);
    return r;
}

} // namespace

TEST(clients, primitives_that_nobody_polls_take_8_mib_at_most)
{
    clients_alone a;
    const int room = a.fill(1);
    EXPECT_LE(room * 1000, 8 << 20);
    EXPECT_GE(room * 1100, 8 << 20);
    EXPECT_EQ(a.fill(2), 0);
    for (int k = 0; k < 3; ++k) {
        EXPECT_EQ(a.clients.poll()->client, 1u);
    }
    EXPECT_EQ(a.fill(2), 3) << "as many as were polled";
}

TEST(clients, one_that_is_gone_leaves_its_room_to_others)
{
    clients_alone a;
    a.bind(1, 3);
    a.bind(2, 4);
    while (a.clients.poll()) {
    }
    const int room = a.fill(1);
    a.clients.gone(a.now, 1);
    EXPECT_EQ(a.unbound, std::vector<client_id>{ 1 });
    EXPECT_FALSE(a.clients.find(1));
    EXPECT_FALSE(a.clients.at(3));
    EXPECT_FALSE(a.clients.poll()) << "its primitives went with it";
    EXPECT_EQ(a.fill(2), room);
    EXPECT_EQ(a.clients.at(4), a.clients.find(2));
    // Those of others stay.
    a.bind(5, 5);
    a.clients.gone(a.now, 5);
    for (int k = 0; k < room; ++k) {
        ASSERT_TRUE(a.clients.poll()) << k;
    }
    EXPECT_FALSE(a.clients.poll());
}

TEST(clients, of_too_many_an_unbound_one_is_forgotten)
{
    clients_alone a;
    a.config.max_clients = 3;
    a.bind(1, 3);
    for (const client_id c : { 2, 3 }) {
        a.clients.arrive(c);
        a.clients.forget_one();
    }
    EXPECT_TRUE(a.clients.find(2)) << "three are not too many";
    a.clients.arrive(4);
    a.clients.forget_one();
    EXPECT_TRUE(a.clients.find(1)) << "it is bound";
    EXPECT_EQ(!a.clients.find(2) + !a.clients.find(3) + !a.clients.find(4), 1);
}

TEST(clients, expedited_requests_are_refilled_one_by_one)
{
    clients_alone a;
    a.config.client_expedited_per_minute = 6;
    a.bind(1, 3);
    sis_client& k = *a.clients.find(1);
    for (int i = 0; i < 6; ++i) {
        EXPECT_FALSE(a.clients.too_many_expedited(a.now, k)) << i;
    }
    EXPECT_TRUE(a.clients.too_many_expedited(a.now, k));
    a.now += from_seconds(9.9);
    EXPECT_TRUE(a.clients.too_many_expedited(a.now, k));
    a.now += from_seconds(0.2);
    EXPECT_FALSE(a.clients.too_many_expedited(a.now, k));
    EXPECT_TRUE(a.clients.too_many_expedited(a.now, k));
    a.now += std::chrono::hours(1); // never more than those of a minute
    for (int i = 0; i < 6; ++i) {
        EXPECT_FALSE(a.clients.too_many_expedited(a.now, k)) << i;
    }
    EXPECT_TRUE(a.clients.too_many_expedited(a.now, k));
}

TEST(clients, a_keep_alive_is_due_when_the_last_one_is_old)
{
    using std::chrono::seconds;
    clients_alone a;
    a.bind(1, 3);
    EXPECT_FALSE(a.clients.next_due()) << "the node asks nobody";
    a.config.keep_alive_s = 200;
    a.now = seconds(20);
    a.bind(2, 4);
    a.clients.gone(a.now, 1);
    while (a.clients.poll()) {
    }
    ASSERT_TRUE(a.clients.next_due());
    EXPECT_EQ(a.clients.next_due()->at, seconds(220));
    a.clients.on_time(seconds(219));
    EXPECT_FALSE(a.clients.poll());
    a.clients.on_time(seconds(220));
    EXPECT_TRUE(a.clients.poll());
    EXPECT_EQ(a.clients.next_due()->at, seconds(230)) << "it has ten seconds";
    a.clients.on_time(seconds(229));
    EXPECT_TRUE(a.clients.find(2)->is_bound);
    a.clients.on_time(seconds(230));
    EXPECT_FALSE(a.clients.find(2)->is_bound);
    EXPECT_EQ(a.unbound.back(), 2u);
    EXPECT_FALSE(a.clients.next_due());
}

TEST(withdrawals, let_a_stopped_client_go_on)
{
    node_config c;
    c.queue_octets = 40000;
    scripted_peer p(c);
    p.bind(1, 3);
    p.n.set_emcon(p.now, true);
    p.primitives();
    for (int k = 0; k < 20; ++k) {
        p.send(1, data_of(uint8_t(k), 2000));
    }
    ASSERT_TRUE(p.answer<s_data_flow_off>());
    withdrawal w;
    w.dst = address("1.2.0.0");
    w.dst_sap = 3;
    for (uint8_t k = 0; k < 10; ++k) {
        w.heads.push_back({ k });
    }
    p.send(1, encode(w));
    const auto told = p.primitives();
    ASSERT_EQ(told.size(), 11u);
    EXPECT_TRUE(std::holds_alternative<s_data_flow_on>(told.back().second));
}

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Hard links of one node (A.3.2.2): requests that cross, and clients that compete.
#include "s5066/sis/hard_link.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace gr::hf;
using namespace gr::hf::s5066;

namespace {

// Records what the hard links of one node send to clients, to other nodes and downwards.
struct recorder : hard_link_user {
    void to_client(client_id c, const s_primitive& p) override
    {
        told.push_back(p);
        clients.push_back(c);
    }
    void to_node(station_time, address a, const s_pdu& s) override
    {
        sent.emplace_back(a, s.type, s.low);
    }
    std::optional<bound> client_at(uint8_t sap) const override
    {
        return sap == called.sap ? std::optional(called) : std::nullopt;
    }
    void make_link(station_time, address) override { ++requested; }
    void break_link(station_time, address) override { ++broken; }
    void break_nonexclusive(station_time) override { ++nonexclusive_broken; }
    void rules_changed(station_time) override {}

    bool has_sent(s_pdu_type type) const
    {
        return std::any_of(sent.begin(), sent.end(), [&](const auto& s) {
            return std::get<1>(s) == type;
        });
    }

    std::vector<s_primitive> told;
    std::vector<std::tuple<address, s_pdu_type, uint8_t>> sent;
    std::vector<client_id> clients; // that were told
    bound called = who(9, 9, 5);
    int requested = 0, broken = 0, nonexclusive_broken = 0;

    static bound who(client_id client, uint8_t sap, uint8_t rank)
    {
        bound b;
        b.client = client;
        b.sap = sap;
        b.rank = rank;
        return b;
    }
};

// A node that has requested a hard link from `peer` and waits for the answer.
struct requesting {
    requesting(const char* own, uint8_t priority) : links(config, user)
    {
        config.own = address(own);
        hard_link l;
        l.remote = peer;
        l.priority = priority;
        hard_link_user::bound by;
        by.client = 1;
        by.sap = 3;
        links.establish({}, by, l);
        links.on_link_made({}, peer);
        EXPECT_TRUE(user.has_sent(s_pdu_type::hard_link_request));
        user.sent.clear();
    }

    void peer_asks(uint8_t priority)
    {
        s_pdu s;
        s.type = s_pdu_type::hard_link_request;
        s.low = priority;
        links.on_s_pdu({}, peer, s);
    }

    const address peer{ "1.2.0.0" };
    node_config config;
    recorder user;
    hard_links links;
};

} // namespace

TEST(hard_links, of_equal_requests_that_cross_that_of_the_higher_address_stands)
{
    requesting lower("1.1.0.0", 1);
    lower.peer_asks(1);
    EXPECT_TRUE(lower.user.has_sent(s_pdu_type::hard_link_confirm));
    EXPECT_FALSE(lower.user.has_sent(s_pdu_type::hard_link_rejected));
    ASSERT_EQ(lower.user.told.size(), 1u);
    EXPECT_TRUE(std::holds_alternative<s_hard_link_rejected>(lower.user.told[0]));
    ASSERT_TRUE(lower.links.established());

    requesting higher("1.3.0.0", 1);
    higher.peer_asks(1);
    EXPECT_TRUE(higher.user.has_sent(s_pdu_type::hard_link_rejected));
    EXPECT_FALSE(higher.user.has_sent(s_pdu_type::hard_link_confirm));
    EXPECT_TRUE(higher.user.told.empty()); // its own request goes on
    EXPECT_FALSE(higher.links.established());
}

TEST(hard_links, a_request_that_crosses_is_dropped_without_terminate)
{
    // The request was sent, but there is no hard link yet: TERMINATE would end that of
    // the peer.
    requesting p("1.1.0.0", 0);
    p.peer_asks(2);
    EXPECT_TRUE(p.user.has_sent(s_pdu_type::hard_link_confirm));
    EXPECT_FALSE(p.user.has_sent(s_pdu_type::hard_link_terminate));
    EXPECT_EQ(p.user.broken, 0); // the physical link stays: both hard links are on it
    ASSERT_EQ(p.user.told.size(), 1u);
    EXPECT_EQ(std::get<s_hard_link_rejected>(p.user.told[0]).reason, 2);
    ASSERT_TRUE(p.links.established());
    EXPECT_EQ(p.links.established()->priority, 2);
}

TEST(hard_links, a_crossing_request_of_lower_priority_is_refused)
{
    requesting p("1.1.0.0", 2);
    p.peer_asks(0);
    ASSERT_EQ(p.user.sent.size(), 1u);
    EXPECT_EQ(p.user.sent[0],
              std::make_tuple(p.peer, s_pdu_type::hard_link_rejected, uint8_t(2)));
    EXPECT_TRUE(p.user.told.empty());
}

// A call has no peer yet that could be told. So its physical link ends, unless the next
// request is for the same node.
TEST(hard_links, a_call_that_is_displaced_is_broken_off_unless_it_is_for_the_same_node)
{
    for (const bool same_node : { false, true }) {
        node_config config;
        config.own = address("1.1.0.0");
        recorder user;
        hard_links links(config, user);
        hard_link_user::bound by;
        by.client = 1;
        hard_link low, high;
        low.remote = address("1.2.0.0");
        high.remote = same_node ? low.remote : address("1.3.0.0");
        low.priority = 0;
        high.priority = 1;
        links.establish({}, by, low);
        by.client = 2;
        links.establish({}, by, high);
        ASSERT_EQ(user.told.size(), 1u);
        EXPECT_TRUE(std::holds_alternative<s_hard_link_rejected>(user.told[0]));
        EXPECT_EQ(user.broken, same_node ? 0 : 1);
        EXPECT_TRUE(user.sent.empty());
    }
}

namespace {

const address peer("1.2.0.0"), third("1.3.0.0");
using kind = s_pdu_type;
using reject_reason = hard_link_reject_reason;
using end_reason = hard_link_end_reason;

// Clients 1 and 2 of a node without a hard link have rank 5, client 3 has rank 6.
struct node_with_clients {
    node_with_clients() { config.own = address("1.1.0.0"); }

    void establish(client_id c, uint8_t type, uint8_t priority, address to = peer)
    {
        hard_link l;
        l.remote = to;
        l.type = type;
        l.priority = priority;
        links.establish(now, recorder::who(c, uint8_t(c), c == 3 ? 6 : 5), l);
    }
    void hear(kind type, uint8_t low = 0, uint8_t dst_sap = 0, address from = peer)
    {
        s_pdu s;
        s.type = type;
        s.low = low;
        s.dst_sap = dst_sap;
        s.src_sap = 7;
        links.on_s_pdu(now, from, s);
    }
    // Client 9, of rank 5, is asked whether it accepts a hard link of the peer.
    void ask(uint8_t priority = 1)
    {
        hear(kind::hard_link_request, uint8_t(2 << 2 | priority), 9);
        EXPECT_TRUE(std::holds_alternative<s_hard_link_indication>(last()));
        clear();
    }
    // Client 1 has a hard link of the type with the peer.
    void make(uint8_t type, uint8_t priority = 1)
    {
        establish(1, type, priority);
        links.on_link_made(now, peer);
        hear(kind::hard_link_confirm);
        EXPECT_TRUE(links.established());
        clear();
    }
    const s_primitive& last() const { return user.told.back(); }
    // Reason of the only primitive, which is of type P and for client c.
    template <class P>
    int reason(client_id c)
    {
        EXPECT_EQ(user.clients, std::vector<client_id>{ c });
        const auto* p = user.told.empty() ? nullptr : std::get_if<P>(&user.told[0]);
        return p ? p->reason : -1;
    }
    // The only S_PDU sent.
    std::tuple<address, kind, uint8_t> sent() const
    {
        EXPECT_EQ(user.sent.size(), 1u);
        return user.sent.empty() ? std::make_tuple(address(), kind::data, uint8_t(0))
                                 : user.sent[0];
    }
    void clear()
    {
        user.told.clear();
        user.clients.clear();
        user.sent.clear();
        user.broken = user.requested = user.nonexclusive_broken = 0;
    }
    hard_link from_peer(address remote = peer) const
    {
        hard_link l;
        l.remote = remote;
        return l;
    }

    station_time now = std::chrono::seconds(10);
    node_config config;
    recorder user;
    hard_links links{ config, user };
};

} // namespace

TEST(hard_links, only_a_like_request_is_pointed_to_the_link_that_exists)
{
    const auto refused = [](client_id c, uint8_t type, uint8_t priority, address to) {
        node_with_clients n;
        n.make(0);
        n.establish(c, type, priority, to);
        return n.reason<s_hard_link_rejected>(c);
    };
    constexpr int exists = int(reject_reason::type_0_exists),
                  higher = int(reject_reason::higher_priority);
    EXPECT_EQ(refused(2, 0, 1, peer), exists);
    EXPECT_EQ(refused(2, 0, 0, peer), higher);
    EXPECT_EQ(refused(2, 0, 1, third), higher);
    EXPECT_EQ(refused(2, 1, 1, third), higher);
    node_with_clients n;
    n.make(1);
    n.establish(2, 0, 1);
    EXPECT_EQ(n.reason<s_hard_link_rejected>(2), higher);
}

TEST(hard_links, a_higher_rank_ends_what_another_client_has_begun)
{
    node_with_clients requesting;
    requesting.establish(1, 0, 1);
    requesting.links.on_link_made(requesting.now, peer);
    requesting.clear();
    requesting.establish(3, 0, 1, third);
    EXPECT_EQ(requesting.reason<s_hard_link_rejected>(1), 2);
    EXPECT_EQ(requesting.sent(), std::make_tuple(peer, kind::hard_link_terminate, 2));

    node_with_clients made;
    made.make(0);
    made.establish(3, 0, 1, third);
    EXPECT_EQ(made.reason<s_hard_link_terminated>(1), 2);
    EXPECT_EQ(made.sent(), std::make_tuple(peer, kind::hard_link_terminate, 2));

    node_with_clients asking;
    asking.ask();
    asking.establish(3, 0, 1, third);
    EXPECT_EQ(asking.reason<s_hard_link_terminated>(9), 2);
    EXPECT_EQ(asking.sent(), std::make_tuple(peer, kind::hard_link_rejected, 2));
}

TEST(hard_links, a_client_ends_its_own_at_any_stage)
{
    node_with_clients calling;
    calling.establish(1, 0, 1);
    EXPECT_TRUE(calling.links.terminate(calling.now, 1, peer));
    EXPECT_EQ(calling.reason<s_hard_link_terminated>(1), int(end_reason::link_broken));
    EXPECT_EQ(calling.user.broken, 1);
    EXPECT_FALSE(calling.links.uses(peer));

    node_with_clients asking;
    asking.ask();
    EXPECT_TRUE(asking.links.terminate(asking.now, 9, peer));
    EXPECT_EQ(asking.sent(), std::make_tuple(peer, kind::hard_link_rejected, 1));
    EXPECT_FALSE(asking.links.uses(peer));

    node_with_clients made;
    made.make(0);
    EXPECT_FALSE(made.links.terminate(made.now, 2, peer));
    EXPECT_FALSE(made.links.terminate(made.now, 1, third));
    EXPECT_TRUE(made.links.terminate(made.now, 1, peer));
    EXPECT_TRUE(made.links.terminate(made.now, 1, peer)); // again
    EXPECT_FALSE(made.links.terminate(made.now, 2, peer));
    EXPECT_FALSE(made.links.terminate(made.now, 1, third));
    EXPECT_EQ(made.sent(), std::make_tuple(peer, kind::hard_link_terminate, 1));
    EXPECT_TRUE(made.links.uses(peer));
    EXPECT_FALSE(made.links.uses(third));
    EXPECT_EQ(made.user.broken, 0);
    made.hear(kind::hard_link_terminate_confirm, 0, 0, third);
    EXPECT_TRUE(made.user.told.empty());
    made.hear(kind::hard_link_terminate_confirm);
    EXPECT_EQ(made.reason<s_hard_link_terminated>(1), int(end_reason::remote_node));
    EXPECT_EQ(made.user.broken, 1);
}

TEST(hard_links, a_client_that_leaves_ends_its_own)
{
    node_with_clients calling;
    calling.establish(1, 0, 1);
    calling.links.client_gone(calling.now, 2);
    EXPECT_TRUE(calling.links.uses(peer));
    calling.links.client_gone(calling.now, 1);
    EXPECT_EQ(calling.user.broken, 1);
    EXPECT_TRUE(calling.user.told.empty());

    node_with_clients asking;
    asking.ask();
    asking.links.client_gone(asking.now, 9);
    EXPECT_EQ(asking.sent(), std::make_tuple(peer, kind::hard_link_rejected, 4));

    node_with_clients ending; // nobody is told of the end any more
    ending.make(0);
    ending.links.terminate(ending.now, 1, peer);
    ending.links.client_gone(ending.now, 1);
    ending.hear(kind::hard_link_terminate_confirm);
    EXPECT_TRUE(ending.user.told.empty());
    EXPECT_EQ(ending.user.broken, 1);
}

TEST(hard_links, only_the_client_that_was_asked_answers)
{
    node_with_clients n;
    EXPECT_FALSE(n.links.accept(n.now, 9, n.from_peer()));
    EXPECT_FALSE(n.links.reject(n.now, 9, n.from_peer(), 1));
    n.ask();
    EXPECT_FALSE(n.links.accept(n.now, 1, n.from_peer()));
    EXPECT_FALSE(n.links.accept(n.now, 9, n.from_peer(third)));
    EXPECT_FALSE(n.links.reject(n.now, 1, n.from_peer(), 1));
    EXPECT_FALSE(n.links.reject(n.now, 9, n.from_peer(third), 1));
    EXPECT_TRUE(n.user.sent.empty());
    EXPECT_TRUE(n.links.accept(n.now, 9, n.from_peer()));
    EXPECT_EQ(n.sent(), std::make_tuple(peer, kind::hard_link_confirm, 0));
    EXPECT_EQ(n.user.nonexclusive_broken, 1);
    EXPECT_FALSE(n.links.accept(n.now, 9, n.from_peer()));
    EXPECT_FALSE(n.links.reject(n.now, 9, n.from_peer(), 1));
}

TEST(hard_links, a_repeated_request_is_confirmed_again_and_asks_nobody)
{
    node_with_clients n;
    n.hear(kind::hard_link_request, 1);
    n.clear();
    n.hear(kind::hard_link_request, 1);
    EXPECT_EQ(n.sent(), std::make_tuple(peer, kind::hard_link_confirm, 0));
    node_with_clients asking;
    asking.ask();
    asking.hear(kind::hard_link_request, 2 << 2 | 1, 9);
    EXPECT_TRUE(asking.user.told.empty());
    EXPECT_TRUE(asking.user.sent.empty());
}

TEST(hard_links, what_cannot_be_established_is_refused)
{
    node_with_clients unknown_type;
    unknown_type.hear(kind::hard_link_request, 3 << 2);
    EXPECT_EQ(unknown_type.sent(), std::make_tuple(peer, kind::hard_link_rejected, 1));
    node_with_clients unbound;
    unbound.hear(kind::hard_link_request, 2 << 2, 8);
    EXPECT_EQ(unbound.sent(), std::make_tuple(peer, kind::hard_link_rejected, 4));
}

TEST(hard_links, missing_answers_end_at_their_time_limit)
{
    using std::chrono::seconds;
    node_with_clients requesting;
    requesting.establish(1, 0, 1);
    EXPECT_FALSE(requesting.links.next_due());
    requesting.links.on_link_made(requesting.now, third); // not the one called
    EXPECT_TRUE(requesting.user.sent.empty());
    requesting.links.on_link_made(requesting.now, peer);
    ASSERT_TRUE(requesting.links.next_due());
    EXPECT_EQ(requesting.links.next_due()->at, seconds(130));
    requesting.links.on_time(seconds(129));
    EXPECT_TRUE(requesting.user.told.empty());
    requesting.links.on_time(seconds(130));
    EXPECT_EQ(requesting.reason<s_hard_link_rejected>(1), 3);
    EXPECT_EQ(requesting.user.broken, 1);

    node_with_clients asking;
    asking.ask();
    asking.links.on_time(seconds(39));
    EXPECT_TRUE(asking.user.told.empty());
    asking.links.on_time(seconds(40));
    EXPECT_EQ(asking.reason<s_hard_link_terminated>(9), 3);
    EXPECT_EQ(asking.sent(), std::make_tuple(peer, kind::hard_link_rejected, 3));

    node_with_clients ending;
    ending.make(0);
    ending.links.terminate(ending.now, 1, peer);
    EXPECT_EQ(ending.links.next_due()->at, seconds(70));
    ending.links.on_time(seconds(69));
    EXPECT_TRUE(ending.user.told.empty());
    ending.links.on_time(seconds(70));
    EXPECT_EQ(ending.reason<s_hard_link_terminated>(1), int(end_reason::not_responding));
    EXPECT_EQ(ending.user.broken, 1);
    EXPECT_FALSE(ending.links.next_due());
}

TEST(hard_links, a_lost_physical_link_is_told_to_the_client_it_concerns)
{
    node_with_clients n;
    n.make(0);
    n.links.on_link_down(n.now, third);
    EXPECT_TRUE(n.links.established());
    n.links.terminate(n.now, 1, peer);
    n.links.on_link_down(n.now, third);
    EXPECT_TRUE(n.user.told.empty());
    n.links.on_link_down(n.now, peer);
    EXPECT_EQ(n.reason<s_hard_link_terminated>(1), int(end_reason::link_broken));
    EXPECT_FALSE(n.links.uses(peer));

    node_with_clients all;
    all.make(0);
    all.links.terminate(all.now, 1, peer);
    all.establish(2, 0, 1, third);
    all.links.end_all(all.now);
    EXPECT_EQ(all.user.told.size(), 2u);
    EXPECT_FALSE(all.links.uses(peer) || all.links.uses(third));
}

TEST(hard_links, other_clients_may_use_links_of_type_0_and_of_the_peer)
{
    for (const uint8_t type : { 0, 1, 2 }) {
        node_with_clients n;
        EXPECT_TRUE(n.links.open_to(recorder::who(2, 2, 5)));
        n.make(type);
        EXPECT_TRUE(n.links.open_to(recorder::who(1, 1, 5)));
        EXPECT_EQ(n.links.open_to(recorder::who(2, 2, 5)), type == 0);
    }
    node_with_clients called;
    called.hear(kind::hard_link_request, 1 << 2);
    EXPECT_TRUE(called.links.established());
    EXPECT_TRUE(called.links.open_to(recorder::who(2, 2, 5)));
}

TEST(hard_links, data_go_only_where_the_hard_link_allows)
{
    const auto allowed = [](const node_with_clients& n, uint8_t from, uint8_t to) {
        outgoing o;
        o.dst = peer;
        o.client = from;
        o.src_sap = from;
        o.dst_sap = to;
        return n.links.allows(o);
    };
    node_with_clients asking;
    asking.ask();
    EXPECT_FALSE(allowed(asking, 1, 7));
    outgoing o;
    o.dst = peer;
    EXPECT_TRUE(asking.links.allows(o)); // of the node itself
    o.dst = third;
    EXPECT_FALSE(asking.links.allows(o));
    o.sets_up_hard_link = true;
    EXPECT_TRUE(asking.links.allows(o));

    node_with_clients called; // type 1: all of ours, but only to its SAP 7
    called.hear(kind::hard_link_request, 1 << 2);
    EXPECT_TRUE(allowed(called, 2, 7));
    EXPECT_FALSE(allowed(called, 2, 6));
    asking.links.accept(asking.now, 9, asking.from_peer());
    EXPECT_TRUE(allowed(asking, 9, 7)); // type 2: between two SAPs
    EXPECT_FALSE(allowed(asking, 9, 6));
    EXPECT_FALSE(allowed(asking, 1, 7));
}

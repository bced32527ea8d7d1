/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Requests for hard links that cross (A.3.2.2), seen from one node.
#include "s5066/sis/hard_link.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace gr::hf;
using namespace gr::hf::s5066;

namespace {

// Records what the hard links of one node send to clients, to other nodes and downwards.
struct recorder : hard_link_user {
    void to_client(client_id, const s_primitive& p) override { told.push_back(p); }
    void to_node(station_time, address a, const s_pdu& s) override
    {
        sent.emplace_back(a, s.type, s.low);
    }
    std::optional<bound> client_at(uint8_t) const override { return std::nullopt; }
    void make_link(station_time, address) override {}
    void break_link(station_time, address) override { ++broken; }
    void break_nonexclusive(station_time) override {}
    void rules_changed(station_time) override {}

    bool has_sent(s_pdu_type type) const
    {
        return std::any_of(sent.begin(), sent.end(), [&](const auto& s) {
            return std::get<1>(s) == type;
        });
    }

    std::vector<s_primitive> told;
    std::vector<std::tuple<address, s_pdu_type, uint8_t>> sent;
    int broken = 0;
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

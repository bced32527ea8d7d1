/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// The parts of an endpoint, each alone. The other files test them together.
#include "slep/datagram_sender.h"
#include "slep/fake_sis.h"
#include "slep/stream_ends.h"
#include "slep/stream_scheduler.h"

#include <gtest/gtest.h>

using namespace gr::hf;
using namespace gr::hf::slep;
using namespace std::chrono_literals;
using s5066::address;

namespace {

endpoint_config small_config()
{
    endpoint_config c;
    c.instance = 1;
    c.queue_octets = 21'000;
    return c;
}

//! Parts around a connection to SIS that is bound.
struct parts {
    explicit parts(const endpoint_config& c = small_config(), uint16_t mtu = 2048)
        : ctx(c), peers(ctx, [this](const peer_state& p) { return in_use == p.who; })
    {
        while (sis.client().poll()) {
        }
        const auto v = s5066::encode(s5066::s_bind_accepted{ c.sap, mtu });
        sis.client().primitive_in(ctx.now, v.data(), v.size());
    }
    //! A peer that was heard and needs no notice.
    peer_state& met(uint32_t n, uint8_t extended = 0)
    {
        peer_state* p = peers.get({ address::node(n), 13, extended });
        p->notice = peer_state::notice::done;
        p->node->link_alive(ctx.now);
        return *p;
    }
    //! SIS confirms or rejects a U_PDU.
    std::optional<sis_queue::entry> settle(const peer_state& p, const octets& u, bool bad)
    {
        return sis.settled(p.who.node, p.who.sap, u, bad);
    }
    //! The U_PDU in an S_primitive.
    static octets u_pdu(const octets& primitive)
    {
        const auto p = s5066::decode_primitive(primitive);
        return std::get<s5066::s_unidata_request>(*p).u_pdu;
    }
    template <typename T>
    static T body(const std::optional<octets>& primitive)
    {
        return std::get<T>(decode(u_pdu(primitive.value()))->body);
    }

    user_address in_use;
    endpoint_context ctx;
    peer_table peers;
    sis_queue sis{ ctx };
    control_pdus control{ ctx, sis };
    datagram_sender datagrams{ ctx, peers, sis };
    stream_table streams{ ctx };
    stream_scheduler scheduler{ ctx, sis, streams };
    stream_ends ends{ ctx, sis, control, streams };
};

} // namespace

TEST(node_state, backs_off_once_for_each_failure_of_the_link)
{
    node_state n;
    station_time now = 1s;
    for (const auto wait : { 5s, 10s, 20s, 40s, 60s, 60s }) {
        n.link_failed(now);
        n.link_failed(now + 1s); // of the same failure
        EXPECT_EQ(n.retry_at, now + wait);
        EXPECT_FALSE(n.may_send(now + wait - 1ns));
        now += wait;
        EXPECT_TRUE(n.may_send(now));
    }
    EXPECT_EQ(n.rejects_in_a_row, 6);
    n.link_alive(now);
    EXPECT_EQ(n.rejects_in_a_row, 0);
    EXPECT_TRUE(n.may_send(now));
}

TEST(node_state, learns_what_a_transmission_takes_while_octets_wait)
{
    node_state n;
    n.learn_depth(1s, 1000);
    EXPECT_EQ(n.depth, SIZE_MAX) << "nothing waited: the link may take more";
    n.held_back = true;
    n.learn_depth(20s, 1000);
    n.learn_depth(20s + 100ms, 500);
    EXPECT_EQ(n.depth, 3000u);
    n.learn_depth(40s, 700);
    EXPECT_EQ(n.depth, SIZE_MAX) << "since then nothing waited";
}

TEST(peer_table, forgets_the_peer_out_of_use_for_longest)
{
    parts x;
    for (uint32_t n = 0; n < peer_table::most; ++n) {
        x.ctx.now = station_time(n);
        ASSERT_NE(x.peers.get({ address::node(100 + n), 13, 0 }), nullptr);
    }
    x.peers.get({ address::node(100), 13, 0 })->stream_count = 1;
    x.in_use = { address::node(101), 13, 0 };
    ASSERT_NE(x.peers.get({ address::node(1), 13, 0 }), nullptr);
    EXPECT_EQ(x.peers.all().size(), peer_table::most);
    EXPECT_NE(x.peers.node(address::node(100)), nullptr) << "it has a stream";
    EXPECT_NE(x.peers.node(address::node(101)), nullptr) << "something waits for it";
    EXPECT_EQ(x.peers.node(address::node(102)), nullptr);
    EXPECT_NE(x.peers.node(address::node(103)), nullptr);
}

TEST(peer_table, keeps_a_node_as_long_as_one_of_its_peers)
{
    parts x;
    x.peers.get({ address::node(1), 13, 0 });
    x.ctx.now = 1s;
    x.peers.get({ address::node(1), 13, 7 })->stream_count = 1;
    for (uint32_t n = 0; n < peer_table::most; ++n)
        x.peers.get({ address::node(100 + n), 13, 0 });
    EXPECT_EQ(x.peers.all().count({ address::node(1), 13, 0 }), 0u);
    EXPECT_NE(x.peers.node(address::node(1)), nullptr);
    for (auto& p : x.peers.all())
        p.second.stream_count = 1;
    EXPECT_EQ(x.peers.get({ address::node(2), 13, 0 }), nullptr) << "all are in use";
}

TEST(sis_queue, fills_whole_segments)
{
    const auto octets_with = [](size_t segment, uint16_t mtu) {
        endpoint_config c = small_config();
        c.segment_octets = segment;
        return parts(c, mtu).sis.u_pdu_octets();
    };
    // With the 4 octets of SIS and CAS headers.
    EXPECT_EQ(octets_with(1023, 2048) + 4, 2 * 1023u);
    EXPECT_EQ(octets_with(200, 2048) + 4, 10 * 200u);
    EXPECT_EQ(octets_with(1023, 500), 500u) << "less than one segment";
    EXPECT_EQ(octets_with(1023, 10), 64u) << "no PDU fits into less";
}

// The MTU of a node that adds a trailer of 12 octets to each U_PDU is 2036.
TEST(sis_queue, fills_whole_segments_with_a_trailer)
{
    const auto of = [](size_t segment, uint16_t mtu) {
        endpoint_config c = small_config();
        c.segment_octets = segment;
        return parts(c, mtu).sis.u_pdu_octets();
    };
    EXPECT_EQ(of(1023, 2048), 2u * 1023 - 4);
    EXPECT_EQ(of(1023, 2036), 2u * 1023 - 4 - 12);
    EXPECT_EQ(of(1023, 1980), 2u * 1023 - 4 - 68);
    EXPECT_EQ(of(200, 2036), 10u * 200 - 4 - 12);
    EXPECT_EQ(of(1023, 1900), 1023u - 4) << "a short MTU for another reason";
}

TEST(sis_queue, has_room_for_what_keeps_the_link_at_work)
{
    parts x;
    peer_state& p = x.met(1);
    const uint8_t bulk = level(4, freshness::bulk), page = level(4, freshness::fresh);
    std::vector<octets> held;
    while (x.sis.may_send(*p.node, bulk)) {
        octets wire(x.sis.u_pdu_octets(), static_cast<uint8_t>(held.size()));
        x.sis.send(p, wire, 0, { owner::kind::data, 5, held.size(), bulk });
        held.push_back(std::move(wire));
        ASSERT_LT(held.size(), 100u);
    }
    const size_t cost = x.sis.u_pdu_octets() + 26;
    EXPECT_LE(p.node->outstanding, 21'000u);
    EXPECT_GT(p.node->outstanding + cost, 21'000u);
    EXPECT_TRUE(p.node->held_back);
    EXPECT_TRUE(x.sis.may_send(*p.node, page)) << "what is urgent passes bulk";
    // An aborted stream delays no other. Each of its U_PDUs is accounted for once.
    x.sis.stream_gone(5);
    EXPECT_EQ(p.node->dead, p.node->outstanding);
    EXPECT_TRUE(x.sis.may_send(*p.node, bulk));
    EXPECT_TRUE(x.sis.holds_for(p));
    for (const octets& wire : held)
        ASSERT_TRUE(x.settle(p, wire, false));
    EXPECT_EQ(p.node->outstanding, 0u);
    EXPECT_EQ(p.node->outstanding_of[bulk], 0u);
    EXPECT_EQ(p.node->dead, 0u);
    EXPECT_FALSE(x.sis.holds_for(p));
    EXPECT_EQ(x.ctx.stats.pdus_confirmed, held.size());
    EXPECT_FALSE(x.settle(p, held[0], false));
    EXPECT_EQ(x.ctx.stats.unmatched_confirms, 1u);
}

TEST(sis_queue, gives_up_what_is_never_answered)
{
    parts x;
    peer_state& p = x.met(1);
    x.sis.send(p, { 1, 2, 3 }, 0, {});
    ASSERT_EQ(x.sis.next_deadline(), std::optional<station_time>(1h));
    x.ctx.now = 1h - 1ns;
    EXPECT_FALSE(x.sis.give_up_overdue());
    x.ctx.now = 1h;
    EXPECT_TRUE(x.sis.give_up_overdue());
    EXPECT_FALSE(x.sis.give_up_overdue());
    EXPECT_EQ(p.node->outstanding, 0u);
    EXPECT_EQ(x.ctx.stats.pdus_rejected, 1u);
}

TEST(control_pdus, go_after_the_notice_and_again_when_rejected)
{
    parts x;
    peer_state& p = x.met(1);
    p.notice = peer_state::notice::due;
    x.control.add(p, stream_abort{ 3, 50, 0 }, 0);
    x.control.add(p, stream_abort{ 4, 50, 0 }, 0);
    EXPECT_TRUE(x.control.holds_for(p));
    EXPECT_EQ(parts::body<stream_abort>(x.control.poll()).reason, reason_peer_restarted);
    const octets first = parts::u_pdu(*x.control.poll());
    EXPECT_EQ(std::get<stream_abort>(decode(first)->body).sid, 3);
    const auto e = x.settle(p, first, true);
    ASSERT_TRUE(e);
    EXPECT_FALSE(x.control.poll()) << "the link has failed";
    x.control.settled(e->tag.who.id, true);
    x.ctx.now = p.node->retry_at;
    EXPECT_EQ(parts::body<stream_abort>(x.control.poll()).sid, 3) << "ahead of others";
    EXPECT_EQ(parts::body<stream_abort>(x.control.poll()).sid, 4);
    EXPECT_FALSE(x.control.poll());
    EXPECT_FALSE(x.control.holds_for(p));
}

TEST(control_pdus, are_bounded_in_number_and_age)
{
    parts x;
    peer_state& p = x.met(1);
    for (size_t k = 0; k < control_pdus::most + 3; ++k)
        x.control.add(p, stream_abort{ 1, 0, static_cast<uint16_t>(k) }, 0);
    EXPECT_EQ(parts::body<stream_abort>(x.control.poll()).mark, 3);
    const octets kept = parts::u_pdu(*x.control.poll());
    const auto e = x.settle(p, kept, false);
    x.ctx.now = x.ctx.config.outage_max;
    EXPECT_FALSE(x.control.poll());
    x.control.settled(e->tag.who.id, true);
    EXPECT_FALSE(x.control.poll());
    EXPECT_FALSE(x.control.holds_for(p)) << "too old to go again";
}

TEST(sis_client, is_bound_only_by_the_answer_to_its_request)
{
    s5066::sis_client c(s5066::sis_client::config::confirmed(8, 0));
    const auto accept = [&c](uint8_t sap) {
        const auto v = s5066::encode(s5066::s_bind_accepted{ sap, 1000 });
        return c.primitive_in({}, v.data(), v.size()).what;
    };
    EXPECT_EQ(accept(9), s5066::sis_client::change::none) << "of another SAP";
    EXPECT_FALSE(c.bound());
    EXPECT_EQ(accept(8), s5066::sis_client::change::bound);
    EXPECT_EQ(c.mtu(), 1000u);
    EXPECT_EQ(accept(8), s5066::sis_client::change::none) << "a second time";
    const auto v = s5066::encode(s5066::s_unbind_indication{});
    EXPECT_EQ(c.primitive_in(1s, v.data(), v.size()).what,
              s5066::sis_client::change::unbound);
    EXPECT_EQ(accept(8), s5066::sis_client::change::none) << "before it asks again";
    EXPECT_FALSE(c.bound());
}

TEST(sis_client, refuses_what_no_node_accepts)
{
    using client = s5066::sis_client;
    const auto good = client::config::confirmed(15, 14);
    EXPECT_NO_THROW(client{ good });
    auto c = good;
    c.sap = 16;
    EXPECT_THROW(client{ c }, std::invalid_argument);
    c = good;
    c.rank = 15; // of the management client
    EXPECT_THROW(client{ c }, std::invalid_argument);
    c = good;
    c.service.mode = s5066::transmission_mode::default_;
    EXPECT_THROW(client{ c }, std::invalid_argument);
    c = good;
    c.rebind_wait = 0s;
    EXPECT_THROW(client{ c }, std::invalid_argument);
    c = good;
    c.bind_wait = 0s;
    EXPECT_THROW(client{ c }, std::invalid_argument);
}

TEST(sis_client, answers_many_keep_alives_once)
{
    s5066::sis_client c(s5066::sis_client::config::confirmed(8, 0));
    while (c.poll()) {
    }
    const auto v = s5066::encode(s5066::s_keep_alive{});
    for (int k = 0; k < 3; ++k)
        EXPECT_EQ(c.primitive_in({}, v.data(), v.size()).what,
                  s5066::sis_client::change::none);
    EXPECT_EQ(c.poll(), v);
    EXPECT_FALSE(c.poll());
}

TEST(datagram_assembler, knows_the_last_64_datagrams_again)
{
    datagram_assembler a(100'000);
    const auto again = [&a](uint16_t number) {
        reliable_datagram d;
        d.number = number;
        return a.put({}, d).duplicate;
    };
    for (uint16_t k = 0; k < 64; ++k)
        EXPECT_FALSE(again(k));
    EXPECT_TRUE(again(0)) << "the oldest of 64";
    EXPECT_FALSE(again(64));
    EXPECT_FALSE(again(0)) << "forgotten";
    EXPECT_TRUE(again(63));
}

TEST(datagram_sender, is_done_when_all_parts_are_confirmed)
{
    parts x;
    peer_state& p = x.met(1);
    octets data(5000);
    std::mt19937 random(1);
    for (auto& o : data)
        o = static_cast<uint8_t>(random());
    const auto handle = x.datagrams.send_reliable(p.who, data, 6);
    ASSERT_TRUE(handle);
    EXPECT_TRUE(x.datagrams.holds_for(p));
    EXPECT_FALSE(x.datagrams.poll(3));
    std::vector<octets> given;
    while (const auto out = x.datagrams.poll(4)) // priority 6 goes with class 4
        given.push_back(parts::u_pdu(*out));
    ASSERT_EQ(given.size(), 3u);
    EXPECT_FALSE(x.datagrams.next_deadline()) << "SIS has all of it";
    const auto settle = [&](const octets& u, bool bad) {
        const auto e = x.settle(p, u, bad);
        x.datagrams.settled(e->tag.who.id, e->tag.who.number, bad, false);
    };
    settle(given[0], false);
    settle(given[1], true);
    settle(given[2], false);
    EXPECT_TRUE(x.ctx.events.empty());
    EXPECT_EQ(x.datagrams.next_deadline(), std::optional(x.ctx.config.reliable_ttl));
    x.ctx.now = p.node->retry_at;
    const octets again = parts::u_pdu(*x.datagrams.poll(4));
    EXPECT_EQ(again, given[1]);
    settle(again, false);
    ASSERT_EQ(x.ctx.events.size(), 1u);
    EXPECT_EQ(x.ctx.events[0].what, event::type::datagram_done);
    EXPECT_EQ(x.ctx.events[0].stream, *handle);
    EXPECT_EQ(x.ctx.events[0].code, 0);
    EXPECT_FALSE(x.datagrams.holds_for(p));
}

TEST(datagram_sender, gives_up_what_is_too_long_or_too_old)
{
    parts x;
    peer_state& p = x.met(1);
    ASSERT_TRUE(x.datagrams.send_confirmed(p.who, { 1, 2, 3 }, 0, 30s));
    ASSERT_TRUE(x.datagrams.send_confirmed(p.who, { 4, 5, 6 }, 0, 30s));
    const auto e = x.settle(p, parts::u_pdu(*x.datagrams.poll(7)), true);
    x.datagrams.settled(e->tag.who.id, e->tag.who.number, true, true);
    ASSERT_EQ(x.ctx.events.size(), 1u);
    EXPECT_EQ(x.ctx.events[0].code, reason_not_supported);
    x.ctx.now = 30s - 1ns;
    x.datagrams.on_deadline();
    EXPECT_EQ(x.ctx.events.size(), 1u);
    x.ctx.now = 30s;
    x.datagrams.on_deadline();
    ASSERT_EQ(x.ctx.events.size(), 2u);
    EXPECT_EQ(x.ctx.events[1].code, reason_lifetime_over);
    EXPECT_EQ(x.ctx.stats.datagrams_dropped, 2u);
}

TEST(datagram_sender, waits_for_sis_although_the_lifetime_is_over)
{
    parts x;
    peer_state& p = x.met(1);
    ASSERT_TRUE(x.datagrams.send_confirmed(p.who, { 1, 2, 3 }, 0, 30s));
    const octets given = parts::u_pdu(*x.datagrams.poll(7));
    x.ctx.now = 60s; // SIS still has it, and it may arrive
    EXPECT_FALSE(x.datagrams.next_deadline());
    x.datagrams.on_deadline();
    EXPECT_TRUE(x.ctx.events.empty());
    const auto e = x.settle(p, given, false);
    x.datagrams.settled(e->tag.who.id, e->tag.who.number, false, false);
    ASSERT_EQ(x.ctx.events.size(), 1u);
    EXPECT_EQ(x.ctx.events[0].code, 0) << "delivered";
    EXPECT_EQ(x.ctx.stats.datagrams_dropped, 0u);
}

namespace {

//! An open stream with this many octets to send.
stream& sending(parts& x, peer_state& p, uint8_t number, size_t octets_to_send)
{
    stream& s = x.streams.add(p, opened_here, number, {});
    s.name.opener = true;
    s.state = stream_state::open;
    const octets data(octets_to_send, number);
    s.tx.write(x.ctx.now, data.data(), data.size(), true);
    x.scheduler.make_ready(s);
    return s;
}

} // namespace

TEST(stream_scheduler, shares_by_octets_and_lets_what_is_new_pass_bulk)
{
    endpoint_config c = small_config();
    c.queue_octets = 1'000'000;
    c.open_octets = 0;
    parts x(c);
    peer_state& p = x.met(1);
    std::map<uint8_t, size_t> sent;
    const auto step = [&](bool first) {
        const auto out = first ? x.scheduler.poll_first(4) : x.scheduler.poll_shared();
        if (!out)
            return false;
        const octets u = parts::u_pdu(*out);
        const auto body = decode(u)->body;
        const auto* d = std::get_if<stream_data>(&body);
        sent[d != nullptr ? d->sid : std::get<stream_open>(body).number] += u.size();
        return true;
    };
    sending(x, p, 1, 200'000).burst.octets = 1'000'000;
    sending(x, p, 2, 200'000).burst.octets = 1'000'000;
    EXPECT_FALSE(step(true)) << "both are bulk";
    for (int k = 0; k < 40; ++k)
        ASSERT_TRUE(step(false));
    const size_t full = x.sis.u_pdu_octets();
    EXPECT_LE(std::max(sent[1], sent[2]) - std::min(sent[1], sent[2]), 2 * full);
    EXPECT_GT(sent[1], 15 * full);
    sending(x, p, 3, 100);
    ASSERT_TRUE(step(true));
    EXPECT_GT(sent[3], 0u);
}

TEST(stream_scheduler,
     lets_first_exchanges_of_any_class_pass_and_bulk_of_all_classes_share)
{
    endpoint_config c = small_config();
    c.queue_octets = 1'000'000;
    c.open_octets = 0;
    parts x(c);
    peer_state& p = x.met(1);
    std::map<uint8_t, size_t> sent;
    const auto step = [&](std::optional<octets> out) {
        if (!out)
            return std::optional<uint8_t>();
        const auto q = s5066::decode_primitive(*out);
        const auto body = decode(parts::u_pdu(*out))->body;
        const auto* d = std::get_if<stream_data>(&body);
        sent[d != nullptr ? d->sid : std::get<stream_open>(body).number] += out->size();
        return std::optional(std::get<s5066::s_unidata_request>(*q).priority);
    };
    const auto with_class = [&](uint8_t number, uint8_t service_class, uint8_t priority) {
        stream& s = sending(x, p, number, 200'000);
        s.options.service_class = service_class;
        s.options.priority = priority;
        s.burst.octets = 1'000'000;
    };
    // Made ready in class 4, they move to their own when it is their turn.
    with_class(1, 1, 8);
    with_class(2, 2, 0);
    with_class(3, 4, 0);
    for (int k = 0; k < 70; ++k)
        ASSERT_TRUE(step(x.scheduler.poll_shared()));
    EXPECT_NEAR(double(sent[1]) / double(sent[2]), 2, 0.3);
    EXPECT_NEAR(double(sent[2]) / double(sent[3]), 4, 1);
    EXPECT_EQ(step(x.scheduler.poll_shared()), 8) << "the data link is strict";
    stream& small = sending(x, p, 4, 5000);
    small.options.service_class = 7;
    small.count.sent = 5000;
    EXPECT_FALSE(x.scheduler.poll_first(4));
    for (int k = 0; k < 4; ++k)
        EXPECT_EQ(step(x.scheduler.poll_first(7)), 10) << "ahead of bulk of any priority";
    EXPECT_FALSE(x.scheduler.poll_first(7));
}

TEST(stream_scheduler, sends_repeats_first_and_one_window_at_a_time)
{
    parts x;
    peer_state& p = x.met(1);
    stream& s = sending(x, p, 1, 5000);
    const octets open = parts::u_pdu(*x.scheduler.poll_first(4));
    ASSERT_TRUE(x.settle(p, open, false));
    s.tx.rejected(0);
    s.control.due = true;
    EXPECT_EQ(parts::u_pdu(*x.scheduler.poll_first(4)), open);
    parts::body<stream_control>(x.scheduler.poll_first(4));
    EXPECT_TRUE(s.control.in_sis);
    s.control.due = true;
    EXPECT_EQ(parts::body<stream_data>(x.scheduler.poll_first(4)).sid, 1);
    s.window_settled(x.ctx.now, false, x.ctx.now + 1h);
    parts::body<stream_control>(x.scheduler.poll_first(4));
}

TEST(stream_ends, tell_only_peers_that_can_know_the_stream)
{
    parts x;
    peer_state& p = x.met(1);
    stream& unsent = x.streams.add(p, opened_here, 1, {});
    unsent.name.opener = true;
    x.ends.abort(unsent, 7);
    EXPECT_FALSE(x.control.holds_for(p));
    stream& sent = sending(x, p, 2, 100);
    ASSERT_TRUE(x.scheduler.poll_first(4));
    const stream_id id = sent.id;
    x.ends.abort(sent, 7);
    EXPECT_EQ(parts::body<stream_abort>(x.control.poll()).reason, 7);
    EXPECT_EQ(x.streams.find(id), nullptr);
    EXPECT_EQ(p.stream_count, 0u);
    EXPECT_EQ(p.rest[opened_here][2].until, x.ctx.now + x.ctx.config.number_rest);
    EXPECT_GT(p.node->dead, 0u) << "its PDU is still in SIS";
    EXPECT_TRUE(x.ctx.events.empty()) << "the user knows";
    stream& failed = x.streams.add(p, opened_there, 3, {});
    x.ends.fail(failed, reason_protocol_error, false);
    EXPECT_FALSE(x.control.holds_for(p));
    ASSERT_EQ(x.ctx.events.size(), 1u);
    EXPECT_EQ(x.ctx.events[0].what, event::type::aborted);
    EXPECT_EQ(x.ctx.stats.streams_aborted, 3u);
}

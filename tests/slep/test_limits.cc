/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slep/endpoints.h"
#include "slep/stream.h"

#include <gtest/gtest.h>

namespace gr::hf::test {
namespace {

TEST(slep_limits, a_peer_that_invents_streams_fills_nothing)
{
    lone x;
    x.in(from_a({ 0, slep::stream_abort{ 0, 136, 1 } }));
    // Data of more streams than wait for their open at a time.
    const auto early = [](uint8_t number) {
        return slep::pdu{ 0, slep::stream_data{ number, 1, false, false, { number } } };
    };
    for (uint8_t n = 0; n < 40; ++n)
        x.in(from_a(early(n)));
    EXPECT_EQ(x.link.stats().bad_pdus, 8u);
    size_t got = 0;
    for (uint8_t n = 0; n < 40; ++n) {
        slep::stream_open o;
        o.number = n;
        x.in(from_a({ 0, o }));
    }
    for (const auto& e : x.events())
        if (e.what == slep::event::type::open)
            x.link.accept(x.now, e.stream, { 0 });
    for (const auto& e : x.events())
        got += e.what == slep::event::type::data;
    EXPECT_EQ(got, 32u);
}

TEST(slep_limits, a_stream_that_is_never_opened_holds_only_so_much)
{
    lone x;
    x.in(from_a({ 0, slep::stream_abort{ 0, 136, 1 } }));
    const size_t limit = 2 * x.link.config().queue_octets;
    const size_t sent = 3 * limit / 1000;
    for (uint16_t k = 1; k <= sent; ++k)
        x.in(from_a(sd(k, octets(1000))));
    const uint64_t kept = sent - x.link.stats().bad_pdus;
    EXPECT_LE(kept * 1000, limit);
    EXPECT_GT(kept * 1000, limit * 9 / 10);
    // Octets that cost nothing by themselves are counted as well.
    lone y;
    y.in(from_a({ 0, slep::stream_abort{ 0, 136, 1 } }));
    for (uint32_t k = 1; k < limit / 16; ++k)
        y.in(from_a(sd(uint16_t(k), {})));
    EXPECT_GT(y.link.stats().bad_pdus, 0u);
}

TEST(slep_limits, what_waits_for_a_missing_pdu_does_not_stop_the_sender)
{
    lone x;
    x.in(from_a(so()));
    x.link.accept(x.now, x.events().at(0).stream, { 0 });
    x.now += 5s;
    x.link.on_deadline(x.now);
    x.drain();
    for (uint16_t k = 2; k < 402; ++k) // 1 is missing
        x.in(from_a(sd(k, octets(2000))));
    EXPECT_TRUE(x.drain().empty());
    for (uint16_t k = 402; k < 542; ++k) // by now it is a megabyte
        x.in(from_a(sd(k, octets(2000))));
    const auto said = x.drain();
    ASSERT_EQ(said.size(), 1u);
    EXPECT_EQ(std::get<slep::stream_control>(slep::decode(said[0])->body).window,
              slep::window_closed);
}

TEST(slep_limits, what_is_held_for_a_gap_shuts_the_window_beyond_its_limit)
{
    auto c = with_instance(3);
    const size_t each = 1000 + 64; // with an allowance for each PDU
    c.held_high = 8 * each;
    slep::endpoint link(c);
    const station_time now{};
    const auto in = [&](const octets& v) { link.sis_in(now, v.data(), v.size()); };
    const auto windows = [&] {
        std::vector<int> all;
        while (auto v = link.poll_sis()) {
            const auto p = s5066::decode_primitive(*v);
            const auto* u = std::get_if<s5066::s_unidata_request>(&*p);
            const auto pdu = u != nullptr ? slep::decode(u->u_pdu) : std::nullopt;
            if (u != nullptr)
                in(s5066::encode(s5066::s_unidata_request_confirm{
                    false, u->dst_sap, u->dst, u->u_pdu }));
            if (const auto* sc =
                    pdu ? std::get_if<slep::stream_control>(&pdu->body) : nullptr)
                all.push_back(sc->window);
        }
        return all;
    };
    link.listen(0);
    windows();
    in(s5066::encode(s5066::s_bind_accepted{ 13, 2048 }));
    in(from_a(so()));
    const auto id = link.poll_event()->stream;
    link.accept(now, id, { 0 });
    const octets first(10);
    link.write(now, id, first.data(), first.size());
    windows();
    for (uint16_t k = 2; k <= 9; ++k) // 1 is missing
        in(from_a(sd(k, octets(1000))));
    EXPECT_TRUE(windows().empty()) << "as much as the limit";
    in(from_a(sd(10, octets(1000))));
    EXPECT_EQ(windows(), std::vector<int>{ slep::window_closed });
    in(from_a(sd(1, octets(1000))));
    EXPECT_EQ(windows(), std::vector<int>{ slep::window_unlimited });
}

TEST(slep_limits, an_answer_for_an_unknown_stream_is_answered)
{
    lone x;
    // Our restart notice has gone out with a datagram.
    x.link.send_reliable(x.now, { address("1.0.0.1"), 13, 0 }, { 1 });
    x.drain();
    x.events();
    slep::stream_accept a;
    a.sid = 0x85;
    a.instance = 7;
    a.answers = 0x1234;
    a.open_data = { 0 };
    x.in(from_a({ 0, a }));
    EXPECT_TRUE(x.events().empty());
    EXPECT_EQ(
        x.drain(),
        (std::vector<octets>{ { 0x80, 5, slep::reason_unknown_stream, 0x12, 0x34 } }));
}

TEST(slep_limits, datagrams_that_nobody_reads_are_bounded)
{
    lone x;
    const size_t most = x.link.config().datagram_octets, size = 1000;
    const auto send = [&] {
        x.in(from_a({ 0, slep::unreliable_datagram{ false, octets(size) } }));
    };
    for (size_t k = 0; k < 2 * most / size; ++k)
        send();
    EXPECT_EQ(x.link.stats().datagrams_received, most / size);
    EXPECT_EQ(x.link.stats().datagrams_dropped, 2 * most / size - most / size);
    // Each one that is read makes room for one.
    EXPECT_TRUE(x.link.poll_event());
    send();
    send();
    EXPECT_EQ(x.link.stats().datagrams_received, most / size + 1);
    EXPECT_EQ(x.events().size(), most / size);
    // The last octet counts, and none beyond it.
    x.in(from_a({ 0, slep::unreliable_datagram{ false, octets(2000) } }));
    for (size_t left = most - 2000; left > 0; left -= std::min<size_t>(left, 2000))
        x.in(from_a({ 0,
                      slep::unreliable_datagram{
                          false, octets(std::min<size_t>(left, 2000)) } }));
    const uint64_t full = x.link.stats().datagrams_received;
    x.in(from_a({ 0, slep::unreliable_datagram{ false, { 1 } } }));
    EXPECT_EQ(x.link.stats().datagrams_received, full);
    size_t octets_read = 0;
    for (const auto& e : x.events())
        octets_read += e.data.size();
    EXPECT_EQ(octets_read, most);
}

TEST(slep_limits, between_low_and_high_nothing_is_sent)
{
    lone x;
    x.in(from_a(so()));
    const auto id = x.events().at(0).stream;
    x.link.accept(x.now, id, { 0 });
    x.now += 5s;
    x.link.on_deadline(x.now);
    x.drain();
    const auto& c = x.link.config();
    uint16_t seq = 0;
    size_t unread = 0;
    const auto arrive = [&](size_t until) {
        for (; unread < until; unread += 1024)
            x.in(from_a(sd(++seq, octets(1024))));
        return x.drain();
    };
    const auto read = [&](size_t until) {
        for (; unread > until; unread -= 1024)
            x.link.consumed(x.now, id, 1024);
        return x.drain();
    };
    const auto window = [](const std::vector<octets>& said) {
        return std::get<slep::stream_control>(slep::decode(said.at(0))->body).window;
    };
    EXPECT_TRUE(arrive(c.buffer_high - 1024).empty());
    auto said = arrive(c.buffer_high);
    ASSERT_EQ(said.size(), 1u);
    EXPECT_EQ(window(said), slep::window_closed);
    // A slow reader: no PDU for each read.
    EXPECT_TRUE(read(c.buffer_low + 1024).empty());
    said = read(c.buffer_low);
    ASSERT_EQ(said.size(), 1u);
    EXPECT_EQ(window(said), slep::window_unlimited);
    EXPECT_TRUE(arrive(c.buffer_high - 1024).empty());
    EXPECT_EQ(arrive(c.buffer_high).size(), 1u);
}

TEST(slep_limits, a_window_for_numbers_that_were_never_built_is_not_believed)
{
    slep::stream_sender tx(100'000, 0s, false, slep::preset_none);
    const octets data = pattern(5000);
    tx.write({}, data.data(), data.size(), true);
    for (uint64_t n = 0; n < 3; ++n) {
        EXPECT_EQ(tx.next_number(), n);
        tx.take(1000);
        tx.keep(n, octets(1000));
    }
    EXPECT_TRUE(tx.window(3, slep::window_closed)); // all of it, and not one more
    EXPECT_TRUE(tx.window_shut());
    EXPECT_FALSE(tx.window(4, slep::window_unlimited)); // 4 was not built yet
    EXPECT_FALSE(tx.window(65535, slep::window_unlimited));
    EXPECT_TRUE(tx.window_shut());
    EXPECT_TRUE(tx.window(2, slep::window_unlimited));
    EXPECT_FALSE(tx.window_shut());
}

TEST(slep_limits, a_peer_opens_no_window_with_numbers_to_come)
{
    lone x;
    x.in(from_a(so()));
    const auto id = x.events().at(0).stream;
    x.link.accept(x.now, id, { 0 });
    const octets data = pattern(100);
    x.link.write(x.now, id, data.data(), data.size());
    x.drain();
    x.in(from_a({ 0, slep::stream_control{ 5, 1, slep::window_closed } }));
    x.link.write(x.now, id, data.data(), data.size());
    x.in(from_a({ 0, slep::stream_control{ 5, 2, slep::window_unlimited } }));
    EXPECT_TRUE(x.drain().empty());
    EXPECT_EQ(x.link.stats().stale, 1u);
}

TEST(slep_limits, what_follows_aborted_streams_passes_an_eighth_of_the_queue)
{
    // A node that takes everything and confirms nothing.
    const auto c = with_instance(3);
    slep::endpoint link(c);
    station_time now{};
    const auto drain = [&link] {
        while (link.poll_sis())
            continue;
    };
    drain();
    const octets bound = s5066::encode(s5066::s_bind_accepted{ 13, 2048 });
    link.sis_in(now, bound.data(), bound.size());
    const address node("1.0.0.1");
    const octets data = pattern(200'000);
    size_t before = 0;
    for (int k = 0; k < 20; ++k) {
        const auto id = link.open(now, { node, 13, 0 }, { 1 });
        ASSERT_TRUE(id);
        link.write(now, *id, data.data(), data.size());
        drain();
        if (k == 0)
            before = link.outstanding(node);
        link.abort(now, *id);
        drain();
    }
    EXPECT_LE(before, c.queue_octets);
    EXPECT_GT(before, c.queue_octets - 2048);
    // Control PDUs are small and none of a stream; the rest stays within the allowance.
    EXPECT_LE(link.outstanding(node), c.queue_octets + c.queue_octets / 8 + 20 * 64);
    EXPECT_GT(link.outstanding(node), before + c.queue_octets / 16);
}

TEST(slep_limits, what_follows_an_aborted_stream_overtakes_its_u_pdus)
{
    slep::endpoint link(with_instance(3));
    const station_time now{};
    std::vector<s5066::s_unidata_request> sent;
    const auto drain = [&] {
        sent.clear();
        while (auto v = link.poll_sis()) {
            const auto p = s5066::decode_primitive(*v);
            if (const auto* u = std::get_if<s5066::s_unidata_request>(&*p))
                sent.push_back(*u);
        }
    };
    const auto in = [&](const octets& v) { link.sis_in(now, v.data(), v.size()); };
    drain();
    in(s5066::encode(s5066::s_bind_accepted{ 13, 2048 }));
    const address node("1.0.0.1");
    const octets data = pattern(20'000);
    const auto open = [&] {
        const auto id = link.open(now, { node, 13, 0 }, { 1 });
        link.write(now, *id, data.data(), data.size());
        drain();
        return *id;
    };
    const auto first = open();
    const auto dead = sent;
    EXPECT_TRUE(std::all_of(dead.begin() + 1, dead.end(), [](const auto& u) {
        return u.priority == 2; // of a request, but for the restart notice
    }));
    // The node is up, otherwise no restart notice could be sent.
    in(s5066::encode(s5066::s_unidata_request_confirm{ false, 13, node, dead[0].u_pdu }));
    link.abort(now, first);
    open();
    ASSERT_GT(sent.size(), 5u);
    for (const auto& u : sent)
        EXPECT_EQ(u.priority, 3); // the abort itself as well
    for (size_t k = 1; k < dead.size(); ++k)
        in(s5066::encode(
            s5066::s_unidata_request_confirm{ false, 13, node, dead[k].u_pdu }));
    open();
    for (const auto& u : sent)
        EXPECT_EQ(u.priority, 2);
}

} // namespace
} // namespace gr::hf::test

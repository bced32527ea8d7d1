/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slep/slep_user.h"
#include "slep/stream.h"

#include <gtest/gtest.h>

#include <random>

namespace gr::hf::test {
namespace {

using s5066::address;
using namespace std::chrono_literals;

struct two_users {
    explicit two_users(slep::endpoint_config ca = {},
                       slep::endpoint_config cb = {},
                       uint32_t seed = 1)
        : net(seed), a(ca), b(cb)
    {
        net.attach(address("1.0.0.1"), a.link, a.hook());
        net.attach(address("1.0.0.2"), b.link, b.hook());
        net.settle();
    }
    slep::user_address to_b(uint8_t extended = 0) const
    {
        return { address("1.0.0.2"), 13, extended };
    }
    fake_subnet net;
    slep_user a, b;
};

TEST(slep_streams, small_request_and_answer)
{
    two_users n;
    n.b.reply = { 'o', 'k' };
    n.b.finish_after_fin = true;
    std::vector<s5066::s_unidata_request> requests;
    n.net.on_request = [&](const auto& u) { requests.push_back(u); };
    const auto s = n.a.link.open(n.net.now(), n.to_b(), { 1, 2, 3 }, { 'h', 'i' }, true);
    ASSERT_TRUE(s);
    ASSERT_TRUE(n.net.run(1h, [&] { return n.a.streams[*s].closed; }));
    const auto& here = n.a.streams[*s];
    ASSERT_EQ(n.b.offered.size(), 1u);
    const auto& there = n.b.streams[n.b.offered[0]];
    EXPECT_EQ(there.open_data, (octets{ 1, 2, 3 }));
    EXPECT_EQ(there.data, (octets{ 'h', 'i' }));
    EXPECT_TRUE(there.fin);
    EXPECT_TRUE(here.opened);
    EXPECT_EQ(here.answer, (octets{ 0 }));
    EXPECT_EQ(here.data, (octets{ 'o', 'k' }));
    EXPECT_TRUE(here.fin);
    n.net.run_for(10);
    EXPECT_TRUE(there.closed);
    EXPECT_EQ(n.a.link.streams() + n.b.link.streams(), 0u);
    // Restart notice, SO with all data; the answer is one SR.
    ASSERT_EQ(requests.size(), 3u);
    EXPECT_EQ(requests[0].u_pdu, (octets{ 0x80, 0, 136 }));
    EXPECT_EQ(requests[1].u_pdu[0], 0x43); // immediate, FIN
    EXPECT_EQ(requests[1].mode.order, s5066::delivery_order::in_order);
    EXPECT_EQ(requests[2].u_pdu[0], 0x51); // FIN
    EXPECT_EQ(requests[2].mode.order, s5066::delivery_order::as_they_arrive);
    EXPECT_EQ(requests[2].mode.confirmation, s5066::delivery_confirmation::node);
    EXPECT_EQ(requests[2].ttl, 0u);
}

TEST(slep_streams, what_is_asked_goes_ahead_of_answers_and_both_of_bulk)
{
    two_users n;
    n.b.reply = pattern(40'000);
    n.b.accept_options.priority = 4;
    std::map<address, std::vector<std::pair<unsigned, size_t>>> sent;
    n.net.on_request = [&](const auto& u) {
        sent[u.dst].push_back({ u.priority, u.u_pdu.size() });
    };
    slep::stream_options o;
    o.priority = 4;
    const auto s = n.a.link.open(n.net.now(), n.to_b(), {}, { 'h', 'i' }, false, o);
    ASSERT_TRUE(s);
    ASSERT_TRUE(n.net.run(1h, [&] { return n.a.streams[*s].data.size() == 40'000; }));
    // Restart notice, SO.
    const auto& asked = sent[address("1.0.0.2")];
    ASSERT_EQ(asked.size(), 2u);
    EXPECT_EQ(asked[1].first, 6u);
    // The first eighth of what SIS holds is new, the rest bulk.
    size_t fresh = 0, bulk = 0;
    for (const auto& [priority, size] : sent[address("1.0.0.1")]) {
        ASSERT_TRUE(priority == 5 || (priority == 4 && fresh > 0)) << priority;
        (priority == 5 ? fresh : bulk) += size;
    }
    EXPECT_NEAR(double(fresh), 21'000, 2100);
    EXPECT_GT(bulk, 15'000u);
    // After a pause the stream is new again.
    n.net.run_for(60);
    sent.clear();
    n.b.send(n.b.offered.at(0), pattern(100), false);
    n.net.run_for(20);
    ASSERT_EQ(sent[address("1.0.0.1")].size(), 1u);
    EXPECT_EQ(sent[address("1.0.0.1")][0].first, 5u);
    // An end without data asks for nothing.
    sent.clear();
    n.a.send(*s, {}, true);
    n.net.run_for(20);
    ASSERT_GE(sent[address("1.0.0.2")].size(), 1u);
    EXPECT_EQ(sent[address("1.0.0.2")][0].first, 5u);
}

TEST(slep_streams, first_pdu_is_small_and_the_others_are_aligned)
{
    two_users n;
    std::vector<size_t> sizes;
    n.net.on_request = [&](const auto& u) {
        if (u.dst == address("1.0.0.2"))
            sizes.push_back(u.u_pdu.size());
    };
    const auto s = n.a.link.open(n.net.now(), n.to_b(), octets(7), pattern(10'000));
    ASSERT_TRUE(s);
    n.net.run_for(100);
    EXPECT_EQ(sizes.size(), 1u + 1 + 5); // notice, SO, SDs
    EXPECT_EQ(n.b.streams[n.b.offered.at(0)].data, pattern(10'000));
    ASSERT_GE(sizes.size(), 6u);
    EXPECT_EQ(sizes[1], 4u + 7 + 40); // the far side can act early
    for (size_t k = 2; k < 6; ++k)
        EXPECT_EQ(sizes[k], 2042u) << k; // two D_PDUs of 1023
}

TEST(slep_streams, a_small_request_rides_in_the_open_as_a_whole)
{
    two_users n;
    std::vector<size_t> sizes;
    n.net.on_request = [&](const auto& u) { sizes.push_back(u.u_pdu.size()); };
    n.a.link.open(n.net.now(), n.to_b(), octets(7), pattern(160), true);
    n.net.settle();
    EXPECT_EQ(sizes, (std::vector<size_t>{ 3, 4 + 7 + 160 }));
}

TEST(slep_streams, full_pdus_run_far_ahead_and_small_ones_gather)
{
    // 1871 full U_PDUs are a longest transmission at 240 kbit/s.
    constexpr size_t full = 2038;
    slep::stream_sender tx(1 << 20, 20ms, false, 0);
    const auto built = [&](size_t write) {
        size_t n = 0;
        for (; n < 10'000; ++n) {
            const octets v(write, 0x55);
            tx.write(station_time(0), v.data(), v.size(), true);
            if (!tx.due(full))
                return n;
            const uint64_t number = tx.next_number();
            tx.keep(number, tx.take(full).data);
        }
        return n;
    };
    EXPECT_EQ(built(10), 512u);
    // The octets collected by now fill a PDU.
    EXPECT_EQ(built(full), 2048u - 512u);
    EXPECT_EQ(tx.unconfirmed(), 512 * 10 + (2048 - 512) * full);
    tx.confirmed(0);
    EXPECT_TRUE(tx.due(full));
    EXPECT_EQ(tx.unconfirmed(), 511 * 10 + (2048 - 512) * full);
}

TEST(slep_streams, other_segment_sizes_stay_aligned)
{
    for (const size_t seg : { 50, 100, 200, 512, 800 }) {
        slep::endpoint_config c;
        c.segment_octets = seg;
        two_users n(c, c);
        size_t full = 0;
        n.net.on_request = [&](const auto& u) { full = std::max(full, u.u_pdu.size()); };
        n.a.link.open(n.net.now(), n.to_b(), octets(7), pattern(20'000));
        n.net.run_for(100);
        EXPECT_EQ((full + 4) % seg, 0u);
        EXPECT_LE(full, 2048u);
        EXPECT_GT(full + seg, 2048u);
        EXPECT_EQ(n.b.streams[n.b.offered.at(0)].data, pattern(20'000));
    }
}

TEST(slep_streams, both_directions_at_once)
{
    two_users n;
    n.b.reply = pattern(300'000, 2);
    const auto s = *n.a.link.open(n.net.now(), n.to_b(), {});
    n.a.send(s, pattern(300'000, 1), true);
    n.b.finish_after_fin = true;
    ASSERT_TRUE(n.net.run(2h, [&] { return n.a.streams[s].closed; }));
    EXPECT_EQ(n.a.streams[s].data, pattern(300'000, 2));
    EXPECT_EQ(n.b.streams[n.b.offered.at(0)].data, pattern(300'000, 1));
}

TEST(slep_streams, keeps_the_queue_below_within_its_depth)
{
    slep::endpoint_config c;
    c.queue_octets = 21'000;
    two_users n(c, c);
    n.net.k.rate = 1200;
    const auto s = *n.a.link.open(n.net.now(), n.to_b(), {});
    n.a.send(s, pattern(200'000), true);
    ASSERT_TRUE(n.net.run(
        2h, [&] { return n.b.offered.size() == 1 && n.b.streams[n.b.offered[0]].fin; }));
    EXPECT_LE(n.net.largest_backlog, 21'000u);
    EXPECT_GE(n.net.largest_backlog, 17'000u);
    // The pipe never ran dry: 200 kB at 1200 bit/s with 26 octets per U_PDU.
    EXPECT_LT(to_seconds(n.net.now()), 200'000 * 8 / 1200.0 * 1.02 + 5);
}

TEST(slep_streams, half_close_leaves_the_other_direction_open)
{
    two_users n;
    const auto s = *n.a.link.open(n.net.now(), n.to_b(), {}, pattern(100), true);
    n.net.run_for(10);
    const auto t = n.b.offered.at(0);
    EXPECT_TRUE(n.b.streams[t].fin);
    EXPECT_FALSE(n.b.streams[t].closed);
    for (int k = 0; k < 5; ++k) {
        n.b.send(t, pattern(5000, k), k == 4);
        n.net.run_for(20);
        EXPECT_EQ(n.a.streams[s].data.size(), 5000u * (k + 1));
    }
    EXPECT_TRUE(n.a.streams[s].closed);
    EXPECT_TRUE(n.b.streams[t].closed);
}

TEST(slep_streams, one_way_closes_without_an_answer_of_the_user)
{
    two_users n;
    slep::stream_options o;
    o.one_way = true;
    const auto s = *n.a.link.open(n.net.now(), n.to_b(), {}, pattern(3000), true, o);
    n.net.run_for(60);
    EXPECT_TRUE(n.a.streams[s].closed);
    EXPECT_TRUE(n.b.streams[n.b.offered.at(0)].closed);
    EXPECT_EQ(n.b.streams[n.b.offered[0]].data, pattern(3000));
}

TEST(slep_streams, slow_reader_stops_the_sender)
{
    slep::endpoint_config c;
    c.queue_octets = 60'000;
    c.buffer_high = 100'000;
    c.buffer_low = 30'000;
    c.send_buffer = 50'000;
    two_users n(c, c);
    n.b.read_all = false;
    const octets all = pattern(1'000'000);
    const auto s = *n.a.link.open(n.net.now(), n.to_b(), {});
    n.a.send(s, all, true);
    n.net.run_for(2000);
    const auto t = n.b.offered.at(0);
    // Only this much was delivered, only this much is held, and the sender waits.
    EXPECT_LE(n.b.max_unread, 100'000u + 2048);
    const auto info = n.b.link.list().at(0);
    EXPECT_LE(info.unread, 100'000u + 2 * 60'000u + 65536);
    EXPECT_LT(n.a.streams[s].sent, 400'000u);
    const size_t stuck = n.a.streams[s].sent;
    n.net.run_for(500);
    EXPECT_EQ(n.a.streams[s].sent, stuck);
    // Reading lets it go on to the end.
    while (!n.b.streams[t].fin && n.net.now() < 10h) {
        auto& x = n.b.streams[t];
        n.b.link.consumed(n.net.now(), t, x.unread);
        x.unread = 0;
        n.net.run_for(10);
    }
    EXPECT_EQ(n.b.streams[t].data, all);
    EXPECT_EQ(n.b.link.stats().bad_pdus, 0u);
}

TEST(slep_streams, writable_is_told_after_a_short_write)
{
    slep::endpoint_config c;
    c.send_buffer = 10'000;
    c.queue_octets = 10'000;
    fake_subnet net;
    slep::endpoint a(c);
    slep_user b({});
    net.attach(address("1.0.0.1"), a);
    net.attach(address("1.0.0.2"), b.link, b.hook());
    net.settle();
    const auto s = *a.open(net.now(), { address("1.0.0.2"), 13, 0 }, {});
    const octets d = pattern(30'000);
    net.settle();
    EXPECT_EQ(a.writable(s), 10'000u);
    const size_t taken = a.write(net.now(), s, d.data(), d.size());
    EXPECT_EQ(taken, 10'000u);
    EXPECT_EQ(a.writable(s), 0u);
    bool told = false;
    net.run_for(100, [&] {
        while (auto e = a.poll_event())
            told = told || e->what == slep::event::type::writable;
        return told;
    });
    EXPECT_TRUE(told);
    EXPECT_GE(a.writable(s), 5000u);
}

TEST(slep_streams, refusal_carries_reason_and_text)
{
    two_users n;
    n.b.accept_all = false;
    const auto s = *n.a.link.open(n.net.now(), n.to_b(), { 9 }, pattern(5000));
    n.net.run_for(5, [&] { return !n.b.offered.empty(); });
    n.b.link.refuse(n.net.now(), n.b.offered.at(0), 5, "no");
    n.net.run_for(10);
    EXPECT_TRUE(n.a.streams[s].refused);
    EXPECT_EQ(n.a.streams[s].code, 5);
    EXPECT_EQ(n.a.link.streams() + n.b.link.streams(), 0u);
    EXPECT_TRUE(n.b.streams[n.b.offered[0]].data.empty());
}

TEST(slep_streams, nobody_listens)
{
    two_users n;
    const auto s = *n.a.link.open(n.net.now(), n.to_b(77), {});
    n.net.run_for(10);
    EXPECT_TRUE(n.a.streams[s].refused);
    EXPECT_EQ(n.a.streams[s].code, slep::reason_no_listener);
}

TEST(slep_streams, abort_reaches_the_other_side_once)
{
    for (const bool opener : { true, false }) {
        two_users n;
        const auto s = *n.a.link.open(n.net.now(), n.to_b(), {}, pattern(100));
        n.net.run_for(20);
        const auto t = n.b.offered.at(0);
        (opener ? n.a : n.b).link.abort(n.net.now(), opener ? s : t, 15);
        n.net.run_for(20);
        const auto& other = opener ? n.b.streams[t] : n.a.streams[s];
        EXPECT_TRUE(other.aborted);
        EXPECT_EQ(other.code, 15);
        EXPECT_EQ(n.a.link.streams() + n.b.link.streams(), 0u);
    }
}

TEST(slep_streams, many_streams_at_once)
{
    slep::endpoint_config c;
    c.streams_max = 600;
    two_users n(c, c);
    n.net.k.rate = 240'000;
    n.net.k.jitter_s = 2;
    n.b.finish_after_fin = true;
    n.b.reply = pattern(700, 5);
    std::vector<slep::stream_id> ids;
    for (uint8_t e = 0; e < 4; ++e)
        n.b.link.listen(e);
    for (int k = 0; k < 500; ++k) {
        const auto s = n.a.link.open(n.net.now(),
                                     n.to_b(uint8_t(k / 128)),
                                     { uint8_t(k) },
                                     pattern(3000, k),
                                     true);
        ASSERT_TRUE(s) << k;
        ids.push_back(*s);
    }
    // The 129th at one address has to wait for a number.
    EXPECT_FALSE(n.a.link.open(n.net.now(), n.to_b(0), {}));
    ASSERT_TRUE(n.net.run(1h, [&] { return n.a.link.streams() == 0; }));
    n.net.run_for(10);
    EXPECT_EQ(n.b.link.streams(), 0u);
    for (int k = 0; k < 500; ++k) {
        EXPECT_TRUE(n.a.streams[ids[k]].closed) << k;
        EXPECT_EQ(n.a.streams[ids[k]].data, pattern(700, 5)) << k;
    }
    size_t good = 0;
    for (const auto& s : n.b.streams)
        for (int k = 0; k < 500; ++k)
            good += s.second.open_data == octets{ uint8_t(k) } &&
                    s.second.data == pattern(3000, k);
    EXPECT_EQ(good, 500u);
    EXPECT_LT(to_seconds(n.net.now()), 500 * 3700 * 8 / 240'000.0 * 1.5 + 30);
    // A number rests after its stream.
    EXPECT_FALSE(n.a.link.open(n.net.now(), n.to_b(0), {}));
    n.net.run_for(601);
    EXPECT_TRUE(n.a.link.open(n.net.now(), n.to_b(0), {}));
}

TEST(slep_streams, streams_max_refuses_the_next)
{
    slep::endpoint_config small;
    small.streams_max = 2;
    two_users n({}, small);
    for (int k = 0; k < 3; ++k)
        n.a.link.open(n.net.now(), n.to_b(), {});
    n.net.run_for(20);
    size_t refused = 0;
    for (const auto& s : n.a.streams)
        refused += s.second.refused && s.second.code == slep::reason_too_many_streams;
    EXPECT_EQ(refused, 1u);
    EXPECT_EQ(n.b.link.streams(), 2u);
}

TEST(slep_streams, classes_are_strict_and_streams_of_a_class_share)
{
    slep::endpoint_config c;
    c.queue_octets = 10'000;
    two_users n(c, c);
    slep::stream_options bulk, urgent;
    bulk.service_class = 5;
    urgent.service_class = 1;
    urgent.priority = 8;
    const auto x = *n.a.link.open(n.net.now(), n.to_b(), { 1 }, {}, false, bulk);
    const auto y = *n.a.link.open(n.net.now(), n.to_b(), { 2 }, {}, false, bulk);
    n.a.send(x, pattern(200'000), true);
    n.a.send(y, pattern(200'000), true);
    n.net.run_for(100);
    const size_t gx = n.b.streams[n.b.offered.at(0)].data.size();
    const size_t gy = n.b.streams[n.b.offered.at(1)].data.size();
    EXPECT_GT(gx, 50'000u);
    EXPECT_NEAR(double(gx), double(gy), 5000);
    const station_time t0 = n.net.now();
    const auto z = *n.a.link.open(t0, n.to_b(), { 3 }, pattern(4000), true, urgent);
    n.net.run_for(
        200, [&] { return n.b.offered.size() == 3 && n.b.streams[n.b.offered[2]].fin; });
    // Only the octets in SIS go first: 10 kB at 9600 bit/s.
    EXPECT_LT(to_seconds(n.net.now() - t0), 16);
    EXPECT_FALSE(n.a.streams[z].aborted);
}

TEST(slep_streams, compression_of_both_directions)
{
    two_users n;
    slep::stream_options o;
    o.compress = true;
    n.b.accept_options = o;
    std::string html;
    for (int k = 0; k < 3000; ++k)
        html += "<tr><td>row " + std::to_string(k) + "</td></tr>\n";
    const octets text(html.begin(), html.end());
    n.b.reply = text;
    size_t carried = 0;
    n.net.on_request = [&](const auto& u) { carried += u.u_pdu.size(); };
    const auto s = *n.a.link.open(n.net.now(), n.to_b(), { 1 }, text, true, o);
    n.b.finish_after_fin = true;
    ASSERT_TRUE(n.net.run(1h, [&] { return n.a.streams[s].closed; }));
    EXPECT_EQ(n.b.streams[n.b.offered.at(0)].data, text);
    EXPECT_EQ(n.a.streams[s].data, text);
    EXPECT_LT(carried, 2 * text.size() / 4);
    // Input that cannot be compressed costs little.
    carried = 0;
    const auto r = *n.a.link.open(n.net.now(), n.to_b(), {}, pattern(100'000), true, o);
    ASSERT_TRUE(n.net.run_for(3600, [&] { return n.a.streams[r].closed; }));
    EXPECT_LT(carried, 102'500u + n.b.reply.size());
}

TEST(slep_streams, the_opener_chooses_the_dictionary_of_both_directions)
{
    const std::string line = "Content-Type: text/html; charset=UTF-8\r\nCache-Control: ";
    const octets text(line.begin(), line.end());
    // Whether the opener compresses as well, what it chooses; octets of SO and SR together.
    const auto carried = [&](bool both, uint8_t dictionary) {
        two_users n;
        slep::stream_options o;
        o.compress = true;
        n.b.accept_options = o;
        n.b.reply = text;
        n.b.finish_after_fin = true;
        o.compress = both;
        o.dictionary = dictionary;
        size_t octets_in_sis = 0;
        n.net.on_request = [&](const auto& u) { octets_in_sis += u.u_pdu.size(); };
        const auto s = *n.a.link.open(n.net.now(), n.to_b(), { 1 }, text, true, o);
        EXPECT_TRUE(n.net.run_for(600, [&] { return n.a.streams[s].closed; }));
        EXPECT_EQ(n.a.streams[s].data, text);
        EXPECT_EQ(n.b.streams[n.b.offered.at(0)].data, text);
        return octets_in_sis;
    };
    EXPECT_LT(carried(true, slep::preset_http) + 60, carried(true, slep::preset_none));
    EXPECT_LT(carried(false, slep::preset_http) + 30, carried(false, slep::preset_none));
    two_users n;
    slep::stream_options o;
    o.dictionary = 3;
    EXPECT_FALSE(n.a.link.open(n.net.now(), n.to_b(), {}, {}, false, o));
}

TEST(slep_streams, partial_pdu_waits_for_more_unless_pushed)
{
    two_users n;
    const auto s = *n.a.link.open(n.net.now(), n.to_b(), {});
    n.net.run_for(10);
    std::vector<size_t> sizes;
    n.net.on_request = [&](const auto& u) { sizes.push_back(u.u_pdu.size()); };
    const octets piece(100, 1);
    for (int k = 0; k < 10; ++k) {
        n.a.link.write(n.net.now(), s, piece.data(), piece.size(), false);
        n.net.run_for(0.001);
    }
    n.net.run_for(0.1);
    EXPECT_EQ(sizes, (std::vector<size_t>{ 1004 }));
    n.a.link.write(n.net.now(), s, piece.data(), piece.size(), true);
    n.net.settle();
    EXPECT_EQ(sizes.back(), 104u);
}

TEST(slep_streams, an_answer_without_data_rides_or_waits)
{
    two_users n;
    n.b.accept_all = false;
    station_time sent{};
    n.net.on_request = [&](const auto& u) {
        if (u.u_pdu.size() > 1 && (u.u_pdu[1] & 0x80))
            sent = n.net.now();
    };
    for (const double connect_s : { 0.01, 0.5 }) {
        const auto s = *n.a.link.open(n.net.now(), n.to_b(), {});
        const size_t before = n.b.offered.size();
        n.net.run_for(20, [&] { return n.b.offered.size() > before; });
        const station_time arrived = n.net.now();
        n.net.run_for(connect_s);
        n.b.link.accept(n.net.now(), n.b.offered.back(), { 0 });
        n.net.run_for(10);
        EXPECT_TRUE(n.a.streams[s].opened);
        const double waited = to_seconds(sent - arrived);
        if (connect_s < 0.06)
            EXPECT_LT(waited, 0.05); // before the link turns
        else
            EXPECT_NEAR(waited, connect_s + 2, 0.01);
    }
}

octets noise(size_t n)
{
    std::mt19937 rng(1);
    octets v(n);
    for (auto& o : v)
        o = uint8_t(rng());
    return v;
}

TEST(slep_datagrams, a_confirmed_one_waits_for_the_link_and_needs_no_notice)
{
    two_users n;
    size_t requests = 0;
    n.net.on_request = [&](const s5066::s_unidata_request& u) {
        ++requests;
        EXPECT_EQ(u.u_pdu.size(), 1u + 20);
    };
    n.net.k.up = false;
    const auto id = n.a.link.send_confirmed(n.net.now(), n.to_b(), noise(20), 12, 600s);
    ASSERT_TRUE(id);
    n.net.run_for(30);
    EXPECT_FALSE(n.a.link.reachable(n.to_b().node));
    EXPECT_TRUE(n.a.datagrams.empty());
    n.net.k.up = true;
    n.net.run_for(60);
    EXPECT_GE(requests, 2u);
    EXPECT_TRUE(n.a.link.reachable(n.to_b().node));
    ASSERT_EQ(n.b.datagrams.size(), 1u);
    EXPECT_EQ(n.b.datagrams[0].data, noise(20));
    ASSERT_EQ(n.a.datagrams.size(), 1u);
    EXPECT_EQ(n.a.datagrams[0].stream, *id);
    EXPECT_EQ(n.a.datagrams[0].code, 0);
    // It is given up in the end.
    n.net.k.up = false;
    ASSERT_TRUE(n.a.link.send_confirmed(n.net.now(), n.to_b(), noise(20), 12, 100s));
    n.net.run_for(200);
    ASSERT_EQ(n.a.datagrams.size(), 2u);
    EXPECT_EQ(n.a.datagrams[1].code, slep::reason_lifetime_over);
}

TEST(slep_datagrams, what_shrinks_goes_compressed)
{
    two_users n;
    n.b.link.listen(0);
    size_t carried = 0;
    n.net.on_request = [&](const s5066::s_unidata_request& u) {
        carried += u.u_pdu.size();
    };
    const octets text(1500, 'x');
    ASSERT_TRUE(n.a.link.send_unreliable(n.net.now(), n.to_b(), text));
    ASSERT_TRUE(n.a.link.send_reliable(n.net.now(), n.to_b(), text));
    n.net.run_for(30);
    EXPECT_LT(carried, 100u);
    ASSERT_EQ(n.b.datagrams.size(), 2u);
    EXPECT_EQ(n.b.datagrams[0].data, text);
    EXPECT_EQ(n.b.datagrams[1].data, text);
}

TEST(slep_datagrams, one_that_waits_for_the_node_ends_in_time)
{
    slep::endpoint_config config;
    config.instance = 1;
    slep::endpoint e(config);
    const slep::user_address to{ s5066::address("1.0.0.2"), 13, 0 };
    ASSERT_TRUE(e.send_confirmed(0s, to, { 1 }, 0, 30s));
    ASSERT_EQ(e.next_deadline(), std::optional<station_time>(30s));
    e.on_deadline(30s);
    EXPECT_EQ(e.stats().datagrams_dropped, 1u);
}

TEST(slep_datagrams, unreliable_and_reliable)
{
    two_users n;
    n.b.link.listen(53);
    ASSERT_TRUE(n.a.link.send_unreliable(n.net.now(), n.to_b(), { 1, 2, 3 }));
    ASSERT_TRUE(n.a.link.send_reliable(n.net.now(), n.to_b(53), { 4, 5 }, 12));
    const auto big = n.a.link.send_reliable(n.net.now(), n.to_b(53), pattern(20'000));
    ASSERT_TRUE(big);
    EXPECT_FALSE(n.a.link.send_unreliable(n.net.now(), n.to_b(), noise(2048)));
    EXPECT_FALSE(n.a.link.send_reliable(n.net.now(), n.to_b(), octets(300'000)));
    n.net.k.jitter_s = 3;
    n.net.run_for(120);
    ASSERT_EQ(n.b.datagrams.size(), 3u);
    size_t seen = 0;
    for (const auto& d : n.b.datagrams)
        seen += d.data == octets{ 1, 2, 3 } || d.data == octets{ 4, 5 } ||
                d.data == pattern(20'000);
    EXPECT_EQ(seen, 3u);
    ASSERT_EQ(n.a.datagrams.size(), 2u);
    EXPECT_EQ(n.a.datagrams[0].code, 0);
    EXPECT_EQ(n.a.datagrams[1].code, 0);
}

TEST(slep_datagrams, groups_go_without_arq)
{
    two_users n;
    s5066::s_unidata_request seen;
    n.net.on_request = [&](const auto& u) { seen = u; };
    ASSERT_TRUE(n.a.link.send_unreliable(
        n.net.now(), { s5066::address::broadcast(), 13, 0 }, { 1 }));
    n.net.run_for(10);
    EXPECT_EQ(seen.mode.mode, s5066::transmission_mode::non_arq);
    EXPECT_EQ(seen.mode.confirmation, s5066::delivery_confirmation::none);
    EXPECT_EQ(n.b.datagrams.size(), 1u);
    EXPECT_FALSE(n.a.link.send_reliable(
        n.net.now(), { s5066::address::broadcast(), 13, 0 }, { 1 }));
}

TEST(slep_config, limits_are_allowed_and_nothing_beyond_them)
{
    using config = slep::endpoint_config;
    const auto allowed = [](auto member, auto value) {
        config c;
        c.*member = static_cast<std::decay_t<decltype(c.*member)>>(value);
        if (c.buffer_low >= c.buffer_high)
            c.buffer_low = c.buffer_high - 1;
        try {
            c.validate();
            return true;
        } catch (const std::invalid_argument&) {
            return false;
        }
    };
    const auto within = [&](auto member, auto least, auto most) {
        EXPECT_TRUE(allowed(member, least) && allowed(member, most)) << most;
        EXPECT_FALSE(allowed(member, most + 1)) << most;
        EXPECT_TRUE(least == 0 || !allowed(member, least - 1)) << most;
    };
    within(&config::sap, 0, 15);
    within(&config::rank, 0, 14);
    constexpr size_t most = size_t(1) << 26;
    for (const auto member : { &config::queue_octets,
                               &config::send_buffer,
                               &config::buffer_high,
                               &config::datagram_octets })
        within(member, size_t(2048), most);
    within(&config::open_octets, 0, 1000);
    within(&config::segment_octets, 16, 1023);
    within(&config::streams_max, 1, 4096);
    for (const auto member : { &config::partial_hold,
                               &config::accept_hold,
                               &config::turn_ride,
                               &config::outage_max,
                               &config::open_wait,
                               &config::gap_max,
                               &config::number_rest,
                               &config::reliable_ttl,
                               &config::unreliable_ttl }) {
        EXPECT_TRUE(allowed(member, 0s) && allowed(member, 720h));
        EXPECT_FALSE(allowed(member, 720h + 1ns) || allowed(member, -1ns));
    }
}

TEST(slep_config, names_what_is_wrong)
{
    const auto message = [](auto change) -> std::string {
        slep::endpoint_config c;
        change(c);
        try {
            slep::endpoint e(c);
        } catch (const std::invalid_argument& x) {
            return x.what();
        }
        return {};
    };
    EXPECT_NE(message([](auto& c) { c.sap = 16; }).find("sap 16"), std::string::npos);
    EXPECT_NE(message([](auto& c) { c.segment_octets = 1024; }).find("16 to 1023"),
              std::string::npos);
    EXPECT_FALSE(message([](auto& c) { c.buffer_low = c.buffer_high; }).empty());
    EXPECT_FALSE(message([](auto& c) { c.outage_max = station_time(-1); }).empty());
    EXPECT_TRUE(message([](auto&) {}).empty());
}

} // namespace
} // namespace gr::hf::test

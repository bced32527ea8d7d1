/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Windows, synchronisation tests, and sender and receiver of the ARQ against each other.
#include "s5066/dts/arq/arq_receiver.h"
#include "s5066/dts/arq/arq_sender.h"
#include "s5066/dts/arq/combine.h"
#include "s5066/pdu/crc.h"

#include <array>
#include <gtest/gtest.h>
#include <random>

using namespace gr::hf;
using namespace gr::hf::s5066;

namespace {

outgoing_ptr c_pdu(size_t octets, uint8_t value, delivery_order order)
{
    auto o = std::make_shared<outgoing>();
    o->c_pdu.assign(octets, value);
    o->mode.order = order;
    o->expires = std::chrono::hours(1);
    return o;
}

} // namespace

TEST(arq_halves, dropped_c_pdu_is_acknowledged_and_not_delivered)
{
    arq_sender s(128);
    s.set_segment(10, false);
    auto late = c_pdu(45, 1, delivery_order::in_order);
    late->expires = std::chrono::seconds(5);
    s.submit(late);
    s.submit(c_pdu(15, 2, delivery_order::in_order));
    arq_receiver r;
    r.reset();
    std::vector<std::vector<uint8_t>> out;
    const auto send = [&](unsigned count) {
        s.begin_transmission();
        while (count-- > 0) {
            const auto o = s.next(1000, 22, true);
            if (!o) {
                break;
            }
            EXPECT_TRUE(r.in_sync(o->header));
            r.take(o->header, { o->segment, o->segment + o->size }, true, out);
        }
    };
    send(2);
    std::vector<outgoing_ptr> expired, done;
    s.expire(std::chrono::seconds(6), expired);
    ASSERT_EQ(expired.size(), 1u);
    send(10);
    s.acknowledge(r.ack(), done);
    EXPECT_TRUE(s.idle());
    ASSERT_EQ(out.size(), 1u);
    EXPECT_EQ(out[0], std::vector<uint8_t>(15, 2));
    EXPECT_EQ(s.unsent().total(), 0u);
}

TEST(arq_halves, the_sender_counts_what_was_lost_and_how_much_of_it_at_the_end)
{
    const auto counted = [](std::vector<uint8_t> arrived_of_1_to_7) {
        arq_sender s(128);
        s.set_segment(10, false);
        s.submit(c_pdu(80, 1, delivery_order::in_order));
        s.begin_transmission();
        while (s.next(1000, 22, true))
            continue;
        ack_header a;
        a.rx_lwe = 0;
        a.selective = std::move(arrived_of_1_to_7);
        std::vector<outgoing_ptr> done;
        s.acknowledge(a, done);
        const auto t = s.last_transmission();
        EXPECT_EQ(t.sent, 8u);
        return std::array<unsigned, 3>{ t.lost, t.runs, t.lost_at_end };
    };
    EXPECT_EQ(counted({}), (std::array<unsigned, 3>{ 8, 1, 8 }));
    EXPECT_EQ(counted({ 0x40 }), (std::array<unsigned, 3>{ 7, 1, 0 })); // 7
    EXPECT_EQ(counted({ 0x05 }), (std::array<unsigned, 3>{ 6, 3, 4 })); // 1 and 3
    EXPECT_EQ(counted({ 0x2a }), (std::array<unsigned, 3>{ 5, 4, 1 })); // 2, 4 and 6
}

TEST(arq_halves, what_the_peer_has_does_not_expire)
{
    // The first C_PDU is lost. The second one has arrived, but waits for it. The third has
    // arrived but for its last segment.
    arq_sender s(128);
    s.set_segment(10, false);
    for (const size_t octets : { 10u, 30u, 30u }) {
        auto o = c_pdu(octets, 1, delivery_order::in_order);
        o->expires = std::chrono::seconds(5);
        s.submit(o);
    }
    s.begin_transmission();
    while (s.next(1000, 22, true))
        continue;
    ack_header a;
    a.rx_lwe = 0;
    a.selective = { 0x1f }; // numbers 1 to 5 of 0 to 6
    std::vector<outgoing_ptr> done, expired;
    EXPECT_EQ(s.acknowledge(a, done), 5u);
    EXPECT_TRUE(done.empty());
    s.expire(std::chrono::seconds(6), expired);
    ASSERT_EQ(expired.size(), 2u);
    EXPECT_EQ(expired[0]->c_pdu.size(), 10u);
    EXPECT_EQ(expired[1]->c_pdu.size(), 30u);
    a.rx_lwe = 7;
    a.selective.clear();
    s.acknowledge(a, done);
    ASSERT_EQ(done.size(), 3u);
    EXPECT_TRUE(done[0]->dropped);
    EXPECT_FALSE(done[1]->dropped) << "confirmed, and not rejected before";
    EXPECT_TRUE(done[2]->dropped);
}

TEST(arq_halves, what_may_have_arrived_does_not_expire_before_the_answer)
{
    // Sent completely, with a time to live shorter than the transmission.
    const auto sent = [](arq_sender& s, size_t most) {
        s.set_segment(10, false);
        auto o = c_pdu(20, 1, delivery_order::in_order);
        o->expires = std::chrono::seconds(5);
        s.submit(o);
        s.begin_transmission();
        while (most-- > 0 && s.next(1000, 22, true))
            continue;
        return o;
    };
    const auto expired = [](arq_sender& s) {
        std::vector<outgoing_ptr> list;
        s.expire(std::chrono::seconds(6), list);
        return list.size();
    };
    std::vector<outgoing_ptr> done;
    arq_sender whole(128);
    const auto o = sent(whole, 2);
    EXPECT_EQ(expired(whole), 0u);
    EXPECT_TRUE(whole.doubts(std::chrono::seconds(6)));
    EXPECT_FALSE(whole.doubts(std::chrono::seconds(4)));
    whole.acknowledge({ 2, {}, 0 }, done);
    ASSERT_EQ(done.size(), 1u);
    EXPECT_FALSE(o->dropped);
    EXPECT_EQ(expired(whole), 0u);

    arq_sender missed(128); // the answer shows that the second segment is missing
    const auto lost = sent(missed, 2);
    missed.acknowledge({ 1, {}, 0 }, done);
    EXPECT_FALSE(missed.doubts(std::chrono::seconds(6)));
    EXPECT_EQ(expired(missed), 1u);
    EXPECT_FALSE(lost->known.in_doubt);

    arq_sender silent(128); // no answer, and it would be sent again
    const auto unknown = sent(silent, 2);
    silent.begin_transmission();
    EXPECT_EQ(expired(silent), 1u);
    EXPECT_TRUE(unknown->known.in_doubt);

    arq_sender part(128); // the second segment was not sent
    const auto cut = sent(part, 1);
    EXPECT_EQ(expired(part), 1u);
    EXPECT_FALSE(cut->known.in_doubt);
}

TEST(arq, clients_of_one_priority_take_turns_by_octets)
{
    arq_sender s(128);
    s.set_segment(1000, false);
    const auto submit = [&s](uint8_t sap, size_t octets, uint8_t fill) {
        auto o = c_pdu(octets, fill, delivery_order::in_order);
        o->client = sap;
        o->src_sap = sap;
        s.submit(o);
    };
    for (uint8_t i = 0; i < 6; ++i) {
        submit(1, 900, uint8_t(10 + i));
    }
    s.begin_transmission();
    const auto next = [&s] { return int(s.next(2000, 22, true)->segment[0]); };
    EXPECT_EQ(next(), 10);
    EXPECT_EQ(next(), 11);
    // Late C_PDUs of other clients do not wait for earlier ones; those of one client stay
    // in order.
    submit(2, 300, 20);
    submit(2, 300, 21);
    submit(2, 300, 22);
    submit(2, 300, 23);
    std::vector<int> order;
    for (int i = 0; i < 8; ++i) {
        order.push_back(next());
    }
    EXPECT_EQ(order, (std::vector<int>{ 20, 21, 22, 12, 23, 13, 14, 15 }));
    EXPECT_EQ(s.unsent().total(), 0u);
    EXPECT_EQ(s.unsent().of_sap(1), 0u);
}

TEST(arq_halves, less_urgent_c_pdus_are_known_until_they_are_acknowledged)
{
    arq_sender s(128);
    s.set_segment(100, false);
    auto bulk = c_pdu(250, 1, delivery_order::as_they_arrive);
    bulk->priority = 3;
    EXPECT_FALSE(s.holds_below(15));
    s.submit(bulk);
    EXPECT_TRUE(s.holds_below(4));
    EXPECT_FALSE(s.holds_below(3));
    s.begin_transmission();
    arq_receiver r;
    r.reset();
    std::vector<std::vector<uint8_t>> out;
    for (unsigned k = 0; k < 3; ++k) {
        EXPECT_TRUE(s.holds_below(4)) << "queued, being cut or on its way: " << k;
        const auto o = s.next(1000, 22, true);
        ASSERT_TRUE(o);
        r.take(o->header, { o->segment, o->segment + o->size }, true, out);
    }
    EXPECT_TRUE(s.holds_below(4)) << "not acknowledged";
    std::vector<outgoing_ptr> done;
    s.acknowledge(r.ack(), done);
    EXPECT_FALSE(s.holds_below(15));
}

namespace {

// A segment with its CRC, as it is sent.
std::vector<uint8_t> with_crc(std::vector<uint8_t> v)
{
    const uint32_t c = crc32(v.data(), v.size());
    for (int i = 0; i < 4; ++i) {
        v.push_back(static_cast<uint8_t>(c >> 8 * i));
    }
    return v;
}

} // namespace

TEST(combining, two_damaged_copies_give_the_segment)
{
    std::mt19937 random(3);
    unsigned found = 0, wrong = 0;
    constexpr unsigned runs = 2000;
    for (unsigned run = 0; run < runs; ++run) {
        std::vector<uint8_t> segment(200 + run % 800);
        for (auto& o : segment) {
            o = static_cast<uint8_t>(random());
        }
        const auto good = with_crc(segment);
        auto a = good, b = good;
        for (auto* copy : { &a, &b }) {
            for (unsigned n = 1 + random() % 3; n > 0; --n) {
                // A burst of up to three octets, the CRC included.
                const size_t at = random() % (copy->size() - 2);
                (*copy)[at] ^= static_cast<uint8_t>(1 + random() % 255);
                (*copy)[at + random() % 3] ^= static_cast<uint8_t>(random());
            }
        }
        if (crc32(a.data(), a.size()) == 0 || crc32(b.data(), b.size()) == 0) {
            ++found;
            continue; // the damage undid itself
        }
        if (const auto c = combine_copies(a, b)) {
            found += *c == good ? 1 : 0;
            wrong += *c == good ? 0 : 1;
        }
    }
    EXPECT_EQ(wrong, 0u);
    EXPECT_GT(found, runs * 9 / 10);
}

TEST(combining, gives_nothing_where_it_cannot_know)
{
    const auto good = with_crc(std::vector<uint8_t>(300, 0x55));
    auto a = good, b = good;
    a[10] ^= 1;
    EXPECT_FALSE(combine_copies(a, a)) << "same damage";
    b[10] ^= 2;
    EXPECT_FALSE(combine_copies(a, b)) << "both wrong in one place";
    b = good;
    for (size_t i = 0; i < 9; ++i) {
        b[20 * i + 40] ^= 1;
    }
    EXPECT_FALSE(combine_copies(a, b)) << "too many bursts";
    EXPECT_FALSE(combine_copies(a, {}));
    EXPECT_FALSE(combine_copies({ 1 }, { 2 }));
    std::mt19937 random(4);
    for (int i = 0; i < 20000;
         ++i) { // any input gives nothing, or a segment with a good CRC
        std::vector<uint8_t> x(random() % 40), y(random() % 8 ? x.size() : random() % 40);
        for (auto* v : { &x, &y }) {
            for (auto& o : *v) {
                o = static_cast<uint8_t>(random() & random() & random());
            }
        }
        const auto c = combine_copies(x, y);
        EXPECT_TRUE(!c || crc32(c->data(), c->size()) == 0);
    }
}

TEST(arq_halves, lossy_exchange_delivers_everything_once)
{
    std::mt19937 r(5);
    const auto chance = [&r](double p) { return r() < p * 4294967296.0; };
    uint64_t c_pdus = 0;
    for (int run = 0; run < 120; ++run) {
        const unsigned window = run % 5 == 0 ? 128 : 1 + r() % 128;
        const double loss = 0.9 * (run % 10) / 10;
        const auto order =
            run % 2 ? delivery_order::in_order : delivery_order::as_they_arrive;
        arq_sender s(window);
        arq_receiver q;
        q.reset();
        std::vector<std::vector<uint8_t>> out;
        size_t submitted = 0, done_count = 0;
        // Enough for one octet at a time through the smallest window.
        for (int turn = 0; turn < 400000 && !(turn > 20 && s.idle()); ++turn) {
            if (turn <= 20) {
                s.set_segment(1 + r() % 60, r() % 2);
                for (unsigned k = r() % 6; k > 0; --k) {
                    s.submit(
                        c_pdu(1 + r() % 300, static_cast<uint8_t>(submitted++), order));
                }
            }
            s.begin_transmission();
            size_t room = 100 + r() % 8000;
            while (const auto o = s.next(room, 22, true)) {
                room -= o->size + 22;
                if (!chance(loss)) {
                    ASSERT_TRUE(q.in_sync(o->header));
                    q.take(o->header, { o->segment, o->segment + o->size }, true, out);
                }
            }
            if (!chance(loss)) {
                ASSERT_TRUE(s.in_sync(q.ack()));
                std::vector<outgoing_ptr> done;
                s.acknowledge(q.ack(), done);
                done_count += done.size();
            }
            ASSERT_LE(s.unacknowledged(), window);
        }
        ASSERT_TRUE(s.idle()) << "loss " << loss << " window " << window;
        EXPECT_EQ(done_count, submitted);
        ASSERT_EQ(out.size(), submitted);
        EXPECT_EQ(s.unsent().total(), 0u);
        for (size_t i = 0; i < out.size() && order == delivery_order::in_order; ++i) {
            ASSERT_EQ(out[i][0], static_cast<uint8_t>(i));
        }
        c_pdus += submitted;
    }
    EXPECT_GT(c_pdus, 4000u);
}

TEST(arq_halves, what_had_no_room_is_cut_for_the_transmission_that_carries_it)
{
    arq_sender s(128);
    s.submit(c_pdu(2000, 1, delivery_order::in_order));
    s.set_segment(1023, true);
    s.begin_transmission();
    EXPECT_FALSE(s.next(40, 22, true));
    // A slower mode: a C_PDU with nothing sent yet is cut for that one,
    s.set_segment(100, true);
    s.begin_transmission();
    for (int k = 0; k < 5; ++k) {
        const auto o = s.next(150, 22, true);
        ASSERT_TRUE(o);
        EXPECT_EQ(o->size, 100u);
        EXPECT_EQ(o->header.start, k == 0);
    }
    // and its rest keeps that length.
    s.set_segment(500, true);
    s.begin_transmission();
    s.next(150, 22, true);
    size_t sent = 0;
    while (const auto o = s.next(1000, 22, true)) {
        EXPECT_EQ(o->size, 100u);
        ++sent;
    }
    EXPECT_EQ(sent, 19u);
}

TEST(large_windows, lossy_exchange_across_the_wrap)
{
    std::mt19937 r(9);
    for (const double loss : { 0.0, 0.01, 0.2 }) {
        arq_sender s(2000, true);
        s.rewind(65000);
        arq_receiver q(true);
        q.reset(65000);
        s.set_segment(20, false);
        std::vector<std::vector<uint8_t>> out;
        std::vector<outgoing_ptr> done;
        size_t max_parts = 0;
        constexpr size_t count = 1000;
        for (size_t i = 0; i < count; ++i) {
            s.submit(c_pdu(100, static_cast<uint8_t>(i), delivery_order::in_order));
        }
        for (int turn = 0; turn < 500 && !s.idle(); ++turn) {
            s.begin_transmission();
            while (const auto o = s.next(1000, 23, true)) {
                if (r() >= loss * 4294967296.0) {
                    ASSERT_TRUE(q.in_sync(o->header));
                    q.take(o->header, { o->segment, o->segment + o->size }, true, out);
                }
            }
            ASSERT_LE(s.unacknowledged(), 2000u);
            // In any order, and with losses: each is valid by itself.
            auto all = q.acks();
            ASSERT_LE(q.ack().selective.size(), 19u);
            std::shuffle(all.begin(), all.end(), r);
            for (const auto& a : all) {
                d_pdu d;
                d.type = d_pdu_type::large_ack_only;
                d.large = true;
                d.ack = a;
                const auto v = encode(d);
                ASSERT_FALSE(v.empty());
                const auto back = decode_d_pdu(v.data(), v.size(), true);
                ASSERT_TRUE(back);
                ASSERT_EQ(back->ack.selective, a.selective);
                ASSERT_EQ(back->ack.from, a.from);
                if (r() >= loss * 4294967296.0) {
                    ASSERT_TRUE(s.in_sync(back->ack));
                    s.acknowledge(back->ack, done);
                }
            }
            max_parts = std::max(max_parts, all.size());
        }
        ASSERT_TRUE(s.idle());
        EXPECT_EQ(s.lwe(), static_cast<uint16_t>(65000 + 5 * count));
        EXPECT_EQ(max_parts, loss > 0 ? 13u : 1u) << "of a bitmap of 2000 numbers";
        ASSERT_EQ(out.size(), count);
        for (size_t i = 0; i < count; ++i) {
            ASSERT_EQ(out[i], std::vector<uint8_t>(100, static_cast<uint8_t>(i)));
        }
    }
}

TEST(large_windows, what_comes_beyond_the_memory_is_not_acknowledged)
{
    arq_receiver q(true);
    std::vector<std::vector<uint8_t>> out;
    const std::vector<uint8_t> segment(1000, 7);
    arq_header h;
    h.start = h.end = h.in_order = true;
    size_t taken = 0;
    for (h.fsn = 1; h.fsn < 20000; ++h.fsn) {
        taken += q.take(h, segment, true, out) ? 1 : 0;
    }
    EXPECT_EQ(taken, arq_receiver::max_held_octets / 1000);
    EXPECT_TRUE(out.empty());
    h.fsn = 0; // the missing number is always accepted
    EXPECT_TRUE(q.take(h, segment, true, out));
    EXPECT_EQ(q.lwe(), taken + 1);
    EXPECT_EQ(out.size(), taken + 1);
    h.fsn = 19999; // and frees memory
    EXPECT_TRUE(q.take(h, segment, true, out));
}

TEST(large_windows, a_sender_is_bounded_in_octets_too)
{
    arq_sender s(32767, true);
    s.set_segment(100, false);
    s.set_window_octets(10000);
    for (int i = 0; i < 1000; ++i) {
        s.submit(c_pdu(100, 1, delivery_order::in_order));
    }
    s.begin_transmission();
    EXPECT_EQ(s.pending_octets(23, 1000000, true), 100u * 123);
    unsigned n = 0;
    while (s.next(1000000, 23, true)) {
        ++n;
    }
    EXPECT_EQ(n, 100u);
}

TEST(large_windows, d_pdus_with_numbers_of_16_bits)
{
    for (const auto type : { d_pdu_type::large_data_only,
                             d_pdu_type::large_ack_only,
                             d_pdu_type::large_data_ack,
                             d_pdu_type::large_reset }) {
        d_pdu d;
        d.type = type;
        d.large = true;
        d.dst = address("1.1.0.0");
        d.src = address("1.2.0.0");
        if (type == d_pdu_type::large_reset) {
            d.reset.rx_cmnd = true;
            d.reset.new_rx_lwe = 0x1234;
        } else {
            d.arq.fsn = type == d_pdu_type::large_ack_only ? 0 : 0xabcd;
            d.ack.rx_lwe = type == d_pdu_type::large_data_only ? 0 : 0x5678;
            d.segment.assign(has_segment(type) ? 30 : 0, 7);
        }
        const auto v = encode(d);
        ASSERT_FALSE(v.empty());
        const auto r = decode_d_pdu(v.data(), v.size(), true);
        ASSERT_TRUE(r);
        EXPECT_EQ(encode(*r), v);
        EXPECT_EQ(r->arq.fsn, d.arq.fsn);
        EXPECT_EQ(r->ack.rx_lwe, d.ack.rx_lwe);
        EXPECT_EQ(r->reset.new_rx_lwe, d.reset.new_rx_lwe);
        EXPECT_EQ(r->segment, d.segment);
        const auto other =
            decode_d_pdu(v); // a node that has not agreed reads only the common part
        ASSERT_TRUE(other);
        EXPECT_FALSE(other->large);
        EXPECT_TRUE(other->segment.empty());
        EXPECT_FALSE(other->other.empty());
    }
}

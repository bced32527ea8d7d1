/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Windows, synchronisation tests, and both halves of the ARQ against each other.
#include "s5066/arq_receiver.h"
#include "s5066/arq_sender.h"
#include "s5066/combine.h"
#include "s5066/crc.h"

#include <gtest/gtest.h>
#include <random>

using namespace gr::hf;
using namespace gr::hf::s5066;

namespace {

arq_header header(uint8_t fsn, bool uwe = false, bool lwe = false)
{
    arq_header h;
    h.fsn = fsn;
    h.uwe = uwe;
    h.lwe = lwe;
    h.start = h.end = true;
    return h;
}

outgoing_ptr c_pdu(size_t octets, uint8_t value, delivery_order order)
{
    auto o = std::make_shared<outgoing>();
    o->c_pdu.assign(octets, value);
    o->mode.order = order;
    o->expires = std::chrono::hours(1);
    return o;
}

//! RX LWE 50, RX UWE 60: 50 to 59 are missing.
arq_receiver receiver_with_gap()
{
    arq_receiver r;
    r.reset(50);
    std::vector<std::vector<uint8_t>> out;
    r.take(header(60), { 1 }, true, out);
    return r;
}

} // namespace

TEST(sync_tests, receiver_edges)
{
    const auto r = receiver_with_gap();
    // 1: a new upper edge lies between RX UWE and RX LWE + 127.
    EXPECT_TRUE(r.in_sync(header(60, true)));
    EXPECT_FALSE(r.in_sync(header(59, true)));
    EXPECT_TRUE(r.in_sync(header(177, true)));
    EXPECT_FALSE(r.in_sync(header(178, true)));
    // 2: the lower edge lies between RX UWE - 127 and RX LWE.
    EXPECT_TRUE(r.in_sync(header(50, false, true)));
    EXPECT_FALSE(r.in_sync(header(51, false, true)));
    EXPECT_TRUE(r.in_sync(header(189, false, true)));
    EXPECT_FALSE(r.in_sync(header(188, false, true)));
    // 3: every number lies between RX UWE - 127 and RX LWE + 127.
    EXPECT_TRUE(r.in_sync(header(189)));
    EXPECT_TRUE(r.in_sync(header(177)));
    EXPECT_FALSE(r.in_sync(header(178)));
    EXPECT_FALSE(r.in_sync(header(188)));
}

TEST(sync_tests, sender_edges)
{
    arq_sender s(128);
    s.set_segment(10, false);
    s.rewind(250);
    s.submit(c_pdu(100, 1, delivery_order::in_order)); // 10 segments: 250 to 3
    s.begin_transmission();
    while (s.next(1000, 22, true)) {
    }
    const auto ok = [&s](uint8_t lwe, std::vector<uint8_t> bits = {}) {
        return s.in_sync(ack_header{ lwe, std::move(bits) });
    };
    // 4: RX LWE lies between TX LWE and TX UWE + 1.
    EXPECT_TRUE(ok(250));
    EXPECT_FALSE(ok(249));
    EXPECT_TRUE(ok(4));
    EXPECT_FALSE(ok(5));
    // 5: what is acknowledged by a bit lies above TX LWE, up to TX UWE.
    EXPECT_TRUE(ok(250, { 0x00, 0x01 }));  // 3
    EXPECT_FALSE(ok(250, { 0x00, 0x02 })); // 4
    EXPECT_TRUE(ok(2, { 0x01 }));
    EXPECT_FALSE(ok(3, { 0x01 }));
}

TEST(arq_halves, selective_acknowledgement_across_the_wrap)
{
    arq_receiver r;
    r.reset(250);
    std::vector<std::vector<uint8_t>> out;
    for (const uint8_t n : { 251, 255, 2, 4 }) {
        EXPECT_TRUE(r.take(header(n), { n }, true, out));
    }
    const auto a = r.ack();
    EXPECT_EQ(a.rx_lwe, 250);
    EXPECT_EQ(a.selective.size(), 2u);
    EXPECT_EQ(a.selective[0], 0x91);
    EXPECT_EQ(a.selective[1], 0x02);
    EXPECT_EQ(out.size(), 4u); // as they arrive
}

TEST(arq_halves, longest_selective_acknowledgement)
{
    arq_receiver r;
    r.reset();
    std::vector<std::vector<uint8_t>> out;
    for (uint8_t n = 1; n < 128; ++n) {
        EXPECT_TRUE(r.take(header(n), { n }, true, out));
    }
    EXPECT_FALSE(r.take(header(128), { 1 }, true, out));
    EXPECT_EQ(r.ack().selective.size(), 16u);
    EXPECT_EQ(r.ack().selective[15], 0x7f);
    EXPECT_TRUE(r.take(header(0), { 0 }, true, out));
    EXPECT_EQ(r.ack().rx_lwe, 128);
    EXPECT_TRUE(r.ack().selective.empty());
}

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
    EXPECT_EQ(s.unsent_octets(), 0u);
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
         ++i) { // whatever comes: nothing or a segment with a good CRC
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
        for (int turn = 0; turn < 4000 && !(turn > 20 && s.idle()); ++turn) {
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
        EXPECT_EQ(s.unsent_octets(), 0u);
        for (size_t i = 0; i < out.size() && order == delivery_order::in_order; ++i) {
            ASSERT_EQ(out[i][0], static_cast<uint8_t>(i));
        }
        c_pdus += submitted;
    }
    EXPECT_GT(c_pdus, 4000u);
}

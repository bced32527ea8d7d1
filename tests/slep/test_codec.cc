/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slep/codec.h"
#include "slep/stream.h"
#include "slep/vectors.h"

#include <gtest/gtest.h>
#include <map>
#include <random>

namespace gr::hf::slep {
namespace {

octets text(const char* s) { return octets(s, s + std::strlen(s)); }

octets request_v4() { return { 0x01, 0x00, 0x50, 0xc0, 0x00, 0x02, 0x0a }; }

TEST(slep_codec, every_golden_vector_survives_decode_and_encode)
{
    const auto all = test::load_vectors();
    ASSERT_EQ(all.size(), 20u);
    for (const auto& v : all) {
        const auto p = decode(v.second);
        ASSERT_TRUE(p) << v.first;
        EXPECT_EQ(encode(*p), v.second) << v.first;
    }
}

TEST(slep_codec, fields_give_the_golden_octets)
{
    const auto all = test::load_vectors();
    stream_open so;
    so.number = 3;
    so.open_data = request_v4();
    so.data = text("GET / HTTP/1.0\r\n\r\n");
    stream_open whole = so;
    whole.number = 6;
    whole.fin = true;
    stream_accept sr;
    sr.sid = 0x83;
    sr.open_data = { 0 };
    stream_accept sr_data = sr;
    sr_data.data = text("220 ready\r\n");
    reliable_datagram rd{ 5, {}, true, false, text("hello") };
    reliable_datagram seg{
        5, reliable_datagram::segment{ 2, true }, false, false, text("tail")
    };
    const std::pair<const char*, pdu> built[] = {
        { "UD, 3 bytes", { 0, unreliable_datagram{ false, text("abc") } } },
        { "UD, extended address 7", { 7, unreliable_datagram{ false, text("abc") } } },
        { "RD number 5, answer wanted", { 0, rd } },
        { "RD number 5, segment 2, last", { 0, seg } },
        { "RA number 5 delivered", { 0, datagram_answer{ 5, 0 } } },
        { "SO stream 3, immediate, IPv4 request and data", { 0, so } },
        { "SO stream 6, whole message in one PDU (FIN)", { 0, whole } },
        { "SR stream 3, accepted, connected", { 0, sr } },
        { "SR stream 3, accepted with data", { 0, sr_data } },
        { "SR stream 3, refused: connection refused (5)",
          { 0, stream_refuse{ 0x83, 5, {} } } },
        { "SD opener to responder, stream 3, seq 1",
          { 0, stream_data{ 3, 1, false, false, text("data") } } },
        { "SD responder to opener, stream 3, seq 258, FIN",
          { 0, stream_data{ 0x83, 258, false, true, {} } } },
        { "SC stream 3 acks up to 41, window closed",
          { 0, stream_control{ 0x83, 42, 0, false } } },
        { "SX stream 3, reset by endpoint (15)", { 0, stream_abort{ 3, 15, 0 } } },
        { "SX restart: all old streams are gone", { 0, stream_abort{ 0, 136, 0 } } },
    };
    for (const auto& b : built) {
        ASSERT_EQ(all.count(b.first), 1u) << b.first;
        EXPECT_EQ(encode(b.second), all.at(b.first)) << b.first;
    }
}

TEST(slep_codec, refuses_what_does_not_fit)
{
    stream_open so;
    so.number = 128;
    EXPECT_TRUE(encode({ 0, so }).empty());
    so.number = 1;
    so.open_data.assign(256, 0);
    EXPECT_TRUE(encode({ 0, so }).empty());
    so.open_data.assign(255, 0);
    EXPECT_EQ(encode({ 0, so }).size(), 4u + 255);
    EXPECT_TRUE(encode({ 0, stream_control{ 1, 0, 16, false } }).empty());
}

TEST(slep_codec, a_window_is_a_power_of_two_of_pdus_or_has_no_limit)
{
    EXPECT_EQ(window_pdus(window_closed), 0u);
    EXPECT_EQ(window_pdus(1), 1u);
    EXPECT_EQ(window_pdus(4), 8u);
    EXPECT_EQ(window_pdus(window_end_unread), 8192u);
    EXPECT_EQ(window_pdus(window_unlimited), 0x7fffffffu);
}

TEST(slep_codec, drops_short_and_reserved)
{
    for (const octets& bad : std::vector<octets>{ {},
                                                  { 0x30 },
                                                  { 0x90, 1, 2, 3 },
                                                  { 0x08 },
                                                  { 0x08, 0x00, 1 }, // extended 0
                                                  { 0x60, 1, 0 },
                                                  { 0x70, 1, 0, 0 },
                                                  { 0x70, 1, 0, 0, 16 },
                                                  { 0x80, 1 },
                                                  { 0x42, 1, 0xf0, 5, 1, 2 },
                                                  { 0x42, 0x81, 0xf0, 0 } })
        EXPECT_FALSE(decode(bad)) << bad.size();
    // An instance is announced, but not there.
    EXPECT_FALSE(decode(octets{ 0x42, 1, 0xf8, 0 }));
    EXPECT_TRUE(decode(octets{ 0x42, 1, 0xf8, 0, 9, 1, 0 }));
}

TEST(slep_codec, fields_of_an_incarnation_are_there_only_with_an_instance)
{
    stream_open so;
    so.number = 3;
    so.instance = 0x1234;
    so.use = 2;
    so.data = text("x");
    EXPECT_EQ(encode({ 0, so }), (octets{ 0x42, 0x83, 0xf8, 0x12, 0x34, 2, 0, 'x' }));
    so.fin = true;
    so.digest = 0x01020304;
    EXPECT_EQ(encode({ 0, so }),
              (octets{ 0x43, 0x83, 0xf8, 0x12, 0x34, 2, 1, 2, 3, 4, 0, 'x' }));
    stream_accept sr;
    sr.sid = 0x83;
    sr.instance = 0x0506;
    sr.answers = 0x1234;
    sr.other_ended = true;
    EXPECT_EQ(encode({ 0, sr }), (octets{ 0x50, 0x83, 0xf8, 5, 6, 0x92, 0x34, 0 }));
    sr.fin = true;
    sr.digest = 0x01020304;
    EXPECT_EQ(encode({ 0, sr }),
              (octets{ 0x51, 0x83, 0xf8, 5, 6, 0x92, 0x34, 1, 2, 3, 4, 0 }));
    stream_data sd{ 3, 1, false, false, text("x"), 5, true };
    EXPECT_EQ(encode({ 0, sd }), (octets{ 0x64, 3, 0, 1, 0x85, 'x' }));
    sd.fin = true;
    sd.digest = 0x01020304;
    EXPECT_EQ(encode({ 0, sd }), (octets{ 0x65, 3, 0, 1, 0x85, 1, 2, 3, 4, 'x' }));
    const stream_refuse no{ 0x83, 136, {}, 0x1234 };
    EXPECT_EQ(encode({ 0, no }), (octets{ 0x56, 0x83, 136, 0x12, 0x34 }));
    for (const pdu& p : { pdu{ 0, so }, pdu{ 7, sr }, pdu{ 0, sd }, pdu{ 7, no } }) {
        const auto back = decode(encode(p));
        ASSERT_TRUE(back);
        EXPECT_EQ(encode(*back), encode(p));
    }
    EXPECT_EQ(open_header_octets(0, true, true), encode({ 0, so }).size() - 5);
    EXPECT_EQ(open_header_octets(7, false, true), encode({ 7, sr }).size() - 4);
    EXPECT_EQ(data_header_octets(0, true), encode({ 0, sd }).size() - 5);
    sr.answers = 0x8000;
    EXPECT_TRUE(encode({ 0, sr }).empty());
    sd.check = 0x80;
    EXPECT_TRUE(encode({ 0, sd }).empty());
}

TEST(slep_codec, incarnations_differ_from_open_to_open)
{
    std::map<std::pair<unsigned, unsigned>, unsigned> seen;
    unsigned close = 0;
    const auto first = incarnation::of_opener(77, 5, 0);
    for (unsigned instance = 1; instance < 4000; ++instance)
        for (const uint8_t use : { 0, 1 }) {
            const auto i = incarnation::of_opener(uint16_t(instance), 5, use);
            ASSERT_TRUE(i.used && i.name() != 0 && i.check < 0x80);
            ++seen[{ i.base, i.check }];
            close +=
                i.check == first.check && uint16_t(i.base - first.base) < stream_span;
            const auto back = incarnation::of_responder(uint16_t(instance), first);
            close += back.check == first.check &&
                     uint16_t(back.base - first.base) < stream_span;
        }
    // 8000 of 2^23: some four pairs by chance. Of 16,000, one in 2^12 is near the first one.
    EXPECT_GT(seen.size(), 7980u);
    EXPECT_LE(close, 12u); // itself included
    EXPECT_FALSE(incarnation::of_opener(0, 5, 0).used);
    EXPECT_FALSE(incarnation::of_responder(0, first).used);
}

TEST(slep_codec, fuzz)
{
    std::mt19937 rng(7);
    const auto all = test::load_vectors();
    size_t decoded = 0;
    for (int k = 0; k < 100'000; ++k) {
        octets v;
        if (k % 2 == 0) {
            v.resize(rng() % 40);
            for (auto& o : v)
                o = static_cast<uint8_t>(rng());
        } else {
            v = std::next(all.begin(), long(rng() % all.size()))->second;
            for (unsigned n = rng() % 4; n > 0; --n)
                v[rng() % v.size()] ^= static_cast<uint8_t>(1u << (rng() % 8));
            v.resize(rng() % (v.size() + 1));
        }
        const auto p = decode(v);
        if (!p)
            continue;
        ++decoded;
        // A parsed PDU can be written again and reads the same.
        const octets again = encode(*p);
        ASSERT_FALSE(again.empty());
        const auto q = decode(again);
        ASSERT_TRUE(q);
        ASSERT_EQ(encode(*q), again);
    }
    EXPECT_GT(decoded, 20'000u);
}

} // namespace
} // namespace gr::hf::slep

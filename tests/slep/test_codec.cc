/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slep/codec.h"
#include "slep/vectors.h"

#include <gtest/gtest.h>
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
    // Wrong PAR bits are ignored.
    EXPECT_TRUE(decode(octets{ 0x42, 1, 0xf8, 0 }));
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
        // What was understood can be written again and reads the same.
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

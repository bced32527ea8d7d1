/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pep/codec.h"
#include "slep/codec.h"
#include "slep/vectors.h"

#include <gtest/gtest.h>
#include <random>

namespace gr::hf::hfpep {
namespace {

//! The open-data of a golden SO or SR.
octets open_data_of(const char* name)
{
    const auto all = test::load_vectors();
    const auto p = slep::decode(all.at(name));
    if (const auto* so = std::get_if<slep::stream_open>(&p->body))
        return so->open_data;
    return std::get<slep::stream_accept>(p->body).open_data;
}

TEST(hfpep_codec, golden_requests)
{
    connect_request v4;
    v4.to = { ip::address("192.0.2.10"), 80 };
    EXPECT_EQ(encode(v4), open_data_of("SO stream 3, immediate, IPv4 request and data"));
    EXPECT_EQ(encode(v4).size(), 7u);

    const octets v6 = open_data_of("SO stream 4, IPv6 request, both directions "
                                   "compressed ok");
    const auto d = decode_request(v6.data(), v6.size());
    EXPECT_EQ(encode(std::get<connect_request>(d)), v6);

    const octets tls = open_data_of("SO stream 5, TLS kind, name, ALPN option");
    const auto t = std::get<connect_request>(decode_request(tls.data(), tls.size()));
    EXPECT_EQ(encode(t), tls);
    ASSERT_TRUE(t.tls);
    EXPECT_EQ(t.tls->alpn, std::vector<std::string>{ "http/1.1" });
    EXPECT_EQ(t.tls->server_name, "");
    // As plain TCP: the name is read, the option of the other kind is ignored.
    octets name = tls;
    name[0] &= 0x0f;
    const auto n = std::get<connect_request>(decode_request(name.data(), name.size()));
    EXPECT_EQ(std::get<std::string>(n.to.host), "example.com");
    EXPECT_EQ(n.to.port, 443);
    EXPECT_FALSE(n.tls);
    for (const uint8_t kind : { 2, 3 }) {
        name[0] = static_cast<uint8_t>((tls[0] & 0x0f) | kind << 4);
        EXPECT_EQ(std::get<status>(decode_request(name.data(), name.size())),
                  status::kind_not_supported);
    }

    EXPECT_EQ(encode(connect_answer{}), open_data_of("SR stream 3, accepted, connected"));
}

TEST(hfpep_codec, all_options_survive)
{
    connect_request q;
    q.to = { std::string("mail.example.org"), 25 };
    q.source = endpoint_address{ ip::address("fd00::1"), 50000 };
    q.dscp = 46;
    q.idle_limit_s = 600;
    q.connect_limit_s = 90;
    q.answer_first = true;
    q.tls = tls_request{ "imap.example.org", { "h2", "http/1.1" } };
    const octets v = encode(q);
    const auto r = std::get<connect_request>(decode_request(v.data(), v.size()));
    EXPECT_EQ(encode(r), v);
    EXPECT_EQ(r.source, q.source);
    EXPECT_EQ(r.dscp, q.dscp);
    EXPECT_EQ(r.idle_limit_s, q.idle_limit_s);
    EXPECT_EQ(r.connect_limit_s, q.connect_limit_s);
    EXPECT_TRUE(r.answer_first);
    EXPECT_EQ(r.tls->server_name, "imap.example.org");
    EXPECT_EQ(r.tls->alpn, q.tls->alpn);
    connect_answer a;
    a.alpn = "h2";
    const octets w = encode(a);
    EXPECT_EQ(decode_answer(w.data(), w.size())->alpn, "h2");
    q.tls.reset();
    q.to.host = std::string(211, 'a');
    EXPECT_TRUE(encode(q).empty());
    q.to.host = std::string(210, 'a');
    EXPECT_FALSE(encode(q).empty());
}

TEST(hfpep_codec, malformed_requests_get_their_status)
{
    const auto why = [](const octets& v) {
        return std::get<status>(decode_request(v.data(), v.size()));
    };
    EXPECT_EQ(why({}), status::malformed_request);
    EXPECT_EQ(why({ 0x01, 0, 80, 1, 2, 3 }), status::malformed_request);
    EXPECT_EQ(why({ 0x41, 0, 80, 1, 2, 3, 4 }), status::malformed_request);
    EXPECT_EQ(why({ 0x04, 0, 80, 1 }), status::address_type_not_supported);
    EXPECT_EQ(why({ 0x03, 0, 80, 0 }), status::malformed_request);
    EXPECT_EQ(why({ 0x03, 0, 80, 2, 'a', '\n' }), status::malformed_request);
    EXPECT_EQ(why({ 0x01, 0, 80, 1, 2, 3, 4, 2, 5 }), status::malformed_request);
    EXPECT_EQ(why({ 0x11, 0, 80, 1, 2, 3, 4, 5, 1, '\n' }), status::malformed_request);
}

TEST(hfpep_codec, fuzz)
{
    std::mt19937 rng(3);
    connect_request q;
    q.to = { std::string("host.example"), 25 };
    q.source = endpoint_address{ ip::address("10.0.0.1"), 50000 };
    const octets good = encode(q);
    q.tls = tls_request{ "host.example", { "h2", "http/1.1" } };
    const octets good_tls = encode(q);
    size_t read = 0;
    for (int k = 0; k < 100'000; ++k) {
        octets v = k % 4 < 2 ? good : good_tls;
        if (k % 2) {
            v.resize(rng() % 30);
            for (auto& o : v)
                o = static_cast<uint8_t>(rng());
        }
        for (unsigned n = rng() % 3; n > 0 && !v.empty(); --n)
            v[rng() % v.size()] = static_cast<uint8_t>(rng());
        const auto d = decode_request(v.data(), v.size());
        if (const auto* r = std::get_if<connect_request>(&d)) {
            ++read;
            ASSERT_FALSE(encode(*r).empty());
        }
        if (const auto a = decode_answer(v.data(), v.size())) {
            ASSERT_FALSE(encode(*a).empty());
        }
    }
    EXPECT_GT(read, 10'000u);
}

} // namespace
} // namespace gr::hf::hfpep

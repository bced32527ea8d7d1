/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slep/digest.h"
#include "slep/endpoints.h"

#include <gtest/gtest.h>

namespace gr::hf::test {
namespace {

uint32_t digest_of(const std::string& text, size_t piece)
{
    slep::stream_digest d;
    const auto* p = reinterpret_cast<const uint8_t*>(text.data());
    for (size_t at = 0; at < text.size(); at += piece)
        d.update(p + at, std::min(piece, text.size() - at));
    return d.value();
}

//! Sends \p data from a to b. \p forge changes a copy of each PDU of a, which reaches b
//! before the genuine one. \return what b saw
template <typename Forge>
slep_user::seen exchange(pair_of& n, const octets& data, bool compress, Forge forge)
{
    // After the restart notice, which would end what the forged PDUs begin.
    n.a().link.open(n.net.now(), n.to_b(), { 1 });
    n.net.run_for(20);
    n.net.on_request = [&](const s5066::s_unidata_request& u) {
        auto p = slep::decode(u.u_pdu);
        if (u.dst == address("1.0.0.2") && p && forge(*p)) {
            const octets v = from_a(*p);
            n.rb.sis_in(n.net.now(), v.data(), v.size());
        }
    };
    slep::stream_options o;
    o.compress = compress;
    const auto s = *n.a().link.open(n.net.now(), n.to_b(), { 1 }, {}, false, o);
    n.a().send(s, data, true);
    n.net.run_for(120);
    return n.b().streams[n.b().offered.at(1)];
}

TEST(slep_digest, is_sha_256)
{
    // The examples of FIPS 180-4 as published by NIST.
    EXPECT_EQ(digest_of("", 1), 0xe3b0c442u);
    EXPECT_EQ(digest_of("abc", 1), 0xba7816bfu);
    const std::string two = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    const std::string million(1'000'000, 'a');
    for (const size_t piece : { 1u, 3u, 63u, 64u, 65u, 1'000'000u }) {
        EXPECT_EQ(digest_of(two, piece), 0x248d6a61u) << piece;
        EXPECT_EQ(digest_of(million, piece), 0xcdc76e5cu) << piece;
    }
}

TEST(slep_digest, a_forged_octet_in_the_middle_ends_the_stream_as_a_reset)
{
    const octets data = pattern(20'000);
    for (const bool compress : { false, true }) {
        pair_of n;
        const auto got = exchange(n, data, compress, [once = 0](slep::pdu& p) mutable {
            auto* d = std::get_if<slep::stream_data>(&p.body);
            if (d == nullptr || ++once != 5)
                return false;
            d->data[d->data.size() / 2] ^= 1;
            return true;
        });
        EXPECT_NE(got.data, data);
        EXPECT_TRUE(got.aborted);
        EXPECT_FALSE(got.fin || got.closed);
        EXPECT_EQ(n.b().link.streams(), 1u) << "the first one";
        EXPECT_EQ(n.a().link.streams(), 1u) << "the sender is told";
        if (!compress) {
            EXPECT_EQ(got.code, slep::reason_altered);
            EXPECT_EQ(n.b().link.stats().altered, 1u);
        }
    }
}

TEST(slep_digest, a_forged_last_pdu_is_not_delivered)
{
    // The whole stream in SO, in SO and SD, and an end without data.
    for (const size_t size : { 20u, 3000u }) {
        const octets data = pattern(size);
        pair_of n;
        const auto got = exchange(n, data, false, [](slep::pdu& p) {
            auto* so = std::get_if<slep::stream_open>(&p.body);
            auto* sd = std::get_if<slep::stream_data>(&p.body);
            if (so != nullptr && so->fin)
                so->data.push_back('x');
            else if (sd != nullptr && sd->fin)
                sd->data.push_back('x');
            else
                return false;
            return true;
        });
        EXPECT_LT(got.data.size(), size);
        EXPECT_TRUE(std::equal(got.data.begin(), got.data.end(), data.begin()));
        EXPECT_TRUE(got.aborted);
        EXPECT_FALSE(got.fin);
        EXPECT_EQ(got.code, slep::reason_altered);
    }
}

TEST(slep_digest, an_early_end_is_no_end)
{
    // A FIN after half of the stream.
    const octets data = pattern(20'000);
    pair_of n;
    const auto got = exchange(n, data, false, [once = 0](slep::pdu& p) mutable {
        auto* d = std::get_if<slep::stream_data>(&p.body);
        if (d == nullptr || ++once != 5)
            return false;
        d->fin = true;
        return true;
    });
    EXPECT_LT(got.data.size(), data.size());
    EXPECT_FALSE(got.fin);
    EXPECT_TRUE(got.aborted);
}

TEST(slep_digest, rides_in_the_last_pdu)
{
    // Every length around a full PDU: none gets longer, and none is alone for the digest
    // unless the rest would not fit.
    const size_t full = 2042 - slep::data_header_octets(0, true);
    for (size_t over = 0; over <= 12; ++over) {
        const octets data =
            pattern(slep::endpoint_config().open_octets + full + over - 8);
        pair_of n;
        std::vector<size_t> sizes;
        const auto got = exchange(n, data, false, [&](slep::pdu& p) {
            if (std::holds_alternative<slep::stream_data>(p.body))
                sizes.push_back(slep::encode(p).size());
            return false;
        });
        EXPECT_EQ(got.data, data);
        EXPECT_TRUE(got.fin) << over;
        EXPECT_EQ(sizes.size(), over <= 8 - slep::digest_octets ? 1u : 2u) << over;
        EXPECT_LE(*std::max_element(sizes.begin(), sizes.end()), 2042u);
    }
}

TEST(slep_digest, a_station_without_digests_is_refused)
{
    // SO of version 0.2.0: an instance, and bit 7 of the number is 0.
    lone x;
    s5066::s_unidata_indication u;
    u.dst_sap = u.src_sap = 13;
    u.src = address("1.0.0.1");
    u.dst = address("1.0.0.2");
    u.u_pdu = { 0x43, 5, 0xf8, 0x12, 0x34, 0, 0, 'x', 'y', 'z', '!' };
    x.in(s5066::encode(u));
    EXPECT_TRUE(x.events().empty());
    const auto said = x.drain();
    ASSERT_EQ(said.size(), 2u); // after the restart notice
    const auto p = slep::decode(said[1]);
    const auto& no = std::get<slep::stream_refuse>(p->body);
    EXPECT_EQ(no.reason, slep::reason_not_supported);
    EXPECT_EQ(no.sid, 0x85);
    EXPECT_EQ(no.answers, slep::incarnation::of_opener(0x1234, 5, 0).name());
}

} // namespace
} // namespace gr::hf::test

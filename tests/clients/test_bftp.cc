/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// BFTP and its receipts against the golden octets, and against anything.
#include "s5066/clients/bftp.h"
#include "s5066/pdu/s_primitive.h"
#include "s5066/vectors.h"

#include <gtest/gtest.h>

#include <random>

using namespace gr::hf;
using namespace gr::hf::s5066;

namespace {

golden find(const std::string& layer, const std::string& id)
{
    for (const auto& g : load_golden(layer))
        if (g.id == id)
            return g;
    ADD_FAILURE() << "no vector " << id;
    return {};
}

const octets abc{ 'A', 'B', 'C' };

} // namespace

TEST(bftp, file_is_the_golden_primitive)
{
    const auto u = rcop_segments(0, 1, app_bftp, bftp_message("a.txt", abc), sis_mtu);
    ASSERT_EQ(u.size(), 1u);
    const auto g = find("sis", "sis20-rcop-bftp");
    auto p = decode_primitive(g.hex);
    ASSERT_TRUE(p);
    auto& r = std::get<s_unidata_request>(*p);
    EXPECT_EQ(to_hex(r.u_pdu), to_hex(u[0]));
    EXPECT_EQ(r.dst_sap, sap_rcop);
    r.u_pdu = u[0];
    EXPECT_EQ(to_hex(encode(r)), to_hex(g.hex));
}

TEST(bftp, receipts_are_the_golden_octets)
{
    EXPECT_EQ(to_hex(encode(bftp_receipt{ 0, 1, std::nullopt })),
              to_hex(find("client", "client-frap").hex));
    EXPECT_EQ(to_hex(encode(bftp_receipt{ 0, 1, bftp_header{ "a.txt", 3 } })),
              to_hex(find("client", "client-frapv2").hex));
}

TEST(bftp, receipts_are_read_back)
{
    rcop_assembler a;
    for (const auto* id : { "client-frap", "client-frapv2" }) {
        const auto g = find("client", id);
        const auto m =
            a.u_pdu_in({}, address("1.2.0.2"), sap_rcop, g.hex.data(), g.hex.size());
        ASSERT_TRUE(m) << id;
        const auto r = decode_receipt(*m);
        ASSERT_TRUE(r) << id;
        EXPECT_EQ(r->connection, 0);
        EXPECT_EQ(r->id, 1);
        EXPECT_EQ(r->header.has_value(), g.id == "client-frapv2");
        if (r->header) {
            EXPECT_EQ(r->header->name, g.fields.at("filename"));
            EXPECT_EQ(r->header->size, 3u);
        }
    }
}

TEST(bftp, sizes_must_agree)
{
    auto m = bftp_message("name", abc);
    ASSERT_TRUE(decode_bftp(m));
    m.push_back(0);
    EXPECT_FALSE(decode_bftp(m));
    m.resize(m.size() - 2);
    EXPECT_FALSE(decode_bftp(m));
    EXPECT_FALSE(decode_bftp({}));
    EXPECT_TRUE(bftp_message(std::string(256, 'n'), abc).empty());
    EXPECT_EQ(decode_bftp(bftp_message(std::string(255, 'n'), {}))->header.name.size(),
              255u);
}

TEST(bftp, names_from_the_air_stay_in_their_folder)
{
    EXPECT_EQ(safe_file_name("report.txt"), "report.txt");
    EXPECT_EQ(safe_file_name("../../etc/passwd"), "passwd");
    EXPECT_EQ(safe_file_name("..\\..\\boot.ini"), "boot.ini");
    EXPECT_EQ(safe_file_name(".."), "unnamed");
    EXPECT_EQ(safe_file_name("/"), "unnamed");
    EXPECT_EQ(safe_file_name(""), "unnamed");
    EXPECT_EQ(safe_file_name(".profile"), "profile");
    EXPECT_EQ(safe_file_name("-rf"), "_rf");
    EXPECT_EQ(safe_file_name("..-rf"), "_rf");
    EXPECT_EQ(safe_file_name("a/-rf"), "_rf");
    EXPECT_EQ(safe_file_name("~root"), "_root");
    EXPECT_EQ(safe_file_name("_7-a~b"), "_7-a~b");
    EXPECT_EQ(safe_file_name(std::string("a\0b\n", 4)), "a_b_");
    EXPECT_EQ(safe_file_name(std::string(255, 'n')).size(), 200u);
}

TEST(bftp, anything_may_come)
{
    std::mt19937 rng(9);
    for (int k = 0; k < 50000; ++k) {
        auto m = bftp_message(std::string(rng() % 20, 'a'), octets(rng() % 50));
        for (unsigned n = rng() % 4; n > 0; --n)
            m[rng() % m.size()] = static_cast<uint8_t>(rng());
        m.resize(rng() % 4 ? m.size() : rng() % m.size());
        const auto f = decode_bftp(m);
        if (f) {
            ASSERT_EQ(f->data.size(), f->header.size);
            const auto name = safe_file_name(f->header.name);
            ASSERT_FALSE(name.empty());
            ASSERT_NE(name[0], '.');
            ASSERT_EQ(name.find('/'), std::string::npos);
        }
        decode_receipt({ address(), 6, 0, 0, app_frap_v2, m });
    }
}

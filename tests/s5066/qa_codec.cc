/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Finding PDUs in streams of bits and octets, and the effect of damaged input.
#include "s5066/between/link_report.h"
#include "s5066/pdu/c_pdu.h"
#include "s5066/pdu/deframer.h"
#include "s5066/pdu/s_pdu.h"
#include "s5066/pdu/s_primitive.h"
#include "vectors.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

using namespace gr::hf::s5066;

namespace {

//! Bits of \p v after \p shift leading bits, packed again.
octets shifted(const octets& v, size_t shift)
{
    octets out((8 * v.size() + shift + 7) / 8, 0);
    for (size_t i = 0; i < 8 * v.size(); ++i) {
        if (v[i / 8] >> (i % 8) & 1) {
            out[(i + shift) / 8] |= static_cast<uint8_t>(1 << ((i + shift) % 8));
        }
    }
    return out;
}

octets random_octets(std::mt19937& r, size_t n)
{
    octets v(n);
    for (auto& o : v) {
        o = static_cast<uint8_t>(r());
    }
    return v;
}

void damage(std::mt19937& r, octets& v)
{
    if (v.empty()) {
        return;
    }
    switch (r() % 4) {
    case 0:
        v[r() % v.size()] ^= static_cast<uint8_t>(1 << (r() % 8));
        break;
    case 1:
        v.resize(r() % v.size());
        break;
    case 2:
        v.insert(v.begin() + static_cast<long>(r() % v.size()),
                 static_cast<uint8_t>(r()));
        break;
    default:
        v[r() % v.size()] = static_cast<uint8_t>(r());
    }
}

d_pdu data_pdu(uint8_t fsn, size_t n)
{
    d_pdu d;
    d.dst = address("1.1.0.0");
    d.src = address("1.2.0.0");
    d.arq.fsn = fsn;
    d.segment.assign(n, fsn);
    return d;
}

} // namespace

TEST(Conformance, RowX_02_FindsDPdusAtEveryBitOffset)
{
    octets stream;
    for (uint8_t i = 0; i < 5; ++i) {
        const auto v = encode(data_pdu(i, 50u * i));
        stream.insert(stream.end(), v.begin(), v.end());
    }
    for (size_t shift = 0; shift < 24; ++shift) {
        for (const size_t piece : { size_t(1), size_t(7), size_t(100), size_t(10000) }) {
            d_pdu_deframer f;
            const auto in = shifted(stream, shift);
            unsigned n = 0;
            uint64_t bit = shift;
            for (size_t at = 0; at < in.size(); at += piece) {
                f.push(in.data() + at, std::min(piece, in.size() - at));
                while (const auto r = f.next()) {
                    EXPECT_EQ(r->pdu.arq.fsn, n);
                    EXPECT_TRUE(r->pdu.segment_ok);
                    EXPECT_EQ(r->bit_offset, bit);
                    bit += 8 * r->octets.size();
                    ++n;
                }
            }
            ASSERT_EQ(n, 5u) << shift << " " << piece;
        }
    }
}

TEST(Conformance, RowX_02_GoesOnBehindFalseSyncs)
{
    // Right before it: a sync word, and a header that starts like one and has a wrong
    // CRC.
    const auto good = encode(data_pdu(9, 20));
    auto bad = good;
    bad[7] ^= 0x10;
    for (size_t cut = 2; cut < bad.size(); ++cut) {
        octets in(bad.begin(), bad.begin() + static_cast<long>(cut));
        in.insert(in.end(), good.begin(), good.end());
        d_pdu_deframer f;
        f.push(shifted(in, 3));
        const auto r = f.next();
        ASSERT_TRUE(r) << cut;
        EXPECT_EQ(r->pdu.arq.fsn, 9);
        EXPECT_EQ(r->bit_offset, 8 * cut + 3);
        EXPECT_EQ(f.false_syncs(), 1u);
    }
}

TEST(Conformance, RowX_02_ReportsGoodHeadersWithBadSegments)
{
    auto v = encode(data_pdu(1, 30));
    v[v.size() - 10] ^= 1;
    const auto second = encode(data_pdu(2, 30));
    v.insert(v.end(), second.begin(), second.end() - 8); // cut off
    d_pdu_deframer f;
    f.push(v);
    auto r = f.next();
    ASSERT_TRUE(r);
    EXPECT_FALSE(r->pdu.segment_ok);
    EXPECT_FALSE(f.next());
    r = f.next_at_end();
    ASSERT_TRUE(r);
    EXPECT_EQ(r->pdu.arq.fsn, 2);
    EXPECT_FALSE(r->pdu.segment_ok);
    EXPECT_FALSE(f.next_at_end());
}

TEST(deframer, wrong_bits_in_the_sync_word_can_be_allowed)
{
    const auto good = encode(data_pdu(9, 20));
    for (unsigned allowed = 0; allowed <= 2; ++allowed) {
        for (unsigned wrong = 0; wrong <= 3; ++wrong) {
            auto v = good;
            for (unsigned i = 0; i < wrong; ++i) {
                v[i % 2] ^= static_cast<uint8_t>(0x20 << i / 2);
            }
            d_pdu_deframer f;
            f.set_sync_errors(allowed);
            f.push(shifted(v, 5));
            const auto r = f.next();
            EXPECT_EQ(r.has_value(), wrong <= allowed);
            if (r) {
                EXPECT_EQ(r->octets, good);
                EXPECT_EQ(r->bit_offset, 5u);
            }
        }
    }
}

TEST(deframer, refuses_all_zero_and_impossible_sizes)
{
    // CRC-16 with initial value 0 accepts zeros: sizes must be checked separately.
    octets v = from_hex("90eb");
    v.resize(60, 0);
    d_pdu_deframer f;
    f.push(v);
    EXPECT_FALSE(f.next_at_end());
    EXPECT_EQ(f.false_syncs(), 1u);
}

TEST(sis_stream, split_and_merged)
{
    octets stream;
    const auto all = load_golden("sis");
    for (const auto& g : all) {
        stream.insert(stream.end(), g.hex.begin(), g.hex.end());
    }
    for (size_t piece = 1; piece < 40; ++piece) {
        sis_deframer f;
        size_t n = 0;
        for (size_t at = 0; at < stream.size(); at += piece) {
            f.push(stream.data() + at, std::min(piece, stream.size() - at));
            while (const auto p = f.next()) {
                ASSERT_LT(n, all.size());
                EXPECT_EQ(*p, all[n++].hex);
            }
        }
        EXPECT_EQ(n, all.size());
        EXPECT_EQ(f.invalid(), 0u);
        EXPECT_EQ(f.buffered(), 0u);
    }
}

TEST(sis_stream, resynchronises)
{
    const auto keep = encode(s_keep_alive{});
    octets in = from_hex("0102030490eb0190eb000000");
    in.insert(in.end(), keep.begin(), keep.end());
    sis_deframer f;
    f.push(keep);
    EXPECT_TRUE(f.next());
    f.push(in);
    const auto p = f.next();
    ASSERT_TRUE(p);
    EXPECT_EQ(*p, keep);
    EXPECT_EQ(f.invalid(), 1u);
    f.push(in);
    EXPECT_TRUE(f.next());
    EXPECT_EQ(f.invalid(), 2u);
    EXPECT_FALSE(f.foreign());
}

// A web page can make a browser send primitives in the body of a request.
TEST(sis_stream, does_not_begin_after_other_octets)
{
    const auto keep = encode(s_keep_alive{});
    for (const char* head : { "504f5354202f20485454502f312e310d0a0d0a",
                              "00",
                              "90eb01",
                              "90eb000000",
                              "90eb00000511" }) {
        sis_deframer f;
        f.push(from_hex(head));
        f.push(keep);
        for (int k = 0; k < 3; ++k)
            EXPECT_FALSE(f.next()) << head;
        EXPECT_TRUE(f.foreign()) << head;
        f.push(keep);
        EXPECT_FALSE(f.next()) << head;
    }
    sis_deframer f;
    f.push(keep.data(), 4);
    EXPECT_FALSE(f.next());
    EXPECT_FALSE(f.foreign());
}

// Some clients send the size low octet first. That must not swallow the primitives after
// it.
TEST(sis_stream, sizes_with_exchanged_octets_are_found_out)
{
    const auto keep = encode(s_keep_alive{});
    int tried = 0;
    for (const auto& g : load_golden("sis")) {
        auto v = g.hex;
        const bool with_errors = (v[5] == 21 || v[5] == 25) && v[11] >> 4 == 3;
        if (v[5] == 18 || v[5] == 19 || with_errors) {
            continue; // any size is allowed
        }
        std::swap(v[3], v[4]);
        sis_deframer f;
        f.push(keep);
        EXPECT_TRUE(f.next());
        f.push(v);
        f.push(keep);
        const auto p = f.next();
        ASSERT_TRUE(p) << g.id;
        EXPECT_EQ(*p, keep) << g.id;
        EXPECT_EQ(f.invalid(), 1u) << g.id;
        ASSERT_TRUE(f.size_fault()) << g.id;
        EXPECT_TRUE(f.size_fault()->swapped) << g.id;
        EXPECT_EQ(f.size_fault()->type, g.hex[5]) << g.id;
        ++tried;
    }
    EXPECT_GE(tried, 30);
}

TEST(sis_stream, wrong_sizes_are_found_as_soon_as_they_can_be)
{
    sis_deframer f;
    f.push(from_hex("90eb00000511"));
    EXPECT_FALSE(f.next());
    ASSERT_TRUE(f.size_fault());
    EXPECT_EQ(f.size_fault()->right, 1u);
    EXPECT_FALSE(f.size_fault()->swapped);
    EXPECT_EQ(f.size_fault()->to_string(), "size field 5 of S_KEEP_ALIVE: must be 1");
    // S_UNIDATA_REQUEST with the length of its U_PDU still to come
    sis_deframer g;
    g.push(from_hex("90eb00001014"));
    EXPECT_FALSE(g.next());
    EXPECT_FALSE(g.size_fault());
    g.push(from_hex("03e1020304000000000005"));
    EXPECT_FALSE(g.next());
    ASSERT_TRUE(g.size_fault());
    EXPECT_EQ(g.size_fault()->right, 17u);
    // Too short for its own fields
    sis_deframer h;
    h.push(from_hex("90eb00000414"));
    EXPECT_FALSE(h.next());
    EXPECT_TRUE(h.size_fault());
    // With errors, the lists may have any length. Unknown types are counted by the node.
    s_unidata_indication i;
    i.mode = transmission_mode::non_arq_with_errors;
    i.u_pdu = { 1, 2, 3 };
    i.errored = { { 0, 1 }, { 2, 1 } };
    sis_deframer k;
    k.push(encode(i));
    EXPECT_TRUE(k.next());
    k.push(from_hex("90eb0000031c0102"));
    EXPECT_TRUE(k.next());
    EXPECT_FALSE(k.size_fault());
}

TEST(sis_stream, old_indications_with_two_zero_counts)
{
    s_unidata_indication i;
    i.u_pdu = { 1, 2, 3 };
    auto v = encode(i);
    const octets zeros(4, 0);
    v.insert(v.end() - 3, zeros.begin(), zeros.end());
    v[4] = static_cast<uint8_t>(v[4] + 4);
    const auto p = decode_primitive(v);
    ASSERT_TRUE(p);
    EXPECT_EQ(std::get<s_unidata_indication>(*p).u_pdu, i.u_pdu);
}

TEST(encode_limits, values_that_do_not_fit_give_nothing)
{
    s_unidata_request r;
    r.u_pdu.resize(65535);
    EXPECT_TRUE(encode(r).empty());
    s_bind_request b;
    b.sap = 16;
    EXPECT_TRUE(encode(b).empty());
    EXPECT_TRUE(encode(s_hard_link_terminate{ address("1.0.0.0") }, 6).empty());
    auto d = data_pdu(0, 1024);
    EXPECT_TRUE(encode(d).empty());
    d.segment.clear();
    d.address_size = 6;
    EXPECT_TRUE(encode(d).empty());
    EXPECT_TRUE(encode(c_pdu{ c_pdu_type::link_break, 16, {} }).empty());
}

TEST(fuzz, codecs_and_deframers)
{
    std::mt19937 r(1);
    std::vector<octets> seeds;
    for (const char* layer : { "sis", "spdu", "cpdu", "dts" }) {
        for (const auto& g : load_golden(layer)) {
            seeds.push_back(g.hex);
        }
    }
    sis_deframer sis;
    sis.push(encode(s_keep_alive{}));
    d_pdu_deframer dts;
    uint64_t primitives = 0, d_pdus = 0;
    for (int i = 0; i < 60000; ++i) {
        octets v = i % 3 == 0 ? random_octets(r, r() % 80) : seeds[r() % seeds.size()];
        for (unsigned k = r() % 4; k > 0; --k) {
            damage(r, v);
        }
        if (const auto p = decode_primitive(v)) {
            // A decoded D_PDU can be encoded again, but without the old counts of errors.
            EXPECT_FALSE(encode(*p).empty());
        }
        decode_s_pdu(v.data(), v.size());
        decode_c_pdu(v.data(), v.size());
        if (const auto d = decode_d_pdu(v)) {
            EXPECT_FALSE(describe(*d).empty());
        }
        sis.push(v);
        while (sis.next()) {
            ++primitives;
        }
        ASSERT_LE(sis.buffered(), 65540u);
        dts.push(v);
        while (dts.next()) {
            ++d_pdus;
        }
        if (i % 100 == 0) {
            while (dts.next_at_end()) {
            }
            dts.reset();
        }
    }
    EXPECT_GT(primitives, 300u);
    EXPECT_GT(d_pdus, 1000u);
}

TEST(Codec, Withdrawal)
{
    const withdrawal sent{ address("1.2.3.4"), 13, { { 1, 2, 3 }, {}, { 4 } } };
    const auto primitive = decode_primitive(encode(encode(sent)));
    ASSERT_TRUE(primitive);
    auto message = std::get<s_management_msg_request>(*primitive);
    const auto back = decode_withdrawal(message);
    ASSERT_TRUE(back);
    EXPECT_EQ(back->dst, sent.dst);
    EXPECT_EQ(back->dst_sap, sent.dst_sap);
    EXPECT_EQ(back->heads, sent.heads);
    message.body.pop_back();
    EXPECT_FALSE(decode_withdrawal(message)) << "cut off";
    EXPECT_FALSE(decode_withdrawal({}));
    EXPECT_TRUE(is_greeting(greeting()));
    EXPECT_FALSE(is_greeting({}));
}

TEST(Codec, LinkReport)
{
    for (const auto& silent_for : { std::optional<gr::hf::station_time>(),
                                    std::optional(gr::hf::from_seconds(0)),
                                    std::optional(gr::hf::from_seconds(65534)) }) {
        const link_report sent{ address("1.2.3.4"), 7, silent_for };
        const auto primitive = decode_primitive(encode(encode(sent)));
        ASSERT_TRUE(primitive);
        const auto back =
            decode_link_report(std::get<s_management_msg_indication>(*primitive));
        ASSERT_TRUE(back);
        EXPECT_EQ(back->node, sent.node);
        EXPECT_EQ(back->unanswered, sent.unanswered);
        EXPECT_EQ(back->silent_for, sent.silent_for);
    }
    // Any other message of a node to a client.
    s_management_msg_indication other = encode(link_report{ address("1.2.3.4"), 1, {} });
    other.body.push_back(0);
    EXPECT_FALSE(decode_link_report(other));
    EXPECT_FALSE(decode_link_report({ 'L', std::vector<uint8_t>(9) }));
    EXPECT_FALSE(decode_link_report({}));
}

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// A node repairs a segment from the soft bits of its damaged copies.
#include "code_bits.h"
#include "scripted_peer.h"

#include "modem/decode/segment_decoder.h"

#include <gtest/gtest.h>

#include <random>

using namespace gr::hf;
using namespace gr::hf::s5066;

namespace {

// As in qa_soft_copies.cc: one copy has 0 dB of Eb/N0 at least.
constexpr double sigma = 1;

node_config with_memory(unsigned memory)
{
    node_config c;
    c.mode = "4539-600S";
    c.copy_memory = memory;
    return c;
}

struct soft_memory : scripted_peer {
    explicit soft_memory(unsigned memory = 2, code_decoder d = kernel::decode_after_zeros)
        : scripted_peer(with_memory(memory), std::move(d))
    {
        bind(1, 3);
        make_link();
    }

    //! A D_PDU whose octets have errors all over the segment, beyond hard copies.
    rx_octets damaged(const d_pdu& d)
    {
        rx_octets e;
        e.octets = encode(d);
        e.ratios = code_bits(e.octets, sigma, sigma, random);
        for (size_t k = d.header_octets(); k < e.octets.size(); k += 5)
            e.octets[k] = static_cast<uint8_t>(e.octets[k] ^ random() % 255 ^ 1);
        return e;
    }
    void hear(const rx_octets& e)
    {
        rx_start s;
        s.m = mode::parse(d_config.mode);
        n.on_rx_start(now, s);
        now += std::chrono::milliseconds(3000);
        n.on_rx_octets(now, e);
        rx_end end;
        end.air_end = now;
        n.on_rx_end(now, end);
    }
    //! Copies until the number is acknowledged; \p most + 1: it is not.
    unsigned copies_needed(const d_pdu& d, unsigned most)
    {
        for (unsigned k = 1; k <= most; ++k) {
            hear(damaged(d));
            for (const d_pdu& a : transmission())
                if (a.type == d_pdu_type::ack_only && a.ack.rx_lwe == d.arq.fsn + 1)
                    return k;
        }
        return most + 1;
    }
    std::mt19937_64 random{ 1 };
};

d_pdu bulk(uint8_t fsn = 0) { return scripted_peer::data(fsn, 190); }

} // namespace

TEST(soft_memory, copies_that_cannot_be_read_make_a_segment)
{
    soft_memory s;
    const unsigned copies = s.copies_needed(bulk(), 5);
    EXPECT_GT(copies, 1u);
    EXPECT_LE(copies, 5u);
    const auto u = s.answer<s_unidata_indication>();
    ASSERT_TRUE(u);
    EXPECT_EQ(u->u_pdu, std::vector<uint8_t>(190, 0));
    EXPECT_EQ(s.n.stats().segments_summed, 1u);
    EXPECT_EQ(s.n.stats().segments_repaired, 1u);
}

TEST(soft_memory, it_can_be_switched_off)
{
    for (const unsigned memory : { 0u, 1u }) {
        soft_memory s(memory);
        EXPECT_EQ(s.copies_needed(bulk(), 6), 7u) << memory;
    }
    soft_memory without_decoder(2, {});
    EXPECT_EQ(without_decoder.copies_needed(bulk(), 6), 7u);
}

// Octets alone, as from a modem of another maker: two copies with errors elsewhere.
TEST(soft_memory, a_modem_without_soft_bits_has_its_octets_combined)
{
    for (const unsigned memory : { 0u, 1u, 2u }) {
        soft_memory s(memory);
        for (const size_t wrong : { 40u, 90u }) {
            rx_octets e;
            e.octets = encode(bulk());
            e.octets[wrong] ^= 0x55;
            s.hear(e);
        }
        EXPECT_EQ(s.n.stats().segments_repaired, memory == 0 ? 0u : 1u) << memory;
        EXPECT_EQ(s.n.stats().segments_summed, 0u);
    }
}

// A peer that has made a new link counts from 0 again: other segments, same numbers.
TEST(soft_memory, copies_of_another_numbering_are_not_added)
{
    soft_memory s;
    const d_pdu d = bulk();
    rx_octets first = s.damaged(d);
    // Two copies that are good together and not alone: each knows half of the code bits.
    first.ratios = code_bits(encode(d), 0, sigma, s.random);
    rx_octets second = first;
    const size_t begin = 16 * d.header_octets(), middle = begin + 8 * 200;
    std::fill(first.ratios.begin() + static_cast<long>(begin),
              first.ratios.begin() + static_cast<long>(middle),
              int8_t{ 0 });
    std::fill(second.ratios.begin() + static_cast<long>(middle),
              second.ratios.end(),
              int8_t{ 0 });
    s.hear(first);
    s.receive({ scripted_peer::link(c_pdu_type::link_request, 9) });
    s.transmission();
    s.hear(second);
    EXPECT_EQ(s.n.stats().segments_summed, 0u);
    s.hear(first);
    EXPECT_EQ(s.n.stats().segments_summed, 1u);
}

// The header of the middle one is read by what is known of it, its segment with it.
TEST(soft_memory, a_header_with_errors_is_read)
{
    for (const unsigned memory : { 1u, 2u }) {
        soft_memory s(memory);
        rx_octets e;
        for (uint8_t k = 0; k < 3; ++k) {
            d_pdu d = bulk(k);
            d.eot = static_cast<uint8_t>(6 * (3 - k));
            const auto v = encode(d);
            e.octets.insert(e.octets.end(), v.begin(), v.end());
        }
        e.ratios = code_bits(e.octets, 0, sigma, s.random);
        e.octets[e.octets.size() / 3 + 8] ^= 1;
        s.hear(e);
        EXPECT_EQ(s.n.stats().headers_recovered, memory == 2 ? 1u : 0u);
        EXPECT_EQ(s.primitives().size(), memory == 2 ? 3u : 1u);
    }
}

// Whatever ratios say, good octets are taken as they are, and no segment is made up.
TEST(soft_memory, forged_ratios_hurt_nothing)
{
    soft_memory s;
    const auto forge = [&](rx_octets& e, unsigned how) {
        switch (how) {
        case 0:
            for (int8_t& r : e.ratios)
                r = static_cast<int8_t>(s.random());
            break;
        case 1:
            e.ratios.assign(e.ratios.size(), -128);
            break;
        case 2:
            e.ratios.resize(e.ratios.size() / 2 + 1);
            break;
        case 3:
            e.ratios.resize(size_t{ 1 } << 22, 1);
            break;
        case 4:
            e.ratios_from = UINT64_MAX;
            break;
        case 5:
            e.ratios_from = 17;
            break;
        case 6:
            e.ratios.assign(e.ratios.size(), 0); // zeros have a good CRC
            break;
        default:
            e.ratios.resize(1);
        }
    };
    for (unsigned how = 0; how < 8; ++how) {
        for (unsigned copy = 0; copy < 3; ++copy) {
            rx_octets e = s.damaged(bulk(static_cast<uint8_t>(how)));
            forge(e, how);
            s.hear(e);
            s.transmission();
        }
        EXPECT_EQ(s.n.stats().segments_repaired, 0u) << how;
        EXPECT_TRUE(s.primitives().empty()) << how;
        rx_octets e;
        e.octets = encode(bulk(static_cast<uint8_t>(how)));
        e.ratios = code_bits(e.octets, sigma, sigma, s.random);
        forge(e, how);
        s.hear(e);
        const auto u = s.answer<s_unidata_indication>();
        ASSERT_TRUE(u) << how;
        EXPECT_EQ(u->u_pdu, std::vector<uint8_t>(190, static_cast<uint8_t>(how)));
        s.transmission();
    }
}

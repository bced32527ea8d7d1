/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Large windows are on by default. A node of Edition 3 receives no sign of them.
#include "s5066/pdu/eow.h"
#include "scripted_peer.h"

#include <gtest/gtest.h>

namespace gr::hf::s5066 {
namespace {

node_config fast()
{
    node_config c;
    c.mode = "4539-9600S";
    c.segment_octets = 100; // the window is full long before the queue is empty
    return c;
}

//! Everything in \p list is of Edition 3: types, orderwire, spare bits of link control.
void expect_edition_3(const std::vector<d_pdu>& list)
{
    for (const auto& d : list) {
        EXPECT_TRUE(d.type <= d_pdu_type::non_arq_data ||
                    d.type == d_pdu_type::expedited_non_arq_data ||
                    d.type == d_pdu_type::warning)
            << static_cast<int>(d.type);
        EXPECT_NE(eow_kind(d.eow), static_cast<unsigned>(eow_type::extensions));
        if (d.type != d_pdu_type::expedited_non_arq_data) {
            continue;
        }
        const auto c = decode_c_pdu(d.segment.data(), d.segment.size());
        ASSERT_TRUE(c);
        EXPECT_EQ(c->low, 0);
    }
}

void fill(scripted_peer& p)
{
    for (int k = 0; k < 40; ++k)
        p.submit(1, 2000);
}

} // namespace

TEST(strangers, that_are_called_see_edition_3)
{
    for (const uint16_t window : { 0, 60, 62, 64, 120 }) {
        scripted_peer p(fast());
        p.bind(1, 3);
        fill(p);
        auto sent = p.transmission();
        expect_edition_3(sent);
        auto accept = scripted_peer::link(c_pdu_type::link_accepted, 900);
        accept.non_arq.window = window;
        p.receive({ accept });
        for (int k = 0; k < 6; ++k) {
            sent = p.transmission(60);
            ASSERT_FALSE(sent.empty()) << window << " " << k;
            expect_edition_3(sent);
            EXPECT_TRUE(of_type(sent, d_pdu_type::expedited_non_arq_data).empty())
                << "a second request, window " << window;
            uint8_t next = 0;
            for (const auto& d : of_type(sent, d_pdu_type::data_only))
                next = static_cast<uint8_t>(d.arq.fsn + 1);
            p.receive({ scripted_peer::ack(next) });
        }
        EXPECT_EQ(p.n.stats().links_made, 1u);
    }
}

TEST(strangers, that_call_see_edition_3)
{
    for (const uint16_t window : { 0, 60, 62, 120 }) {
        scripted_peer p(fast());
        p.bind(1, 3);
        auto request = scripted_peer::link(c_pdu_type::link_request, 900);
        request.non_arq.window = window;
        p.receive({ request });
        expect_edition_3(p.transmission());
        fill(p);
        for (int k = 0; k < 6; ++k) {
            const auto sent = p.transmission(60);
            ASSERT_FALSE(sent.empty()) << window << " " << k;
            expect_edition_3(sent);
            uint8_t next = 0;
            for (const auto& d : of_type(sent, d_pdu_type::data_only))
                next = static_cast<uint8_t>(d.arq.fsn + 1);
            p.receive({ scripted_peer::ack(next) });
        }
        EXPECT_EQ(p.n.stats().links_large, 0u);
    }
}

// A node of another maker that has our windows by chance, with its own IDs.
TEST(strangers, whose_window_means_something_by_chance_get_a_plain_link)
{
    scripted_peer p(fast());
    p.bind(1, 3);
    auto request = scripted_peer::link(c_pdu_type::link_request, 900);
    request.non_arq.window = 63;
    p.receive({ request });
    fill(p);
    bool asked = false;
    for (int k = 0; k < 8; ++k) {
        const auto sent = p.transmission(60);
        ASSERT_FALSE(sent.empty()) << k;
        std::vector<d_pdu> answer;
        for (const auto& d : of_type(sent, d_pdu_type::expedited_non_arq_data)) {
            const auto c = decode_c_pdu(d.segment.data(), d.segment.size());
            if (c && c->type == c_pdu_type::link_request) {
                asked = true;
                answer = { scripted_peer::link(c_pdu_type::link_accepted, 901) };
            }
        }
        uint8_t next = 0;
        for (const auto& d : of_type(sent, d_pdu_type::data_only))
            next = static_cast<uint8_t>(d.arq.fsn + 1);
        answer.push_back(scripted_peer::ack(next));
        p.receive(answer);
    }
    EXPECT_TRUE(asked);
    EXPECT_EQ(p.n.stats().links_large, 0u);
    EXPECT_GT(p.n.stats().d_pdus_sent[static_cast<size_t>(d_pdu_type::data_only)], 200u);
}

} // namespace gr::hf::s5066

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Transmissions that the radio sends only in part.
#include "scripted_peer.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace gr::hf;
using namespace gr::hf::s5066;

namespace {

using t = d_pdu_type;

//! A node that sends: its link is made, and an acknowledgement is due.
struct sender : scripted_peer {
    sender() : scripted_peer(config())
    {
        bind(1, 3);
        make_link();
        for (int k = 0; k < 40; ++k) {
            submit(1, 2000);
        }
        receive({ data(0) });
        key();
    }
    static node_config config()
    {
        node_config c;
        c.mode = "4539-2400S";
        return c;
    }
    void key()
    {
        EXPECT_TRUE(wait(10));
        begin = now;
        blocks = 0;
        sent.reset();
    }
    //! The modem pulls one block. \return true if it was the last
    bool block()
    {
        const auto timing = kernel::timing_of(tx_mode);
        const size_t ask = timing.bits_per_block / 8;
        now = begin + timing.block_begin(blocks++);
        const auto o = n.pull(now, now, ask);
        sent.push(o.octets);
        return o.last;
    }
    //! D_PDUs that were pulled.
    std::vector<d_pdu> d_pdus()
    {
        std::vector<d_pdu> list;
        while (const auto r = sent.next()) {
            list.push_back(r->pdu);
        }
        return list;
    }
    d_pdu_deframer sent;
    station_time begin{};
    size_t blocks = 0;
};

bool has(const std::vector<d_pdu>& list, t type)
{
    return std::any_of(
        list.begin(), list.end(), [type](const d_pdu& d) { return d.type == type; });
}

} // namespace

TEST(broken_off, what_was_not_sent_goes_out_again_without_waiting_for_an_answer)
{
    sender s;
    for (int k = 0; k < 8; ++k) {
        ASSERT_FALSE(s.block());
    }
    const auto first = s.d_pdus();
    ASSERT_TRUE(has(first, t::ack_only) || has(first, t::data_ack));
    s.n.on_tx_damaged(s.now, "unkeyed", true);
    s.n.on_tx_end(s.now);
    const station_time broken = s.now;
    s.key();
    EXPECT_LT(to_seconds(s.now - broken), 6);
    for (int k = 0; k < 8; ++k) {
        s.block();
    }
    const auto second = s.d_pdus();
    EXPECT_TRUE(has(second, t::ack_only) || has(second, t::data_ack));
    const auto data = std::find_if(
        second.begin(), second.end(), [](const d_pdu& d) { return carries_data(d); });
    ASSERT_NE(data, second.end());
    EXPECT_EQ(data->arq.fsn, 0);
    EXPECT_EQ(s.n.stats().silent_rounds, 0u);
    EXPECT_EQ(s.n.stats().tx_damaged, 1u);
}

TEST(broken_off, a_radio_that_stays_broken_is_tried_less_and_less_often)
{
    sender s;
    station_time last{};
    for (int k = 0; k < 8; ++k) {
        s.n.on_tx_damaged(s.now, "unkeyed", true);
        s.n.on_tx_end(s.now);
        const station_time broken = s.now;
        ASSERT_TRUE(s.wait(120));
        EXPECT_GE(s.now - broken, last);
        last = s.now - broken;
    }
    EXPECT_GT(to_seconds(last), 30);
    EXPECT_EQ(s.n.stats().silent_rounds, 0u);
    // A transmission that ran for some seconds shows that the radio works again.
    s.begin = s.now;
    s.blocks = 0;
    while (to_seconds(s.now - s.begin) < 8) {
        ASSERT_FALSE(s.block());
    }
    s.n.on_tx_damaged(s.now, "unkeyed", true);
    s.n.on_tx_end(s.now);
    EXPECT_TRUE(s.wait(6));
    EXPECT_EQ(s.n.state().links, 1u);
}

TEST(broken_off, a_hole_ends_it_if_the_rest_takes_longer_than_another_transmission)
{
    sender s;
    for (int k = 0; k < 3; ++k) {
        ASSERT_FALSE(s.block());
    }
    s.n.on_tx_damaged(s.now, "underflow", false);
    EXPECT_TRUE(s.block());
    s.n.on_tx_end(s.now);
    EXPECT_EQ(s.n.stats().tx_damaged, 1u);
}

TEST(broken_off, a_hole_near_its_end_does_not)
{
    sender whole, s;
    while (!whole.block()) {
    }
    ASSERT_GT(whole.blocks, 20u);
    while (s.blocks + 3 < whole.blocks) {
        ASSERT_FALSE(s.block());
    }
    s.n.on_tx_damaged(s.now, "underflow", false);
    while (!s.block()) {
    }
    EXPECT_EQ(s.blocks, whole.blocks);
}

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// When a second link request asks for large windows (S5066-EP5).
#include "s5066/cas/link_window.h"
#include "scripted_peer.h"

#include <gtest/gtest.h>

using namespace gr::hf;
using namespace gr::hf::s5066;
using t = d_pdu_type;

namespace {

//! A node that sends 300 kB to a peer with large windows, which it does not know yet.
struct bulk_sender {
    explicit bulk_sender(uint16_t window = has_large_window, int u_pdus = 150)
        : p(config()), peer_window(window)
    {
        p.bind(1, 3);
        for (int k = 0; k < u_pdus; ++k) {
            p.submit(1, 2000);
        }
    }
    static node_config config()
    {
        node_config c;
        c.mode = "4539-9600S";
        c.queue_octets = 1'000'000;
        return c;
    }
    //! The node's next transmission. \return true if it asks for large windows
    bool asks()
    {
        bool asked = false;
        for (const auto& d : p.transmission(60)) {
            if (d.type == t::expedited_non_arq_data && d.segment.size() == 1) {
                asked = asked || d.non_arq.window == large_window_mark;
                request_id = d.non_arq.c_pdu_id;
            } else if (d.type == t::data_only || d.type == t::data_ack) {
                next = static_cast<uint8_t>(d.arq.fsn + 1);
            }
        }
        return asked;
    }
    //! The peer acknowledges everything, and sends \p more.
    void answer(std::vector<d_pdu> more = {})
    {
        auto list = std::move(more);
        list.insert(list.begin(), scripted_peer::ack(next));
        if (!linked) {
            auto accept = scripted_peer::link(c_pdu_type::link_accepted, request_id);
            accept.non_arq.window = peer_window;
            list.insert(list.begin(), accept);
            linked = true;
        }
        p.receive(list);
    }

    scripted_peer p;
    uint16_t peer_window, request_id = 0;
    uint8_t next = 0;
    bool linked = false;
};

} // namespace

TEST(link_upgrade, follows_the_first_complete_acknowledgement)
{
    bulk_sender s;
    EXPECT_FALSE(s.asks());
    s.answer();
    EXPECT_TRUE(s.asks());
}

TEST(link_upgrade, needs_a_peer_with_large_windows_and_more_than_a_window_of_data)
{
    bulk_sender foreign(link_window), little(has_large_window, 2);
    for (auto* s : { &foreign, &little }) {
        EXPECT_FALSE(s->asks());
        s->answer();
        EXPECT_FALSE(s->asks());
    }
}

TEST(link_upgrade, waits_while_the_peer_has_data)
{
    // Data may be repeated on the new link if our acknowledgement was lost.
    bulk_sender s;
    EXPECT_FALSE(s.asks());
    s.answer({ scripted_peer::data(0) });
    EXPECT_FALSE(s.asks()); // the acknowledgement
    s.answer();
    EXPECT_FALSE(s.asks());
    s.answer();
    EXPECT_FALSE(s.asks());
    s.answer();
    EXPECT_TRUE(s.asks()); // after three turns of the peer without data
}

TEST(link_upgrade, waits_for_the_rest_of_what_the_peer_has_sent)
{
    bulk_sender s;
    EXPECT_FALSE(s.asks());
    s.answer({ scripted_peer::data(1) }); // 0 is missing
    for (int k = 0; k < 5; ++k) {
        EXPECT_FALSE(s.asks()) << k;
        s.answer();
    }
}

TEST(link_upgrade, waits_until_all_data_are_acknowledged)
{
    bulk_sender s;
    EXPECT_FALSE(s.asks());
    auto accept = scripted_peer::link(c_pdu_type::link_accepted, s.request_id);
    accept.non_arq.window = has_large_window;
    s.linked = true;
    s.p.receive({ accept }); // none of the data has arrived
    EXPECT_FALSE(s.asks());
    s.answer();
    EXPECT_TRUE(s.asks());
}

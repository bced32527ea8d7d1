/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Well-formed D_PDUs and primitives that make no sense.
#include "scripted_peer.h"

#include <gtest/gtest.h>
#include <random>

using namespace gr::hf;
using namespace gr::hf::s5066;
using t = d_pdu_type;

TEST(fuzz, a_connected_node_survives_anything)
{
    std::mt19937 r(3);
    node_config c;
    c.keep_alive_s = 120;
    c.trace = c.tap = true;
    scripted_peer p(c);
    p.bind(1, 3, 15);
    p.bind(2, 4);
    for (int round = 0; round < 3000; ++round) {
        std::vector<d_pdu> list;
        for (unsigned k = r() % 6; k > 0; --k) {
            d_pdu d = scripted_peer::from_peer(static_cast<t>(r() % 16));
            if (r() % 4 == 0) {
                list.push_back(r() % 2
                                   ? scripted_peer::data(static_cast<uint8_t>(r() % 4))
                                   : scripted_peer::link(static_cast<c_pdu_type>(r() % 6),
                                                         static_cast<uint16_t>(r() % 3),
                                                         static_cast<uint8_t>(r() % 16)));
                continue;
            }
            d.segment.resize(r() % 40);
            for (auto& o : d.segment) {
                o = static_cast<uint8_t>(r() % 64);
            }
            d.eow = static_cast<uint16_t>(r() % 0x1000);
            d.eot = static_cast<uint8_t>(r() % 8);
            d.arq.fsn = static_cast<uint8_t>(r() % 200);
            d.arq.start = r() % 2;
            d.arq.end = r() % 2;
            d.arq.uwe = r() % 2;
            d.arq.lwe = r() % 2;
            d.arq.drop = r() % 8 == 0;
            d.arq.in_order = r() % 2;
            d.ack.rx_lwe = static_cast<uint8_t>(r() % 40);
            d.ack.selective.resize(r() % 17, static_cast<uint8_t>(r()));
            d.reset.full = r() % 2;
            d.reset.ack = r() % 2;
            d.reset.tx_rqst = r() % 2;
            d.reset.rx_cmnd = r() % 2;
            d.reset.frame_id = static_cast<uint8_t>(r() % 4);
            d.non_arq.c_pdu_size = static_cast<uint16_t>(r() % 60);
            d.non_arq.offset = static_cast<uint16_t>(r() % 40);
            d.non_arq.window = static_cast<uint16_t>(r() % 10);
            d.management.valid = r() % 2;
            d.warning.reason = static_cast<uint8_t>(r() % 4);
            if (r() % 30 == 0) {
                d.src = address::node(r());
            }
            if (r() % 30 == 0) {
                d.dst = address::broadcast();
            }
            list.push_back(d);
        }
        p.receive(list, static_cast<rx_end_reason>(r() % 4));
        for (unsigned k = r() % 4; k > 0; --k) {
            auto v = encode(s_unidata_request{ r() % 8 == 0,
                                               static_cast<uint8_t>(r() % 16),
                                               3,
                                               address::node(0x01020000 + r() % 3),
                                               {},
                                               static_cast<uint32_t>(r() % 20),
                                               std::vector<uint8_t>(r() % 3000) });
            v[r() % v.size()] = static_cast<uint8_t>(r());
            p.n.sis_in(p.now, r() % 4, v);
        }
        if (r() % 20 == 0) {
            p.n.client_gone(p.now, 1);
            p.bind(1, 3, 15);
        }
        if (p.wait(static_cast<double>(r() % 4))) {
            p.send_out();
        }
        p.primitives();
        while (p.n.poll_tap()) {
        }
        while (p.n.poll_trace()) {
        }
        ASSERT_LE(p.n.state().queued_octets, 1000000u);
    }
    EXPECT_GT(p.n.stats().transmissions, 500u);
    EXPECT_GT(p.n.stats().u_pdus_delivered, 10u);
    // It still works.
    p.receive({ scripted_peer::link(c_pdu_type::link_break) });
    p.transmission(300);
    p.wait(0.5);
    EXPECT_LE(p.n.state().links, 8u);
}

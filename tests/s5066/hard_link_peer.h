/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "scripted_peer.h"

#include <gtest/gtest.h>

#include <set>

namespace gr::hf::s5066 {

//! A scripted peer that also speaks the S_PDUs of hard links, by expedited ARQ.
class hard_link_peer : public scripted_peer
{
public:
    using scripted_peer::scripted_peer;

    static s_pdu pdu(s_pdu_type type, uint8_t low = 0)
    {
        s_pdu s;
        s.type = type;
        s.low = low;
        return s;
    }
    static s_pdu request(uint8_t type, uint8_t priority, uint8_t from, uint8_t to)
    {
        s_pdu s = pdu(s_pdu_type::hard_link_request, uint8_t(type << 2 | priority));
        s.src_sap = from;
        s.dst_sap = to;
        return s;
    }
    static hard_link link_to(uint8_t type, uint8_t priority = 0, uint8_t remote_sap = 0)
    {
        hard_link l;
        l.type = type;
        l.priority = priority;
        l.remote_sap = remote_sap;
        l.remote = address("1.2.0.0");
        return l;
    }

    //! The next S_PDU of the peer, as a D_PDU of type 4.
    d_pdu expedited(const s_pdu& s)
    {
        d_pdu d = from_peer(d_pdu_type::expedited_data_only);
        d.expedited.start = d.expedited.end = true;
        d.expedited.c_pdu_id = d_next_id++ & 0xf;
        d.segment = encode(c_pdu{ c_pdu_type::data, 0, encode(s) });
        return d;
    }
    static d_pdu acknowledged()
    {
        d_pdu d = from_peer(d_pdu_type::expedited_ack_only);
        d.ack.rx_lwe = 1;
        return d;
    }
    //! The peer sends this, and acknowledges what it has received.
    void say(const s_pdu& s) { receive({ acknowledged(), expedited(s) }); }

    //! S_PDUs in D_PDUs of type 4 of the node's next transmission, as octets.
    std::set<std::vector<uint8_t>> heard(double s = 3)
    {
        std::set<std::vector<uint8_t>> all;
        for (const auto& d : of_type(transmission(s), d_pdu_type::expedited_data_only)) {
            EXPECT_EQ(d.segment.at(0), 0); // DATA C_PDU
            all.emplace(d.segment.begin() + 1, d.segment.end());
        }
        return all;
    }
    using s_pdus = std::set<std::vector<uint8_t>>;

    //! The node requests an exclusive link for client \p c, and gets it.
    void call(client_id c, const hard_link& l)
    {
        send(c, s_hard_link_establish{ l });
        const auto d = transmission();
        ASSERT_FALSE(d.empty());
        EXPECT_EQ(d[0].segment, std::vector<uint8_t>{ 0x11 });
        EXPECT_TRUE(of_type(d, d_pdu_type::expedited_data_only).empty());
        d_next_id = 0;
        receive({ link(c_pdu_type::link_accepted) });
    }
    //! Client \p c of the node establishes a hard link.
    void establish(client_id c, const hard_link& l)
    {
        call(c, l);
        EXPECT_EQ(heard().size(), 1u);
        say(pdu(s_pdu_type::hard_link_confirm));
        EXPECT_TRUE(n.state().hard_link);
        told = primitives();
        transmission();
    }
    //! The peer makes an exclusive link.
    void make_exclusive(uint16_t id = 1)
    {
        d_next_id = 0;
        receive({ link(c_pdu_type::link_request, id, 1) });
        const auto d = transmission();
        ASSERT_FALSE(d.empty());
        EXPECT_EQ(d[0].segment, std::vector<uint8_t>{ 0x20 });
    }
    //! SAP \p from of the peer establishes a hard link of type 0 or 1.
    void called(uint8_t type, uint8_t priority, uint8_t from)
    {
        make_exclusive();
        receive({ expedited(request(type, priority, from, 0)) });
        EXPECT_EQ(heard(), (s_pdus{ { 0x40 } }));
        receive({ acknowledged() });
    }

    //! Primitives for clients after establish() was successful.
    std::vector<std::pair<client_id, s_primitive>> told;

private:
    uint8_t d_next_id = 0;
};

} // namespace gr::hf::s5066

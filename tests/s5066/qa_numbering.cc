/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Segments of two numberings must not make one C_PDU: C_PDUs have no CRC.
#include "scripted_peer.h"

#include <gtest/gtest.h>

using namespace gr::hf;
using namespace gr::hf::s5066;

namespace {

struct numbering : testing::Test, scripted_peer {
    numbering()
    {
        bind(1, 3);
        make_link();
    }
    //! One half of a U_PDU of 40 octets \p fill.
    static d_pdu half(uint8_t fsn, bool first, uint8_t fill)
    {
        d_pdu d = data(fill, 40);
        const auto middle = d.segment.begin() + static_cast<long>(d.segment.size() / 2);
        d.segment = first ? std::vector<uint8_t>(d.segment.begin(), middle)
                          : std::vector<uint8_t>(middle, d.segment.end());
        d.arq.start = first;
        d.arq.end = !first;
        d.arq.fsn = fsn;
        return d;
    }
    //! Octets that cannot be read.
    static std::vector<uint8_t> lost() { return std::vector<uint8_t>(60, 0xff); }
    static std::vector<uint8_t> on_air(const d_pdu& d) { return encode(d); }
    static std::vector<uint8_t> on_air(std::vector<uint8_t> octets) { return octets; }
    //! The node receives \p parts after octets that it could not read.
    template <class... part>
    void receive_late(const part&... parts)
    {
        std::vector<uint8_t> octets;
        for (const auto& v : { lost(), on_air(parts)... }) {
            octets.insert(octets.end(), v.begin(), v.end());
        }
        receive_octets(octets);
    }
    //! The node receives a whole U_PDU, and the first half of the next one.
    void receive_first_half()
    {
        receive({ data(0), half(1, true, 1) });
        EXPECT_EQ(acknowledged(), 2u);
        EXPECT_EQ(delivered(), 1u);
    }
    //! RX LWE of the node's next transmission.
    unsigned acknowledged()
    {
        for (const d_pdu& d : transmission()) {
            if (d.type == d_pdu_type::ack_only) {
                return d.ack.rx_lwe;
            }
        }
        return 999;
    }
    size_t delivered() { return primitives().size(); }
};

} // namespace

TEST_F(numbering, a_segment_of_unknown_numbering_completes_nothing)
{
    receive_first_half();
    receive_late(half(2, false, 9));
    EXPECT_EQ(acknowledged(), 2u);
    EXPECT_EQ(delivered(), 0u);
    // A station that restarted makes a new link, and sends its first U_PDUs again.
    receive({ link(c_pdu_type::link_request, 7),
              half(0, true, 8),
              half(1, false, 8),
              half(2, true, 9),
              half(3, false, 9) });
    EXPECT_EQ(delivered(), 2u);
}

TEST_F(numbering, a_segment_before_those_held_completes_nothing_either)
{
    receive({ data(0), half(2, false, 1) });
    EXPECT_EQ(acknowledged(), 1u);
    EXPECT_EQ(delivered(), 1u);
    receive_late(half(1, true, 9));
    EXPECT_EQ(acknowledged(), 1u);
    EXPECT_EQ(delivered(), 0u);
}

TEST_F(numbering, a_lower_window_edge_that_moved_proves_it)
{
    receive_first_half();
    d_pdu rest = half(2, false, 1);
    rest.arq.lwe = true;
    receive_late(rest);
    EXPECT_EQ(acknowledged(), 3u);
    EXPECT_EQ(delivered(), 1u);
}

TEST_F(numbering, an_acknowledgement_of_our_data_proves_it)
{
    submit(1, 20);
    transmission();
    receive({ ack(1), half(0, true, 1) });
    EXPECT_EQ(acknowledged(), 1u);
    d_pdu rest = half(1, false, 1);
    rest.type = d_pdu_type::data_ack;
    rest.ack.rx_lwe = 1;
    primitives();
    receive_late(rest);
    EXPECT_EQ(acknowledged(), 2u);
    EXPECT_EQ(delivered(), 1u);
}

TEST_F(numbering, a_reception_read_from_its_start_proves_it)
{
    receive({ half(1, false, 1) });
    EXPECT_EQ(acknowledged(), 0u);
    receive({ half(0, true, 1) });
    EXPECT_EQ(acknowledged(), 2u);
    EXPECT_EQ(delivered(), 1u);
}

// More missing blocks than are ever put in: nothing says what stood in them.
TEST_F(numbering, a_reception_without_its_first_blocks_proves_nothing)
{
    receive_first_half();
    rx_start begin;
    begin.m = mode::parse("4539-9600S");
    n.on_rx_start(now, begin);
    rx_octets late;
    late.octets = encode(half(2, false, 9));
    late.number = 100;
    n.on_rx_octets(now, late);
    rx_end end;
    end.air_end = now;
    n.on_rx_end(now, end);
    EXPECT_EQ(acknowledged(), 2u);
    EXPECT_EQ(delivered(), 0u);
}

// A missing block takes its place in the octets. The CRC-32 of zeros is good, so zeros
// after a header would be a segment.
TEST_F(numbering, a_segment_in_a_missing_block_is_not_received)
{
    rx_start begin;
    begin.m = mode::parse("4539-9600S");
    n.on_rx_start(now, begin);
    rx_octets block;
    block.octets = encode(data(0));
    const d_pdu cut = data(1);
    const auto octets = encode(cut);
    block.octets.insert(block.octets.end(),
                        octets.begin(),
                        octets.begin() + static_cast<long>(cut.header_octets()));
    block.number = 0;
    n.on_rx_octets(now, block);
    block.octets = lost();
    block.number = 2;
    n.on_rx_octets(now, block);
    rx_end end;
    end.air_end = now;
    n.on_rx_end(now, end);
    EXPECT_EQ(acknowledged(), 1u);
    EXPECT_EQ(delivered(), 1u);
}

TEST_F(numbering, skipping_what_we_have_proves_it)
{
    receive({ data(0), half(2, true, 1) });
    EXPECT_EQ(acknowledged(), 1u);
    EXPECT_EQ(delivered(), 1u);
    receive_late(data(1), half(3, false, 1));
    EXPECT_EQ(acknowledged(), 4u);
    EXPECT_EQ(delivered(), 2u);
}

TEST_F(numbering, a_gap_that_may_have_held_what_we_have_proves_nothing)
{
    receive({ data(0), half(2, true, 1) });
    EXPECT_EQ(acknowledged(), 1u);
    EXPECT_EQ(delivered(), 1u);
    receive_late(data(1), lost(), half(3, false, 1));
    EXPECT_EQ(acknowledged(), 3u);
    EXPECT_EQ(delivered(), 1u);
}

TEST_F(numbering, a_repeat_of_the_link_request_proves_it)
{
    receive_first_half();
    receive_late(link(c_pdu_type::link_request), half(2, false, 1));
    EXPECT_EQ(delivered(), 1u);
}

TEST_F(numbering, a_sender_that_proves_nothing_is_trusted_after_two_receptions)
{
    receive({ half(0, true, 1) });
    EXPECT_EQ(acknowledged(), 1u);
    for (int k = 0; k < 2; ++k) {
        receive_late(half(1, false, 1));
        EXPECT_EQ(acknowledged(), 1u);
    }
    EXPECT_EQ(delivered(), 0u);
    receive_late(half(1, false, 1));
    EXPECT_EQ(acknowledged(), 2u);
    EXPECT_EQ(delivered(), 1u);
}

// A station has restarted. Its link request was lost, but not the copy after its data.
TEST_F(numbering, data_ahead_of_their_link_request_are_delivered_once)
{
    receive_late(data(0),
                 half(1, true, 1),
                 link(c_pdu_type::link_request, 7),
                 half(2, false, 1),
                 data(0));
    EXPECT_EQ(delivered(), 2u);
    EXPECT_EQ(acknowledged(), 3u);
    receive({ data(0), half(1, true, 1), half(2, false, 1), data(3) });
    EXPECT_EQ(delivered(), 1u);
    EXPECT_EQ(acknowledged(), 4u);
}

TEST_F(numbering, data_of_the_link_before_do_not_count_on_the_new_one)
{
    receive({ data(0), data(1) });
    EXPECT_EQ(delivered(), 2u);
    receive_late(data(0), link(c_pdu_type::link_request, 7), data(1));
    EXPECT_EQ(delivered(), 0u) << "0 was a repeat on the link before";
    EXPECT_EQ(acknowledged(), 0u);
    receive({ data(0) });
    EXPECT_EQ(delivered(), 2u);
    EXPECT_EQ(acknowledged(), 2u);
}

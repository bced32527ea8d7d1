/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// The log reports exactly the D_PDUs that the counters count, since displays are made
// from it.
#include "two_stations.h"

#include <gtest/gtest.h>

#include <regex>

using namespace gr::hf;
using namespace gr::hf::s5066;
using namespace gr::hf::sim;

namespace {

struct told {
    uint64_t sent = 0, again = 0, fill = 0, received = 0, damaged = 0, unread = 0;
};

void listen(station& st, told& t)
{
    st.node().set_trace(true);
    st.on_trace = [&t](const log_record& l) {
        if (!l.d_pdu) {
            return;
        }
        // The line for a person says the same.
        static const std::regex line("\\S+>\\S+ .*?( BAD CRC)? eot [0-9.]+"
                                     "( (again |fill )?@\\S+)?");
        std::smatch m;
        const bool one = std::regex_match(l.text, m, line);
        switch (l.d_pdu->fate) {
        case d_pdu_fate::sent:
        case d_pdu_fate::sent_again:
        case d_pdu_fate::sent_as_fill:
            t.sent += l.d_pdu->count;
            t.again += l.d_pdu->fate == d_pdu_fate::sent_again ? 1 : 0;
            t.fill += l.d_pdu->fate == d_pdu_fate::sent_as_fill ? 1 : 0;
            EXPECT_TRUE(one && m[2].matched) << l.text;
            EXPECT_EQ(m[3] == "again ", l.d_pdu->fate == d_pdu_fate::sent_again);
            EXPECT_EQ(m[3] == "fill ", l.d_pdu->fate == d_pdu_fate::sent_as_fill);
            break;
        case d_pdu_fate::damaged:
            ++t.damaged;
            [[fallthrough]];
        case d_pdu_fate::received:
            ++t.received;
            EXPECT_TRUE(one && !m[2].matched) << l.text;
            EXPECT_EQ(m[1].matched, l.d_pdu->fate == d_pdu_fate::damaged) << l.text;
            break;
        case d_pdu_fate::unread:
            t.unread += l.d_pdu->count;
            break;
        }
    };
}

uint64_t sum(const std::array<uint64_t, 16>& by_type)
{
    uint64_t all = 0;
    for (const uint64_t n : by_type) {
        all += n;
    }
    return all;
}

} // namespace

TEST(log, tells_of_every_d_pdu_that_was_sent_again_damaged_or_unread)
{
    air_path p;
    // Every other header of some 20 octets is lost, and nearly every segment.
    p.ber = 3e-3;
    auto ca = test_config(1, "4539-9600S"), cb = test_config(2, "4539-9600S");
    two_stations net(ca, cb, p, 7);
    told a, b;
    listen(net.a, a);
    listen(net.b, b);
    net.goodput(20000, 500, 600);
    for (const auto& [st, t] : { std::pair(&net.a, &a), std::pair(&net.b, &b) }) {
        const auto& s = st->node().stats();
        EXPECT_EQ(t->sent, sum(s.d_pdus_sent));
        EXPECT_EQ(t->again, s.d_pdus_repeated);
        EXPECT_EQ(t->fill, s.d_pdus_fill);
        EXPECT_EQ(t->received, sum(s.d_pdus_received));
        EXPECT_EQ(t->damaged, s.segment_crc_errors);
        EXPECT_EQ(t->unread, s.d_pdus_unread);
    }
    EXPECT_GT(a.again, 10u);
    EXPECT_GT(b.damaged, 10u);
    // An estimate by length, the end of each transmission left out.
    const auto missing = static_cast<double>(a.sent - b.received);
    EXPECT_GT(missing, 20);
    EXPECT_NEAR(static_cast<double>(b.unread), missing, 0.5 * missing);
}

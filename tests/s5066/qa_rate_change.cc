/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Data rate change (C.6.4): what the slave accepts as DT_ACK, and how it leaves a change
// that its master has given up.
#include "s5066/dts/exchange/rate_change.h"

#include <gtest/gtest.h>

using namespace gr::hf;
using namespace gr::hf::s5066;

namespace {

// A slave that has accepted 1200 bit/s, short.
struct slave {
    slave()
    {
        asked.rate_bps = 1200;
        change.on_message(*encode_rate_request(asked, rate_other::equal), {}, exchange);
        EXPECT_TRUE(change.active());
    }

    mode asked = rate_change::initial();
    management_exchange exchange;
    rate_change change;
};

} // namespace

TEST(rate_change, only_the_acknowledgement_of_the_accept_is_the_dt_ack)
{
    slave s;
    // The acknowledgement of an earlier message was under way: another answer, an
    // advisory, nothing at all.
    for (const uint16_t earlier :
         { encode_rate_answer(rate_answer::refuse, rate_reason_rate),
           encode_rate_answer(rate_answer::confirm, rate_reason_none),
           encode_rate_request(s.asked, rate_other::advisory)->eow,
           uint16_t(0) }) {
        s.change.on_acked(earlier, s.exchange);
        EXPECT_EQ(s.change.rx_mode(), rate_change::initial()) << earlier;
        EXPECT_EQ(s.change.tx_mode(), rate_change::initial()) << earlier;
    }
    s.change.on_acked(encode_rate_answer(rate_answer::accept, rate_reason_none),
                      s.exchange);
    EXPECT_EQ(s.change.rx_mode(), s.asked);
    EXPECT_EQ(s.change.tx_mode(), s.asked);
}

TEST(rate_change, the_slave_falls_back_when_the_master_stays_in_the_old_mode)
{
    slave s;
    s.change.on_acked(encode_rate_answer(rate_answer::accept, rate_reason_none),
                      s.exchange);
    ASSERT_EQ(s.change.rx_mode(), s.asked);
    // The master repeats the DT_ACK up to four times in a transmission: after five such
    // transmissions it has not changed.
    const mode old = rate_change::initial();
    for (int k = 1; k < 20; ++k) {
        EXPECT_TRUE(s.change.outdated(old, s.exchange));
        ASSERT_EQ(s.change.rx_mode(), s.asked) << k;
    }
    EXPECT_TRUE(s.change.outdated(old, s.exchange));
    EXPECT_EQ(s.change.rx_mode(), old);
    EXPECT_EQ(s.change.tx_mode(), old);
    EXPECT_FALSE(s.change.active());
    EXPECT_FALSE(s.exchange.active()); // the confirm is withdrawn
    EXPECT_FALSE(s.change.outdated(old, s.exchange));
}

TEST(rate_change, d_pdus_in_the_new_mode_are_not_outdated)
{
    slave s;
    s.change.on_acked(encode_rate_answer(rate_answer::accept, rate_reason_none),
                      s.exchange);
    for (int k = 0; k < 100; ++k)
        EXPECT_FALSE(s.change.outdated(s.asked, s.exchange));
    EXPECT_EQ(s.change.rx_mode(), s.asked);
}

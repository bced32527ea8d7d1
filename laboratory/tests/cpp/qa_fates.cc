/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// The fate of each U_PDU. Above all, none that was confirmed to a client is missing.
#include "sim/stations/traffic.h"
#include "trials/fault_trial.h"

#include <gtest/gtest.h>

#include <cstdio>

using namespace gr::hf;
using namespace gr::hf::sim;

class fates_under_faults : public testing::TestWithParam<int>
{
};

// The first runs of `hf-lab bench faults`.
TEST_P(fates_under_faults, nothing_confirmed_is_missing_and_nothing_comes_twice_on_a_link)
{
    fault_trial t;
    t.duration_s = 10 * 3600;
    t.seed = static_cast<uint64_t>(GetParam());
    const auto r = run(t);
    std::printf("%llu U_PDUs, %llu confirmed, %llu rejected, %llu restarts, %llu links, "
                "%llu failed, %llu resets; twice on later links %llu, rejected though "
                "delivered %llu\n",
                static_cast<unsigned long long>(r.u_pdus),
                static_cast<unsigned long long>(r.confirmed),
                static_cast<unsigned long long>(r.rejected),
                static_cast<unsigned long long>(r.restarts),
                static_cast<unsigned long long>(r.links_made),
                static_cast<unsigned long long>(r.links_failed),
                static_cast<unsigned long long>(r.resets),
                static_cast<unsigned long long>(r.repeated),
                static_cast<unsigned long long>(r.rejected_delivered));
    EXPECT_EQ(r.missing, 0u);
    EXPECT_EQ(r.contradictory, 0u);
    EXPECT_EQ(r.repeated_on_link, 0u);
    EXPECT_EQ(r.altered, 0u);
    EXPECT_GT(r.restarts, 10u);
    EXPECT_GT(r.confirmed, r.u_pdus / 3);
}

// With seed 64 a link ends and the next one starts between two D_PDUs of one block.
INSTANTIATE_TEST_SUITE_P(seeds, fates_under_faults, testing::Values(1, 2, 3, 4, 24, 64));

TEST(fate_book, tells_what_is_missing_and_what_came_twice)
{
    u_pdu_fate f;
    f.number = 7;
    fate_book book;
    book.submitted(f, { "B" });
    const auto& fate = book.all().front();
    const auto u = bulk_source::u_pdu(7, 100);
    EXPECT_FALSE(fate.missing());
    book.reported(false, s5066::s_unidata_request_confirm{ false, 0, {}, u }, 10);
    EXPECT_TRUE(fate.missing()); // confirmed to the client, and found nowhere else
    book.delivered(false, 7, 0, 11, { 0, 1 });
    EXPECT_TRUE(fate.missing()); // too late: it could have been lost
    EXPECT_EQ(fate.repeated_on_link, 0u);
    book.delivered(false, 7, 0, 12, { 0, 1 });
    EXPECT_EQ(fate.repeated_on_link, 1u);
    book.delivered(false, 7, 0, 13, { 0, 2 });
    EXPECT_EQ(fate.repeated_on_link, 1u); // on another link
    EXPECT_EQ(fate.deliveries, 3u);
    EXPECT_FALSE(fate.contradictory());
    book.reported(false, s5066::s_unidata_request_rejected{ false, 3, 0, {}, u }, 14);
    EXPECT_TRUE(fate.contradictory());
    EXPECT_STREQ(to_string(*fate.reason), "not_responding");
    book.delivered(true, 7, 0, 15, { 0, 2 }); // an answer that no station sent
    EXPECT_EQ(book.all().size(), 1u);

    fate_book other;
    f.number = 8;
    other.submitted(f, { "B", "C" });
    other.delivered(false, 8, 1, 5, { 0, 1 });
    EXPECT_FALSE(other.all()[0].delivered_s);
    EXPECT_EQ(other.all()[1].delivered_s, 5.0);
    EXPECT_EQ(other.all()[1].to, "C");
}

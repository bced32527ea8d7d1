/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ale/link/address_book.h"
#include "ale/link/lqa_store.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace gr::hf::test {
namespace {

using namespace ale;
using channels = std::vector<size_t>;

TEST(lqa_store, orders_channels_by_both_directions)
{
    lqa_store store;
    const station_time now = std::chrono::seconds(10);
    store.heard("JOE", 1, 20, now);
    store.reported("JOE", 1, 0, now);
    store.heard("JOE", 3, 12, now);
    store.unanswered("JOE", 0, now);
    EXPECT_EQ(store.order("JOE", 4, now), (channels{ 3, 1, 2, 0 }));
    EXPECT_DOUBLE_EQ(*store.score("JOE", 1, now), 10);
    EXPECT_FALSE(store.score("SAM", 1, now));
}

TEST(lqa_store, equal_channels_keep_their_order)
{
    lqa_store store;
    const station_time now = std::chrono::seconds(10);
    EXPECT_EQ(store.order("JOE", 4, now), (channels{ 0, 1, 2, 3 }));
    store.heard("JOE", 1, 12, now);
    store.heard("JOE", 3, 12, now);
    EXPECT_EQ(store.order("JOE", 5, now), (channels{ 1, 3, 0, 2, 4 }));
}

TEST(lqa_store, forgets_after_an_hour)
{
    lqa_store store;
    store.heard("JOE", 2, 20, {});
    EXPECT_TRUE(store.score("JOE", 2, lqa_store::lifetime));
    EXPECT_FALSE(
        store.score("JOE", 2, lqa_store::lifetime + std::chrono::nanoseconds(1)));
}

TEST(lqa_store, is_bounded)
{
    lqa_store store;
    for (size_t k = 0; k <= lqa_store::max_cells; ++k)
        store.heard("S" + std::to_string(k), 0, 5, station_time(k));
    EXPECT_EQ(store.size(), lqa_store::max_cells);
    EXPECT_FALSE(store.score("S0", 0, {}));
    EXPECT_TRUE(store.score("S4096", 0, station_time(4096)));
}

TEST(address_book, finds_what_concerns_the_station)
{
    using kind = address_book::match::kind;
    const address_book book{ { "JOE", "EDGAR" }, { { "NET", { "SAM", "JOE" } } }, {} };
    EXPECT_EQ(book.find("JOE").how, kind::individual);
    EXPECT_EQ(book.find("NET").slot, 2u);
    EXPECT_EQ(book.find("SAM").how, kind::none);
    EXPECT_EQ(book.find("@?@").how, kind::all);
    EXPECT_EQ(book.find("@E@").how, kind::all);
    EXPECT_EQ(book.find("@X@").how, kind::none);
    EXPECT_EQ(book.find("@@R").own, "EDGAR");
    EXPECT_EQ(book.find("@AR").own, "EDGAR");
    EXPECT_EQ(book.find("@BR").how, kind::none);
    EXPECT_EQ(book.find("J?E").how, kind::any);
    EXPECT_EQ(book.find("@@@").how, kind::none);
    EXPECT_TRUE(book.may_concern(*word::parse("TO:EDG")));
    EXPECT_TRUE(book.may_concern(*word::parse("TO:@@?")));
    EXPECT_FALSE(book.may_concern(*word::parse("TO:SAM")));
    EXPECT_FALSE(book.may_concern(*word::parse("TIS:JOE")));
}

TEST(address_book, refuses_what_is_no_address)
{
    EXPECT_THROW(address_book{}.check(), std::invalid_argument);
    EXPECT_THROW((address_book{ { "joe" }, {}, {} }.check()), std::invalid_argument);
    EXPECT_THROW((address_book{ { "JOE" }, {}, { { "SAM", 101 } } }.check()),
                 std::invalid_argument);
}

TEST(address_book, numbers_have_limits)
{
    const auto names = [](size_t count) {
        std::vector<std::string> all;
        for (size_t k = 0; k < count; ++k)
            all.push_back("S" + std::to_string(k));
        return all;
    };
    const auto refused = [](const address_book& b) {
        try {
            b.check();
        } catch (const std::invalid_argument&) {
            return true;
        }
        return false;
    };
    for (const size_t count : { 0u, 1u, 20u, 21u })
        EXPECT_EQ(refused({ names(count), {}, {} }), count == 0 || count == 21) << count;
    for (const size_t count : { 0u, 1u, 100u, 101u })
        EXPECT_EQ(refused({ { "JOE" }, { { "NET", names(count) } }, {} }),
                  count == 0 || count == 101)
            << count;
    for (const int count : { -1, 0, 100, 101 })
        EXPECT_EQ(refused({ { "JOE" }, {}, { { "SAM", count } } }),
                  count < 0 || count == 101)
            << count;
}

TEST(lqa_store, what_we_hear_is_told_apart_from_what_is_reported)
{
    lqa_store store;
    const station_time now = std::chrono::seconds(10);
    store.reported("JOE", 1, 4, now);
    EXPECT_FALSE(store.heard_db("JOE", 1, now));
    store.heard("JOE", 1, 20, now);
    EXPECT_DOUBLE_EQ(store.heard_db("JOE", 1, now).value(), 20);
    EXPECT_DOUBLE_EQ(store.score("JOE", 1, now).value(), 12);
    EXPECT_FALSE(store.heard_db("JOE", 1, now + lqa_store::lifetime * 2));
}

TEST(lqa_store, the_channel_with_the_oldest_knowledge_is_tried_next)
{
    lqa_store q;
    const station_time now = std::chrono::hours(10);
    const auto hour = std::chrono::hours(1);
    EXPECT_EQ(q.unknown("JOE", 3, 0, now), 1u);
    q.heard("JOE", 1, 10, now - 2 * hour);
    q.unanswered("JOE", 2, now - 3 * hour);
    EXPECT_EQ(q.unknown("JOE", 3, 0, now), 2u);
    EXPECT_EQ(q.unknown("JOE", 3, 2, now), 0u);
    q.unanswered("JOE", 2, now);
    EXPECT_EQ(q.unknown("JOE", 3, 0, now), 1u);
    q.heard("JOE", 1, 10, now);
    EXPECT_EQ(q.unknown("JOE", 3, 0, now), std::nullopt);
}

} // namespace
} // namespace gr::hf::test

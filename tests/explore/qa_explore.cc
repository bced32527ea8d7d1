/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// A sample of the schedules that hf test --explore runs, and checks of the explorer itself.
#include "explore/search.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace gr::hf::explore;

namespace {

class sample : public testing::TestWithParam<std::string>
{
};

} // namespace

TEST_P(sample, all_invariants_hold)
{
    const std::string world = GetParam();
    unsigned shown = 0;
    const tally t = run_sample(
        world, 10000 / worlds().size() + 1, [&](const schedule& s, const outcome& o) {
            if (!o.violations.empty() && ++shown <= 5) {
                ADD_FAILURE() << "explore " << world << " " << to_string(s) << ": "
                              << o.violations.front();
            }
        });
    std::printf("%s: %llu schedules, %llu failures, idle after at most %.0f s\n",
                world.c_str(),
                static_cast<unsigned long long>(t.schedules),
                static_cast<unsigned long long>(t.failures),
                t.longest_quiet_s);
    EXPECT_EQ(t.failures, 0u);
    EXPECT_GT(t.schedules, 500u);
}

INSTANTIATE_TEST_SUITE_P(explore,
                         sample,
                         testing::ValuesIn(worlds()),
                         [](const auto& world) {
                             std::string name = world.param;
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

TEST(schedule, text_and_back)
{
    for (const char* text : { "", "0L", "3H1,5S0,12Q", "1E,1U,2C", "1P,2X,3N" }) {
        ASSERT_TRUE(parse_schedule(text)) << text;
        EXPECT_EQ(to_string(*parse_schedule(text)), text);
    }
    for (const char* text : { "L", "3", "3Z", "3H", "3L;4L", "3L4L", "1234567L" }) {
        EXPECT_FALSE(parse_schedule(text)) << text;
    }
}

TEST(schedule, bounds_of_each_kind)
{
    const schedule s = *parse_schedule("0S0,1S0,2C,3N,4R,5U");
    for (const char* text : { "9S0", "9C", "9N", "9R", "9Q", "9U" }) {
        EXPECT_FALSE(may_add(s, parse_schedule(text)->front())) << text;
    }
    for (const char* text : { "9L", "9E", "9H2", "9P", "9X" }) {
        EXPECT_TRUE(may_add(s, parse_schedule(text)->front())) << text;
    }
}

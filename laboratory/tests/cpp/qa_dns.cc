/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// Names across HF: the time they take, and the number of requests.
#include "trials/dns_exchange.h"

#include <gtest/gtest.h>

using namespace gr::hf::sim;

namespace {

struct dns_case {
    const char* mode;
    double first_s; // at most, link set-up included
    double next_s;  // at most
};

void PrintTo(const dns_case& c, std::ostream* os) { *os << c.mode; }

class dns : public testing::TestWithParam<dns_case>
{
};

} // namespace

TEST_P(dns, one_question_and_two_turns)
{
    dns_series d;
    d.mode = GetParam().mode;
    const auto r = measure(d);
    ASSERT_EQ(r.answer_s.size(), 4u);
    EXPECT_EQ(r.questions, 4u) << "one for each name, whatever the client repeats";
    for (size_t k = 0; k < r.answer_s.size(); ++k) {
        EXPECT_GT(r.answer_s[k], 0);
        EXPECT_LE(r.answer_s[k], k == 0 ? GetParam().first_s : GetParam().next_s);
        RecordProperty("answer_" + std::to_string(k), std::to_string(r.answer_s[k]));
    }
}

INSTANTIATE_TEST_SUITE_P(rates,
                         dns,
                         testing::Values(dns_case{ "4539-9600S", 3.0, 3.0 },
                                         dns_case{ "4539-1200S", 4.2, 4.2 },
                                         dns_case{ "4539-300S", 9.0, 9.0 }));

TEST(dns_errors, a_lossy_path_costs_time_only)
{
    dns_series d;
    d.mode = "4539-1200S";
    d.on_path.loss = 0.2;
    d.count = 20;
    const auto r = measure(d);
    for (const double t : r.answer_s)
        EXPECT_GT(t, 0);
}

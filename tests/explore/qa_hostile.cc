/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// A station that knows the protocol answers in the name of another one, after each transmission
// of each exchange. What it can do at most is the table of docs/reliability.md.
#include "explore/attacker.h"
#include "explore/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

using namespace gr::hf::explore;

namespace {

// Effects of one forgery in all runs.
struct effect {
    unsigned runs = 0;
    double longest_s = 0;
    unsigned foreign = 0;
    std::set<std::string> kinds;
};

// A violation without the numbers of U_PDUs and transmissions.
std::string kind_of(const std::string& violation)
{
    const std::string unanswered = "got no answer";
    if (violation.find(unanswered) != std::string::npos) {
        return unanswered;
    }
    if (violation.compare(0, 6, "U_PDU ") != 0) {
        return violation;
    }
    const size_t begin = violation.find(' ', std::string("U_PDU ").size()) + 1;
    const size_t end = violation.find_last_not_of("0123456789");
    return violation.substr(begin, end + 1 - begin);
}

// STANAG 5066 proves nobody's identity, so these cannot be prevented below a client.
const std::set<std::string> possible = {
    "confirmed before it was delivered", // forged acknowledgement
    "rejected without a true reason",    // forged refusal
    "never delivered",                   // follows from both
    "delivered before ",                 // the same, of a U_PDU that never arrives
    "got no answer",                     // the stations do not agree on the mode
    // Data with a wrong number end the link, as those of a restarted station do.
    "delivered twice, but no link was asked for",
};

// The forged answer alone, and with the transmission that it answers, or a later one, lost.
std::vector<schedule> attacks(const std::string& world, forgery f)
{
    std::vector<schedule> all;
    const size_t last = run(world, {}).transmissions.size();
    for (unsigned n = 0; n < last; ++n) {
        const fault forged = { n, fault_kind::forged, static_cast<unsigned>(f) };
        all.push_back({ forged });
        const size_t after = run(world, all.back()).transmissions.size();
        for (unsigned m = n; m < after; ++m) {
            all.push_back({ forged, { m, fault_kind::lost, 0 } });
        }
    }
    return all;
}

effect effect_of(forgery f, const std::string& world)
{
    effect e;
    for (const schedule& s : attacks(world, f)) {
        const damage d = run_hostile(world, s);
        ++e.runs;
        e.longest_s = std::max(e.longest_s, d.during.quiet_s);
        e.foreign += d.during.foreign;
        EXPECT_TRUE(d.works_again) << "explore " << world << " " << to_string(s);
        for (const auto& v : d.during.violations) {
            e.kinds.insert(kind_of(v));
            EXPECT_TRUE(possible.count(kind_of(v)))
                << "explore " << world << " " << to_string(s) << ": " << v;
        }
    }
    return e;
}

class hostile : public testing::TestWithParam<unsigned>
{
};

} // namespace

// Two nodes without a link, which a forged D_PDU made answer, warned each other for ever.
TEST(warnings, are_not_answered_by_warnings)
{
    const damage d = run_hostile("relay", *parse_schedule("7F7"));
    EXPECT_LT(d.during.transmissions.size(), 40u);
    EXPECT_TRUE(d.works_again);
}

TEST_P(hostile, answers_delay_or_end_one_exchange_at_most)
{
    const auto f = static_cast<forgery>(GetParam());
    effect all;
    for (const auto& world : worlds()) {
        const effect e = effect_of(f, world);
        all.runs += e.runs;
        all.longest_s = std::max(all.longest_s, e.longest_s);
        all.foreign += e.foreign;
        all.kinds.insert(e.kinds.begin(), e.kinds.end());
    }
    std::printf("%s: %u runs, idle after %.0f s, %u foreign U_PDUs",
                to_string(f),
                all.runs,
                all.longest_s,
                all.foreign);
    for (const auto& k : all.kinds) {
        std::printf(", %s", k.c_str());
    }
    std::printf("\n");
    EXPECT_EQ(all.foreign > 0, f == forgery::data);
}

INSTANTIATE_TEST_SUITE_P(explore, hostile, testing::Range(0u, forgeries));

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
// A user's actions beside a bulk transfer (pages, keys, pings), and their cost for the
// bulk.
#include "trials/interactive.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace gr::hf;
using namespace gr::hf::sim;

namespace {

//! Duration of the bulk alone, with the longest transmissions throughout.
double longest_alone_s(interactive_load l)
{
    l.page_after_s = l.key_every_s = l.ping_every_s = l.second_after_s = 0;
    l.settings["prompt_priority"] = 16;
    const auto r = measure(l);
    EXPECT_TRUE(r.complete);
    return r.bulk_s.at(0);
}

double median(std::vector<double> v)
{
    EXPECT_FALSE(v.empty());
    std::sort(v.begin(), v.end());
    return v.empty() ? -1 : v[v.size() / 2];
}

} // namespace

TEST(interactive, a_page_beside_a_download_comes_soon_and_costs_the_download_little)
{
    interactive_load l;
    const double longest = longest_alone_s(l);
    l.page_every_s = 1e6;
    std::vector<double> pages;
    for (int k = 0; k < 10; ++k) {
        l.page_after_s = 20 + 27 * k;
        const auto r = measure(l);
        ASSERT_TRUE(r.complete);
        ASSERT_EQ(r.page_s.size(), 1u) << l.page_after_s;
        pages.push_back(r.page_s[0]);
        // Minus the air time of the page itself.
        const double own_s = 8.0 * static_cast<double>(l.page_octets + 200) / 9600;
        // One pause of the pair may come on top of the 5 %.
        EXPECT_LT(r.bulk_s[0] - own_s, 1.053 * longest) << l.page_after_s;
    }
    EXPECT_LT(median(pages), 18);
    EXPECT_LT(*std::max_element(pages.begin(), pages.end()), 23);
}

TEST(interactive, a_page_beside_an_upload_does_not_wait_for_the_transmission)
{
    interactive_load l;
    l.upload = true;
    const double longest = longest_alone_s(l);
    l.page_every_s = 1e6;
    for (const double at : { 20, 60, 100, 170, 220 }) {
        l.page_after_s = at;
        const auto r = measure(l);
        ASSERT_TRUE(r.complete);
        ASSERT_EQ(r.page_s.size(), 1u) << at;
        EXPECT_LT(r.page_s[0], 23) << at;
        EXPECT_LT(r.bulk_s[0] - 4.5, 1.05 * longest) << at;
    }
}

TEST(interactive, bulk_alone_from_its_opener_keeps_long_transmissions)
{
    for (const char* mode : { "4539-9600S", "4539-1200S" }) {
        interactive_load l;
        l.mode = mode;
        l.upload = true;
        l.bulk_octets = mode == std::string("4539-9600S") ? 400'000 : 50'000;
        EXPECT_NEAR(measure(l).bulk_s.at(0), longest_alone_s(l), 0.01) << mode;
    }
}

TEST(interactive, a_download_alone_pays_five_percent_at_most)
{
    for (const char* mode : { "4539-9600S", "4539-4800S", "4539-2400S", "4539-1200S" }) {
        interactive_load l;
        l.mode = mode;
        l.bulk_octets = 40 * std::stoul(std::string(mode).substr(5));
        const auto r = measure(l);
        ASSERT_TRUE(r.complete);
        EXPECT_LT(r.bulk_s.at(0), 1.05 * longest_alone_s(l)) << mode;
    }
}

TEST(interactive, keys_and_pings_do_not_wait_for_long_transmissions)
{
    for (const bool upload : { false, true }) {
        interactive_load l;
        l.upload = upload;
        l.key_every_s = 20;
        const auto keys = measure(l);
        ASSERT_TRUE(keys.complete);
        EXPECT_LT(keys.banner_s, 20) << upload;
        EXPECT_GE(keys.key_s.size(), 7u);
        EXPECT_LT(median(keys.key_s), 22) << upload;
        l.key_every_s = 0;
        l.ping_every_s = 20;
        const auto pings = measure(l);
        ASSERT_TRUE(pings.complete);
        EXPECT_GE(pings.ping_s.size(), 10u);
        EXPECT_LT(median(pings.ping_s), 20) << upload;
    }
}

TEST(interactive, two_downloads_share)
{
    interactive_load l;
    l.second_after_s = 20;
    const auto r = measure(l);
    ASSERT_TRUE(r.complete);
    // The first has its head start, and at most what SIS held when the second one came.
    EXPECT_GT(r.bulk_s[0], 550);
    EXPECT_LT(r.bulk_s[1], 715);
}

// Default rules: web is of a higher class than everything not listed, mail of a lower
// one.
TEST(interactive, first_exchanges_of_every_class_come_soon_beside_bulk_of_every_class)
{
    for (const bool upload : { false, true }) {
        interactive_load l;
        l.upload = upload;
        l.page_every_s = 1e6;
        l.bulk_port = 80;
        l.page_port = 6379;
        const double longest = longest_alone_s(l);
        for (const uint16_t port : { 6379, 25 }) {
            std::vector<double> pages;
            for (int k = 0; k < 6; ++k) {
                l.page_port = port;
                l.page_after_s = 25 + 41.3 * k;
                const auto r = measure(l);
                ASSERT_TRUE(r.complete);
                ASSERT_EQ(r.page_s.size(), 1u) << port << " at " << l.page_after_s;
                pages.push_back(r.page_s[0]);
                const double own_s =
                    8.0 * static_cast<double>(l.page_octets + 200) / 9600;
                EXPECT_LT(r.bulk_s[0] - own_s, 1.053 * longest) << port;
            }
            EXPECT_LT(median(pages), 15) << port << upload;
            // One longest transmission beside interactive data, a turn, and the answer.
            EXPECT_LT(*std::max_element(pages.begin(), pages.end()), upload ? 13 : 21)
                << port;
        }
    }
}

TEST(interactive, bulk_of_a_lower_class_gets_its_share)
{
    // A download from the web, then mail.
    interactive_load l;
    l.bulk_port = 80;
    l.page_port = 25;
    l.page_after_s = 30;
    l.page_octets = 60'000;
    l.page_every_s = 1e6;
    const auto r = measure(l);
    ASSERT_TRUE(r.complete);
    ASSERT_EQ(r.page_s.size(), 1u);
    // A fifth of the channel, once SIS has sent what it held before. It must not wait for
    // the end of bulk of a higher class.
    EXPECT_LT(l.page_after_s + r.page_s[0], r.bulk_s[0] - 20);
}

TEST(interactive, the_next_log_in_has_a_credit_of_its_own)
{
    for (const bool upload : { false, true }) {
        interactive_load l;
        l.upload = upload;
        l.key_every_s = 0.2;
        l.keys_each = 9;
        const auto r = measure(l);
        ASSERT_TRUE(r.complete);
        ASSERT_GE(r.banners_s.size(), 4u);
        for (size_t n = 0; n < 3; ++n) {
            double login_s = r.banners_s[n];
            for (size_t k = 0; k < 9; ++k)
                login_s += r.key_s.at(9 * n + k);
            EXPECT_LT(login_s, 60) << "log-in " << n << ", upload " << upload;
        }
    }
}

TEST(interactive, a_log_in_of_many_turns_does_not_wait_for_a_long_transmission_each_time)
{
    for (const bool upload : { false, true }) {
        interactive_load l;
        l.upload = upload;
        l.key_every_s = 0.2;
        const auto r = measure(l);
        ASSERT_TRUE(r.complete);
        ASSERT_GE(r.key_s.size(), 9u);
        // Turns of ssh until it has run a command: the greeting and about nine turns.
        double login_s = r.banner_s;
        for (size_t k = 0; k < 9; ++k)
            login_s += r.key_s[k];
        EXPECT_LT(login_s, 60) << upload;
    }
}

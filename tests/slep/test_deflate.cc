/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slep/deflate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace gr::hf::test {
namespace {

using octets = std::vector<uint8_t>;

TEST(slep_deflate, gives_up_on_what_does_not_shrink_and_tries_again)
{
    slep::deflater z;
    slep::inflater back;
    std::mt19937 rng(3);
    octets expected, got;
    size_t noise = 0, noise_out = 0, text_out = 0;
    for (int k = 0; k < 4000; ++k) {
        const bool text = k > 2500; // 2.5 MB of noise, then something to gain
        octets in(1 + rng() % 2000, 'a');
        if (!text)
            for (auto& o : in)
                o = uint8_t(rng());
        using flush = slep::deflater::flush;
        octets out;
        const bool sync = rng() % 3 == 0;
        z.run(in.data(), in.size(), sync ? flush::sync : flush::none, out);
        if (k == 3999)
            z.run(nullptr, 0, flush::last, out);
        (text ? text_out : noise_out) += out.size();
        noise += text ? 0 : in.size();
        expected.insert(expected.end(), in.begin(), in.end());
        const auto plain = back.run(out.data(), out.size(), 1 << 22);
        ASSERT_TRUE(plain);
        got.insert(got.end(), plain->begin(), plain->end());
        ASSERT_LE(got.size(), expected.size());
        ASSERT_TRUE(std::equal(got.begin(), got.end(), expected.begin()));
        if (sync || k == 3999) {
            ASSERT_EQ(got.size(), expected.size());
            got.clear();
            expected.clear();
        }
    }
    EXPECT_LT(noise_out, noise + noise / 100);
    EXPECT_LT(text_out, 1'200'000u); // up to a megabyte stored, the rest shrinks
}

//! Octets that messages take, each flushed; what comes back is checked.
size_t flushed(const std::vector<std::string>& messages)
{
    slep::deflater z;
    slep::inflater back;
    size_t size = 0;
    for (const auto& m : messages) {
        octets out;
        z.run(reinterpret_cast<const uint8_t*>(m.data()),
              m.size(),
              slep::deflater::flush::sync,
              out);
        size += out.size();
        const auto plain = back.run(out.data(), out.size(), 1 << 22);
        EXPECT_TRUE(plain && std::string(plain->begin(), plain->end()) == m);
    }
    return size;
}

TEST(slep_deflate, digits_are_not_spoilt_by_short_matches)
{
    std::mt19937 rng(5);
    std::vector<std::string> messages;
    size_t digits = 0;
    for (int k = 0; k < 200; ++k) {
        std::string body;
        for (int i = 0; i < 1024; ++i)
            body += "0123456789abcdef"[rng() % 16];
        digits += body.size();
        messages.push_back("<message id='" + std::to_string(k) + "'><body>" + body +
                           "</body></message>");
    }
    // Half of the digits is what they say; zlib's default strategy makes 61 %.
    EXPECT_LT(static_cast<double>(flushed(messages)), 0.55 * static_cast<double>(digits));
}

TEST(slep_deflate, text_changes_to_digits_and_back)
{
    std::mt19937 rng(6);
    const std::string words[] = { "antenna ", "carrier ", "fading ", "hop ", "noise " };
    std::vector<std::string> messages;
    size_t all = 0;
    for (int k = 0; k < 300; ++k) {
        std::string m;
        while (m.size() < 900)
            m += k / 50 % 2 == 0 ? words[rng() % 5] : std::to_string(rng());
        all += m.size();
        messages.push_back(m);
    }
    EXPECT_LT(flushed(messages), 2 * all / 5);
}

} // namespace
} // namespace gr::hf::test

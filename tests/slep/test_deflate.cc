/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "slep/deflate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

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

} // namespace
} // namespace gr::hf::test

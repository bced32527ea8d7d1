/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/find/search_loops.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <random>
#include <vector>

using namespace gr::hf::kernel::search_loops;

namespace {

using value = std::complex<double>;

constexpr size_t piece = 8, pieces = 11, stride = width + 5, offsets = 6, stretch = 4;

std::vector<float> noise(size_t n, unsigned seed)
{
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    std::vector<float> x(n);
    for (float& v : x)
        v = normal(random);
    return x;
}

struct turning {
    std::vector<float> cosine, sine;
    explicit turning(size_t of)
    {
        for (size_t o = 0; o < offsets; ++o)
            for (size_t p = 0; p < of; ++p) {
                const double phase = 0.3 * static_cast<double>(o * p);
                cosine.push_back(static_cast<float>(std::cos(phase)));
                sine.push_back(static_cast<float>(std::sin(phase)));
            }
    }
};

// Sum of pieces from .. to - 1 at position q, each turned by -0.3 o.
value turned_sum(const std::vector<float>& re,
                 const std::vector<float>& im,
                 size_t q,
                 int o,
                 size_t from,
                 size_t to)
{
    value sum = 0;
    for (size_t p = from; p < to; ++p)
        sum += value(re[p * stride + q], im[p * stride + q]) *
               std::polar(1.0, -0.3 * o * static_cast<double>(p - from));
    return sum;
}

class every_processor : public testing::TestWithParam<const loops*>
{
protected:
    const loops& d_loops = *GetParam();
    const std::vector<float> d_re = noise(pieces * stride, 1),
                             d_im = noise(pieces * stride, 2);
    const piece_rows d_rows{ d_re.data(), d_im.data(), stride, pieces };
};

} // namespace

TEST_P(every_processor, correlates_a_piece_with_every_second_row)
{
    const auto re = noise(width + 2 * piece, 3), im = noise(width + 2 * piece, 4);
    const auto s = noise(2 * piece, 5);
    const auto* symbols = reinterpret_cast<const std::complex<float>*>(s.data());
    std::vector<float> out_re(width), out_im(width);
    d_loops.correlate_piece(
        re.data(), im.data(), symbols, piece, out_re.data(), out_im.data());
    for (size_t q = 0; q < width; ++q) {
        value expected = 0;
        for (size_t k = 0; k < piece; ++k)
            expected +=
                std::conj(value(symbols[k])) * value(re[q + 2 * k], im[q + 2 * k]);
        EXPECT_NEAR(out_re[q], expected.real(), 1e-4);
        EXPECT_NEAR(out_im[q], expected.imag(), 1e-4);
    }
}

TEST_P(every_processor, finds_the_best_offset_of_each_position)
{
    const turning turns(pieces);
    for (const size_t left_out : { offsets, size_t{ 0 }, offsets / 2, offsets - 1 }) {
        std::vector<float> power(part);
        std::vector<int> offset(part);
        std::vector<uint8_t> wanted(offsets, 1);
        if (left_out < offsets)
            wanted[left_out] = 0;
        d_loops.best_offsets(d_rows,
                             { turns.cosine.data(), turns.sine.data(), offsets, pieces },
                             wanted.data(),
                             power.data(),
                             offset.data());
        for (size_t q = 0; q < part; ++q) {
            double best = 0;
            int at = 0;
            for (int o = 1 - static_cast<int>(offsets); o < static_cast<int>(offsets);
                 ++o)
                if (const double p = std::norm(turned_sum(d_re, d_im, q, o, 0, pieces));
                    p > best && std::abs(o) != static_cast<int>(left_out)) {
                    best = p;
                    at = o;
                }
            EXPECT_NEAR(power[q], best, 1e-4 * best) << left_out;
            EXPECT_EQ(offset[q], at) << left_out;
        }
    }
}

TEST_P(every_processor, tells_where_amplitudes_of_stretches_exceed_a_limit)
{
    const turning turns(stretch);
    std::vector<double> most(offsets, 0); // above and below 0
    for (size_t q = 0; q < part; ++q)
        for (int o = 1 - static_cast<int>(offsets); o < static_cast<int>(offsets); ++o) {
            double sum = 0;
            for (size_t k = 0; k < pieces; k += stretch)
                sum += std::abs(
                    turned_sum(d_re, d_im, q, o, k, std::min(k + stretch, pieces)));
            double& here = most[static_cast<size_t>(std::abs(o))];
            here = std::max(here, sum);
        }
    const offset_turns coarse{ turns.cosine.data(), turns.sine.data(), offsets, stretch };
    const auto exceeds = [&](double limit) {
        std::vector<uint8_t> where(offsets, 2);
        const bool any =
            d_loops.any_exceeds(d_rows, coarse, static_cast<float>(limit), where.data());
        EXPECT_EQ(any, std::count(where.begin(), where.end(), 1) > 0);
        return where;
    };
    for (size_t o = 0; o < offsets; ++o) {
        EXPECT_EQ(exceeds(0.9999 * most[o])[o], 1) << o;
        EXPECT_EQ(exceeds(1.0001 * most[o])[o], 0) << o;
    }
}

INSTANTIATE_TEST_SUITE_P(search_loops,
                         every_processor,
                         testing::Values(&for_any_processor(), &for_this_processor()),
                         [](const auto& tested) {
                             return tested.index == 0 ? "plain" : "this_one";
                         });

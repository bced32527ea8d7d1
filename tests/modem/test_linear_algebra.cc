/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem/detect/linear_algebra.h"

#include <gtest/gtest.h>

#include <complex>
#include <random>
#include <vector>

using namespace gr::hf::kernel;
using cf = std::complex<float>;

namespace {

// A random positive definite matrix of n rows with the given band, dense storage.
std::vector<cf> positive(size_t n, size_t band, unsigned seed)
{
    std::mt19937 rng(seed);
    std::normal_distribution<float> g(0, 1);
    std::vector<cf> b(n * n), a(n * n);
    for (size_t i = 0; i < n; ++i) // lower band factor
        for (size_t j = i > band ? i - band : 0; j <= i; ++j)
            b[i * n + j] = i == j ? cf(2) : 0.3f * cf(g(rng), g(rng));
    for (size_t i = 0; i < n; ++i)
        for (size_t j = 0; j < n; ++j)
            for (size_t k = 0; k < n; ++k)
                a[i * n + j] += b[i * n + k] * std::conj(b[j * n + k]);
    return a;
}

} // namespace

TEST(linear_algebra, banded_factors_agree_with_the_dense_solver)
{
    constexpr size_t n = 40, band = 5;
    const auto a = positive(n, band, 1);
    std::vector<cf> x(n), b(n);
    std::mt19937 rng(2);
    std::normal_distribution<float> g(0, 1);
    for (auto& v : x)
        v = { g(rng), g(rng) };
    for (size_t i = 0; i < n; ++i)
        for (size_t j = 0; j < n; ++j)
            b[i] += a[i * n + j] * x[j];

    hermitian_solver dense;
    dense.resize(n);
    banded_factors banded;
    banded.resize(n, band);
    for (size_t i = 0; i < n; ++i) {
        for (size_t j = 0; j <= i; ++j) {
            dense.add(i, j, a[i * n + j]);
            if (i - j <= band)
                banded.at(i, i - j) = a[i * n + j];
        }
        dense.rhs(i) = b[i];
    }
    ASSERT_TRUE(dense.solve());
    banded.factor(1e-6f);
    banded.forward(b.data());
    for (size_t i = 0; i < n; ++i)
        b[i] /= banded.at(i, 0).real();
    banded.backward(b.data());
    for (size_t i = 0; i < n; ++i) {
        EXPECT_LT(std::abs(dense.rhs(i) - x[i]), 1e-3f);
        EXPECT_LT(std::abs(b[i] - x[i]), 1e-3f);
    }

    std::vector<float> diagonal;
    banded.inverse_diagonal(diagonal);
    for (size_t i = 0; i < n; i += 7) {
        hermitian_solver column;
        column.resize(n);
        for (size_t r = 0; r < n; ++r)
            for (size_t c = 0; c <= r; ++c)
                column.add(r, c, a[r * n + c]);
        column.rhs(i) = 1;
        ASSERT_TRUE(column.solve());
        EXPECT_NEAR(diagonal[i], column.rhs(i).real(), 1e-4f);
    }
}

TEST(linear_algebra, refuses_what_is_not_positive)
{
    hermitian_solver s;
    s.resize(2);
    s.add(0, 0, 1);
    s.add(1, 1, -1);
    s.rhs(0) = 1;
    EXPECT_FALSE(s.solve());
    EXPECT_EQ(s.rhs(0), cf{});

    banded_factors b; // an indefinite matrix: the factors stay bounded
    b.resize(300, 1);
    for (size_t i = 0; i < 300; ++i) {
        b.at(i, 0) = 1;
        if (i > 0)
            b.at(i, 1) = 0.6f;
    }
    b.factor(0.03f);
    for (size_t i = 0; i < 300; ++i)
        ASSERT_GT(b.at(i, 0).real(), 0);
}

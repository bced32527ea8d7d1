/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "waveform/coding/interleave.h"

#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

namespace gr::hf::kernel {

namespace {

// x with x * a = 1 modulo n, by Euclid's algorithm; a and n share no factor.
uint64_t inverse(size_t a, size_t n)
{
    auto r0 = static_cast<int64_t>(n), r1 = static_cast<int64_t>(a % n);
    int64_t x0 = 0, x1 = 1;
    while (r1 != 0) {
        const int64_t q = r0 / r1;
        x0 = std::exchange(x1, x0 - q * x1);
        r0 = std::exchange(r1, r0 - q * r1);
    }
    return static_cast<uint64_t>(x0 < 0 ? x0 + static_cast<int64_t>(n) : x0);
}

} // namespace

permutation matrix_interleaver(size_t rows, size_t cols, size_t row_step, size_t col_step)
{
    if (rows == 0 || cols == 0 || std::gcd(rows, row_step) != 1)
        throw std::invalid_argument("matrix interleaver " + std::to_string(rows) + " x " +
                                    std::to_string(cols) + ", row step " +
                                    std::to_string(row_step) +
                                    ": dimensions must be positive and the step must "
                                    "share no factor with the rows");
    // Load the bit for row r, column c.
    std::vector<uint32_t> matrix(rows * cols);
    uint32_t bit = 0;
    for (size_t c = 0; c < cols; ++c) {
        size_t r = 0;
        for (size_t i = 0; i < rows; ++i) {
            matrix[r * cols + c] = bit++;
            r = (r + row_step) % rows;
        }
    }
    // Fetch: one diagonal after the other, starting in columns 0, 1, 2, ...
    std::vector<uint32_t> p;
    p.reserve(matrix.size());
    for (size_t start = 0; start < cols; ++start) {
        size_t c = start;
        for (size_t r = 0; r < rows; ++r) {
            p.push_back(matrix[r * cols + c]);
            c = (c + cols - col_step % cols) % cols;
        }
    }
    return permutation(std::move(p));
}

permutation stride_interleaver(size_t size, size_t increment)
{
    if (size == 0 || std::gcd(size, increment) != 1)
        throw std::invalid_argument("stride interleaver of " + std::to_string(size) +
                                    " bits, increment " + std::to_string(increment) +
                                    ": they must share no factor");
    return { size, inverse(increment, size) };
}

permutation no_interleaver(size_t size) { return { size, 1 }; }

} // namespace gr::hf::kernel

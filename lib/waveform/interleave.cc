/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "waveform/interleave.h"

#include <numeric>
#include <stdexcept>
#include <string>

namespace gr::hf::kernel {

permutation matrix_interleaver(size_t rows, size_t cols, size_t row_step, size_t col_step)
{
    if (rows == 0 || cols == 0 || std::gcd(rows, row_step) != 1)
        throw std::invalid_argument("matrix interleaver " + std::to_string(rows) + " x " +
                                    std::to_string(cols) + ", row step " +
                                    std::to_string(row_step) +
                                    ": dimensions must be positive and the step must "
                                    "share no factor with the rows");
    // Load: which bit is at row r, column c.
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
    permutation p;
    p.reserve(matrix.size());
    for (size_t start = 0; start < cols; ++start) {
        size_t c = start;
        for (size_t r = 0; r < rows; ++r) {
            p.push_back(matrix[r * cols + c]);
            c = (c + cols - col_step % cols) % cols;
        }
    }
    return p;
}

permutation stride_interleaver(size_t size, size_t increment)
{
    if (size == 0 || std::gcd(size, increment) != 1)
        throw std::invalid_argument("stride interleaver of " + std::to_string(size) +
                                    " bits, increment " + std::to_string(increment) +
                                    ": they must share no factor");
    permutation p(size);
    uint64_t location = 0;
    for (uint32_t n = 0; n < size; ++n) {
        p[location] = n;
        location = (location + increment) % size;
    }
    return p;
}

permutation no_interleaver(size_t size)
{
    permutation p(size);
    std::iota(p.begin(), p.end(), 0u);
    return p;
}

} // namespace gr::hf::kernel

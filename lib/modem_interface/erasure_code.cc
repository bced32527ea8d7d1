/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "modem_interface/erasure_code.h"

#include <stdexcept>
#include <string>

namespace gr::hf::modem_interface {
namespace {

constexpr size_t order = 15; // order of the multiplicative group

struct field {
    std::array<uint8_t, order> power{};
    std::array<uint8_t, 16> logarithm{};
    field()
    {
        unsigned x = 1;
        for (size_t k = 0; k < order; ++k) {
            power[k] = static_cast<uint8_t>(x);
            logarithm[x] = static_cast<uint8_t>(k);
            x <<= 1;
            if (x & 0x10)
                x ^= 0x13; // x^4 + x + 1
        }
    }
};

const field gf;

uint8_t inverse(uint8_t a) { return gf.power[(order - gf.logarithm[a]) % order]; }

} // namespace

uint8_t erasure_code::multiply(uint8_t a, uint8_t b)
{
    return a == 0 || b == 0 ? uint8_t(0)
                            : gf.power[(gf.logarithm[a] + gf.logarithm[b]) % order];
}

erasure_code::erasure_code(size_t n, size_t k) : d_n(n), d_k(k), d_generator{ 1 }
{
    if (k < 1 || k >= n || n > order)
        throw std::invalid_argument("Reed-Solomon code (" + std::to_string(n) + ", " +
                                    std::to_string(k) +
                                    "): allowed are 1 <= K < N <= 15");
    for (size_t root = 1; root <= n - k; ++root) {
        std::vector<uint8_t> next(d_generator.size() + 1);
        for (size_t i = 0; i < d_generator.size(); ++i) {
            next[i] ^= multiply(d_generator[i], gf.power[root % order]);
            next[i + 1] ^= d_generator[i];
        }
        d_generator = std::move(next);
    }
}

std::vector<uint8_t> erasure_code::encode(const uint8_t* data) const
{
    const size_t parity = d_n - d_k;
    std::vector<uint8_t> word(d_n);
    // The remainder of data * x^(n-k), highest coefficient first.
    for (size_t i = d_k; i-- > 0;) {
        const uint8_t symbol = data[i] & 0x0f;
        word[parity + i] = symbol;
        const uint8_t feedback = symbol ^ word[parity - 1];
        for (size_t j = parity - 1; j > 0; --j)
            word[j] = word[j - 1] ^ multiply(feedback, d_generator[j]);
        word[0] = multiply(feedback, d_generator[0]);
    }
    return word;
}

std::optional<std::vector<std::array<uint8_t, 15>>>
erasure_code::recovery(const std::vector<bool>& have) const
{
    std::vector<size_t> missing;
    for (size_t i = 0; i < d_n; ++i)
        if (i >= have.size() || !have[i])
            missing.push_back(i);
    if (missing.size() > d_n - d_k)
        return std::nullopt;

    // At each root the codeword is 0, which gives as many equations as symbols are
    // missing. Columns of the missing symbols are eliminated. Columns of the others
    // become the solution.
    const size_t e = missing.size();
    std::vector<std::array<uint8_t, 15>> m(e);
    for (size_t row = 0; row < e; ++row)
        for (size_t i = 0; i < d_n; ++i)
            m[row][i] = gf.power[(row + 1) * i % order];
    for (size_t col = 0; col < e; ++col) {
        size_t pivot = col;
        while (m[pivot][missing[col]] == 0)
            ++pivot; // exists: powers of distinct elements are independent
        std::swap(m[pivot], m[col]);
        const uint8_t scale = inverse(m[col][missing[col]]);
        for (size_t i = 0; i < d_n; ++i)
            m[col][i] = multiply(m[col][i], scale);
        for (size_t row = 0; row < e; ++row) {
            const uint8_t factor = m[row][missing[col]];
            if (row == col || factor == 0)
                continue;
            for (size_t i = 0; i < d_n; ++i)
                m[row][i] ^= multiply(factor, m[col][i]);
        }
    }
    std::vector<std::array<uint8_t, 15>> solution(d_n);
    for (size_t i = 0; i < d_n && i < solution[i].size(); ++i) // d_n is 15 at most
        solution[i][i] = 1;
    for (size_t row = 0; row < e; ++row) {
        solution[missing[row]] = m[row];
        for (const size_t i : missing)
            solution[missing[row]][i] = 0;
    }
    return solution;
}

} // namespace gr::hf::modem_interface

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace gr::hf::modem_interface {

/*! \brief Shortened Reed-Solomon code over GF(16) of the UDP form, for erasures
 *         (A.5.2.5).
 *
 * The field is that of polynomials modulo x^4 + x + 1. The text gives the generator for
 * four parity symbols, (x + a)(x + a^2)(x + a^3)(x + a^4). Ours for fewer symbols has the
 * first of these factors. Parity symbols come first, as in table A-XVIII. We take symbol
 * i of a codeword as the coefficient of x^i, which the text leaves open.
 */
class erasure_code
{
public:
    //! \throws std::invalid_argument unless 1 <= k < n <= 15
    erasure_code(size_t n, size_t k);

    size_t n() const { return d_n; }
    size_t k() const { return d_k; }

    //! A codeword: n - k parity symbols, then the k symbols (0 to 15) of \p data.
    std::vector<uint8_t> encode(const uint8_t* data) const;

    /*! \brief The matrix that computes missing symbols from those that have arrived.
     *  \param have n entries: which symbols have arrived
     *  \return n rows of n coefficients, a unit row for each symbol that has arrived;
     *  empty if more than n - k are missing
     */
    std::optional<std::vector<std::array<uint8_t, 15>>>
    recovery(const std::vector<bool>& have) const;

    //! Product in GF(16).
    static uint8_t multiply(uint8_t a, uint8_t b);

private:
    const size_t d_n, d_k;
    std::vector<uint8_t> d_generator; // coefficients, x^0 first
};

} // namespace gr::hf::modem_interface

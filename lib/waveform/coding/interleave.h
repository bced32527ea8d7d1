/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace gr::hf::kernel {

/*! \brief An interleaver as a permutation: entry n is the index of the coded bit fetched
 *         as the nth.
 *
 * Transmitter: fetched[n] = coded[p[n]]. Receiver: coded[p[n]] = received[n].
 *
 * A wideband block has up to 2.2 million bits. So entries are computed if there is a
 * formula.
 */
class permutation
{
public:
    permutation() = default;
    //! Entry n is table[n].
    explicit permutation(std::vector<uint32_t> table)
        : d_table(std::move(table)), d_size(d_table.size())
    {
    }
    //! Entry n is n * step mod size; \p step must share no factor with \p size.
    permutation(size_t size, uint64_t step) : d_size(size), d_step(step) {}

    size_t size() const { return d_size; }
    //! Entry \p n < size().
    uint32_t operator[](size_t n) const
    {
        return d_table.empty() ? static_cast<uint32_t>(n * d_step % d_size) : d_table[n];
    }

private:
    std::vector<uint32_t> d_table; // empty: use the formula
    uint64_t d_size = 0, d_step = 1;
};

//! Transmitter: \p out gets the p.size() values of \p coded in fetch order.
template <class T>
void fetch(const permutation& p, const T* coded, T* out)
{
    for (size_t n = 0; n < p.size(); ++n)
        out[n] = coded[p[n]];
}

//! Receiver: \p out gets the p.size() values of \p received in the order of the encoder.
template <class T>
void unfetch(const permutation& p, const T* received, T* out)
{
    for (size_t n = 0; n < p.size(); ++n)
        out[p[n]] = received[n];
}

/*! \brief Serial tone: matrix of \p rows x \p cols (110C 5.3.2.3.3).
 *
 * Loads column by column; the row advances by \p row_step modulo \p rows. Fetches along
 * diagonals: next row, column reduced by \p col_step.
 *  \throws std::invalid_argument if a dimension is 0 or row_step shares a factor with
 *        rows
 */
permutation
matrix_interleaver(size_t rows, size_t cols, size_t row_step, size_t col_step);

/*! \brief High rate and wideband: coded bit n goes to location n*increment mod size.
 *         Fetched in order of location (110C C.5.3.3).
 *  \throws std::invalid_argument if \p size is 0 or shares a factor with \p increment
 */
permutation stride_interleaver(size_t size, size_t increment);

//! No interleaver: p[n] = n.
permutation no_interleaver(size_t size);

} // namespace gr::hf::kernel

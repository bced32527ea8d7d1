/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gr::hf::kernel {

/*! \brief An interleaver as a permutation: entry n is the index of the coded bit that is
 *         fetched as the nth.
 *
 * Transmitter: fetched[n] = coded[p[n]]. Receiver: coded[p[n]] = received[n].
 */
using permutation = std::vector<uint32_t>;

/*! \brief Serial tone: matrix of \p rows x \p cols (110C 5.3.2.3.3).
 *
 * Loading column by column, the row advancing by \p row_step modulo \p rows; fetching
 * along diagonals: next row, column reduced by \p col_step. \throws std::invalid_argument
 * if a dimension is 0 or row_step shares a factor with rows.
 */
permutation
matrix_interleaver(size_t rows, size_t cols, size_t row_step, size_t col_step);

/*! \brief High rate and wideband: coded bit n goes to location n*increment mod size,
 * fetched in order of location (110C C.5.3.3). \throws std::invalid_argument if \p size
 * is 0 or shares a factor with \p increment.
 */
permutation stride_interleaver(size_t size, size_t increment);

//! No interleaver: p[n] = n.
permutation no_interleaver(size_t size);

} // namespace gr::hf::kernel

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/front/fourier.h"

#include <complex>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace gr::hf::kernel {

/*! \brief Correlates rows with the pieces of patterns, in the frequency domain.
 *  \details For long pieces this costs less than symbol by symbol; pieces grow with the
 *  symbol rate. All pieces share the transforms of the rows, and one batch reuses
 *  those of the last.
 */
class piece_correlator
{
public:
    using value = std::complex<float>;
    using values = std::vector<value>;

    //! Shortest piece for which this is faster, symbols.
    static constexpr size_t min_piece = 32;

    /*! \param piece length of a piece, symbols
     *  \param batch positions of each parity worked on at once, a multiple of \p piece
     *  \param pieces pieces of the longest pattern
     */
    piece_correlator(size_t piece, size_t batch, size_t pieces);

    //! Symbols read after the first one of a batch, for each parity.
    size_t reach() const { return (d_pieces - 1) * d_piece + d_transform.size(); }

    //! Conjugated spectra of a pattern's pieces, for correlate().
    std::vector<values> spectra_of(const values& symbols);

    //! Load 2 reach() rows from \p position on.
    void load(const value* rows, int64_t position);

    /*! \brief Correlate piece \p k of a pattern at the batch's positions of one parity.
     *         Writes batch values to each of \p re and \p im.
     */
    void correlate(const values& spectrum, size_t k, size_t parity, float* re, float* im);

private:
    values transformed(const value* rows);

    size_t d_piece, d_batch, d_pieces;
    fourier d_transform;
    std::deque<values> d_rows[2]; // spectra of the rows from the start of each piece on,
                                  // by parity
    int64_t d_next = -1;          // position that continues the loaded rows
};

} // namespace gr::hf::kernel

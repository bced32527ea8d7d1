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

/*! \brief Correlates rows with the pieces of patterns in frequency: for pieces so long that this
 *         costs less than their symbols, which grow with the symbol rate.
 *  \details Transforms of the rows serve all pieces, those of one batch of positions the next.
 */
class piece_correlator
{
public:
    using value = std::complex<float>;
    using values = std::vector<value>;

    //! From this piece on it is quicker.
    static constexpr size_t least_piece = 32;

    /*! \param piece symbols
     *  \param batch positions of each parity worked on at once, a multiple of \p piece
     *  \param pieces of the longest pattern
     */
    piece_correlator(size_t piece, size_t batch, size_t pieces);

    //! Symbols behind the first of a batch whose rows it reads: of both parities.
    size_t reach() const { return (d_pieces - 1) * d_piece + d_transform.size(); }

    //! Conjugated spectra of a pattern's pieces, for correlate().
    std::vector<values> spectra_of(const values& symbols);

    //! Rows from \p position on, 2 reach() of them.
    void load(const value* rows, int64_t position);

    /*! \brief Piece \p k of a pattern at the batch's positions of one parity: \p re and \p im get
     *         batch values.
     */
    void correlate(const values& spectrum, size_t k, size_t parity, float* re, float* im);

private:
    values transformed(const value* rows);

    size_t d_piece, d_batch, d_pieces;
    fourier d_transform;
    std::deque<values> d_rows[2]; // spectra, by parity: from each piece's begin on
    int64_t d_next = -1;          // position at which they go on
};

} // namespace gr::hf::kernel

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <complex>
#include <cstddef>

namespace gr::hf::kernel::search_loops {

/* The loops in which a search that hears nothing spends its time. They take positions side by side
 * and keep all sums of some of them in the processor's registers. */

//! Positions side by side.
constexpr size_t width = 64;

//! Results of the pieces of a pattern at \ref width positions.
struct piece_rows {
    const float* re; //!< of piece k at position q: re[k * stride + q]
    const float* im;
    size_t stride; //!< at least \ref width
    size_t pieces;
};

//! Turns that undo carrier offsets 0, step, 2 step and so on.
struct offset_turns {
    const float* cosine; //!< [offset][piece]
    const float* sine;
    size_t offsets;
    size_t pieces; //!< for which there are turns
};

//! The loops, made for one kind of processor.
struct loops {
    /*! \brief One piece: out[q] = sum over s of conj(symbol s) y[q + 2 s].
     *  \details re, im: y, \ref width + 2 (count - 1) values.
     */
    void (*correlate_piece)(const float* re,
                            const float* im,
                            const std::complex<float>* symbols,
                            size_t count,
                            float* out_re,
                            float* out_im);
    /*! \brief Power at the best offset of each position, and its number, negative for offsets
     *         below 0. \p turns are for as many pieces as there are.
     */
    void (*best_offsets)(const piece_rows& rows,
                         const offset_turns& turns,
                         float* power,
                         int* offset);
    /*! \brief Whether at one position and offset the amplitudes of stretches of turns.pieces
     *         pieces each, added up without their phases, exceed \p limit.
     */
    bool (*any_exceeds)(const piece_rows& rows, const offset_turns& turns, float limit);
};

//! The quickest that the processor has.
const loops& for_this_processor();
//! Those that every processor has.
const loops& for_any_processor();

} // namespace gr::hf::kernel::search_loops

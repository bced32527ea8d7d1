/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>

namespace gr::hf::kernel::search_loops {

/* The inner loops of the search, in which a receiver without a signal spends its time.
 * They process positions side by side and keep the sums of several positions in
 * registers. */

//! Positions processed side by side.
constexpr size_t width = 64;
//! Positions that best_offsets and any_exceeds process, a part of \ref width.
constexpr size_t part = 16;

//! Results of the pieces of a pattern at \ref part positions.
struct piece_rows {
    const float* re; //!< piece k at position q is re[k * stride + q]
    const float* im;
    size_t stride; //!< at least \ref part
    size_t pieces;
};

//! Phase turns that undo the carrier offsets 0, step, 2 step and so on.
struct offset_turns {
    const float* cosine; //!< [offset][piece]
    const float* sine;
    size_t offsets;
    size_t pieces; //!< pieces for which there are turns
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
    /*! \brief For each position the power at the best offset, and the number of that
     *         offset, negative for offsets below 0. \p turns must have as many pieces as
     *         \p rows.
     *  \param wanted [offset], 0: leave it out, on both sides of 0
     */
    void (*best_offsets)(const piece_rows& rows,
                         const offset_turns& turns,
                         const uint8_t* wanted,
                         float* power,
                         int* offset);
    /*! \brief True if at any position and offset the amplitudes of stretches, added
     *         without phases, exceed \p limit. A stretch has turns.pieces pieces.
     *  \param where [offset], set to 1 where they do, above or below 0, else to 0
     */
    bool (*any_exceeds)(const piece_rows& rows,
                        const offset_turns& turns,
                        float limit,
                        uint8_t* where);
};

//! The fastest loops for this processor.
const loops& for_this_processor();
//! Loops that run on every processor.
const loops& for_any_processor();

} // namespace gr::hf::kernel::search_loops

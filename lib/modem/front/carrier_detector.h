/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/base/grid.h"
#include "modem/front/impulse_blanker.h"

#include <volk/volk_alloc.hh>

#include <array>
#include <complex>
#include <cstddef>

namespace gr::hf::kernel {

/*! \brief Detects a transmission of the grid's symbol rate at any point within it: the
 *         carrier detect for listen before transmit.
 *
 * Such a signal has the same symbols at both edges of its band, a symbol rate apart, in
 * any mode, with any data and frequency offset. Noise, voice and tones do not. The edges
 * are correlated in pieces of 20 ms, each normalised by its own power. So the rest of a
 * noise burst, which has everything at both edges, counts as one piece. The pieces add
 * up with their phases over a second, in which noise cancels.
 *
 * Two equal paths an odd multiple of half a symbol apart (0.21 ms in 3 kHz) hide a
 * signal if they do not fade against each other, as they cancel too.
 */
class carrier_detector
{
public:
    //! Input: complex baseband on this grid, the subcarrier at 0 Hz.
    explicit carrier_detector(const symbol_grid& grid);

    //! Take \p n samples.
    void push(const std::complex<float>* x, size_t n);
    //! True if a transmission is on the channel now.
    bool present() const { return d_present; }
    //! Start again, after our own transmission or one that has ended.
    void reset();

    //! Mean coherence of the edges over the last second, 0 to 1.
    float coherence() const;

private:
    // The edges are half a symbol rate from the centre. Decimation to an eighth of the
    // sample rate brings both to 0 Hz.
    static constexpr size_t decimation = 2 * symbol_grid::samples_per_symbol;
    static constexpr size_t taps = 96;   // of the filter for each edge, 24 symbols
    static constexpr size_t pieces = 50; // pieces in use, 1 s

    void edge_values();
    void end_piece();

    impulse_blanker d_blanker;
    // VOLK picks a kernel by alignment, and kernels may round differently. So always
    // align.
    volk::vector<float> d_filter;
    std::array<std::complex<float>, decimation> d_turn; // half a symbol rate
    volk::vector<std::complex<float>> d_upper, d_lower; // shifted, not yet filtered
    size_t d_phase = 0;
    size_t d_piece; // values of an edge
    // The current piece.
    size_t d_count = 0;
    std::complex<float> d_product;
    float d_upper_power = 0, d_lower_power = 0;
    // Ring of pieces, and their sum.
    std::array<std::complex<float>, pieces> d_pieces{};
    size_t d_at = 0;
    bool d_present = false;
};

} // namespace gr::hf::kernel

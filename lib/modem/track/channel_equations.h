/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/detect/belief.h"
#include "modem/detect/channel_view.h"

#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gr::hf::kernel {

/*! \brief What least squares of the taps takes the noise variance of a row for, over what it
 *         is.
 *  \details Rows at half-symbol distance are not independent: the matched filter leaves
 *  1.35 / 2 of the band. Taking them as independent counts the information about 1.75 times.
 */
constexpr float noise_colour = 1.75f;

/*! \brief gram[a * s + b] (b <= a) = sum_i conj(x_a(i)) x_b(i) of \p s rows of \p n split
 *         complex numbers.
 */
void gram_of(size_t s,
             size_t n,
             const float* re,
             const float* im,
             std::complex<float>* gram);

//! Beliefs about all symbols that reach into some rows.
struct local_beliefs {
    //! Of rows \p first_row .. \p last_row - 1, through so many delay taps.
    local_beliefs(int64_t first_row,
                  int64_t last_row,
                  size_t taps,
                  const belief_function& f);
    int64_t first; //!< symbol of the first element
    std::vector<symbol_belief> list;
};

//! u(j) = sum_n mean_n p(j - 2 n), j = from .. to - 1: rows without a channel.
std::vector<std::complex<float>>
known_signal(const local_beliefs& b, int64_t from, int64_t to);

//! Power that unknown symbols put on each row of [first, last).
std::vector<float> foreign_power(const local_beliefs& b,
                                 int64_t first,
                                 int64_t last,
                                 const std::vector<float>& profile);

//! Weighted normal equations of some taps: gram g = rhs, lower half, row by row.
struct tap_equations {
    std::vector<std::complex<float>> gram, rhs;
    float energy = 0; //!< of the weighted rows

    /*! \param u from row first - offset on
     *  \param moved see channel_estimator::move(); a tap that was outside the window before is
     *  taken as having seen nothing
     *  \param y, foreign one value per row
     *  \param which the taps
     */
    void build(const std::vector<std::complex<float>>& u,
               size_t offset,
               int moved,
               const std::complex<float>* y,
               const std::vector<float>& foreign,
               float noise,
               const std::vector<uint16_t>& which);

    //! Weighted error power with the taps \p g, the rows turned by \p turn.
    float squared_error(const std::complex<float>* g, std::complex<float> turn) const;
};

/*! \brief Least squares of the taps on rows \p first_row .. \p last_row - 1 of \p y, all
 *         symbols around given by \p beliefs.
 *  \details Rows are weighted down by what unknown symbols put on them. \p profile is the
 *  prior power of each tap.
 *  \param noise variance per row \param[out] residual weighted error power per row
 */
channel_taps estimate_static(const std::complex<float>* y,
                             int64_t y_begin,
                             int64_t first_row,
                             int64_t last_row,
                             const belief_function& beliefs,
                             const std::vector<float>& profile,
                             float noise,
                             float* residual);

} // namespace gr::hf::kernel

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

/*! \brief Noise variance of a row in the least squares of the taps, relative to the true
 *         one.
 *  \details Rows half a symbol apart are not independent: the matched filter leaves 1.35
 *  / 2 of the band. As independent rows they would count about 1.75 times.
 */
constexpr float noise_colour = 1.75f;

/*! \brief gram[a * s + b] (b <= a) = sum_i conj(x_a(i)) x_b(i), for \p s rows of \p n
 *         split complex numbers.
 */
void gram_of(size_t s,
             size_t n,
             const float* re,
             const float* im,
             std::complex<float>* gram);

//! Beliefs about all symbols that reach into a range of rows.
struct local_beliefs {
    //! For rows \p first_row .. \p last_row - 1 and \p taps delay taps.
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

//! Weighted normal equations of some taps: gram g = rhs, lower half, row by row. Method:
//! estimate paths through the known pulse (Clark and Hariharan 1989), docs/receiver.md,
//! "What each idea is worth".
struct tap_equations {
    std::vector<std::complex<float>> gram, rhs;
    float energy = 0; //!< of the weighted rows

    /*! \param u known signal from row first - offset on
     *  \param moved rows since these were received, see channel_estimator::move(). Taps
     *        that were outside the window then get no equations
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

    //! Weighted error power with the taps \p g and the rows turned by \p turn.
    float squared_error(const std::complex<float>* g, std::complex<float> turn) const;
};

/*! \brief Least squares of the taps on rows \p first_row .. \p last_row - 1 of \p y.
 *         \p beliefs gives all symbols around.
 *  \details Rows with unknown symbols weigh less. \p profile is the prior power of each
 *  tap.
 *  \param noise variance per row
 *  \param[out] residual weighted error power per row
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

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/front/fourier.h"

#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gr::hf::kernel {

/*! \brief Least squares of a few delay taps out of very many.
 *
 * Solves only for taps with energy. The residual, correlated with the known signal at
 * every delay in the frequency domain, shows the next tap. The cost is n log n in the
 * number of delays; equations for all of them cost n cubed. At 48 kHz, 12.5 ms are 960
 * half symbols, with as few paths as at 3 kHz. See docs/receiver.md, "Wide bandwidths".
 */
class sparse_equations
{
public:
    using value = std::complex<float>;
    using values = std::vector<value>;

    //! \param taps delays, half symbols
    explicit sparse_equations(size_t taps) : d_taps(taps), d_own(taps), d_left(taps) {}

    /*! \brief Add rows on which the channel is constant.
     *  \param signal known signal without a channel, from \p taps before the first row
     *        on
     *  \param moved tap k is tap k + \p moved of \p signal
     *  \param y one value for each row
     *  \param turn phase turn of y
     *  \param weight weight of each row's squared error
     */
    void add(const values& signal,
             int moved,
             const value* y,
             value turn,
             std::vector<float> weight);

    size_t rows() const { return d_rows; }
    size_t taps() const { return d_taps; }
    //! Sum of the rows' weights.
    float weight() const { return d_weight; }
    //! Energy of the known signal at each delay.
    const std::vector<float>& own() const { return d_own; }
    //! Weighted energy of the rows, and the residual energy after the last solve().
    float energy() const { return d_energy; }
    float energy_left() const { return d_energy_left; }

    //! Solve for delay \p tap too; call after the last add().
    void activate(size_t tap);
    bool is_active(size_t tap) const;
    const std::vector<uint16_t>& active() const { return d_active; }

    /*! \brief Solve for the active taps.
     *  \param load added to the energy of each tap: sigma^2 / prior power
     *  \returns false if there is no solution; then nothing changes
     */
    bool solve(const std::vector<float>& load);
    //! Solution, in the order of active().
    const values& solution() const { return d_solution; }

    //! Known signal at every delay times the residual; before the first solve() times the
    //! rows themselves.
    const values& left();

private:
    struct piece {
        size_t rows;
        int moved;
        values signal, y;
        std::vector<float> weight;
        fourier transform; // of the correlations
        values spectrum;   // of the signal
    };
    // 0 if the tap was outside the window
    static const value* seen(const piece& p, size_t tap, size_t taps);

    size_t d_taps, d_rows = 0;
    std::vector<piece> d_pieces;
    std::vector<float> d_own;
    float d_weight = 0, d_energy = 0, d_energy_left = 0;
    std::vector<uint16_t> d_active;
    std::vector<values> d_gram; // row by row, lower half
    values d_rhs, d_solution, d_left;
};

} // namespace gr::hf::kernel

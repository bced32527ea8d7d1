/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/front/half_symbol_stream.h"

#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gr::hf::kernel {

/*! \brief The model of the received signal, in the estimator and in the equaliser.
 *
 * With symbol n at half-symbol index 2 n, the matched filter gives
 *
 *  y(i) = sum_n s_n sum_k g_k p(i - 2 n - k) + noise,   k = 0 .. taps - 1
 *
 * p is the raised cosine on the half-symbol grid (half_symbol_pulse). g_k is the gain of
 * the propagation path at a delay of k half symbols. Estimating g instead of the
 * composite response needs fewer numbers. It also tells the equaliser the noise's
 * correlation, sigma^2 p.
 */
using channel_taps = std::vector<std::complex<float>>;

/*! \brief Largest number of delays solved for together, half symbols. With more delays,
 *         only those with energy are solved for, see sparse_equations and path_matrix.
 *  \details A window of 12.5 ms has 60 delays in 3 kHz, 120 in 6 kHz and 960 in 48 kHz.
 *  The cost of equations for all delays is cubic.
 */
constexpr size_t dense_delays = 128;

//! The channel around a frame: estimated, or known in a simulation.
class channel_view
{
public:
    virtual ~channel_view() = default;
    //! Indices of the taps that are not zero, ascending.
    virtual const std::vector<uint16_t>& selected() const = 0;
    //! These taps at symbol \p n.
    virtual void at(double n, channel_taps& g) const = 0;
    //! Factor that refers row \p row of \p y to the carrier that the taps refer to.
    virtual std::complex<float> reference(const half_symbol_stream& y,
                                          double row) const = 0;
    //! Noise variance per half-symbol sample.
    virtual float noise() const = 0;
};

} // namespace gr::hf::kernel

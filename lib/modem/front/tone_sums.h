/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <cstddef>

namespace gr::hf::kernel {

/*! \brief The largest |a - b|^2 of \p n complex numbers.
 *  \param a the real parts, then the imaginary parts
 *  \param b the same
 *  \param n a multiple of 8
 */
double largest_difference(const double* a, const double* b, size_t n);

//! largest_difference() by the code that runs on every processor.
double plain_largest_difference(const double* a, const double* b, size_t n);

} // namespace gr::hf::kernel

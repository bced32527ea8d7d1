/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/front/sample_buffer.h"
#include "modem/track/burst_tracker.h"

#include <complex>
#include <vector>

namespace gr::hf::kernel {

/*! \brief Measure, on the preamble, how much slower the sender's sample clock runs than
 *         ours.
 *  \details In 48 kHz, clocks that differ by 100 ppm move all paths by two half symbols
 *  within a preamble of 0.24 s. Frames with known symbols 0.12 s apart would need
 *  a second to see that.
 *  \param[in,out] a gets its clock, and an origin that keeps the first paths in place
 *  \param in samples received, from before the preamble on; some may be missing
 */
void learn_clock(acquired& a, const sample_buffer& in);

//! Symbols of the preamble of \p a; the last one has number -1.
std::vector<std::complex<float>> preamble_of(const acquired& a);

} // namespace gr::hf::kernel

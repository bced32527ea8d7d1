/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/front/sample_buffer.h"
#include "modem/track/burst_tracker.h"

namespace gr::hf::kernel {

/*! \brief Measure by the preamble how much slower the sender's sample clock runs than ours.
 *  \details In 48 kHz clocks that differ by 100 ppm move all paths by two half symbols within a preamble of
 *  0.24 s. Frames whose known symbols are 0.12 s apart would need a second to see it.
 *  \param[in,out] a its clock and, so that the first paths stay where they were seen, its origin
 *  \param in what was heard, from before the preamble on; it need not hold all of it
 */
void learn_clock(acquired& a, const sample_buffer& in);

} // namespace gr::hf::kernel

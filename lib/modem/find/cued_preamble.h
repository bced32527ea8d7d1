/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "waveform/reception.h"

#include <hf/mode.h>

namespace gr::hf::kernel {

/*! \brief How to find one transmission whose mode and rough time another receiver tells.
 *
 * All symbols of the end of the preamble are known then, the mode's among them, and there
 * are few places to search. So a weaker preamble is found than by a receiver alone, and
 * nothing has to be read.
 *
 * \param m        its mode
 * \param within_s length of the time in which the preamble ends, s
 * \param max_offset_hz see rx_options
 */
family_reception cued_preamble(const mode& m, double within_s, double max_offset_hz);

} // namespace gr::hf::kernel

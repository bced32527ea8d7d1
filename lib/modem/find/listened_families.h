/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/base/grid.h"
#include "waveform/reception.h"

#include <vector>

namespace gr::hf::kernel {

//! Families that a receiver listens for at once. Each outlives the receiver.
using listened_families = std::vector<const family_reception*>;

/*! \brief Grid of the input of a receiver.
 *  \throws std::invalid_argument for no family, or several symbol rates
 */
symbol_grid grid_of(const listened_families& families);

//! Periods of what the waveforms repeat, s, in ascending order.
std::vector<double> periods_of(const listened_families& families);

} // namespace gr::hf::kernel

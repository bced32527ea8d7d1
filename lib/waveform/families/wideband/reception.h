/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "waveform/reception.h"

#include <hf/mode.h>

namespace gr::hf::kernel::wideband {

/*! \brief Reception of this family; null in a bandwidth that it lacks.
 *  \details Searches for both readings of the preamble's scrambling, each with nine
 *  fixed symbols and in the short form, 1 to 32 super-frames.
 */
const family_reception* reception(int bandwidth_hz);

//! How to follow a transmission in mode \p m of this family.
const reception_plan& plan_of(const mode& m);

} // namespace gr::hf::kernel::wideband

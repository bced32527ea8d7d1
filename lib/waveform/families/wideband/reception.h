/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "waveform/reception.h"

namespace gr::hf::kernel::wideband {

/*! \brief How transmissions of this family are found, read and followed; null in a bandwidth
 *         that it lacks.
 *  \details Both readings of the preamble's scrambling are looked for, each with nine fixed
 *  symbols and in the short form, 1 to 32 super-frames.
 */
const family_reception* reception(int bandwidth_hz);

} // namespace gr::hf::kernel::wideband

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "waveform/reception.h"

namespace gr::hf::kernel::wideband {

/*! \brief Joins transmissions whose preamble was missed, by their mini-probes. A shifted
 *         probe marks the end of a Long block (110C D.5.2.2); reception starts at the
 *         block after it.
 *  \details The probes tell the waveform, except for a few. Trial decoding tells which
 *  of these it is, the interleaver and the constraint length. Waveform 0 has no probes.
 *  Null in a bandwidth that the family lacks; else it lives as long as the program. Safe
 *  to call from several threads.
 */
const family_reception* late_entry(int bandwidth_hz);

} // namespace gr::hf::kernel::wideband

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "waveform/reception.h"

namespace gr::hf::kernel::wideband {

/*! \brief How transmissions are joined whose preamble was missed: by their mini-probes, of which
 *         a shifted one marks the end of a Long block (110C D.5.2.2), at the block behind it.
 *  \details The probes tell the waveform but for a few; which of these it is, with which interleaver
 *  and constraint length, shows in what can be decoded. Waveform 0 has no probes. Null in a bandwidth
 *  that the family lacks; else it lives as long as the program. Safe to call from several threads.
 */
const family_reception* late_entry(int bandwidth_hz);

} // namespace gr::hf::kernel::wideband

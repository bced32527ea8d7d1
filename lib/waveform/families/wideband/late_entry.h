/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "waveform/reception.h"

#include <hf/mode.h>

namespace gr::hf::kernel::wideband {

/*! \brief How a transmission of mode \p m is joined whose preamble was missed: by the mini-probe
 *         that marks the end of a Long block (110C D.5.2.2), at the block behind it.
 *
 * The mode must be known beforehand, as of a broadcast: neither interleaver nor constraint
 * length is signalled outside the preamble. What it points to lives as long as the program. Safe
 * to call from several threads.
 *
 * \throws std::invalid_argument for a mode of another family, or of waveform 0, which has no
 *         mini-probes
 */
const family_reception* late_entry(const mode& m);

} // namespace gr::hf::kernel::wideband

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "waveform/reception.h"

namespace gr::hf::kernel::high_rate {

//! Reception of this family; null outside of 3 kHz.
const family_reception* reception(int bandwidth_hz);

} // namespace gr::hf::kernel::high_rate

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "waveform/reception.h"

#include <hf/mode.h>

namespace gr::hf::kernel::robust {

//! Reception of this family; null outside of 3 kHz.
const family_reception* reception(int bandwidth_hz);

//! How to follow a transmission in mode \p m of this family.
const reception_plan& plan_of(const mode& m);

} // namespace gr::hf::kernel::robust

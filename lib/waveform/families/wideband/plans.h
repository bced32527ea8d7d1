/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "waveform/families/wideband/tables.h"
#include "waveform/reception_plan.h"

namespace gr::hf::kernel::wideband {

//! How to follow a transmission of the waveform in row \p w.
reception_plan plan_of(const waveform_row& w);

} // namespace gr::hf::kernel::wideband

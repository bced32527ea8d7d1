/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/dts/peer/node_context.h"

#include <cstddef>

namespace gr::hf::s5066 {

//! Segment length in octets for \p p in mode \p m: the setting, or by rate and measured
//! loss.
size_t segment_length(const node_context& node, const peer& p, const gr::hf::mode& m);

} // namespace gr::hf::s5066

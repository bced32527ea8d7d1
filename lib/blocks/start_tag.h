/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/track/burst_tracker.h"

#include <pmt/pmt.h>

#include <cstdint>
#include <optional>

namespace gr::hf::start_tag {

//! Value of the tag hf_start at input sample \p at, see preamble_finder.
pmt::pmt_t make(const kernel::acquired& a, int64_t at);

//! The same backwards; empty: no such value.
std::optional<kernel::acquired> read(const pmt::pmt_t& value, int64_t at);

} // namespace gr::hf::start_tag

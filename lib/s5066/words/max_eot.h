/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

namespace gr::hf::s5066 {

//! Longest time that EOT can express, s: 255 halves of a second (C.3.2.3). So no transmission
//! to a node is longer.
constexpr double max_eot_s = 127.5;

} // namespace gr::hf::s5066

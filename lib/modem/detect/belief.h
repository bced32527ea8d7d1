/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <complex>
#include <cstdint>
#include <functional>

namespace gr::hf::kernel {

//! Prior knowledge of a symbol; the mean of an unknown symbol is 0.
struct symbol_belief {
    std::complex<float> mean;
    float variance = 1;
};

//! Known or guessed symbols by number: 0 is the first after the preamble.
using belief_function = std::function<symbol_belief(int64_t symbol)>;

} // namespace gr::hf::kernel

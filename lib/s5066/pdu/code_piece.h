/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "waveform/description.h"

#include <cstdint>
#include <vector>

namespace gr::hf::s5066 {

//! Part of a code that runs through the blocks, as received.
struct code_piece {
    kernel::code_plan code; //!< without repetition and puncturing
    //! Log-likelihood ratios of T1 and T2 of each bit, in the units of rx_octets::ratios,
    //! as if the bits before the piece were zeros. Empty: unknown.
    std::vector<int8_t> ratios;
};

} // namespace gr::hf::s5066

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "waveform/description.h"

#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gr::hf::kernel {

//! Transmitted symbol.
struct tx_symbol {
    std::complex<float> value;
    uint8_t number = 0; //!< index into known_points, or constellation::points if data
    symbol_kind kind = symbol_kind::data;
};

/*! \brief The known symbols of a transmission, and the places of the data between them:
 *         AGC blocks and preamble, cycles of frames, end-of-transmission continuation.
 */
class frame_builder
{
public:
    /*! \param d must outlive the builder
     *  \throws std::invalid_argument for options that the mode does not allow
     */
    frame_builder(const description& d, const tx_options& options);

    //! Symbols before the data phase: AGC blocks and preamble.
    uint64_t head() const { return d_head; }
    //! Symbol \p i < head().
    tx_symbol head_symbol(uint64_t i) const;
    //! Symbol \p i of the data phase, 0 is the first. Data have a kind only.
    tx_symbol body_symbol(uint64_t i) const;
    /*! \brief Symbols after \p blocks blocks: the continuation of the last probe; empty
     *         unless tx_options::eot.
     */
    std::vector<tx_symbol> tail(uint64_t blocks) const;

private:
    const description& d_d;
    preamble_plan d_plan;
    uint64_t d_head;
    bool d_eot;
};

} // namespace gr::hf::kernel

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "waveform/description.h"

#include <hf/mode.h>
#include <hf/station_time.h>

#include <cstddef>

namespace gr::hf::kernel {

/*! \brief Exact times of a transmission in one mode.
 *
 * Times count from the first symbol of the preamble, without AGC symbols. They include
 * reinserted preambles.
 */
struct mode_timing {
    double symbol_rate_bd = 2400; //!< symbols/s
    size_t preamble_symbols = 0;  //!< symbols before the first block
    size_t block_symbols = 0; //!< symbols of one interleaver block, without reinserted
                              //!< ones
    size_t blocks_per_superframe = 0; //!< blocks between reinserted preambles; 0: none
    size_t reinserted_symbols = 0;    //!< length of the reinserted preamble
    size_t bits_per_block = 0;        //!< user bits, end of message and fill included
    size_t tail_bits = 0;   //!< end of message and flush bits after the last user bit
    size_t eot_symbols = 0; //!< end-of-transmission signal after the last block

    //! Blocks needed for \p octets user octets and the tail.
    size_t blocks_for(size_t octets) const;
    //! User octets that fit into \p blocks blocks together with the tail; 0 if none fit.
    size_t octets_in(size_t blocks) const;
    //! Start of block \p k (0 is the first), after a reinserted preamble if one precedes
    //! it.
    station_time block_begin(size_t k) const;
    //! End of block \p k, which is the end of the transmission if it is the last.
    station_time block_end(size_t k) const;
    //! Duration of a transmission of \p octets user octets, preamble included.
    station_time duration(size_t octets) const;
};

/*! \brief Times of mode \p m, from its description alone.
 *  \param o the operator's preamble, end of message and end of transmission; AGC blocks
 *        do not count
 *  \throws std::invalid_argument for a mode that mode::all() lacks, or a preamble that
 *        the mode does not allow
 */
mode_timing timing_of(const mode& m, const tx_options& o = {});

} // namespace gr::hf::kernel

/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <hf/mode.h>

#include <cstdint>
#include <vector>

namespace gr::hf::kernel {

//! Soft bits of an interleaver block, as one receiver heard it.
struct soft_block {
    //! Number of the block. 0 is the first of the message, or the first that was heard if
    //! the start was missed.
    int64_t number = 0;
    double begin_s = 0;         //!< first symbol, in the receiver's time
    double snr_db = 0;          //!< in the mode's bandwidth
    double doppler_hz = 0;      //!< spread of the channel, two-sigma
    double delay_spread_ms = 0; //!< of the channel, two standard deviations
    //! Log-likelihood ratios of the coded bits in order of arrival, positive for 0. The
    //! receiver's own noise scales them.
    std::vector<float> ratios;
};

//! Soft bits of a transmission, as one receiver heard it.
struct soft_transmission {
    mode m;              //!< with the reading of its last block
    bool joined = false; //!< its start was missed
    /*! \brief It is a part of the transmission before it, which the receiver found again at
     *         another time, as after a hole in the samples.
     *  \details The numbers of its blocks are what the receiver believes. In deep fades
     *  some are wrong.
     */
    bool found_again = false;
    double freq_hz = 0;             //!< carrier offset found in the preamble
    std::vector<soft_block> blocks; //!< ascending; some may be missing
};

} // namespace gr::hf::kernel

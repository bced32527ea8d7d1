/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/detect/equaliser.h"
#include "modem/track/burst_tracker.h"

#include <complex>
#include <memory>
#include <optional>
#include <vector>

namespace gr::hf::kernel {

//! The equalised symbols of an interleaver block.
struct equalised_block {
    /*! \brief Estimate of each data symbol as sent, with its scrambling; the largest
     *         magnitude of a point is 1. Spread modes: the log-likelihood ratios of two
     *         bits after the other, positive for 0, as real and imaginary part.
     */
    std::vector<std::complex<float>> symbols;
    std::vector<float> errors; //!< variance of each estimate; 1 in spread modes
    std::vector<float> noise;  //!< of each frame: variance of a half-symbol row
    //! Taps in the middle of each frame, frame by frame, see block_details.
    std::vector<std::complex<float>> taps;
    channel_report channel;
};

/*! \brief Follows one transmission as a receiver of effort 0 does, up to the equaliser:
 *         demapping and decoding are left to the user.
 */
class symbol_follower
{
public:
    /*! \param a result of acquisition
     *  \param lost_after_s see rx_options
     */
    symbol_follower(const acquired& a, double lost_after_s);
    ~symbol_follower();

    //! Continue as far as \p in allows, at most to the end of a block, which is returned.
    std::optional<equalised_block> advance(const sample_buffer& in);
    //! Place and presence of the signal.
    const burst_tracker& tracker() const { return *d_tracker; }

private:
    class taker;

    const description& d_d;
    taker* d_taker = nullptr; // of the tracker; null in spread modes
    std::unique_ptr<burst_tracker> d_tracker;
};

//! The equaliser of a receiver that decodes once, by the length of the channel.
std::unique_ptr<equaliser> single_pass_equaliser(const acquired& a);

} // namespace gr::hf::kernel

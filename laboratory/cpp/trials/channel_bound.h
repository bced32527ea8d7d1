/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <hf/mode.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace gr::hf::sim {

//! Errors of a receiver that knows the channel.
struct channel_bound_result {
    uint64_t bits = 0, errors = 0;
    size_t blocks = 0, bad_blocks = 0;
    double air_s = 0; //!< duration of the blocks
};

/*! \brief Matched-filter bound: errors that remain if every data symbol arrives alone.
 *
 * The receiver collects the energy of all paths of a symbol. Other symbols do not
 * disturb it. Gains, delays, noise and timing are known. Demapper and decoder exchange
 * soft bits until the decisions settle. No synchroniser, estimator or equaliser takes
 * part, so the figures bound any receiver with the same decoder. Method: matched-filter
 * bound, Mazo 1991; iterative demapping, ten Brink 1998.
 *
 * Without a code each symbol has a fade of its own: the bit error rate is then that of
 * any duration, and a bad block says nothing about blocks on the air.
 *
 * \param channel words of a channel with an SNR. Frequency offset and sweep change
 *        nothing. Learned channels are allowed; clock errors, steps, impulses, other
 *        carriers, filters and gain control are not.
 * \param seconds signal to simulate, rounded to whole interleaver blocks, at least one
 * \param seed of the bits, the fading and the noise; the fading is that of a
 *        kernel::channel of the same seed
 * \throws std::invalid_argument for a channel that has no bound
 */
channel_bound_result
channel_bound(const mode& m, const std::string& channel, double seconds, uint64_t seed);

} // namespace gr::hf::sim

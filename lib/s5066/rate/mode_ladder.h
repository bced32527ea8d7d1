/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "s5066/rate/rate_policy.h"
#include "s5066/rate/rate_range.h"

#include <hf/mode.h>

#include <vector>

namespace gr::hf::s5066 {

/*! \brief The modes worth choosing from: those that promise clearly more than all others on
 *         some channel of known_channels at some SNR.
 *
 * A mode is left out if the rest promises nearly as much on every channel at every SNR,
 * by mode_promises and at equal peak power. Fewer modes leave more evidence for each, and
 * fewer tries of modes that only seem better.
 *  \param modes of one bandwidth, not empty
 *  \return a part of \p modes in the same order, at least one
 */
std::vector<mode> ladder_of(const std::vector<mode>& modes);

//! The modes for a peer.
struct mode_set {
    //! \param choose_all false: choose among ladder_of(\p all) alone
    mode_set(std::vector<mode> all, bool choose_all);

    std::vector<mode> data;   //!< that advice may name
    std::vector<mode> ladder; //!< to choose from
    std::vector<mode> acks;   //!< for transmissions without data
    mode lowest;              //!< needs the least SNR
};

//! The modes of a range, by what a peer has shown to read.
class peer_modes
{
public:
    explicit peer_modes(const rate_range& range);
    //! Modes that every peer reads.
    const mode_set& common() const { return d_sets.front(); }
    const mode_set& read_by(modes_read r) const
    {
        return d_sets[(r.of_5069 ? 1 : 0) + (r.robust ? 2 : 0)];
    }

private:
    std::vector<mode_set> d_sets;
};

} // namespace gr::hf::s5066

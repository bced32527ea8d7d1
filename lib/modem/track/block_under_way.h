/* -*- c++ -*- */
/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "modem/detect/block_details.h"
#include "modem/detect/detector.h"
#include "modem/track/narrow_residual.h"
#include "waveform/description.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace gr::hf::kernel {

//! Mean of symbol energy over noise, by the channel of each frame.
class gain_meter
{
public:
    void add(const frame_observation& o, size_t symbols)
    {
        double gain = 0;
        for (size_t i = 0; i < symbols; ++i)
            gain += o.energy(i);
        d_sum += gain / static_cast<double>(symbols) / o.noise;
        ++d_frames;
    }
    void restart() { d_sum = 0, d_frames = 0; }
    //! Needs a frame.
    double mean() const { return d_sum / static_cast<double>(d_frames); }

private:
    double d_sum = 0;
    size_t d_frames = 0;
};

//! The interleaver block that a frame_tracker receives.
struct block_under_way {
    //! A frame as it was received. \p hz and \p drift of the carrier, Hz and Hz/s.
    struct kept_frame {
        frame f;
        double hz, drift;
    };
    block_under_way(const symbol_grid& grid, bool is_partial)
        : narrow(grid), partial(is_partial)
    {
    }

    narrow_residual narrow;         //!< carriers in its rows
    bool partial;                   //!< it began before the first frame received
    bool complete = false;          //!< and not decoded yet
    uint64_t number = 0;            //!< counts those returned
    std::vector<kept_frame> frames; //!< for detectors that iterate
    bool observed_again = false;    //!< its data served as known symbols
    gain_meter gain;
    std::shared_ptr<block_details> details; //!< null unless wanted
};

} // namespace gr::hf::kernel
